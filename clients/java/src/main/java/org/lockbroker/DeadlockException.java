package org.lockbroker;

/** It would have been waited for without end. */
public class DeadlockException extends LockBrokerException {
  private static final long serialVersionUID = 1L;

  DeadlockException(String text) {
    super("deadlock", text);
  }
}
