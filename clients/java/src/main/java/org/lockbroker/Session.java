package org.lockbroker;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ClosedSelectorException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;

/**
 * One connection, and the session of the broker that belongs to it: what is asked and held there, and
 * the clock by which it is safe.
 *
 * <p>All of it is used with the mutex of the {@link Core}, which is given up where a thread sleeps. Who
 * waits for an answer reads the connection itself, as to hand an answer over takes longer than to
 * read it; where others wait as well, and where nobody does, the {@link Keeper} reads.
 */
final class Session {
  static final double FROZEN = 5000; // a broker that says nothing for so long is given up
  private static final double STILL = 300; // who is later than this did not run
  private static final double CONNECT = 3000; // for one address
  private static final double TRY_AGAIN = 100; // between attempts to find the session again
  private static final double MOMENT = 1000; // so long a request waits for its session to come back
  private static final double LOOK = 200; // how often it is looked whether a broker is silent
  private static final double SOON = 20; // after which the keeper reads what nobody else does
  private static final int WARY = 8; // so often a lock is waited for at once after one was not free

  /**
   * OPEN takes requests; SHUT takes no more of them; the connection of one that is AWAY is lost, and it
   * may come back with what it holds.
   */
  enum State { NEW, OPEN, SHUT, AWAY, GONE }

  private final Core core;
  private final Condition changed;
  State state = State.NEW;
  Address place;
  /** Kinds with names that are held or asked for here. */
  final Set<String> busy = new HashSet<>();
  final Set<Grant> holds = new LinkedHashSet<>();
  private final Map<String, Call> calls = new HashMap<>(); // by tag
  private final Deque<Call> tried = new ArrayDeque<>(); // without tags, so in order
  private int tags;
  private int wary;
  private boolean silent; // a request was given up; nothing came since
  private double brisk = FROZEN; // the least silence that a request allows
  double heard = Clock.now();
  private double used = heard;
  private double due = Double.POSITIVE_INFINITY;
  private String key;
  private String broken; // why the connection that is being made has failed
  private Reply rows; // the reply whose rows are being read
  private String rowsTag;
  private int rowsLeft;
  private Wire wire;
  private Object reader; // a Thread, the keeper, or nobody

  Session(Core core) {
    this.core = core;
    changed = core.mutex.newCondition();
  }

  // The connection.

  /** To the first address that answers. */
  void connect(Limit limit) throws InterruptedException {
    List<String> why = new ArrayList<>();
    List<Address> places = core.places();
    try {
      for (int i = 0; i < places.size(); i++) {
        Address one = places.get(i);
        if (i > 0 && limit.left() <= 0) {
          why.add(one.text + ": not tried, out of time");
          continue;
        }
        String failed = connect(one,
            Math.min(CONNECT, limit.share(i + 1 < places.size())), limit);
        if (failed == null) {
          return;
        }
        why.add(one.text + ": " + failed);
      }
    } finally {
      if (state == State.NEW) {
        drop("unreachable");
      }
      changed.signalAll();
    }
    throw LockBrokerException.of("unavailable",
        "no broker answers (" + String.join("; ", why) + ")");
  }

  /** Returns why it can not be had there. */
  private String connect(Address to, double patience, Limit limit) throws InterruptedException {
    try {
      place = to;
      Reply reply = greet(to, patience, limit);
      key = reply.get("key");
      if (state == State.NEW) {
        state = State.OPEN;
      }
      return null;
    } catch (LockBrokerException error) {
      if (!List.of("unavailable", "shutdown", "limit").contains(error.code())) {
        throw error;
      }
      return failed(to, error.getMessage());
    } catch (IOException error) {
      return failed(to, error.getMessage());
    }
  }

  private String failed(Address to, String why) {
    to.fails();
    if (state == State.GONE) {
      throw LockBrokerException.gone(to.text + " stops"); // as it said
    }
    return why == null ? "no answer" : why;
  }

