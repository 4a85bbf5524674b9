package org.lockbroker;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A hold of a program: until it is released or lost. Its methods may be called in any thread. A hold
 * that is dropped without {@link #close()} is released by the garbage collector, with a warning.
 */
public final class Hold implements AutoCloseable {
  /** A request for one that sleeps until it is granted. */
  interface Take {
    Hold take() throws InterruptedException;
  }

  private final Core core;
  private final Grant grant;
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Trace trace;

  /** The rest of a hold that the program has dropped. */
  static final class Trace extends PhantomReference<Hold> {
    final Grant grant;

    Trace(Hold hold, ReferenceQueue<Hold> queue) {
      super(hold, queue);
      grant = hold.grant;
    }
  }

  Hold(Core core, Grant grant) {
    this.core = core;
    this.grant = grant;
    trace = core.trace(this);
  }

  /** In a thread of its own, which ends if the future is cancelled. */
  static CompletableFuture<Hold> later(Take take) {
    CompletableFuture<Hold> future = new CompletableFuture<>();
    Threads.wait(() -> {
      Thread mine = Thread.currentThread();
      AtomicBoolean waits = new AtomicBoolean(true);
      future.whenComplete((hold, error) -> {
        if (waits.getAndSet(false)) {
          mine.interrupt();
        }
      });
      try {
        Hold hold = take.take();
        waits.set(false);
        if (!future.complete(hold)) {
          hold.close();
        }
      } catch (InterruptedException | RuntimeException error) {
        waits.set(false);
        future.completeExceptionally(error);
      }
    });
    return future;
  }

  public List<String> names() {
    return grant.want.names;
  }

  /** Of the first name. It rises with each exclusive grant: pass it to the protected resource. */
  public long fence() {
    if (grant.fences.length == 0) {
      throw new UnsupportedOperationException("permits of a semaphore have no fence");
    }
    return grant.fences[0];
  }

  /** Of each name. */
  public long[] fences() {
    return grant.fences.clone();
  }

  /**
   * The number that it was granted by {@link BrokerSemaphore#withSlot}: only its holder uses the GPU,
   * the port or the shard of that number. Without that it is -1.
   */
  public int slot() {
    return grant.slot;
  }

  /** The time for which no other client can get it; zero if it is lost, or released. */
  public Duration valid() {
    return closed.get() ? Duration.ZERO : valid(core, grant);
  }

  static Duration valid(Core core, Grant grant) {
    core.mutex.lock();
    try {
      return Duration.ofNanos((long) (grant.valid() * 1e6));
    } finally {
      core.mutex.unlock();
    }
  }

  /** Is it lost, or no longer safe by this host's own clock? */
  public boolean isLost() {
    return isLost(core, grant);
  }

  static boolean isLost(Core core, Grant grant) {
    core.mutex.lock();
    try {
      return !grant.given && grant.valid() == 0 || grant.error != null;
    } finally {
      core.mutex.unlock();
    }
  }

  /** Throws if it is lost, or was released. */
  public void check() throws LostException {
    if (closed.get()) {
      throw LockBrokerException.of("not-held", String.join(", ", names()) + " was given back");
    }
    core.mutex.lock();
    try {
      if (grant.valid() == 0 && grant.error != null) {
        throw grant.error.again();
      }
    } finally {
      core.mutex.unlock();
    }
  }

  /** Runs this once, in a thread of its own, when the lock is lost, or now if it is lost already. */
  public void onLost(Runnable action) {
    core.mutex.lock();
    try {
      grant.onLost(action);
    } finally {
      core.mutex.unlock();
    }
  }

  /** Changes the value that {@link Broker#value} returns. */
  public void setValue(String word) throws LostException {
    core.setValue(grant, Objects.requireNonNull(word, "value"));
  }

  /** It is lost after this time from now, if it was taken withHold(). */
  public void extend(Duration hold) throws LostException {
    core.extend(grant, Objects.requireNonNull(hold, "hold"), null);
  }

  /** No other client gets it before this time from now, however early it is released. */
  public void keep(Duration time) throws LostException {
    core.extend(grant, null, Objects.requireNonNull(time, "keep"));
  }

  /**
   * Releases it; a second time does nothing.
   *
   * @throws LostException if it was lost before
   */
  @Override
  public void close() throws LostException {
    if (!closed.getAndSet(true)) {
      core.release(grant, trace);
    }
  }

  @Override
  public String toString() {
    return "Hold[" + String.join(", ", names()) + (closed.get() ? ", given back" : "") + "]";
  }
}
