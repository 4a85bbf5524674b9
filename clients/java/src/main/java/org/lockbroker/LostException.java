package org.lockbroker;

/** The lock was lost: another client may hold it. */
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
   * Why: {@code hold} (its maximum hold time), {@code unreachable}, {@code taken}, {@code forced} and
   * others of lockbroker-protocol(7); empty if that is not known.
   */
  public String reason() {
    return reason;
  }
}
