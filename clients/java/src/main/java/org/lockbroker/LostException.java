package org.lockbroker;

/** The lock was lost while it was held: others may have it. */
public class LostException extends LockBrokerException {
  private static final long serialVersionUID = 1L;

  LostException(String code, String text) {
    super(code, text);
  }
}
