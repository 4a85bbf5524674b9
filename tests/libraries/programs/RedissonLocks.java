// The locks of Redisson, as its documentation uses them.
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

class RedissonLocks extends Common {
    static RedissonClient client(int port) {
        Config config = new Config();
        config.setLockWatchdogTimeout(hunting ? BUSY_MS : 1000).setThreads(4).setNettyThreads(4);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
        return Redisson.create(config);
    }

    // A call that timed out may have taken the lock: the next one would re-enter.
    static void during(RLock lock, Callable<?> work) throws Exception {
        while (hunting && lock.isHeldByCurrentThread())
            lock.unlock();
        lock.lock();
        try {
            work.call();
        } finally {
            lock.unlock();
        }
    }

    // What each kind of lock can do.
    static void one_kind(String kind, RLock a, RLock b) throws Exception {
        say(kind, () -> a.tryLock());
        say("take again", () -> a.tryLock(1, 20, TimeUnit.SECONDS));
        say("depth", () -> a.getHoldCount());
        say("another is refused", () -> b.tryLock());
        say("another waits in vain", () -> b.tryLock(300, 20000, TimeUnit.MILLISECONDS));
        say("locked", () -> b.isLocked());
        say("mine", () -> a.isHeldByCurrentThread());
        say("another's", () -> b.isHeldByCurrentThread());
        say("release of another's", () -> { b.unlock(); return true; });
        say("release a level", () -> { a.unlock(); return true; });
        FutureTask<Void> waits = begin(() -> { b.lock(); b.unlock(); });
        Thread.sleep(300);
        say("it waits", () -> waits.isDone());
        say("release", () -> { a.unlock(); return true; });
        say("it has got it", () -> waits.get(5, TimeUnit.SECONDS));
        say("release again", () -> { a.unlock(); return true; });
        say("take for a while", () -> a.tryLock(0, 300, TimeUnit.MILLISECONDS));
        Thread.sleep(600);
        say("take what is over", () -> b.tryLock());
        say("release what is over", () -> { a.unlock(); return true; });
        say("release it", () -> { b.unlock(); return true; });
        say("free", () -> a.isLocked());
    }

    static Long token(RedissonClient client) throws Exception {
        Object lock = RedissonClient.class.getMethod("getFencedLock", String.class)
            .invoke(client, "fenced");
        Long token = (Long) lock.getClass().getMethod("lockAndGetToken").invoke(lock);
        ((RLock) lock).unlock();
        return token;
    }

    public static void main(String[] args) {
        run(args, () -> {
            RedissonClient one = client(ports[0]), other = client(ports[1]);
            RedissonClient[] clients = { one, other };
            for (String kind : new String[] { "plain", "fair" })
                contend((number, work) -> {
                    RedissonClient client = clients[number % 2];
                    boolean fair = kind.equals("fair") || hunting && number % 4 > 1;
                    RLock lock = fair ? client.getFairLock("busy") : client.getLock("busy");
                    during(lock, work);
                });
            one_kind("lock", one.getLock("job"), other.getLock("job"));
            one_kind("fair", one.getFairLock("fair"), other.getFairLock("fair"));
            one_kind("spin", one.getSpinLock("spin"), other.getSpinLock("spin"));
            RLock a = one.getLock("renewed"), b = other.getLock("renewed");
            a.lock();
            Thread.sleep(3000);
            say("it is renewed", () -> b.tryLock());
            Thread[] thread = new Thread[1];
            FutureTask<Void> waits = begin(() -> {
                thread[0] = Thread.currentThread();
                b.lockInterruptibly();
            });
            Thread.sleep(300);
            thread[0].interrupt();
            say("it is interrupted", () -> waits.get(5, TimeUnit.SECONDS));
            say("time", () -> b.remainTimeToLive() > 0);
            say("force", () -> b.forceUnlock());
            say("nothing to force", () -> b.forceUnlock());
            RLock both = one.getMultiLock(one.getLock("m1"), one.getLock("m2"));
            say("both", () -> both.tryLock(1, 20, TimeUnit.SECONDS));
            say("another has one", () -> other.getLock("m2").tryLock());
            say("release both", () -> { both.unlock(); return true; });
            say("they are free", () -> other.getLock("m2").isLocked());
            say("fences rise", () -> {
                long first = token(one);
                return token(other) > first;
            });
            unserved("getReadWriteLock", () -> one.getReadWriteLock("u").readLock().tryLock());
            unserved("getSemaphore", () -> one.getSemaphore("u").trySetPermits(1));
            unserved("getCountDownLatch", () -> one.getCountDownLatch("u").trySetCount(1));
            unserved("getMap", () -> one.getMap("u").put("k", "v"));
        });
    }
}
