package org.lockbroker;

import java.util.ArrayList;
import java.util.List;

/** What is asked for: its words, and those that give it back. */
final class Want {
  /**
   * The key of what ends by {@code hold=}: that bounds the {@code valid=} of all that its session has,
   * so that it gets a session of its own.
   */
  static final String ALONE = "alone";

  final List<String> names;
  final String all;
  /** Kinds with names. */
  final List<String> keys;
  /** What is entered at its session. */
  final List<String> busy;
  final String line;
  final boolean shared;
  /** Infinite if it is not bounded. */
  final double hold;
  /** It has a {@code delay=}. */
  final boolean delayed;
  private final String undo;
  private final String undoRest;

  private Want(String kind, List<String> names, String line, String rest, boolean shared,
      double hold, boolean delayed, String undo, String undoRest) {
    this.names = names;
    this.all = String.join(" ", names);
    this.line = line + " " + all + rest;
    this.shared = shared;
    this.hold = hold;
    this.delayed = delayed;
    this.undo = undo;
    this.undoRest = undoRest;
    keys = new ArrayList<>();
    for (String name : names) {
      keys.add(kind + " " + Words.name(name));
    }
    busy = new ArrayList<>(keys);
    if (hold != Double.POSITIVE_INFINITY) {
      busy.add(ALONE);
    }
  }

  static Want lock(List<String> names, boolean shared, double hold, double keep, double delay,
      String value, String trace) {
    if (names.isEmpty()) {
      throw LockBrokerException.of("bad-request", "a lock has a name");
    }
    return new Want("lock", names, "LOCK",
        (shared ? " mode=shared" : "") + bound(hold) + Words.optional("keep", keep)
            + Words.optional("delay", delay)
            + (value == null ? "" : " value=" + Words.option(value))
            + (trace == null ? "" : " trace=" + Words.option(trace)),
        shared, hold, delay != Double.POSITIVE_INFINITY, "UNLOCK ", "");
  }

  static Want permits(String name, int limit, int permits, boolean slot, double hold) {
    if (limit < 1 || permits < 1 || permits > limit) {
      throw LockBrokerException.of("bad-option",
          permits + " of " + limit + " permits can not be had");
    }
    if (slot && permits > 1) {
      throw LockBrokerException.of("bad-option",
          "a slot goes with one permit, not with " + permits);
    }
    String many = " permits=" + permits;
    return new Want("semaphore", List.of(name), "ACQUIRE",
        " limit=" + limit + (slot ? " slot=yes" : many) + bound(hold), true, hold, false,
        "RELEASE ", many);
  }

  /** What the broker knows of a name; there is nothing to give back. */
  static Want status(String name) {
    return new Want("query", List.of(name), "STATUS", "", true, Double.POSITIVE_INFINITY, false,
        "", "");
  }

  private static String bound(double hold) {
    if (hold == 0) {
      throw LockBrokerException.of("bad-option", "hold=0 would be without end; leave it out");
    }
    return Words.optional("hold", hold);
  }

  /** The same, as a part of that trace; null: of none. */
  Want traced(String trace) {
    return trace == null ? this : new Want(this, " trace=" + Words.option(trace));
  }

  private Want(Want other, String more) {
    names = other.names;
    all = other.all;
    keys = other.keys;
    busy = other.busy;
    line = other.line + more;
    shared = other.shared;
    hold = other.hold;
    delayed = other.delayed;
    undo = other.undo;
    undoRest = other.undoRest;
  }

  /** What gives back that name, or all. */
  String undo(String name) {
    return undo + name + undoRest;
  }
}
