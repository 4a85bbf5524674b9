// RedisLockRegistry of Spring Integration over Lettuce.
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

class SpringLocks extends Common {
    static RedisLockRegistry registry(int port, long ms) throws Exception {
        LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", port);
        factory.afterPropertiesSet();
        try {
            factory.getClass().getMethod("start").invoke(factory);
        } catch (NoSuchMethodException error) {
            // Before spring-data-redis 3.2 it has none.
        }
        RedisLockRegistry registry = new RedisLockRegistry(factory, "registry", ms);
        registry.setRedisLockType(RedisLockType.valueOf(System.getenv("KIND")));
        return registry;
    }

    public static void main(String[] args) {
        run(args, () -> {
            RedisLockRegistry one = registry(ports[0], BUSY_MS),
                other = registry(ports[1], BUSY_MS);
            RedisLockRegistry[] registries = { one, other };
            contend((number, work) -> {
                Lock lock = registries[number % 2].obtain("busy");
                lock.lock();
                try {
                    work.call();
                } finally {
                    lock.unlock();
                }
            });
            Lock a = one.obtain("job"), b = other.obtain("job");
            say("take", () -> a.tryLock());
            say("take again", () -> a.tryLock());
            say("another is refused", () -> b.tryLock());
            say("another waits in vain", () -> b.tryLock(300, TimeUnit.MILLISECONDS));
            say("release of another's", () -> { b.unlock(); return true; });
            say("release a level", () -> { a.unlock(); return true; });
            say("another is refused still", () -> b.tryLock());
            FutureTask<Void> waits = begin(() -> { b.lock(); b.unlock(); });
            Thread.sleep(300);
            say("it waits", () -> waits.isDone());
            say("release", () -> { a.unlock(); return true; });
            say("it has got it", () -> waits.get(5, TimeUnit.SECONDS));
            say("release again", () -> { a.unlock(); return true; });
            RedisLockRegistry brief = registry(ports[0], 300);
            Lock c = brief.obtain("job");
            say("take for a while", () -> c.tryLock());
            Thread.sleep(600);
            say("take what is over", () -> b.tryLock());
            say("release what is over", () -> { c.unlock(); return true; });
            say("release it", () -> { b.unlock(); return true; });
        });
    }
}
