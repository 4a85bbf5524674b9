package org.lockbroker;

import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * Sessions to whichever of the addresses answers first, and what is asked there. Its mutex is held in
 * all that is called here, but where a thread sleeps. On one session there is at most one hold or
 * request for a name; a further one takes another session.
 */
final class Core {
  private static final int IDLE = 8; // so many sessions without work are kept
  private static final double RETRY = 200; // so long a request waits at least at a second broker
  private static final double TRY_AGAIN = 100; // between attempts to find a broker
  private static final double CLOSE = 1500; // so long the end of connections is waited for
  static final System.Logger LOG = System.getLogger("org.lockbroker");

  final ReentrantLock mutex = new ReentrantLock();
  final Condition ended = mutex.newCondition();
  private final Condition never = mutex.newCondition();
  final List<Address> addresses;
  final String user;
  final String password;
  final String label;
  final double patience;
  /** Who knows the trace in which a thread is; or null. */
  private final Supplier<String> trace;
  /** Zero where the broker refuses it. */
  double grace;
  /** What a refusal is to tell. */
  boolean why = true;
  boolean closed;
  final Keeper keeper;
  private final SSLContext tls;
  private final Set<Session> sessions = new LinkedHashSet<>();
  private final Map<Owner, Grant> owned = new HashMap<>();
  private final Set<Hold.Trace> traces = new HashSet<>();
  private final ReferenceQueue<Hold> dropped = new ReferenceQueue<>();

  Core(List<Address> addresses, String user, String password, String label, double patience,
      double grace, SSLContext tls, Supplier<String> trace) {
    this.addresses = addresses;
    this.user = user;
    this.password = password;
    this.label = label;
    this.patience = patience;
    this.grace = grace;
    this.tls = tls;
    this.trace = trace;
    keeper = new Keeper(this);
  }

  SSLEngine engine(Address place) {
    return Tls.engine(tls, place);
  }

  /** What did not answer a moment ago comes last. */
  List<Address> places() {
    List<Address> found = new ArrayList<>(addresses);
    found.sort(Comparator.comparing(Address::isBad));
    return found;
  }

  boolean hasOther(Address place) {
    return addresses.stream().anyMatch((one) -> one != place && !one.isBad());
  }

  void refusesGrace(LockBrokerException error) {
    if (grace > 0) {
      grace = 0;
      LOG.log(System.Logger.Level.WARNING, "locks will not survive a lost connection: "
          + "the broker refuses grace=: " + error.getMessage());
    }
  }

  /** Of which trace the calling thread's request is a part, or null. */
  String trace() {
    String found = trace == null ? null : trace.get();
    return found == null || found.isEmpty() ? null : found;
  }

  /** Something is wrong that can't be: nothing is vouched for any more. */
  void fails(Exception error) {
    LOG.log(System.Logger.Level.ERROR, "the client ends", error);
    closed = true;
    for (Session session : sessions()) {
      session.drop("unreachable");
    }
  }

  /** Gives back all that is held; who works under it is told before. */
  void close() throws InterruptedException {
    if (!closed) {
      closed = true;
      for (Session session : sessions()) {
        for (Grant hold : List.copyOf(session.holds)) {
          hold.lose("closed");
        }
        session.awaitReturn();
        session.drop("closed");
      }
      keeper.stop();
    }
    double end = Clock.now() + CLOSE;
    while (keeper.isEnding() && Clock.now() < end) {
      await(ended, end - Clock.now());
    }
  }

  void await(Condition condition, double ms) throws InterruptedException {
    condition.await((long) (ms * 1e6), TimeUnit.NANOSECONDS);
  }

  void pause(double ms) throws InterruptedException {
    double end = Clock.now() + ms;
    while (Clock.now() < end) {
      await(never, end - Clock.now());
    }
  }

  private void pause(double ms, Limit limit) throws InterruptedException {
    try {
      pause(ms);
    } catch (InterruptedException error) {
      limit.interrupt();
    }
  }

  // Sessions.

  List<Session> sessions() {
    return List.copyOf(sessions);
  }

  void forget(Session session) {
    sessions.remove(session);
  }

  /** One that is open, and has nothing to do with these keys, which are entered there. */
  private Session session(Want what, double until, Limit limit) throws InterruptedException {
    for (;;) {
      if (closed) {
        throw LockBrokerException.of("closed", "this Broker is closed");
      }
      Session session = null;
      for (Session one : sessions) {
        boolean better = session == null || (session.asked() > 0 && one.asked() == 0);
        session = better && one.isFree(what.busy) ? one : session;
      }
      boolean isNew = session == null;
      session = isNew ? new Session(this) : session;
      sessions.add(session);
      session.busy.addAll(what.busy);
      if (session.state == Session.State.OPEN || open(session, isNew, what, until, limit)) {
        return session;
      }
    }
  }

