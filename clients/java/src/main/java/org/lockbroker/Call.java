package org.lockbroker;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/** A request whose reply is to come. All of it is used with the mutex of the {@link Core}. */
final class Call {
  private final ReentrantLock mutex;
  private final Consumer<Reply> at;
  private Condition condition;
  private Runnable then;
  /** Null if it has none. */
  String tag;
  boolean done;
  Reply reply;
  LockBrokerException error;
  /** Its grant. */
  Grant grant;

  /** {@code at} is called with the reply before any later line of the broker is handled. */
  Call(ReentrantLock mutex, Consumer<Reply> at) {
    this.mutex = mutex;
    this.at = at;
  }

  void answer(Reply said) {
    if (at != null) {
      at.accept(said);
    } else {
      finish(said);
    }
  }

  void finish(Reply said) {
    if (!done) {
      reply = said;
      end();
    }
  }

  void fail(LockBrokerException why) {
    if (!done) {
      error = why;
      end();
    }
  }

  private void end() {
    done = true;
    if (condition != null) {
      condition.signalAll();
    }
    if (then != null) {
      then.run();
    }
  }

  /** Runs that at its end, or now. */
  void then(Runnable what) {
    if (done) {
      what.run();
    } else {
      then = what;
    }
  }

  /** Waits for its end, but not for longer than this. */
  void await(double ms) throws InterruptedException {
    if (condition == null) {
      condition = mutex.newCondition();
    }
    if (!done) {
      condition.await((long) (ms * 1e6), TimeUnit.NANOSECONDS);
    }
  }
}
