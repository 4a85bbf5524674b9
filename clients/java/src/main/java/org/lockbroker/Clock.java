package org.lockbroker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A clock that is never set, in milliseconds. System.nanoTime() stops while the host is suspended
 * and /proc/uptime does not, but that is a file; so it is read only when the time of day has moved
 * against the other clock.
 */
final class Clock {
  private static final Path UPTIME = Path.of("/proc/uptime");
  private static final double MOVED = 20;
  private static final ReentrantLock mutex = new ReentrantLock();
  private static final double started = uptime() - awake();
  private static volatile double apart = System.currentTimeMillis() - awake();
  private static volatile double asleep;

  private Clock() {}

  static double now() {
    double awake = awake();
    double moved = System.currentTimeMillis() - awake - apart;
    if (moved > MOVED || moved < -MOVED) {
      look(awake);
    }
    return awake + asleep;
  }

  private static void look(double awake) {
    mutex.lock();
    try {
      apart = System.currentTimeMillis() - awake();
      double since = uptime() - awake - started;
      asleep = since < Double.POSITIVE_INFINITY ? Math.max(asleep, since) : asleep;
    } finally {
      mutex.unlock();
    }
  }

  private static double awake() {
    return System.nanoTime() / 1e6;
  }

  private static double uptime() {
    try {
      String text = Files.readString(UPTIME);
      return Double.parseDouble(text.substring(0, text.indexOf(' '))) * 1000;
    } catch (IOException | RuntimeException error) {
      return Double.NaN; // it is unknown here
    }
  }
}
