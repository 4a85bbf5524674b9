package org.lockbroker;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * The lock of a name, or of several, all or none. Any number of threads may use one object, or objects of
 * the same name: they exclude each other, like the programs of other hosts. A thread that holds it may
 * take it again, and must release it as often.
 *
 * <p>{@link #acquire()} gives a {@link Hold}, for {@code try (...)}. The methods of {@link Lock} are for
 * code that is written for one; they throw if no broker can grant, and {@link #unlock()} throws {@link
 * LostException} if the lock was lost.
 */
public final class BrokerLock implements Lock {
  private final Core core;
  private final List<String> names;
  private final boolean shared;
  private final double hold;
  private final double keep;
  private final double delay;
  private final String value;
  private final String trace;
  private final Want want;

  BrokerLock(Core core, List<String> names, boolean shared, double hold, double keep,
      double delay, String value, String trace) {
    this.core = core;
    this.names = names;
    this.shared = shared;
    this.hold = hold;
    this.keep = keep;
    this.delay = delay;
    this.value = value;
    this.trace = trace;
    want = Want.lock(names, shared, hold, keep, delay, value, trace);
  }

  /** The same, but it is lost after this time from each grant: the maximum hold time. */
  public BrokerLock withHold(Duration time) {
    return new BrokerLock(core, names, shared, positive(time, "hold"), keep, delay,
        value, trace);
  }

  /** The same, but no other client gets it before this time after each grant, however early it is released. */
  public BrokerLock withKeep(Duration time) {
    return new BrokerLock(core, names, shared, hold, positive(time, "keep"), delay,
        value, trace);
  }

  /** The same, but no other client gets it before this time after an end without a release, such as a crash. */
  public BrokerLock withDelay(Duration time) {
    return new BrokerLock(core, names, shared, hold, keep, positive(time, "delay"),
        value, trace);
  }

  /** The same, with a word that others read with {@link Broker#value} while it is held, as an address. */
  public BrokerLock withValue(String word) {
    return new BrokerLock(core, names, shared, hold, keep, delay,
        Objects.requireNonNull(word, "value"), trace);
  }

  /**
   * The same, with a {@code traceparent} of W3C Trace Context, which the log of the broker shows,
   * instead of {@link Broker.Builder#trace}.
   */
  public BrokerLock withTrace(String traceparent) {
    return new BrokerLock(core, names, shared, hold, keep, delay, value,
        Objects.requireNonNull(traceparent, "trace"));
  }

  private static double positive(Duration time, String what) {
    return Words.millis(Objects.requireNonNull(time, what), what);
  }

  public List<String> names() {
    return names;
  }

  /** Of the trace in which the calling thread is, unless it has one. */
  private Want wanted() {
    return trace != null ? want : want.traced(core.trace());
  }

  // Blocks.

  /** Waits for it without limit. */
  public Hold acquire() throws InterruptedException {
    return acquire(Double.POSITIVE_INFINITY);
  }

  /**
   * Waits for this time at most.
   *
   * @throws LockBrokerException with the code {@code timeout}, or {@code busy} where it was not to wait
   */
  public Hold acquire(Duration wait) throws InterruptedException {
    return acquire(Words.millis(Objects.requireNonNull(wait, "wait"), "wait"));
  }

  private Hold acquire(double wait) throws InterruptedException {
    return new Hold(core, core.take(wanted(), wait, true, false));
  }

  /** If it is free. */
  public Optional<Hold> tryAcquire() {
    Grant grant = tryTake();
    return grant == null ? Optional.empty() : Optional.of(new Hold(core, grant));
  }

  /**
   * Waits in a thread of the client, or a virtual one where there are some. It belongs to no thread, so
   * that it is not reentrant. Cancelling the future ends the wait.
   */
  public CompletableFuture<Hold> lockAsync() {
    return lockAsync(Double.POSITIVE_INFINITY);
  }

  /** The same, for this time at most; it ends with a {@link LockBrokerException}. */
  public CompletableFuture<Hold> lockAsync(Duration wait) {
    return lockAsync(Words.millis(Objects.requireNonNull(wait, "wait"), "wait"));
  }

  private CompletableFuture<Hold> lockAsync(double wait) {
    Want mine = wanted();
    return Hold.later(() -> new Hold(core, core.take(mine, wait, true, true)));
  }

  // As a Lock.

  /**
   * Waits for it without limit.
   *
   * @throws UnavailableException where no broker has answered for ten seconds, or can grant
   */
  @Override
  public void lock() {
    bind(uninterrupted(Double.POSITIVE_INFINITY));
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    bind(core.take(wanted(), Double.POSITIVE_INFINITY, true, false));
  }

  @Override
  public boolean tryLock() {
    return bind(tryTake());
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    double wait = Math.max(0, unit.toNanos(time) / 1e6);
    try {
      return bind(core.take(wanted(), wait, true, false));
    } catch (LockBrokerException error) {
      return refused(error);
    }
  }

  /**
   * Releases it.
   *
   * @throws LostException if it was lost before
   * @throws IllegalMonitorStateException if this thread does not hold it
   */
  @Override
  public void unlock() {
    core.release(mine(), null);
  }

  /** Not supported: conditions do not work across hosts. */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "a lock of several hosts has no conditions; a second lock or a queue may do");
  }

  private Grant uninterrupted(double wait) {
    try {
      return core.take(wanted(), wait, false, false);
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    }
  }

  /** Null if it is refused. */
  private Grant tryTake() {
    try {
      return uninterrupted(0);
    } catch (LockBrokerException error) {
      refused(error);
      return null;
    }
  }

  private static boolean refused(LockBrokerException error) {
    if (error.code().equals("busy") || error.code().equals("timeout")) {
      return false;
    }
    throw error;
  }

  /** A hold of lock() can be released by its thread only. */
  private static boolean bind(Grant grant) {
    if (grant != null) {
      grant.bound = true;
    }
    return grant != null;
  }

  // The hold of the calling thread.

  private Grant find() {
    core.mutex.lock();
    try {
      return core.find(want);
    } finally {
      core.mutex.unlock();
    }
  }

  private Grant mine() {
    Grant grant = find();
    if (grant == null) {
      throw new IllegalMonitorStateException(
          String.join(", ", names) + " is not held by this thread");
    }
    return grant;
  }

  public boolean isHeldByCurrentThread() {
    return find() != null;
  }

  /** Of the first name. It rises with each exclusive grant: pass it to the protected resource. */
  public long fence() {
    return mine().fences[0];
  }

  /** Of each name. */
  public long[] fences() {
    return mine().fences.clone();
  }

  /** The time for which no other client can get it; zero if it is lost, or not held by this thread. */
  public Duration valid() {
    Grant grant = find();
    return grant == null ? Duration.ZERO : Hold.valid(core, grant);
  }

  /** Has this thread lost it without a release? */
  public boolean isLost() {
    return Hold.isLost(core, mine());
  }

  /** Changes the value that {@link Broker#value} returns for the lock of this thread. */
  public void setValue(String word) {
    core.setValue(mine(), Objects.requireNonNull(word, "value"));
  }

  /** Runs this once, in a thread of its own, when the hold of this thread is lost. */
  public void onLost(Runnable action) {
    Grant grant = mine();
    core.mutex.lock();
    try {
      grant.onLost(action);
    } finally {
      core.mutex.unlock();
    }
  }

  @Override
  public String toString() {
    return "BrokerLock[" + String.join(", ", names) + (shared ? ", shared" : "") + "]";
  }
}