  /** Asks for a session; of an older broker, or where there is no place for its grace, for less. */
  private Reply greet(Address to, double patience, Limit limit)
      throws IOException, InterruptedException {
    for (;;) {
      boolean why = core.why;
      double grace = core.grace;
      try {
        return dial(to, "SESSION" + (core.label == null ? "" : " label=" + core.label)
            + (grace > 0 ? Words.optional("grace", grace) : "") + (why ? " why=yes" : ""),
            patience, limit);
      } catch (LockBrokerException error) {
        if (error.code().equals("bad-option") && why) {
          core.why = false;
        } else if (error.code().equals("limit") && grace > 0) {
          core.refusesGrace(error);
        } else {
          throw error;
        }
      }
    }
  }

  /**
   * A connection to a place, and what is to be said first there. A frozen broker is connected, too:
   * only an answer tells.
   */
  private Reply dial(Address to, String hello, double patience, Limit limit)
      throws IOException, InterruptedException {
    double end = Clock.now() + patience;
    List<SocketAddress> found;
    core.mutex.unlock();
    try {
      found = to.resolve(patience);
    } finally {
      core.mutex.lock();
    }
    IOException last = null;
    for (int i = 0; i < found.size(); i++) {
      double most = (end - Clock.now()) / (found.size() - i);
      try {
        return dial(to, found.get(i), hello, Clock.now() + most, limit);
      } catch (IOException error) {
        last = error;
      }
    }
    throw last == null ? new IOException("it has no address") : last;
  }

  private Reply dial(Address to, SocketAddress at, String hello, double end, Limit limit)
      throws IOException, InterruptedException {
    if (state == State.GONE) {
      throw new IOException("it stops");
    }
    Wire made = new Wire(this, to, at, to.secure ? core.engine(to) : null);
    attach(made);
    boolean ok = false;
    try {
      Call login = core.user == null ? null : say("AUTH " + core.user + " " + core.password, null);
      Call said = say(hello, null);
      if (login != null) {
        await(login, end, limit).check();
      }
      Reply reply = await(said, end, limit).check();
      ok = true;
      return reply;
    } finally {
      if (!ok && wire == made) {
        detach(false);
      }
      leave();
    }
  }

  private Reply await(Call call, double end, Limit limit) throws IOException, InterruptedException {
    while (!call.done && Clock.now() < end) {
      sleep(call, end - Clock.now(), limit);
    }
    if (call.error != null && call.error.again) {
      throw new IOException(broken);
    }
    if (call.error != null) {
      throw call.error;
    }
    if (!call.done) {
      throw new IOException("no answer");
    }
    return call.reply;
  }

  private void attach(Wire to) {
    wire = to;
    reader = null;
    rows = null;
    broken = "the connection was closed";
  }

  /** Ends the connection at once. */
  private void detach(boolean reset) {
    Wire old = wire;
    wire = null;
    reader = null;
    if (old != null) {
      old.close(reset);
    }
  }

  /** The connection has ended. */
  private void cut(String why) {
    broken = why;
    detach(false);
    if (state == State.NEW || state == State.AWAY) {
      fail(null);
    } else if ((!holds.isEmpty() || asked() > 0) && key != null && core.grace > 0
        && !core.closed) {
      state = State.AWAY;
      fail(null);
      Threads.run(this::comeBack);
    } else {
      drop("unreachable");
    }
  }

  private void comeBack() {
    core.mutex.lock();
    try {
      if (!comesBack()) {
        drop("unreachable");
      }
    } catch (InterruptedException error) {
      drop("unreachable");
    } finally {
      changed.signalAll();
      core.mutex.unlock();
    }
  }

  /**
   * Looks for the session as long as the broker keeps it, though it may hold nothing here: the broker
   * knows what it was granted, and was not told of what was given back meanwhile.
   */
  private boolean comesBack() throws InterruptedException {
    double end = Clock.now() + core.grace;
    Limit limit = new Limit(core.grace, 0, false);
    for (int ended = 0; Clock.now() < end && ended < core.addresses.size(); core.pause(TRY_AGAIN)) {
      ended = 0;
      for (Address one : core.addresses) {
        try {
          dial(one, "RESUME key=" + key,
              Math.min(Math.max(end - Clock.now(), 1), CONNECT), limit);
          sort(limit);
          return true;
        } catch (LockBrokerException error) {
          ended += error.code().equals("not-found") ? 1 : 0;
        } catch (IOException error) {
          broken = error.getMessage();
        }
        if (state != State.AWAY) {
          return true;
        }
      }
    }
    return false;
  }

