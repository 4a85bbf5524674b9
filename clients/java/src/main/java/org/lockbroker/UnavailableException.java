package org.lockbroker;

/** No broker answers, or none can grant a lock now. */
public class UnavailableException extends LockBrokerException {
  private static final long serialVersionUID = 1L;

  UnavailableException(String code, String text) {
    super(code, text);
  }
}
