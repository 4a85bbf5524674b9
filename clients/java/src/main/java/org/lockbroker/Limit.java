package org.lockbroker;

/**
 * How long one call may take: its wait and the patience, not counting time in which the program did
 * not run; without a wait, SILENCE from the last answer. And whether an interrupt ends it: if not,
 * it is remembered. All times are milliseconds. It belongs to one thread.
 */
final class Limit {
  /** Without a wait, so long no broker may answer in a row. */
  static final double SILENCE = 10000;

  private final double patience;
  private final boolean interruptible;
  private double hard;
  private boolean interrupted;
  /** No broker has answered since. */
  double quiet = Clock.now();

  Limit(double patience, double wait, boolean interruptible) {
    this.patience = patience;
    this.interruptible = interruptible;
    hard = quiet + wait + patience;
  }

  double left() {
    return (hard == Double.POSITIVE_INFINITY ? quiet + SILENCE : hard) - Clock.now();
  }

  /** So much of that for one address, if there are others to try. */
  double share(boolean others) {
    double left = Math.max(0, left());
    return others ? Math.max(left / 2, Math.min(left, patience / 2)) : left;
  }

  /** The program stood still for so long. */
  void still(double ms) {
    quiet += ms;
    hard += ms;
  }

  /** The thread was interrupted, and its flag is cleared. */
  void interrupt() throws InterruptedException {
    if (interruptible) {
      throw new InterruptedException();
    }
    interrupted = true;
  }

  /** At the end of the call. */
  void restore() {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
