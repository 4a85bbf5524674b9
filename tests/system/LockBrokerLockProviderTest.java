import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterEach;
import org.lockbroker.Broker;
import org.lockbroker.shedlock.LockBrokerLockProvider;

/** ShedLock's own tests of a provider; the broker is that of $LOCKBROKER. */
class LockBrokerLockProviderTest extends AbstractExtensibleLockProviderIntegrationTest {
  private final Broker broker = open();
  private final Broker other = open();
  private final LockBrokerLockProvider provider = new LockBrokerLockProvider(broker);

  /** On a slow machine, too. */
  private static Broker open() {
    return Broker.builder().patience(Duration.ofSeconds(20)).build();
  }

  @AfterEach
  void close() {
    broker.close();
    other.close();
  }

  @Override
  protected ExtensibleLockProvider getLockProvider() {
    return provider;
  }

  private boolean isFree(String name) {
    var hold = other.lock("shedlock/" + name).tryAcquire();
    hold.ifPresent((one) -> one.close());
    return hold.isPresent();
  }

  @Override
  protected void assertUnlocked(String name) {
    assertEquals(true, isFree(name));
  }

  @Override
  protected void assertLocked(String name) {
    assertEquals(false, isFree(name));
  }
}
