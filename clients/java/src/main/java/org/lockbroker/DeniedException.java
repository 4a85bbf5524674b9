package org.lockbroker;

/** The user may not do that ({@code denied}), or is not known ({@code auth}). */
public class DeniedException extends LockBrokerException {
  private static final long serialVersionUID = 1L;

  DeniedException(String code, String text) {
    super(code, text);
  }
}