  /** Returns false if another one is needed. */
  private boolean open(Session session, boolean isNew, Want what, double until, Limit limit)
      throws InterruptedException {
    boolean ok = false;
    try {
      if (isNew) {
        session.connect(limit);
      } else {
        session.awaitOpen(limit);
      }
      ok = session.state == Session.State.OPEN;
      if (!ok && limit.left() <= 0) {
        throw LockBrokerException.of("unavailable", "no broker answers (" + texts() + ")");
      }
      return ok;
    } catch (LockBrokerException error) {
      boolean again = limit.left() > 0 && (error.again || (error.code().equals("unavailable")
          && Clock.now() + TRY_AGAIN < Math.min(until, Clock.now() + limit.left())));
      if (!again) {
        throw error;
      }
      letGo(session, what);
      session = null;
      pause(TRY_AGAIN, limit);
      return false;
    } finally {
      if (!ok && session != null) {
        letGo(session, what);
      }
    }
  }

  private String texts() {
    return String.join(", ", addresses.stream().map((one) -> one.text).toArray(String[]::new));
  }

  private void letGo(Session session, Want what) {
    what.busy.forEach(session.busy::remove);
    if (!session.busy.isEmpty()) {
      return;
    }
    if (sessions.size() > IDLE
        && sessions.stream().filter((one) -> one.busy.isEmpty()).count() > IDLE) {
      session.shut();
    }
    session.settle();
  }

  // Requests.

  /** What is asked of a session, which is let go if there is nothing to hold. */
  private interface Question<T> {
    T ask(Session session, double rest) throws InterruptedException;
  }

  /**
   * Asks until something is held, and safe for some time. What a broker that has gone did not answer is
   * asked again, and so is what was lost before anybody had it, unless its bound was over.
   */
  Grant ask(Want what, double wait, Limit limit) throws InterruptedException {
    return ask(what, wait, limit, (session, rest) -> ask(session, what, rest, limit));
  }

  private <T> T ask(Want what, double wait, Limit limit, Question<T> question)
      throws InterruptedException {
    double begun = Clock.now();
    double end = begun + wait;
    boolean last = false;
    for (int tries = 1; ; tries++, last = limit.left() <= 0) {
      if (tries > 2) {
        pause(TRY_AGAIN, limit);
      }
      Session session = session(what, end, limit);
      boolean late = tries > 1
          || addresses.stream().anyMatch((one) -> one.hasFailedSince(begun));
      try {
        return question.ask(session, rest(wait, end, limit, late));
      } catch (LockBrokerException error) {
        if (last || !error.again) {
          throw error;
        }
        try {
          session.awaitReturn();
        } catch (InterruptedException interrupt) {
          limit.interrupt();
        }
      }
    }
  }

  private Grant ask(Session session, Want what, double rest, Limit limit)
      throws InterruptedException {
    Call said = null;
    boolean ok = false;
    try {
      if (session.maybeFree(what.busy, rest)) {
        said = session.tryNow(what);
        Reply reply = session.answer(said, limit);
        if (session.isFinal(reply, rest)) {
          reply.check();
        } else {
          said = null;
        }
      }
      if (said == null) {
        said = session.take(what, rest);
        session.answer(said, limit).check();
        session.answer(session.ping(said.grant), limit);
      }
      Grant hold = said.grant;
      ok = !hold.over && hold.until > Clock.now();
      if (!ok) {
        hold.lose("unreachable");
        hold.error.again = !hold.isBoundOver();
        throw hold.error;
      }
      return hold;
    } finally {
      if (!ok) {
        takeBack(session, what, said);
      }
    }
  }

  /**
   * How long the broker is to wait: one that is asked after another did not answer gets a moment of the
   * patience, though the time may be over.
   */
  private static double rest(double wait, double end, Limit limit, boolean late) {
    if (wait == 0 || wait == Double.POSITIVE_INFINITY) {
      return wait;
    }
    double least = late ? Math.min(RETRY, limit.left() / 2) : 0;
    return Math.max(1, Math.max(end - Clock.now(), least));
  }

  /** Ends a request, and gives back what it was granted, or is granted yet; behind the caller. */
  private void takeBack(Session session, Want what, Call said) {
    if (said == null) {
      letGo(session, what);
      return;
    }
    if (!said.done && said.tag != null) {
      session.cancel(said);
    }
    said.then(() -> {
      if (said.grant != null) {
        said.grant.leave();
      }
      boolean granted = said.reply != null && said.reply.ok;
      LockBrokerException error = said.reply == null ? null : said.reply.error();
      if (error != null && error.again) {
        session.shut();
      }
      if (granted) {
        undo(session, what);
      } else {
        letGo(session, what);
      }
    });
    session.leave();
  }

