package org.lockbroker;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A semaphore with a number of permits; all users of the name must give the same number. */
public final class BrokerSemaphore {
  private final Core core;
  private final String name;
  private final int limit;
  private final int permits;
  private final boolean slot;
  private final Want want;

  BrokerSemaphore(Core core, String name, int limit, int permits, boolean slot) {
    this.core = core;
    this.name = name;
    this.limit = limit;
    this.permits = permits;
    this.slot = slot;
    want = Want.permits(name, limit, permits, slot, Double.POSITIVE_INFINITY);
  }

  /** The same, but this many permits are taken at once. */
  public BrokerSemaphore withPermits(int many) {
    return new BrokerSemaphore(core, name, limit, many, slot);
  }

  /**
   * The same, but one permit is taken together with its slot: {@link Hold#slot} is a number from 0 to
   * {@code limit - 1} that no other client holds, through any broker, for a GPU, a port or a shard.
   */
  public BrokerSemaphore withSlot() {
    return new BrokerSemaphore(core, name, limit, permits, true);
  }

  /** Waits without limit. */
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
    return new Hold(core, core.take(want, wait, true, true));
  }

  /** If that many are free. */
  public Optional<Hold> tryAcquire() {
    try {
      return Optional.of(new Hold(core, core.take(want, 0, false, true)));
    } catch (LockBrokerException error) {
      if (error.code().equals("busy")) {
        return Optional.empty();
      }
      throw error;
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    }
  }

  /** Waits in a thread of the client; cancelling the future ends the wait. */
  public CompletableFuture<Hold> acquireAsync() {
    return Hold.later(this::acquire);
  }

  @Override
  public String toString() {
    return "BrokerSemaphore[" + name + ", " + limit + "]";
  }
}
