package org.lockbroker;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Locks of lockbroker. One serves a whole program, and any number of threads:
 *
 * <pre>{@code
 * try (Broker broker = Broker.connect();
 *     Hold hold = broker.lock("nightly-report").acquire(Duration.ofSeconds(10))) {
 *   report(hold.fence());
 * }
 * }</pre>
 *
 * <p>A block runs only with its lock held, and learns of a loss: a {@link Hold} reports it, and counts as
 * lost when by its own clock the guaranteed time has expired. A call takes at most the patience longer
 * than its wait. Connections are made when they are needed.
 */
public final class Broker implements AutoCloseable {
  private final Core core;

  private Broker(Core core) {
    this.core = core;
  }

  /**
   * {@code HOST:PORT}, {@code tls://HOST:PORT}, or the path of a Unix socket; the first that answers is
   * used. Without any {@code $LOCKBROKER}, or the local broker.
   */
  public static Broker connect(String... addresses) {
    return builder().addresses(addresses).build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** The settings of a {@link Broker}. */
  public static final class Builder {
    private List<String> addresses = List.of();
    private String user;
    private String password;
    private String label;
    private Path ca;
    private Path cert;
    private Path key;
    private SSLContext tls;
    private Supplier<String> trace;
    private Duration grace = Duration.ZERO;
    private Duration patience = Duration.ofSeconds(1);

    private Builder() {}

    /** See {@link Broker#connect}. */
    public Builder addresses(String... some) {
      addresses = List.of(some);
      return this;
    }

    public Builder user(String name, String secret) {
      user = Words.option(Objects.requireNonNull(name, "user"));
      password = Words.option(Objects.requireNonNull(secret, "password"));
      return this;
    }

    /** A name for operators. */
    public Builder label(String text) {
      label = Words.option(text);
      return this;
    }

    /** How long locks survive a lost connection; not at all by default. */
    public Builder grace(Duration time) {
      Words.millis(Objects.requireNonNull(time, "grace"), "grace");
      grace = time;
      return this;
    }

    /** How long a call may take beyond its wait; one second by default. */
    public Builder patience(Duration time) {
      if (time.isZero() || time.isNegative()) {
        throw LockBrokerException.of("bad-option", "patience is not a time: " + time);
      }
      patience = time;
      return this;
    }

    /**
     * Returns the {@code traceparent} of the calling thread, or null, for each lock; the log of the
     * broker shows it. With OpenTelemetry:
     *
     * <pre>{@code
     * () -> {
     *   Map<String, String> headers = new HashMap<>();
     *   W3CTraceContextPropagator.getInstance().inject(Context.current(), headers, Map::put);
     *   return headers.get("traceparent");
     * }
     * }</pre>
     */
    public Builder trace(Supplier<String> current) {
      trace = current;
      return this;
    }

    /** Who signs the certificates of brokers, in PEM; without it, whom Java trusts. */
    public Builder ca(Path file) {
      ca = file;
      return this;
    }

    /** Its own certificate and key, in PEM. */
    public Builder certificate(Path file, Path keyFile) {
      cert = file;
      key = keyFile;
      return this;
    }

    /** Instead of these files. */
    public Builder tls(SSLContext context) {
      tls = context;
      return this;
    }

    public Broker build() {
      List<Address> places = Address.all(addresses);
      SSLContext context = tls;
      if (context == null && places.stream().anyMatch((one) -> one.secure)) {
        context = Tls.context(ca, cert, key);
      }
      return new Broker(new Core(places, user, password, label,
          Words.millis(patience, "patience"), Words.millis(grace, "grace"), context,
          trace));
    }
  }

  /** The lock of a name, or of several, all or none. */
  public BrokerLock lock(String... names) {
    double none = Double.POSITIVE_INFINITY;
    return new BrokerLock(core, List.of(names), false, none, none, none, null, null);
  }

  /** Many readers or one writer. */
  public BrokerReadWriteLock readWriteLock(String name) {
    return new BrokerReadWriteLock(core, name);
  }

  /** A semaphore with {@code limit} permits. */
  public BrokerSemaphore semaphore(String name, int limit) {
    return new BrokerSemaphore(core, name, limit, 1, false);
  }

  /** Waits until it leads; it is the only leader until the hold is lost, or closed. */
  public Hold elect(String name) throws InterruptedException {
    return lock(name).acquire();
  }

  /** The same, with a word that others read with {@link #value}: where to find the leader. */
  public Hold elect(String name, String value) throws InterruptedException {
    return lock(name).withValue(value).acquire();
  }

  /** The value of the current holder, through any broker, if there is one. */
  public Optional<String> value(String name) {
    return Optional.ofNullable(core.value(name));
  }

  /**
   * Releases all holds; their users learn of the loss before. Nothing of the client keeps a program from
   * ending, even without this.
   */
  @Override
  public void close() {
    boolean interrupted = false;
    core.mutex.lock();
    try {
      for (;;) {
        try {
          core.close();
          return;
        } catch (InterruptedException error) {
          interrupted = true;
        }
      }
    } finally {
      core.mutex.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