  /**
   * What was asked for when the connection was lost may have been granted, and what is held here may
   * have been lost: the broker lists what there is.
   */
  private void sort(Limit limit) throws IOException, InterruptedException {
    Map<String, String> listed = new LinkedHashMap<>();
    double end = Clock.now() + CONNECT;
    for (String row : await(say("LIST", null), end, limit).check().rows) {
      String[] words = row.split(" ", 3);
      if (words.length > 1) {
        listed.put(words[0] + " " + words[1], row);
      }
    }
    List<Grant> kept = new ArrayList<>();
    for (Grant hold : List.copyOf(holds)) {
      if (listed.keySet().containsAll(hold.want.keys)) {
        listed.keySet().removeAll(hold.want.keys);
        kept.add(hold);
      } else {
        hold.lose("unreachable");
      }
    }
    listed.forEach((what, row) -> {
      String name = what.substring(what.indexOf(' ') + 1);
      if (what.startsWith("lock ")) {
        say("UNLOCK " + name, null);
      } else if (what.startsWith("semaphore ")) {
        say("RELEASE " + name + " permits=" + Words.field(row, "permits"), null);
      }
    });
    await(ping(List.copyOf(holds)), end, limit);
    for (Grant hold : kept) {
      if (hold.given) { // between the two answers: send() could not say it
        hold.want.names.forEach((name) -> say(hold.want.undo(name), null));
      }
    }
    if (state == State.AWAY) {
      state = State.OPEN;
    }
    settle();
    leave();
  }

  /** Waits for a moment until it is known whether it goes on. */
  void awaitReturn() throws InterruptedException {
    double end = Clock.now() + MOMENT;
    while (state == State.AWAY && Clock.now() < end) {
      core.await(changed, end - Clock.now());
    }
  }

  /** Waits until another thread has connected it. */
  void awaitOpen(Limit limit) throws InterruptedException {
    while (state == State.NEW && limit.left() > 0) {
      core.await(changed, Math.min(limit.left(), LOOK));
    }
  }

  /** Gives the session up, and with it all that it has. */
  void drop(String reason) {
    if (state == State.GONE) {
      return;
    }
    // Who still holds something may go on until that is over: a reset, unlike an end, keeps it from
    // others until then. Nor may an end cut the delay off, which begins with a loss.
    boolean promised = holds.stream()
        .anyMatch((hold) -> hold.until > Clock.now() || hold.want.delayed);
    state = State.GONE;
    for (Grant hold : List.copyOf(holds)) {
      hold.lose(reason);
    }
    core.forget(this);
    Wire old = wire;
    if (old != null && !promised) {
      wire = null;
      reader = null;
      core.keeper.farewell(old);
    } else {
      detach(true);
    }
    fail(null);
    changed.signalAll();
  }

  /** All calls fail. */
  private void fail(LockBrokerException error) {
    List<Call> all = new ArrayList<>(tried);
    all.addAll(calls.values());
    tried.clear();
    calls.clear();
    for (Call call : all) {
      call.fail(error != null ? error.again()
          : LockBrokerException.gone("the connection to " + place.text + " was lost"));
    }
  }

  // Reading.

  /** Sleeps until the call may have been answered. */
  private void sleep(Call call, double ms, Limit limit) throws InterruptedException {
    int others = calls.size() + (tried.isEmpty() ? 0 : 1);
    boolean free = reader == null || (reader == core.keeper && others <= 1);
    if (wire != null && free && !Threads.isVirtual()) {
      lead(ms, limit);
      return;
    }
    if (wire != null && reader == null) {
      watch();
    }
    try {
      call.await(ms);
    } catch (InterruptedException error) {
      limit.interrupt();
    }
  }

