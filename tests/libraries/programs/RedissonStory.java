// What tests/libraries/record writes down: two clients of Redisson, one
// connection each beside that over which it listens, one step after the other.
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

class RedissonStory extends Common {
    static RedissonClient client(int port) {
        Config config = new Config();
        config.setLockWatchdogTimeout(3000).setThreads(2).setNettyThreads(2);
        config.useSingleServer().setAddress("redis://127.0.0.1:" + port)
            .setConnectionMinimumIdleSize(1).setConnectionPoolSize(1)
            .setSubscriptionConnectionMinimumIdleSize(1).setSubscriptionConnectionPoolSize(1);
        return Redisson.create(config);
    }

    static void story(RLock a, RLock b) throws Exception {
        a.lock();
        a.lock();
        say("depth", () -> a.getHoldCount());
        FutureTask<Void> waits = begin(() -> {
            b.lock(20, TimeUnit.SECONDS);
            say("another's left", () -> b.remainTimeToLive() > 10000);
            b.unlock();
        });
        Thread.sleep(1500); // the watchdog renews once
        a.unlock();
        Thread.sleep(100);
        a.unlock();
        waits.get();
        say("locked", () -> a.isLocked());
        say("mine", () -> a.isHeldByCurrentThread());
        say("take for a while", () -> a.tryLock(0, 5, TimeUnit.SECONDS));
        say("another is refused", () -> b.tryLock());
        say("force", () -> b.forceUnlock());
        say("again", () -> b.forceUnlock());
        say("take", () -> b.tryLock(0, 5, TimeUnit.SECONDS));
        b.unlock();
    }

    public static void main(String[] args) {
        run(args, () -> {
            RedissonClient one = client(ports[0]), other = client(ports[1]);
            story(one.getLock("job"), other.getLock("job"));
            Thread.sleep(200);
            story(one.getFairLock("turn"), other.getFairLock("turn"));
            one.shutdown();
            other.shutdown();
        });
    }
}
