package org.lockbroker;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * A lock was refused, or lost. {@link #code()} is for programs: {@code busy}, {@code timeout},
 * {@code lost}, {@code unavailable}, {@code denied}, {@code deadlock}, {@code bad-option} and others
 * of lockbroker-protocol(7); the message is for users.
 */
public class LockBrokerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String code;
  private String text;
  private String[] names = {};
  private String holder;
  private String broker;
  private Duration age;
  private Integer before;
  /** It is to be asked again. */
  transient boolean again;

  LockBrokerException(String code, String text) {
    super(text);
    this.code = code;
    this.text = text.isEmpty() ? code : text;
  }

  /** The exception of the code. */
  static LockBrokerException of(String code, String text) {
    switch (code) {
      case "lost":
      case "not-held":
        return new LostException(code, text);
      case "unavailable":
      case "shutdown":
        return new UnavailableException(code, text);
      case "denied":
      case "auth":
        return new DeniedException(code, text);
      case "deadlock":
        return new DeadlockException(text);
      default:
        return new LockBrokerException(code, text);
    }
  }

  /** A connection is gone, and its requests with it. */
  static LockBrokerException gone(String text) {
    LockBrokerException error = new UnavailableException("unavailable", text);
    error.again = true;
    return error;
  }

  /** Adds the names, unless they are there. */
  LockBrokerException about(List<String> about) {
    if (names.length > 0) {
      return this;
    }
    names = about.toArray(new String[0]);
    text = String.join(", ", about) + ": " + text;
    return this;
  }

  /** Its text says for which names. */
  void saying(List<String> about) {
    names = about.toArray(new String[0]);
  }

  LockBrokerException known(String heldBy, String through, Double ageMs, String many) {
    holder = heldBy;
    broker = through;
    age = ageMs == null ? null : Duration.ofMillis((long) (double) ageMs);
    before = many == null ? null : Integer.valueOf(many);
    return this;
  }

  /** The same for another thread, whose stack it has. */
  LockBrokerException again() {
    LockBrokerException error = of(code, text);
    if (this instanceof LostException && error instanceof LostException) {
      ((LostException) error).because(((LostException) this).reason());
    }
    error.text = text;
    error.names = names;
    error.again = again;
    error.initCause(this);
    return error;
  }

  public String code() {
    return code;
  }

  /** The names of the request. */
  public List<String> names() {
    return List.of(names);
  }

  /** The holder: a label or an address, as far as the broker knows. */
  public Optional<String> holder() {
    return Optional.ofNullable(holder);
  }

  /** The broker through which it is held, as far as it is known. */
  public Optional<String> broker() {
    return Optional.ofNullable(broker);
  }

  /** How long it has been held, as far as it is known. */
  public Optional<Duration> age() {
    return Optional.ofNullable(age);
  }

  /** The number of requests ahead, as far as it is known. */
  public Optional<Integer> before() {
    return Optional.ofNullable(before);
  }

  @Override
  public String getMessage() {
    return text;
  }
}
