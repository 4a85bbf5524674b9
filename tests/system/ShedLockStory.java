import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.lockbroker.Broker;
import org.lockbroker.shedlock.LockBrokerLockProvider;

/** Two programs with ShedLock: {@code ShedLockStory ADDRESS}; see test_client_shedlock.py. */
final class ShedLockStory {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static LockBrokerLockProvider one;
  private static LockBrokerLockProvider other;

  private static LockConfiguration task(String name, Duration most, Duration least) {
    return new LockConfiguration(Instant.now(), name, most, least);
  }

  private static Optional<SimpleLock> take(LockBrokerLockProvider who, String name) {
    return who.lock(task(name, LONG, Duration.ZERO));
  }

  private static void say(Object... words) {
    StringBuilder text = new StringBuilder();
    for (Object word : words) {
      text.append(text.length() > 0 ? " " : "").append(word);
    }
    System.out.println(text);
  }

  /** Whether each of them gets it now. */
  private static void sayWho(String name) {
    for (LockBrokerLockProvider who : new LockBrokerLockProvider[] {one, other}) {
      Optional<SimpleLock> lock = take(who, name);
      lock.ifPresent(SimpleLock::unlock);
      say(name, lock.isPresent());
    }
  }

  public static void main(String[] args) throws Exception {
    try (Broker first = Broker.connect(args[0]); Broker second = Broker.connect(args[0])) {
      one = new LockBrokerLockProvider(first);
      other = new LockBrokerLockProvider(second);
      Optional<SimpleLock> lock = take(one, "a task=1");
      sayWho("a task=1");
      lock.get().unlock();
      sayWho("a task=1");

      lock = one.lock(task("least", LONG, Duration.ofSeconds(2)));
      Instant until = Instant.now().plusSeconds(2);
      lock.get().unlock();
      sayWho("least");
      while (Instant.now().isBefore(until)) {
        Thread.sleep(10);
      }
      sayWho("least");

      lock = one.lock(task("most", Duration.ofMillis(100), Duration.ZERO));
      while (take(other, "most").map((got) -> {
        got.unlock();
        return false;
      }).orElse(true)) {
        Thread.sleep(10);
      }
      say(lock.get().extend(LONG, Duration.ZERO).isPresent());

      lock = one.lock(task("longer", Duration.ofSeconds(5), Duration.ZERO));
      Optional<SimpleLock> longer = lock.get().extend(LONG, LONG);
      longer.get().unlock();
      sayWho("longer");

      new DefaultLockingTaskExecutor(one).executeWithLock((Runnable) () -> {
        sayWho("executed");
      }, task("executed", LONG, Duration.ZERO));
    }
  }
}
