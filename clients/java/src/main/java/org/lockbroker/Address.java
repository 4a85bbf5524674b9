package org.lockbroker;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a broker is: HOST:PORT, :PORT, HOST, tls://HOST:PORT, or the path of a Unix socket. */
final class Address {
  private static final String LOCAL_SOCKET = "/run/lockbrokerd/lockbrokerd.sock";
  private static final int PORT = 5625;
  private static final int PORT_MAX = 65535;
  /** So long one that did not answer is tried last. */
  private static final double FAILED = 10000;
  private static final Pattern STRANGE = Pattern.compile("(?!tls:|tcp:|unix:)\\w+://.*");
  private static final Pattern PLACE =
      Pattern.compile("(?:\\[([^\\]]*)\\]|([^:]*))(?::(\\d{1,5}))?");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.%]*:[0-9a-fA-F:.%]*:.*");
  /**
   * Names are resolved once at a time: one that is asked of a dead name server keeps a thread for as
   * long as it is waited for.
   */
  private static final ConcurrentMap<String, CompletableFuture<InetAddress[]>> looked =
      new ConcurrentHashMap<>();

  final String text;
  final boolean secure;
  final String host;
  private final String path;
  private final int port;
  private double failed = Double.NEGATIVE_INFINITY;

  private Address(String given) {
    text = given;
    if (STRANGE.matcher(given).matches()) {
      throw LockBrokerException.of("bad-option", given.substring(0, given.indexOf(':'))
          + ":// is no way to a lockbroker; an address is HOST:PORT, tls://HOST:PORT or a path");
    }
    secure = given.startsWith("tls://");
    String rest = given.replaceFirst("^(tls://|tcp://|unix:(//)?)", "");
    path = rest.startsWith("/") ? rest : null;
    if (path != null) {
      host = null;
      port = 0;
      return;
    }
    Matcher parts = PLACE.matcher(rest);
    if (IPV6.matcher(rest).matches()) {
      host = rest;
      port = PORT;
    } else if (parts.matches()) {
      String found = parts.group(1) == null ? parts.group(2) : parts.group(1);
      host = found.isEmpty() ? "127.0.0.1" : found;
      port = parts.group(3) == null ? PORT : Integer.parseInt(parts.group(3));
    } else {
      throw LockBrokerException.of("bad-option", "not an address: " + given);
    }
    if (port > PORT_MAX) {
      throw LockBrokerException.of("bad-option", "not an address: " + given);
    }
  }

  static List<Address> all(List<String> given) {
    List<Address> found = split(given);
    if (found.isEmpty() && System.getenv("LOCKBROKER") != null) {
      found = split(List.of(System.getenv("LOCKBROKER")));
    }
    if (found.isEmpty()) {
      found = new ArrayList<>();
      if (unix() != null) {
        found.add(new Address(LOCAL_SOCKET));
      }
      found.add(new Address("127.0.0.1:" + PORT));
    }
    return found;
  }

  private static List<Address> split(List<String> given) {
    List<Address> found = new ArrayList<>();
    for (String some : given) {
      for (String one : some.split(",")) {
        if (!one.isEmpty()) {
          found.add(new Address(one));
        }
      }
    }
    return found;
  }

  /** Did it not answer a moment ago? */
  boolean isBad() {
    return Clock.now() < failed + FAILED;
  }

  boolean hasFailedSince(double when) {
    return failed >= when;
  }

  void fails() {
    failed = Clock.now();
  }

  boolean isUnix() {
    return path != null;
  }

  int port() {
    return port;
  }

  // Connecting. What is here may sleep, and is called without the mutex.

  /** Where that is by now; not for longer than this. */
  List<SocketAddress> resolve(double ms) throws IOException, InterruptedException {
    List<SocketAddress> found = new ArrayList<>();
    if (path != null) {
      found.add(unixAddress());
      return found;
    }
    for (InetAddress one : lookup(ms)) {
      found.add(new InetSocketAddress(one, port));
    }
    return found;
  }

  private InetAddress[] lookup(double ms) throws IOException, InterruptedException {
    if (host.indexOf(':') >= 0 || host.matches("[0-9.]+")) {
      return InetAddress.getAllByName(host);
    }
    CompletableFuture<InetAddress[]> found = new CompletableFuture<>();
    CompletableFuture<InetAddress[]> other = looked.putIfAbsent(host, found);
    if (other == null) {
      Threads.run(() -> {
        try {
          found.complete(InetAddress.getAllByName(host));
        } catch (UnknownHostException | RuntimeException error) {
          found.completeExceptionally(error);
        } finally {
          looked.remove(host, found);
        }
      });
    }
    try {
      return (other == null ? found : other).get((long) ms, TimeUnit.MILLISECONDS);
    } catch (ExecutionException error) {
      throw new IOException("the name can not be resolved");
    } catch (TimeoutException error) {
      throw new IOException("the name can not be resolved in time");
    }
  }

  SocketChannel open() throws IOException {
    if (path == null) {
      return SocketChannel.open();
    }
    try {
      return (SocketChannel) SocketChannel.class.getMethod("open", ProtocolFamily.class)
          .invoke(null, unix());
    } catch (ReflectiveOperationException error) {
      throw noUnix(error);
    }
  }

  private SocketAddress unixAddress() throws IOException {
    try {
      if (unix() == null) {
        throw noUnix(null);
      }
      return (SocketAddress) Class.forName("java.net.UnixDomainSocketAddress")
          .getMethod("of", String.class).invoke(null, path);
    } catch (ReflectiveOperationException error) {
      throw noUnix(error);
    }
  }

  private static StandardProtocolFamily unix() {
    for (StandardProtocolFamily one : StandardProtocolFamily.values()) {
      if (one.name().equals("UNIX")) {
        return one;
      }
    }
    return null;
  }

  private static IOException noUnix(Throwable why) {
    Throwable cause = why == null ? null : why.getCause();
    return cause instanceof IOException ? (IOException) cause : new IOException(
        "Java " + Runtime.version().feature() + " has no Unix sockets, as Java 16 and later have:"
            + " give the HOST:PORT of the broker");
  }
}
