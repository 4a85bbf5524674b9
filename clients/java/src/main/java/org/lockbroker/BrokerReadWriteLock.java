package org.lockbroker;

import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * Any number have the read lock of a name at a time, or one its write lock. Who has the write lock may
 * take the read lock as well; who has only the read lock may not take the write lock: that is a {@link
 * DeadlockException}.
 */
public final class BrokerReadWriteLock implements ReadWriteLock {
  private final BrokerLock read;
  private final BrokerLock write;

  BrokerReadWriteLock(Core core, String name) {
    double none = Double.POSITIVE_INFINITY;
    read = new BrokerLock(core, List.of(name), true, none, none, none, null, null);
    write = new BrokerLock(core, List.of(name), false, none, none, none, null, null);
  }

  @Override
  public BrokerLock readLock() {
    return read;
  }

  @Override
  public BrokerLock writeLock() {
    return write;
  }
}
