package org.lockbroker;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The thread of a {@link Core} that reads where nobody else does, asks in time for how long what is held
 * is safe, and tells of losses. All of it is used with the mutex of the Core.
 */
final class Keeper implements Runnable {
  private static final double QUIT = 1000; // so long an answer to QUIT is waited for

  private final Core core;
  private final Selector selector;
  private final Set<Wire> ending = new HashSet<>();
  private double wakeAt = Double.POSITIVE_INFINITY;
  private Thread thread;

  Keeper(Core core) {
    this.core = core;
    try {
      selector = Selector.open();
      SocketChannel.open().close(); // Java loads what it needs for that, which takes descriptors
    } catch (IOException error) {
      throw LockBrokerException.of("unavailable",
          "no broker can be asked: " + error.getMessage());
    }
  }

  private void start() {
    if (thread == null) {
      thread = Threads.daemon(this, "lockbroker");
      thread.start();
    }
  }

  /** Looks at all sessions at that time at the latest. */
  void wakeAt(double at) {
    if (at < wakeAt) {
      wakeAt = at;
      start();
      selector.wakeup();
    }
  }

  /** Reads there from now on, as long as the session says that it is the reader. */
  void watch(Wire wire) {
    start();
    try {
      wire.keep(selector);
    } catch (IOException | RuntimeException error) {
      wire.wake(); // it has ended; who reads next is told so
    }
    selector.wakeup();
  }

  /** Says goodbye there, and ends it when the other side has. */
  void farewell(Wire wire) {
    wire.session = null;
    wire.endsAt = Clock.now() + QUIT;
    wire.quit();
    wire.wake();
    ending.add(wire);
    watch(wire);
    wakeAt(wire.endsAt);
  }

  boolean isEnding() {
    return !ending.isEmpty();
  }

  /** The core is closed. */
  void stop() {
    if (thread == null) {
      end();
    }
    selector.wakeup();
  }

  private void end() {
    try {
      selector.close();
    } catch (IOException error) {
      return; // it is of no use any more, either way
    }
  }

  @Override
  public void run() {
    core.mutex.lock();
    try {
      while (!core.closed || isEnding()) {
        look();
        sleep();
        read();
      }
    } catch (IOException | ClosedSelectorException error) {
      core.fails(error);
    } finally {
      end();
      core.mutex.unlock();
    }
  }

  private void look() {
    double now = Clock.now();
    if (now < wakeAt) {
      return;
    }
    core.lookAtDropped();
    wakeAt = Double.POSITIVE_INFINITY;
    double next = wakeAt;
    for (Session session : core.sessions()) {
      next = Math.min(next, session.look(now));
    }
    for (Wire wire : List.copyOf(ending)) {
      if (wire.endsAt <= now) {
        finish(wire);
      } else {
        next = Math.min(next, wire.endsAt);
      }
    }
    wakeAt = Math.min(wakeAt, next);
  }

  private void sleep() throws IOException {
    double left = wakeAt - Clock.now();
    core.mutex.unlock();
    try {
      if (left == Double.POSITIVE_INFINITY) {
        selector.select();
      } else {
        selector.select(Math.max(1, (long) Math.ceil(left)));
      }
    } finally {
      core.mutex.lock();
    }
  }

  private void read() {
    List<SelectionKey> ready = new ArrayList<>(selector.selectedKeys());
    selector.selectedKeys().clear();
    for (SelectionKey key : ready) {
      Wire wire = (Wire) key.attachment();
      if (!key.isValid()) {
        continue;
      }
      if (wire.session != null) {
        wire.session.ready(wire);
      } else if (isOver(wire)) {
        finish(wire);
      }
    }
  }

  private static boolean isOver(Wire wire) {
    try {
      boolean more = wire.read();
      wire.lines((line) -> true);
      return !more;
    } catch (IOException | RuntimeException error) {
      return true;
    }
  }

  private void finish(Wire wire) {
    ending.remove(wire);
    wire.close(false);
    core.ended.signalAll();
  }
}