  /** Reads as the only one. */
  private void lead(double ms, Limit limit) throws InterruptedException {
    Wire mine = wire;
    String why = null;
    reader = Thread.currentThread();
    core.mutex.unlock();
    try {
      mine.sleep(ms);
      why = mine.read() ? null : "the connection was closed";
    } catch (IOException | RuntimeException error) {
      why = error instanceof ClosedSelectorException ? "" : String.valueOf(error.getMessage());
    } finally {
      core.mutex.lock();
      used = Clock.now();
      if (wire == mine) {
        reader = null;
        take(mine, why);
      }
    }
    if (Thread.interrupted()) {
      limit.interrupt();
    }
  }

  /** Has the keeper read; it is to do so soon. */
  private void watch() {
    reader = core.keeper;
    core.keeper.watch(wire);
  }

  /** Who read here does so no more. */
  void leave() {
    if (wire == null || reader != null) {
      return;
    }
    if (asked() > 0) {
      watch();
    } else if (!holds.isEmpty()) {
      core.keeper.wakeAt(used + SOON);
    }
  }

  /** By the keeper: there is something to be read. */
  void ready(Wire on) {
    if (wire != on || reader != core.keeper) {
      on.kept.interestOps(0);
      return;
    }
    String why = null;
    try {
      why = on.read() ? null : "the connection was closed";
      if (why == null) {
        on.keep(on.kept.selector());
      }
    } catch (IOException | RuntimeException error) {
      why = String.valueOf(error.getMessage());
    }
    take(on, why);
  }

  /** What was read; {@code why} it was the last. */
  private void take(Wire from, String why) {
    from.lines((line) -> {
      heard = Clock.now();
      silent = false;
      line(line);
      return wire == from;
    });
    if (why != null && wire == from) {
      cut(why);
    }
  }

  private void line(String line) {
    if (rows != null) {
      rows.rows.add(line);
      if (--rowsLeft == 0) {
        Reply whole = rows;
        rows = null;
        done(whole, rowsTag);
      }
      return;
    }
    if (line.startsWith("!")) {
      event(line);
      return;
    }
    int at = line.startsWith("@") ? line.indexOf(' ') : -1;
    Reply reply = new Reply(line.substring(at + 1));
    String tag = at < 0 ? null : line.substring(1, at);
    rowsLeft = reply.lines();
    if (rowsLeft > 0) {
      rows = reply;
      rowsTag = tag;
    } else {
      done(reply, tag);
    }
  }

  private void done(Reply reply, String tag) {
    Call call = tag == null ? tried.poll() : calls.remove(tag);
    if (asked() == 0) {
      brisk = FROZEN;
    }
    if (call != null) {
      call.answer(reply);
    } else if (tag == null && !reply.ok) {
      fail(reply.error()); // to no request
    } else if (tag == null) {
      drop("unreachable"); // that is no broker
    }
  }

  private void event(String text) {
    String[] words = text.split(" ", 3);
    if (words[0].equals("!LOST") && words.length > 1) {
      String kind = Words.field(text, "kind");
      String about = (kind == null ? "lock" : kind) + " " + words[1];
      String fence = Words.field(text, "fence");
      for (Grant hold : List.copyOf(holds)) {
        int at = hold.want.keys.indexOf(about);
        boolean earlier = at >= 0 && at < hold.fences.length && fence != null
            && Words.duration(fence) < hold.fences[at];
        if (at >= 0 && !earlier) {
          hold.lose(Words.field(text, "reason"));
        }
      }
    } else if (words[0].equals("!SHUTDOWN") || words[0].equals("!LEAVING")) {
      shut();
      if (words[0].equals("!SHUTDOWN")) {
        for (Grant hold : List.copyOf(holds)) {
          hold.lose("shutdown");
        }
      }
      settle();
    }
  }

  /** Takes no more requests. */
  void shut() {
    if (state != State.GONE) {
      state = State.SHUT;
      place.fails();
    }
  }

  /** Ends it if there is nothing left to do. */
  void settle() {
    if (state == State.SHUT && busy.isEmpty() && asked() == 0) {
      drop("unreachable");
    }
  }

  // Its own clock.

  /** How long what it has is safe: the least of it. */
  private double left() {
    double least = Double.POSITIVE_INFINITY;
    for (Grant hold : holds) {
      least = hold.until > 0 ? Math.min(least, hold.until) : least;
    }
    return least - Clock.now();
  }

