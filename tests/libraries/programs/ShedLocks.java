// ShedLock's providers for Redis; Provider is of the library of the row.
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

class ShedLocks extends Common {
    static Optional<SimpleLock> take(LockProvider provider, String name, long ms) {
        return provider.lock(new LockConfiguration(Instant.now(), name, Duration.ofMillis(ms),
                                                   Duration.ZERO));
    }

    static void walk(LockProvider one, LockProvider other) throws Exception {
        LockProvider[] providers = { one, other };
        contend((number, work) -> {
            Optional<SimpleLock> lock;
            while (!(lock = take(providers[number % 2], "busy", BUSY_MS)).isPresent())
                Thread.sleep(10);
            work.call();
            lock.get().unlock();
        });
        Optional<SimpleLock> held = take(one, "job", 20000);
        say("take", () -> held.isPresent());
        say("another is refused", () -> take(other, "job", 20000).isPresent());
        Optional<SimpleLock> longer = held.get().extend(Duration.ofSeconds(30), Duration.ZERO);
        say("extend", () -> longer.isPresent());
        say("another is refused still", () -> take(other, "job", 20000).isPresent());
        say("release", () -> { longer.get().unlock(); return true; });
        Optional<SimpleLock> brief = take(one, "job", 200);
        say("take for a while", () -> brief.isPresent());
        Thread.sleep(400);
        say("extend what is over", () -> brief.get().extend(Duration.ofSeconds(30), Duration.ZERO)
            .isPresent());
        Optional<SimpleLock> next = take(other, "job", 20000);
        say("take what is over", () -> next.isPresent());
        say("release it", () -> { next.get().unlock(); return true; });
    }
}
