package org.lockbroker;

import java.io.Closeable;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;

/**
 * A connection, which never sleeps but in select(). One thread at a time reads, with whatever it has
 * to be the only one; any may write.
 */
final class Wire {
  private static final int ROOM = 8192;
  private static final int LINE_MAX = 1 << 22;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SocketChannel channel;
  private final Selector selector; // of a caller that waits for an answer
  private final SelectionKey key;
  private final ReentrantLock mutex = new ReentrantLock();
  private final SSLEngine engine; // null: no TLS
  private boolean connecting;
  private ByteBuffer out = NOTHING; // to be sent
  private ByteBuffer clear = NOTHING; // to be encrypted, then
  private ByteBuffer coded; // received, to be decrypted
  private byte[] in = new byte[ROOM];
  private int filled;
  private boolean ended;
  /** Of the keeper, when that has seen it; used with the mutex of the Core. */
  SelectionKey kept;
  /** Whose it is; null when only its end is waited for. */
  Session session;
  /** Then, if it does not end before. */
  double endsAt;

  /** Begins to connect. */
  Wire(Session session, Address place, SocketAddress to, SSLEngine engine) throws IOException {
    this.session = session;
    this.engine = engine;
    channel = place.open();
    Selector made = null;
    try {
      channel.configureBlocking(false);
      if (!place.isUnix()) {
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      }
      made = Selector.open();
      if (engine != null) {
        coded = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.beginHandshake();
      }
      connecting = !channel.connect(to);
      key = channel.register(made, interest());
    } catch (IOException | RuntimeException error) {
      channel.close();
      if (made != null) {
        made.close();
      }
      throw error instanceof IOException ? (IOException) error : new IOException(error);
    }
    selector = made;
  }

  /** For this it is to be waited. */
  private int interest() {
    return connecting ? SelectionKey.OP_CONNECT
        : out.hasRemaining() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ;
  }

  /** The keeper waits for it from now on. */
  void keep(Selector by) throws IOException {
    mutex.lock();
    try {
      if (kept == null) {
        kept = channel.register(by, interest(), this);
      } else {
        kept.interestOps(interest());
      }
    } finally {
      mutex.unlock();
    }
  }

  void sleep(double ms) throws IOException {
    mutex.lock();
    try {
      int now = interest();
      if (key.interestOps() != now) {
        key.interestOps(now);
      }
    } finally {
      mutex.unlock();
    }
    selector.select(Math.max(1, (long) Math.ceil(ms)));
    selector.selectedKeys().clear();
  }

  /** Who waits in sleep() looks again. */
  void wake() {
    selector.wakeup();
  }

  // Writing.

  /** Returns whether it has been sent; if not, who reads sends the rest. */
  boolean write(String text) {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    mutex.lock();
    try {
      if (engine == null) {
        if (!connecting && !out.hasRemaining()) {
          channel.write(bytes);
        }
        out = join(out, bytes);
      } else {
        clear = join(clear, bytes);
        flush();
      }
      return !out.hasRemaining();
    } catch (IOException error) {
      return true; // who reads is told the same
    } finally {
      mutex.unlock();
    }
  }

  private static ByteBuffer join(ByteBuffer first, ByteBuffer then) {
    if (!then.hasRemaining()) {
      return first;
    }
    ByteBuffer both = ByteBuffer.allocate(first.remaining() + then.remaining());
    both.put(first).put(then).flip();
    return both;
  }

  /** Sends what can be sent now. */
  private void flush() throws IOException {
    while (!connecting) {
      if (out.hasRemaining()) {
        channel.write(out);
        if (out.hasRemaining()) {
          return;
        }
      }
      if (engine == null || !encrypt()) {
        return;
      }
    }
  }