  /** Where one of several names was lost, the others are still held. Returns the last call. */
  private Call undo(Session session, Want what) {
    int[] left = {what.names.size()};
    Call call = null;
    for (String name : what.names) {
      call = session.send(what.undo(name));
      call.then(() -> {
        if (--left[0] == 0) {
          letGo(session, what);
        }
      });
    }
    return call;
  }

  /**
   * Gives it back. Returns the error if it was lost before. Where the broker does not answer within the
   * patience, it is finished behind this.
   */
  private LockBrokerException giveBack(Grant hold) {
    Session session = hold.session;
    Want what = hold.want;
    boolean lost = hold.valid() == 0;
    if (!lost) {
      hold.leave();
    }
    hold.given = true;
    Call call = lost ? undo(session, what) : session.send(what.undo(what.all));
    if (!lost) {
      call.then(() -> {
        if (call.reply != null && !call.reply.ok && what.names.size() > 1) {
          undo(session, what);
        } else {
          letGo(session, what);
        }
      });
    }
    Limit limit = new Limit(patience, 0, false);
    LockBrokerException error = null;
    try {
      error = session.answer(call, limit).error();
    } catch (LockBrokerException gone) {
      error = null; // If the connection is gone, the broker ends it: it was held until now.
    } catch (InterruptedException never) {
      Thread.currentThread().interrupt();
    } finally {
      limit.restore();
    }
    if (lost) {
      return hold.error;
    }
    return error == null || !error.code().equals("not-held") ? error
        : LockBrokerException.of("lost", error.getMessage());
  }

  // Who has it.

  /** A thread has a name. */
  private static final class Owner {
    private final Thread thread;
    private final String key;

    Owner(Thread thread, String key) {
      this.thread = thread;
      this.key = key;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(thread) * 31 + key.hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Owner && ((Owner) other).thread == thread
          && ((Owner) other).key.equals(key);
    }
  }

  /** What this thread has of these names, or null. */
  private Grant owned(Want what) {
    Grant found = null;
    for (String key : what.keys) {
      Grant hold = owned.get(new Owner(Thread.currentThread(), key));
      found = hold == null ? found : hold;
    }
    return found;
  }

  Grant find(Want what) {
    Grant hold = owned(what);
    boolean fits = hold != null && hold.want.keys.equals(what.keys)
        && (what.shared || !hold.want.shared);
    return fits ? hold : null;
  }

  /**
   * Takes it for the calling thread, which may have it already; or, where {@code strange}, for nobody.
   * Wait 0: not at all, infinite: for ever.
   */
  Grant take(Want what, double wait, boolean interruptible, boolean strange)
      throws InterruptedException {
    Limit limit = new Limit(patience, wait, interruptible);
    mutex.lock();
    try {
      if (interruptible && Thread.interrupted()) {
        throw new InterruptedException();
      }
      Grant mine = strange ? null : owned(what);
      if (mine != null) {
        return enterAgain(what, mine);
      }
      Grant hold = ask(what, wait, limit);
      if (!strange) {
        hold.owner = Thread.currentThread();
        what.keys.forEach((key) -> owned.put(new Owner(hold.owner, key), hold));
      }
      return hold;
    } catch (LockBrokerException error) {
      throw error.about(what.names);
    } finally {
      mutex.unlock();
      limit.restore();
    }
  }

  private Grant enterAgain(Want what, Grant mine) {
    if (find(what) == null) {
      throw LockBrokerException.of("deadlock",
          (mine.want.shared ? "it is held (shared)" : "it is held")
              + " by this thread, which can not have it in another way as well")
          .about(mine.want.names);
    }
    if (mine.valid() == 0) {
      throw mine.error.again();
    }
    mine.depth++;
    return mine;
  }

  /** A Hold of the program's, as long as that is not closed. */
  Hold.Trace trace(Hold of) {
    mutex.lock();
    try {
      Hold.Trace trace = new Hold.Trace(of, dropped);
      traces.add(trace);
      return trace;
    } finally {
      mutex.unlock();
    }
  }

