import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A JVM whose threads take one lock as Redisson's getLock() does: RedissonLock,
 * RedissonLockEntry and LockPubSub, as far as one lock needs them.
 *
 * <p>usage: java Jvm HOST PORT THREADS SECONDS TAKE UNLOCK, the last two the
 * sha1 of the scripts. It says that it is ready, waits for a line, and prints
 * when each wait began, was over, and when the lock was given back: a line of
 * JSON, in seconds of the clock that nobody sets.
 */
final class Jvm {
  private static final String LEASE_MS = "30000", LATCH_MS = "16000";
  private static final int WORK_MS = 1;
  private static final double WARM_UP_S = 1.5; // before it says that it is ready

  private final String host, take, unlock;
  private final int port;
  private final String id = UUID.randomUUID().toString();
  private final BlockingQueue<Connection> pool;
  private final List<String> grants = new ArrayList<>();
  private Connection listener;
  private Entry entry; // one is enough for one lock

  private Jvm(String host, int port, int threads, String take, String unlock)
      throws IOException {
    this.host = host;
    this.port = port;
    this.take = take;
    this.unlock = unlock;
    pool = new ArrayBlockingQueue<>(threads + 1);
    for (int i = 0; i <= threads; i++) pool.add(new Connection(host, port));
  }

  /** Requests and replies of RESP 2. */
  private static final class Connection {
    private final InputStream in;
    private final OutputStream out;

    Connection(String host, int port) throws IOException {
      Socket socket = new Socket(host, port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
      out = socket.getOutputStream();
    }

    synchronized void send(String... words) throws IOException {
      StringBuilder text = new StringBuilder("*" + words.length + "\r\n");
      for (String word : words)
        text.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
      out.write(text.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    private String line() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int c = in.read(); c != '\r'; c = in.read()) {
        if (c < 0) throw new IOException("the connection is lost");
        line.write(c);
      }
      in.read();
      return line.toString(StandardCharsets.ISO_8859_1);
    }

    /** Returns a Long, a String, a list of such, or null. */
    Object read() throws IOException {
      String line = line(), rest = line.substring(1);
      switch (line.charAt(0)) {
        case ':':
          return Long.valueOf(rest);
        case '+':
          return rest;
        case '$':
          int length = Integer.parseInt(rest);
          if (length < 0) return null;
          String text = new String(in.readNBytes(length), StandardCharsets.ISO_8859_1);
          in.readNBytes(2);
          return text;
        case '*':
          List<Object> list = new ArrayList<>();
          for (int n = Integer.parseInt(rest); n > 0; n--) list.add(read());
          return list;
        default:
          throw new IOException(line);
      }
    }
  }

  /** The subscription of a JVM to the channel of a lock, and its semaphore. */
  private static final class Entry {
    final CountDownLatch subscribed = new CountDownLatch(1);
    final Semaphore latch = new Semaphore(0);
    int users;
  }

  private Object command(String... words) throws Exception {
    Connection connection = pool.take();
    try {
      connection.send(words);
      return connection.read();
    } finally {
      pool.add(connection);
    }
  }

  // RedissonLock.

  private Long tryAcquire(String name, int thread) throws Exception {
    return (Long) command("EVALSHA", take, "1", name, LEASE_MS, id + ":" + thread);
  }

  private void lock(String name, int thread) throws Exception {
    if (tryAcquire(name, thread) == null) return;
    Entry waiting = subscribe(name);
    try {
      for (Long ttl; (ttl = tryAcquire(name, thread)) != null; )
        waiting.latch.tryAcquire(ttl, TimeUnit.MILLISECONDS);
    } finally {
      unsubscribe(name, waiting);
    }
  }

  private void unlock(String name, int thread) throws Exception {
    String latch = "redisson_unlock_latch:{" + name + "}:"
        + UUID.randomUUID().toString().replace("-", "");
    Object done = command("EVALSHA", unlock, "3", name, channel(name), latch, "0",
        LEASE_MS, id + ":" + thread, "PUBLISH", LATCH_MS);
    command("DEL", latch);
    if (done == null) throw new IllegalMonitorStateException(name);
  }

  // LockPubSub.

  private static String channel(String name) {
    return "redisson_lock__channel:{" + name + "}";
  }

  private Entry subscribe(String name) throws Exception {
    Entry found;
    synchronized (this) {
      if (listener == null) {
        listener = new Connection(host, port);
        Thread thread = new Thread(this::listen);
        thread.setDaemon(true);
        thread.start();
      }
      if (entry == null) {
        entry = new Entry();
        listener.send("SUBSCRIBE", channel(name));
      }
      found = entry;
      found.users++;
    }
    found.subscribed.await();
    return found;
  }

  private synchronized void unsubscribe(String name, Entry done) throws IOException {
    if (--done.users > 0) return;
    entry = null;
    listener.send("UNSUBSCRIBE", channel(name));
  }

  private void listen() {
    try {
      for (;;) {
        List<?> message = (List<?>) listener.read();
        Entry mine;
        synchronized (this) {
          mine = entry;
        }
        if (mine == null) continue;
        if (message.get(0).equals("subscribe")) mine.subscribed.countDown();
        else if (message.get(2).equals("0")) mine.latch.release();
        else if (message.get(2).equals("1")) mine.latch.release(mine.latch.getQueueLength());
      }
    } catch (IOException error) {
      System.err.println("bench: " + error);
      System.exit(1);
    }
  }

  // What is measured.

  private void run(String name, int thread, long end) {
    try {
      while (System.nanoTime() < end) {
        long start = System.nanoTime();
        lock(name, thread);
        long begin = System.nanoTime();
        Thread.sleep(WORK_MS);
        unlock(name, thread);
        long given = System.nanoTime();
        synchronized (grants) {
          grants.add("[" + thread + "," + start / 1e9 + "," + begin / 1e9 + ","
              + given / 1e9 + "]");
        }
      }
    } catch (Exception error) {
      System.err.println("bench: " + error);
      System.exit(1);
    }
  }

  /** All threads want one lock for so many seconds. */
  private void runAll(String name, int threads, double seconds) throws InterruptedException {
    long end = System.nanoTime() + (long) (seconds * 1e9);
    List<Thread> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      int thread = i;
      running.add(new Thread(() -> run(name, thread, end)));
      running.get(i).start();
    }
    for (Thread thread : running) thread.join();
  }

  public static void main(String[] args) throws Exception {
    int threads = Integer.parseInt(args[2]);
    Jvm jvm = new Jvm(args[0], Integer.parseInt(args[1]), threads, args[4], args[5]);
    jvm.runAll("warm-up-" + jvm.id, threads, WARM_UP_S);
    jvm.grants.clear();
    System.out.println("ready");
    if (System.in.read() < 0) return;
    jvm.runAll("bench", threads, Double.parseDouble(args[3]));
    System.out.println("[" + String.join(",", jvm.grants) + "]");
    System.exit(0);
  }
}