  /** Returns whether there is something new to be sent. */
  private boolean encrypt() throws IOException {
    runTasks();
    HandshakeStatus status = engine.getHandshakeStatus();
    boolean open = status == HandshakeStatus.NOT_HANDSHAKING;
    if (status != HandshakeStatus.NEED_WRAP && !(open && clear.hasRemaining())) {
      return false;
    }
    ByteBuffer packet = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    SSLEngineResult result = engine.wrap(clear, packet);
    packet.flip();
    out = packet;
    return packet.hasRemaining() && result.getStatus() == SSLEngineResult.Status.OK;
  }

  private void runTasks() {
    for (Runnable task; (task = engine.getDelegatedTask()) != null; ) {
      task.run();
    }
  }

  // Reading.

  /** Takes what is there. Returns whether more may come. */
  boolean read() throws IOException {
    mutex.lock();
    try {
      if (connecting) {
        connecting = !channel.finishConnect();
        if (connecting) {
          return true;
        }
        flush();
      } else if (out.hasRemaining()) {
        flush();
      }
      if (engine == null) {
        ended |= receive(null) < 0;
      } else {
        decrypt();
      }
      return !ended;
    } finally {
      mutex.unlock();
    }
  }

  /** As much as there is room for. */
  private int receive(ByteBuffer into) throws IOException {
    if (into != null) {
      return channel.read(into);
    }
    makeRoom();
    int got = channel.read(ByteBuffer.wrap(in, filled, in.length - filled));
    filled += Math.max(got, 0);
    return got;
  }

  private void makeRoom() throws IOException {
    if (filled == in.length) {
      if (filled > LINE_MAX) {
        throw new IOException("it sends a line without end");
      }
      in = Arrays.copyOf(in, filled * 2);
    }
  }

  private void decrypt() throws IOException {
    int got = channel.read(coded);
    coded.flip();
    for (boolean more = true; more; ) {
      makeRoom();
      ByteBuffer into = ByteBuffer.wrap(in, filled, in.length - filled);
      SSLEngineResult result = engine.unwrap(coded, into);
      filled += result.bytesProduced();
      runTasks();
      flush();
      switch (result.getStatus()) {
        case BUFFER_OVERFLOW:
          in = Arrays.copyOf(in,
              filled + engine.getSession().getApplicationBufferSize());
          break;
        case OK:
          more = result.bytesConsumed() > 0 && coded.hasRemaining();
          break;
        default:
          ended |= result.getStatus() == SSLEngineResult.Status.CLOSED;
          more = false;
      }
    }
    coded.compact();
    if (!coded.hasRemaining()) {
      coded.flip();
      coded = ByteBuffer.allocate(coded.capacity() * 2).put(coded);
    }
    ended |= got < 0;
  }

  /** Each whole line that was read, as long as it is wanted. */
  void lines(Predicate<String> wants) {
    int from = 0;
    for (int at = 0; at < filled; at++) {
      if (in[at] != '\n') {
        continue;
      }
      int end = at > from && in[at - 1] == '\r' ? at - 1 : at;
      String line = new String(in, from, end - from, StandardCharsets.UTF_8);
      from = at + 1;
      if (!wants.test(line)) {
        break;
      }
    }
    System.arraycopy(in, from, in, 0, filled - from);
    filled -= from;
  }

  // The end.

  /** Says goodbye; the end of the other side is to be waited for. */
  void quit() {
    write("QUIT\r\n");
    mutex.lock();
    try {
      if (engine == null && !connecting && !out.hasRemaining()) {
        channel.shutdownOutput();
      }
    } catch (IOException error) {
      ended = true;
    } finally {
      mutex.unlock();
    }
  }

  /** Ends it without a word; with a reset, the broker keeps what was promised. */
  void close(boolean reset) {
    try {
      if (reset && channel.supportedOptions().contains(StandardSocketOptions.SO_LINGER)) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
    } catch (IOException | UnsupportedOperationException error) {
      ended = true; // already
    }
    end(channel);
    end(selector);
    if (kept != null) {
      kept.selector().wakeup(); // it has a part of the descriptor
    }
  }

  private static void end(Closeable one) {
    try {
      one.close();
    } catch (IOException error) {
      return; // it is of no use any more, either way
    }
  }
}