  /** Gives back one of its depths; the trace of its Hold, if it has one, ends. */
  void release(Grant hold, Hold.Trace trace) {
    mutex.lock();
    try {
      traces.remove(trace);
      if (hold.given) {
        throw new IllegalMonitorStateException(
            String.join(", ", hold.want.names) + " is not held");
      }
      LockBrokerException error;
      if (--hold.depth > 0) {
        error = hold.valid() == 0 ? hold.error : null;
      } else {
        disown(hold);
        error = giveBack(hold);
      }
      if (error != null) {
        throw error.about(hold.want.names).again();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** The value of who has the name, or null. */
  String value(String name) {
    Limit limit = new Limit(patience, 0, false);
    Want what = Want.status(name);
    mutex.lock();
    try {
      return ask(what, 0, limit, (session, rest) -> {
        try {
          return session.answer(session.send(what.line), limit).check().get("value");
        } finally {
          letGo(session, what);
        }
      });
    } catch (LockBrokerException error) {
      throw error.about(what.names);
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    } finally {
      mutex.unlock();
      limit.restore();
    }
  }

  /** What others read from now on. It is asked twice where the session has come back in between. */
  void setValue(Grant hold, String value) {
    Limit limit = new Limit(patience, 0, false);
    String line = "SETVALUE " + hold.want.all + " value=" + Words.option(value);
    mutex.lock();
    try {
      if (!hold.want.keys.equals(List.of("lock " + hold.want.all))) {
        throw LockBrokerException.of("bad-option", "only a lock of one name has a value");
      }
      if (!setValueOnce(hold, line, limit)) {
        try {
          hold.session.awaitReturn();
        } catch (InterruptedException error) {
          limit.interrupt();
        }
        if (!setValueOnce(hold, line, limit)) {
          throw LockBrokerException.of("unavailable", "the broker does not answer");
        }
      }
    } catch (LockBrokerException error) {
      throw error.about(hold.want.names);
    } catch (InterruptedException never) {
      throw new IllegalStateException(never);
    } finally {
      mutex.unlock();
      limit.restore();
    }
  }

  /** Returns false if the broker has gone before it answered. */
  private static boolean setValueOnce(Grant hold, String line, Limit limit)
      throws InterruptedException {
    if (hold.given) {
      throw LockBrokerException.of("not-held", "it was given back");
    }
    if (hold.valid() == 0) {
      throw hold.error.again();
    }
    try {
      request(hold, line, limit);
      return true;
    } catch (LockBrokerException error) {
      if (error.again) {
        return false;
      }
      throw error;
    }
  }

  /** From now on it is bounded so, or, with null, only kept so. */
  void extend(Grant hold, Duration most, Duration keep) {
    Limit limit = new Limit(patience, 0, false);
    double ms = Words.millis(most == null ? keep : most, most == null ? "keep" : "hold");
    mutex.lock();
    try {
      if (hold.given) {
        throw LockBrokerException.of("not-held", "it was given back");
      }
      if (most != null && (ms == 0 || hold.want.hold == Double.POSITIVE_INFINITY)) {
        throw LockBrokerException.of("bad-option",
            "only what was taken withHold() can be extended, and not without end");
      }
      if (hold.valid() == 0) {
        throw hold.error.again();
      }
      for (String name : hold.want.names) {
        if (most == null) {
          // A re-entry, which lengthens it.
          request(hold, "LOCK " + name + Words.optional("keep", ms) + " wait=0", limit);
          request(hold, "UNLOCK " + name, limit);
        } else {
          request(hold, "EXTEND " + name + Words.optional("hold", ms), limit);
        }
      }
      hold.bounded(most == null ? hold.endsAt() : Clock.now() + ms);
      hold.session.answer(hold.session.ping(hold), limit);
      if (hold.valid() == 0) {
        throw hold.error.again();
      }
    } catch (LockBrokerException error) {
      throw error.about(hold.want.names);
    } catch (InterruptedException never) {
      Thread.currentThread().interrupt();
    } finally {
      mutex.unlock();
      limit.restore();
    }
  }

  private static void request(Grant hold, String line, Limit limit) throws InterruptedException {
    LockBrokerException error = hold.session.answer(hold.session.send(line), limit).error();
    if (error != null) {
      throw error.code().equals("not-held") ? LockBrokerException.of("lost", error.getMessage())
          : error;
    }
  }

  private void disown(Grant hold) {
    if (hold.owner != null) {
      hold.want.keys.forEach((key) -> owned.remove(new Owner(hold.owner, key)));
    }
  }

  /** Gives back what the garbage collector has found. */
  void lookAtDropped() {
    for (Hold.Trace one; (one = (Hold.Trace) dropped.poll()) != null; ) {
      if (traces.remove(one) && --one.grant.depth == 0) {
        abandoned(one.grant, "the program has dropped it without close()");
      }
    }
  }

  /** Gives back what threads had that have ended. */
  void lookAtOwners(Session session) {
    for (Grant hold : List.copyOf(session.holds)) {
      if (hold.owner != null && hold.bound && !hold.owner.isAlive()) {
        abandoned(hold, "its thread has ended without unlock()");
      }
    }
  }

  /** Nobody gives it back any more. */
  void abandoned(Grant hold, String why) {
    if (hold.given) {
      return;
    }
    LOG.log(System.Logger.Level.WARNING, String.join(", ", hold.want.names)
        + " is given back: " + why);
    hold.given = true;
    disown(hold);
    hold.leave();
    undo(hold.session, hold.want);
    hold.session.leave();
  }
}