  /** Has the keeper look at it at that time at the latest. */
  private void arm(double at) {
    if (at < due) {
      due = at;
      core.keeper.wakeAt(at);
    }
  }

  /** By the keeper. Returns when it is to look again. */
  double look(double now) {
    boolean nobody = wire != null && reader == null && state != State.NEW
        && (asked() > 0 || !holds.isEmpty());
    if (nobody && now >= used + SOON) {
      watch();
      nobody = false;
    }
    if (now >= due) {
      double late = now - due;
      due = Double.POSITIVE_INFINITY;
      tick(late);
    }
    return nobody ? Math.min(due, used + SOON) : due;
  }

  /**
   * Asks how long what it has is safe, and says when that is over. A broker that says nothing is given
   * up, as it may be frozen.
   */
  private void tick(double late) {
    double left = left();
    if (late > STILL) {
      heard += late; // it was this program
    }
    boolean frozen = asked() > 0 && Clock.now() - heard > FROZEN;
    if (left <= 0 || (frozen && holds.isEmpty())) {
      String why = "unreachable";
      for (Grant hold : holds) {
        why = hold.until > 0 && hold.until <= Clock.now() ? hold.why() : why;
      }
      drop(why);
      return;
    }
    core.lookAtOwners(this);
    if (holds.isEmpty() && asked() == 0) {
      return;
    }
    if (state != State.AWAY && wire != null) {
      ping(List.copyOf(holds));
      leave();
    }
    arm(Clock.now() + Math.min(Math.max(Math.min(left, brisk) / 3, 20), left));
  }

  /** What was granted before this is safe for as long as the broker says. */
  private Call ping(List<Grant> of) {
    double sent = Clock.now();
    Call[] made = new Call[1];
    made[0] = say("PING", (reply) -> {
      covers(of, sent, reply);
      made[0].finish(reply);
    });
    return made[0];
  }

  Call ping(Grant of) {
    return ping(List.of(of));
  }

  private void covers(List<Grant> of, double sent, Reply reply) {
    double valid = Words.duration(reply.get("valid"));
    if (valid > 0) {
      for (Grant hold : of) {
        hold.until = Math.max(hold.until, sent + valid);
      }
      arm(sent + Math.min(valid, FROZEN) / 3);
    }
  }

  // Requests.

  int asked() {
    return calls.size() + tried.size();
  }

