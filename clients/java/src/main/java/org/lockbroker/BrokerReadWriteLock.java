package org.lockbroker;

import java.util.List;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * Any number of threads hold the read lock of a name at a time, or one thread its write lock. The holder
 * of the write lock may take the read lock as well; a holder of the read lock alone that takes the write
 * lock gets a {@link DeadlockException}.
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
