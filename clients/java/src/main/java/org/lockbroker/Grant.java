package org.lockbroker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a session has been granted: locks, or permits of a semaphore. All but {@code fences} and
 * {@code slot} is used with the mutex of the {@link Core}.
 */
final class Grant {
  /** An answer is older than its arrival by less. */
  private static final double BRIEF = 1000;
  private static final Map<String, String> REASONS = Map.of(
      "unreachable", ": no broker could confirm it in time",
      "hold", ": its hold= is over",
      "forced", ": an administrator ended it",
      "taken", ": somebody else has it in Redis",
      "shutdown", ": the broker stops",
      "closed", ": its Broker was closed",
      "drill", ": this is a drill; let go of it now");

  final Session session;
  final Want want;
  final long[] fences;
  /** -1: it has none. */
  final int slot;
  private double ends;
  private List<Runnable> told;
  /** Safe until then, by Clock.now(); 0: no PING has covered it yet. */
  volatile double until;
  /** Lost, or given back. */
  volatile boolean over;
  /** It was given back. */
  boolean given;
  LockBrokerException error;
  /** Whose it is, and how often; null: of no thread. */
  Thread owner;
  /** ... and only that thread can give it back. */
  boolean bound;
  int depth = 1;

  Grant(Session session, Want want, Reply reply) {
    this.session = session;
    this.want = want;
    ends = Clock.now() + want.hold;
    String given = reply.get("slot");
    slot = given == null ? -1 : Integer.parseInt(given);
    String fence = reply.get("fence");
    String[] each = fence == null ? new String[0] : fence.split(",");
    fences = new long[each.length];
    for (int i = 0; i < each.length; i++) {
      fences[i] = Long.parseLong(each[i]);
    }
  }

  void lose(String given) {
    if (over) {
      return;
    }
    String why = given == null ? "unreachable" : given;
    leave();
    error = new LostException("lost", String.join(", ", want.names) + " was lost (" + why + ")"
        + REASONS.getOrDefault(why, "")).because(why);
    error.saying(want.names);
    List<Runnable> all = told;
    told = null;
    if (all != null) {
      all.forEach(Threads::run);
    }
  }

  void leave() {
    over = true;
    session.holds.remove(this);
  }

  /** Runs it, in a thread of its own, when this is lost. */
  void onLost(Runnable what) {
    if (error != null) {
      Threads.run(what);
    } else if (!over) {
      told = told == null ? new ArrayList<>(1) : told;
      told.add(what);
    }
  }

  /** For so long nobody else can have it; with 0 it is lost. */
  double valid() {
    if (over) {
      return 0;
    }
    double left = until - Clock.now();
    if (left > 0) {
      return left;
    }
    session.drop(why());
    return 0;
  }

  double endsAt() {
    return ends;
  }

  /** It ends then, or earlier. */
  void bounded(double at) {
    ends = at;
    until = Math.min(until, at);
  }

  /** Was it lost because of hold=? */
  boolean isBoundOver() {
    return error instanceof LostException && ((LostException) error).reason().equals("hold");
  }

  /** Why the last valid= is over: hold= bounded it, or no other came. */
  String why() {
    return ends - until < BRIEF ? "hold" : "unreachable";
  }
}
