package org.lockbroker;

/** The wait would never end. */
public class DeadlockException extends LockBrokerException {
  private static final long serialVersionUID = 1L;

  DeadlockException(String text) {
    super("deadlock", text);
  }
}
