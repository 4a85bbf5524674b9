package org.lockbroker.shedlock;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.lockbroker.Broker;
import org.lockbroker.BrokerLock;
import org.lockbroker.Hold;
import org.lockbroker.LockBrokerException;
import org.lockbroker.LostException;

/**
 * ShedLock with the locks of lockbroker: {@code lockAtMostFor} is {@code hold=}, {@code lockAtLeastFor} is
 * {@code keep=}, both by the clock of the broker. The lock of a task is named {@code shedlock/TASK}, and
 * is lost with its program.
 */
public final class LockBrokerLockProvider implements ExtensibleLockProvider {
  private static final String PREFIX = "shedlock/";

  private final Broker broker;
  private final String prefix;
  /** Who had a name may have it again while it is kept from others, but not here: by nanoTime(). */
  private final Map<String, Long> kept = new ConcurrentHashMap<>();

  public LockBrokerLockProvider(Broker broker) {
    this(broker, PREFIX);
  }

  /** With another beginning of the names. */
  public LockBrokerLockProvider(Broker broker, String prefix) {
    this.broker = Objects.requireNonNull(broker, "broker");
    this.prefix = Objects.requireNonNull(prefix, "prefix");
  }

  @Override
  public Optional<SimpleLock> lock(LockConfiguration task) {
    kept.values().removeIf((until) -> until - System.nanoTime() <= 0);
    String name = prefix + escaped(task.getName());
    if (kept.containsKey(name)) {
      return Optional.empty();
    }
    BrokerLock lock = broker.lock(name).withHold(task.getLockAtMostFor());
    Duration least = task.getLockAtLeastFor();
    lock = least.isZero() ? lock : lock.withKeep(least);
    try {
      // It belongs to no thread: who has it is refused as well.
      Hold hold = lock.lockAsync(Duration.ZERO).join();
      keep(name, least);
      return Optional.of(new Held(task, name, hold));
    } catch (CompletionException error) {
      return refused(task, name, error);
    }
  }

  private Optional<SimpleLock> refused(LockConfiguration task, String name,
      CompletionException error) {
    if (!(error.getCause() instanceof LockBrokerException)) {
      throw error;
    }
    LockBrokerException why = (LockBrokerException) error.getCause();
    switch (why.code()) {
      case "busy":
      case "timeout":
        return Optional.empty();
      case "lost":
        // It was granted, and lockAtMostFor is over already.
        return ((LostException) why).reason().equals("hold")
            ? Optional.of(new Held(task, name, null)) : Optional.empty();
      default:
        throw why;
    }
  }

  private void keep(String name, Duration least) {
    if (!least.isZero()) {
      kept.put(name, System.nanoTime() + least.toNanos());
    }
  }

  /** What no name may have. */
  private static String escaped(String name) {
    StringBuilder text = new StringBuilder();
    for (char one : name.toCharArray()) {
      boolean plain = one > ' ' && one != 0x7f && one != '=' && one != '%';
      text.append(plain ? String.valueOf(one) : String.format("%%%02X", (int) one));
    }
    return text.toString();
  }

  private final class Held extends AbstractSimpleLock {
    private final String name;
    private final Hold hold; // null: it is over

    Held(LockConfiguration task, String name, Hold hold) {
      super(task);
      this.name = name;
      this.hold = hold;
    }

    @Override
    protected void doUnlock() {
      try {
        if (hold != null) {
          hold.close();
        }
      } catch (LostException error) {
        return; // lockAtMostFor is over
      }
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration longer) {
      try {
        if (hold == null) {
          return Optional.empty();
        }
        hold.extend(longer.getLockAtMostFor());
        Duration least = longer.getLockAtLeastFor();
        if (!least.isZero()) {
          hold.keep(least);
          keep(name, least);
        }
        return Optional.of(new Held(longer, name, hold));
      } catch (LostException error) {
        return Optional.empty();
      }
    }
  }
}