  /** Can these keys be entered here? */
  boolean isFree(List<String> keys) {
    if (!tried.isEmpty() || silent || (state != State.OPEN && state != State.NEW)) {
      return false;
    }
    if (busy.isEmpty()) {
      return true;
    }
    if (busy.contains(Want.ALONE) || keys.contains(Want.ALONE)) {
      return false;
    }
    for (String one : keys) {
      if (busy.contains(one)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Is the lock perhaps free, and nothing else to do here? Then it is tried first: without tags a PING is
   * answered right behind it, but nothing else is meanwhile.
   */
  boolean maybeFree(List<String> keys, double rest) {
    if (busy.size() > keys.size() || !holds.isEmpty() || asked() > 0) {
      return false;
    }
    if (rest == 0 || wary == 0) {
      return true;
    }
    wary--;
    return false;
  }

  /** Is the answer to such a try the one to the request? */
  boolean isFinal(Reply reply, double rest) {
    if (reply.ok || rest == 0
        || !(reply.text.startsWith("BUSY") || reply.text.startsWith("ERR unavailable "))) {
      return true;
    }
    wary = WARY;
    return false;
  }

  /** Asks, for so long; what is granted is the grant of the call. */
  Call take(Want want, double rest) {
    Call[] made = new Call[1];
    made[0] = say(want.line + Words.optional("wait", rest), (reply) -> {
      made[0].grant = granted(want, reply);
      made[0].finish(reply);
    });
    return made[0];
  }

  /**
   * The same at once or not at all, and what is granted is safe when the call has ended. No others use
   * this session until it has been answered.
   */
  Call tryNow(Want want) {
    double sent = Clock.now();
    Reply[] first = new Reply[1];
    Call[] made = new Call[1];
    Call call = new Call(core.mutex, (reply) -> {
      first[0] = reply;
      made[0].grant = granted(want, reply);
      if (made[0].grant == null) {
        made[0].finish(reply);
      }
    });
    made[0] = call;
    Call pong = new Call(core.mutex, (reply) -> {
      if (call.grant != null) {
        covers(List.of(call.grant), sent, reply);
        call.finish(first[0]);
      }
    });
    pong.then(() -> {
      if (pong.error != null && call.grant != null) {
        call.fail(pong.error);
      }
    });
    if (wire == null) {
      call.fail(noWire());
      return call;
    }
    hush();
    tried.add(call);
    tried.add(pong);
    write(want.line + " wait=0\r\nPING\r\n");
    return call;
  }

  private LockBrokerException noWire() {
    return LockBrokerException.gone("the connection to " + place.text + " was lost");
  }

  private Grant granted(Want want, Reply reply) {
    if (!reply.ok) {
      return null;
    }
    Grant hold = new Grant(this, want, reply);
    holds.add(hold);
    return hold;
  }

  /** To be answered by whatever the broker says; fails at once if the session is away. */
  Call send(String line) {
    if (state == State.AWAY) {
      Call call = new Call(core.mutex, null);
      call.fail(noWire());
      return call;
    }
    return say(line, null);
  }

  private Call say(String line, Consumer<Reply> at) {
    Call call = new Call(core.mutex, at);
    if (wire == null) {
      call.fail(noWire());
      return call;
    }
    hush();
    call.tag = Integer.toString(++tags);
    calls.put(call.tag, call);
    write("@" + call.tag + " " + line + "\r\n");
    return call;
  }

  /** The request is to wait no longer. */
  void cancel(Call call) {
    if (calls.containsKey(call.tag)) {
      send("CANCEL " + call.tag);
    }
  }

  /** From now on the broker's silence counts, unless it does already. */
  private void hush() {
    if (asked() == 0) {
      heard = Clock.now();
    }
  }

  private void write(String text) {
    if (!wire.write(text)) {
      if (reader == core.keeper) {
        watch();
      } else {
        wire.wake();
      }
    }
    arm(Clock.now() + brisk / 3);
  }

  /** A request allows so much silence: it is asked meanwhile whether it lives. */
  private void allow(double silence) {
    if (silence < brisk) {
      brisk = Math.max(silence, 60);
      arm(Clock.now() + brisk / 3);
    }
  }

  /**
   * Waits for the reply, but no longer than the limit allows, nor while the broker is silent for longer
   * than its share of that.
   */
  Reply answer(Call call, Limit limit) throws InterruptedException {
    try {
      await(call, limit);
    } finally {
      leave();
    }
    if (call.error != null) {
      throw call.error;
    }
    limit.quiet = Clock.now();
    return call.reply;
  }

  private void await(Call call, Limit limit) throws InterruptedException {
    if (call.done) {
      return;
    }
    double sent = Clock.now();
    double begun = sent;
    // Another address, or, where there is time, this one by another connection.
    boolean others = limit.left() > 2 * core.patience || core.hasOther(place);
    double allowed = Math.min(FROZEN, limit.share(others));
    allow(allowed);
    double every = Math.min(LOOK, Math.max(20, Math.min(allowed, limit.left()) / 4));
    double next = sent + every;
    while (!call.done) {
      double now = Clock.now();
      if (now < next) {
        sleep(call, next - now, limit);
        continue;
      }
      double late = now - next;
      next = now + every;
      if (late > STILL) {
        limit.still(late);
        begun += late;
      }
      if (heard > sent) {
        limit.quiet = Math.max(limit.quiet, heard);
      }
      double quiet = now - Math.max(begun, heard);
      if (quiet > allowed || limit.left() <= 0) {
        throw givesUp(quiet > allowed / 2);
      }
    }
  }

  private LockBrokerException givesUp(boolean isSilent) {
    if (!isSilent) {
      return LockBrokerException.gone(place.text + " did not answer this request in time");
    }
    silent = true;
    place.fails();
    return LockBrokerException.gone(place.text + " does not answer");
  }
}
