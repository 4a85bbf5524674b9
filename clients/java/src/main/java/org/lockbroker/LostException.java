package org.lockbroker;

/** The lock was lost while it was held: others may have it. */
public class LostException extends LockBrokerException {
  private static final long serialVersionUID = 1L;

  private String reason = "";

  LostException(String code, String text) {
    super(code, text);
  }

  LostException because(String why) {
    reason = why;
    return this;
  }

  /**
   * Why: {@code hold} (its bound is over), {@code unreachable}, {@code taken}, {@code forced} and others of
   * lockbroker-protocol(7); empty where that is not known.
   */
  public String reason() {
    return reason;
  }
}
