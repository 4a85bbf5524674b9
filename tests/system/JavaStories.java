import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.lockbroker.Broker;
import org.lockbroker.BrokerLock;
import org.lockbroker.BrokerReadWriteLock;
import org.lockbroker.BrokerSemaphore;
import org.lockbroker.DeadlockException;
import org.lockbroker.DeniedException;
import org.lockbroker.Hold;
import org.lockbroker.LockBrokerException;
import org.lockbroker.LostException;
import org.lockbroker.UnavailableException;

/**
 * Programs of test_client_java.py: {@code JavaStories NAME ADDRESS [ARGUMENT ...]}. Each says what it
 * has seen, a line each, and goes on where it is told to by a line.
 */
final class JavaStories {
  private static final BufferedReader INPUT =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private static String[] given;

  private static synchronized void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }

  private static void hear() throws IOException {
    INPUT.readLine();
  }

  private static final Duration SOON = Duration.ofSeconds(20);

  private static Broker broker() {
    return Broker.connect(given[0]);
  }

  /** What it ends with: a value, or the name or the code of an exception. */
  private static Object end(Callable<?> what) {
    try {
      return what.call();
    } catch (LockBrokerException error) {
      return error.code();
    } catch (ExecutionException error) {
      Throwable cause = error.getCause();
      return cause instanceof LockBrokerException ? ((LockBrokerException) cause).code() : cause;
    } catch (Exception error) {
      return error.getClass().getSimpleName();
    }
  }

  private static Object end(Runnable what) {
    return end(() -> {
      what.run();
      return "none";
    });
  }

  /** The same in another thread. */
  private static Object aside(Callable<?> what) throws InterruptedException {
    Object[] got = new Object[1];
    Thread thread = new Thread(() -> got[0] = end(what));
    thread.start();
    thread.join();
    return got[0];
  }

  private static Thread start(Runnable work) {
    Thread thread = new Thread(work);
    thread.start();
    return thread;
  }

  // The stories.

  static void lock() throws Exception {
    try (Broker broker = broker()) {
      BrokerLock lock = broker.lock("a");
      lock.lock();
      say(lock.fence(), lock.isHeldByCurrentThread(), lock.isLost());
      say(!lock.valid().isZero(), lock.valid().compareTo(Duration.ofSeconds(10)) <= 0);
      say(broker.lock("a").tryLock(), broker.lock("a").fence());
      say(aside(lock::tryLock), aside(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)),
          aside(() -> {
            lock.unlock();
            return "unlocked";
          }));
      say(end(lock::newCondition), aside(() -> lock.acquire(Duration.ZERO)),
          aside(() -> lock.acquire(Duration.ofMillis(50))));
      hear();
      lock.unlock();
      say(lock.isHeldByCurrentThread());
      hear();
      lock.unlock();
      say(lock.isHeldByCurrentThread(), end(lock::unlock), end(lock::fence));
      say(aside(() -> {
        boolean got = lock.tryLock();
        lock.unlock();
        return got;
      }));
    }
  }

  static void interrupt() throws Exception {
    try (Broker broker = broker()) {
      BrokerLock lock = broker.lock("held");
      CountDownLatch over = new CountDownLatch(1);
      Thread one = start(() -> {
        say(end(() -> {
          lock.lockInterruptibly();
          return "held";
        }));
        over.countDown();
      });
      hear();
      one.interrupt();
      over.await();
      Thread two = start(() -> {
        lock.lock();
        say("held", Thread.currentThread().isInterrupted());
        lock.unlock();
        say(Thread.interrupted(), end(() -> lock.acquire(Duration.ZERO).names()));
      });
      say("waits");
      hear();
      two.interrupt();
      say("interrupted");
      hear();
      two.join();
      Thread.currentThread().interrupt();
      say(end(() -> lock.acquire()), Thread.interrupted(), broker.lock("other").tryLock());
    }
  }

  static void crowd() throws Exception {
    try (Broker broker = broker()) {
      AtomicInteger inside = new AtomicInteger();
      AtomicInteger most = new AtomicInteger();
      List<Long> fences = new ArrayList<>();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        threads.add(start(() -> {
          BrokerLock lock = broker.lock("a");
          for (int n = 0; n < 5; n++) {
            lock.lock();
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            fences.add(lock.fence());
            Thread.yield();
            inside.decrementAndGet();
            lock.unlock();
          }
        }));
      }
      for (Thread thread : threads) {
        thread.join();
      }
      say(most, fences.size(),
          fences.stream().distinct().sorted().collect(Collectors.toList()).equals(fences));
    }
  }

  static void options() throws Exception {
    try (Broker broker = broker()) {
      try (Hold both = broker.lock("a", "b").acquire()) {
        say(both.names(), both.fences().length, end(() -> broker.lock("a").tryLock()),
            aside(() -> broker.lock("b").tryLock()));
      }
      broker.lock("k").withKeep(Duration.ofSeconds(30)).acquire().close();
      say(aside(() -> broker.lock("other").tryLock()));
      Hold other = broker.lock("o").acquire();
      Hold bound = broker.lock("h").withHold(Duration.ofMillis(200)).acquire();
      CountDownLatch told = new CountDownLatch(1);
      bound.onLost(told::countDown);
      told.await();
      say(bound.isLost(), end(bound::check), end(bound::close), end(bound::close));
      other.check();
      say(end(() -> broker.lock("x").withHold(Duration.ZERO)),
          end(() -> broker.lock("x").withKeep(Duration.ofSeconds(-1))));
      other.close();
      say(end(other::check), other.valid(), other.isLost());
    }
  }

  static void readWrite() throws Exception {
    try (Broker broker = broker()) {
      BrokerReadWriteLock lock = broker.readWriteLock("s");
      lock.readLock().lock();
      say(aside(() -> {
        boolean got = lock.readLock().tryLock();
        lock.readLock().unlock();
        return got;
      }), aside(() -> lock.writeLock().tryLock()));
      try {
        lock.writeLock().lock();
      } catch (DeadlockException error) {
        say(error.getMessage());
      }
      lock.readLock().unlock();
      lock.writeLock().lock();
      lock.readLock().lock();
      lock.writeLock().unlock();
      say(lock.readLock().isHeldByCurrentThread(), aside(() -> lock.writeLock().tryLock()));
      lock.readLock().unlock();
      say(lock.readLock().isHeldByCurrentThread(), lock.writeLock().tryLock());
      lock.writeLock().unlock();
    }
  }

  static void permits() throws Exception {
    try (Broker broker = broker()) {
      Hold one = broker.semaphore("s", 2).acquire();
      Hold two = broker.semaphore("s", 2).acquireAsync().get();
      say(broker.semaphore("s", 2).tryAcquire().isPresent(),
          end(() -> broker.semaphore("s", 2).acquire(Duration.ofMillis(20))),
          end(() -> broker.semaphore("s", 3).acquire(Duration.ofMillis(20))));
      one.close();
      two.close();
      try (Hold all = broker.semaphore("s", 2).withPermits(2).acquire()) {
        say(end(all::fence), end(() -> broker.semaphore("s", 2).withPermits(3)));
      }
      try (Hold leader = broker.elect("leader")) {
        say(leader.fence() > 0);
      }
      try (Hold traced = broker.lock("t").withTrace(
          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").acquire()) {
        say(traced.fence() > 0);
      }
      try (Hold leader = broker.elect("leader", "10.0.0.7:80")) {
        say(leader.fence() > 0, broker.value("leader").get());
        leader.setValue("10.0.0.8:80");
        say(broker.value("leader").get(), broker.value("other"), end(() -> leader.setValue("a b")));
        leader.close();
        say(end(() -> leader.setValue("x")));
      }
      BrokerLock lock = broker.lock("b");
      lock.lock();
      lock.setValue("\u00e9l\u00e8ve");
      say("\u00e9l\u00e8ve".equals(broker.value("b").get()));
      lock.unlock();
      try (Hold both = broker.lock("a", "b").acquire();
          Hold permit = broker.semaphore("s", 1).acquire()) {
        say(end(() -> both.setValue("x")), end(() -> permit.setValue("x")),
            end(() -> lock.setValue("x")));
      }
    }
  }

  static void slots() throws Exception {
    try (Broker broker = Broker.builder().addresses(given[0]).grace(SOON).build()) {
      BrokerSemaphore gpus = broker.semaphore("gpu", 2).withSlot();
      Hold one = gpus.acquire();
      Hold two = gpus.acquireAsync().get();
      CountDownLatch told = new CountDownLatch(1);
      one.onLost(told::countDown);
      say(one.slot(), two.slot(), end(() -> gpus.acquire(Duration.ZERO)));
      hear();
      one.check();
      two.check();
      say(one.slot(), two.slot(), "safe");
      two.close();
      told.await();
      try {
        one.close();
      } catch (LostException lost) {
        say(one.slot(), lost.reason());
      }
    }
  }

  static void noSlots() throws Exception {
    try (Broker broker = broker()) {
      try {
        broker.semaphore("gpu", 513).withSlot().acquire();
      } catch (LockBrokerException error) {
        say(error.code(), error.getMessage());
      }
      BrokerSemaphore gpus = broker.semaphore("gpu", 2);
      try (Hold two = gpus.withPermits(2).acquire(); Hold lock = broker.lock("gpu").acquire()) {
        say(end(() -> gpus.withPermits(2).withSlot()), end(() -> gpus.withSlot().withPermits(2)),
            two.slot(), lock.slot());
      }
    }
  }

  /** Each thread has its trace, also where another one waits for it. */
  static void traces() throws Exception {
    ThreadLocal<String> trace = new ThreadLocal<>();
    try (Broker broker = Broker.builder().addresses(given[0]).trace(trace::get).build()) {
      trace.set("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
      broker.lock("a").acquire().close();
      trace.set("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
      broker.lock("a").lockAsync().get().close();
      broker.readWriteLock("a").readLock().lock();
      broker.readWriteLock("a").readLock().unlock();
      broker.lock("a").withTrace("00-11111111111111111111111111111111-1111111111111111-00")
          .acquire().close();
      trace.remove();
      broker.lock("a").acquire().close();
      broker.semaphore("s", 1).acquire().close();
      trace.set("none");
      say(end(() -> broker.lock("a").acquire()));
    }
  }

  static void async() throws Exception {
    try (Broker broker = broker()) {
      Hold held = broker.lock("a").lockAsync().get();
      say(broker.lock("a").tryLock(), end(() -> broker.lock("a").lockAsync(Duration.ZERO).get()));
      CompletableFuture<Hold> waits = broker.lock("a").lockAsync();
      say("waits");
      hear();
      waits.cancel(true);
      hear();
      CompletableFuture<Long> fence = broker.lock("a").lockAsync().thenApply((hold) -> {
        try (Hold mine = hold) {
          return mine.fence();
        }
      });
      held.close();
      say(fence.get() > held.fence());
    }
  }

  static void loss() throws Exception {
    try (Broker broker = broker()) {
      BrokerLock lock = broker.lock("a");
      lock.lock();
      lock.lock();
      lock.onLost(() -> say("told"));
      say("held");
      hear();
      say(lock.isLost(), lock.valid().isZero(), end(lock::lock), end(lock::unlock));
      try {
        lock.unlock();
      } catch (LostException error) {
        say(error.getMessage());
      }
      say(end(lock::unlock), lock.tryLock());
    }
  }

  static void dropped() throws Exception {
    try (Broker broker = broker()) {
      broker.lock("hold").acquire();
      Thread thread = start(() -> broker.lock("thread").lock());
      thread.join();
      thread = null;
      say("dropped");
      while (broker.lock("hold").lockAsync(Duration.ZERO).handle((hold, error) -> {
        Optional.ofNullable(hold).ifPresent(Hold::close);
        return error != null;
      }).get()) {
        System.gc();
        Thread.sleep(20);
      }
      broker.lock("thread").acquire(SOON).close();
      say("had");
    }
  }

  static void errors() throws Exception {
    try (Broker broker = broker()) {
      for (int wait : new int[] {0, 100}) {
        try {
          broker.lock("b", "held").acquire(Duration.ofMillis(wait));
        } catch (LockBrokerException error) {
          say(error.code(), error.names().contains("held"), error.holder().isPresent(),
              error.age().isPresent(), error.getMessage());
        }
      }
      for (String name : new String[] {"a b", "", "a\r\nUNLOCK-FORCE held", "a=b", "\ud800"}) {
        say(end(() -> broker.lock(name)));
      }
      say(end(() -> broker.lock()), end(() -> broker.lock("a", "a").tryLock()),
          end(() -> broker.lock("é".repeat(200)).tryLock()));
      for (String address : new String[] {"redis://a:1", "a:b", "a:99999"}) {
        say(end(() -> Broker.connect(address)));
      }
    }
    Broker nobody = Broker.connect("127.0.0.1:1");
    say(end(() -> nobody.lock("a").tryLock()));
    nobody.close();
    nobody.close();
    say(end(() -> nobody.lock("a").tryLock()));
  }

  /** What an exception knows, and which class it has. */
  static void known() throws Exception {
    try (Broker broker = broker()) {
      try {
        broker.lock("held").acquire(Duration.ofMillis(50));
      } catch (LockBrokerException error) {
        say(error.code(), error.names(), error.holder().get(), error.broker().get(),
            error.before().get(), !error.age().get().isNegative());
      }
      try (Hold both = broker.lock("a", "b").acquire()) {
        broker.lock("a").acquire();
      } catch (DeadlockException error) {
        say(error.names(), error.holder(), error.broker(), error.age(), error.before());
      }
    }
    try (Broker nobody = Broker.builder().addresses("127.0.0.1:1").patience(
        Duration.ofMillis(50)).build()) {
      nobody.lock("a").lock();
    } catch (UnavailableException error) {
      say(error.code(), error.names());
    }
  }

  /** Times that begin with the grant, and such as are changed while it is held. */
  static void times() throws Exception {
    Duration much = Duration.ofSeconds(30);
    Duration few = Duration.ofMillis(100);
    try (Broker broker = broker()) {
      CountDownLatch told = new CountDownLatch(1);
      Hold delayed = broker.lock("delayed").withDelay(much).withHold(few).acquire();
      delayed.onLost(told::countDown);
      told.await();
      Hold longer = broker.lock("longer").withHold(Duration.ofSeconds(10)).acquire();
      longer.extend(Duration.ofHours(1));
      Hold kept = broker.lock("kept").acquire();
      kept.keep(much);
      kept.close();
      say("kept", kept, end(() -> kept.keep(much)), end(() -> kept.extend(much)));
      hear();
      longer.extend(few);
      Hold free = broker.lock("free").acquire();
      say(end(() -> free.extend(much)), end(() -> free.keep(Duration.ofMillis(-1))));
      while (!longer.isLost()) {
        Thread.sleep(20);
      }
      say(end(() -> longer.extend(much)), end(() -> longer.keep(much)), end(longer::close),
          end(delayed::close));
      free.close();
    }
  }

  static void delay() throws Exception {
    try (Broker broker = broker()) {
      Hold hold = broker.lock("a").withDelay(Duration.ofSeconds(30)).acquire();
      hold.onLost(() -> say("lost"));
      hear();
      say(hold.isLost());
    }
  }

  /** What a BrokerLock says of the lock that its thread has. */
  static void shown() throws Exception {
    try (Broker broker = broker()) {
      BrokerLock both = broker.lock("a", "b");
      say(both.names(), both, end(both::fences), both.valid(), end(both::isLost));
      Hold hold = both.tryAcquire().get();
      say(Arrays.equals(hold.fences(), both.fences()), both.fences().length, hold);
      say(aside(() -> both.tryAcquire().isPresent()), aside(both::isHeldByCurrentThread));
      hold.close();
      say(broker.readWriteLock("s").readLock(), broker.semaphore("s", 2));
    }
  }

  static void password() throws Exception {
    try (Broker broker = Broker.builder().addresses(given[0]).user(given[1], given[2])
        .label("here").build()) {
      for (String name : new String[] {"mine/a", "other"}) {
        try (Hold hold = broker.lock(name).acquire()) {
          say("held");
          hear();
        } catch (DeniedException error) {
          say(error.code(), error.names());
        }
      }
    }
  }

  /** TLS whose context is the program's own. */
  static void context() throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream ca = Files.newInputStream(Path.of(given[1]))) {
      store.setCertificateEntry("ca", CertificateFactory.getInstance("X.509")
          .generateCertificate(ca));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext tls = SSLContext.getInstance("TLS");
    tls.init(null, trust.getTrustManagers(), null);
    try (Broker broker = Broker.builder().addresses(given[0]).tls(tls).build();
        Hold hold = broker.lock("a").acquire(SOON)) {
      say(hold.fence() > 0);
    }
  }

  static void names() throws Exception {
    try (Broker broker = broker();
        Hold hold = broker.lock("größe", "鍵", "𝄞").acquire()) {
      CountDownLatch told = new CountDownLatch(1);
      hold.onLost(told::countDown);
      say("held");
      told.await();
      say(hold.isLost(), end(hold::check));
    } catch (LostException error) {
      say(error.getMessage());
    }
  }

  static void user() throws Exception {
    Broker.Builder builder = Broker.builder().addresses(given[0]);
    if (given.length > 1) {
      builder.ca(Path.of(given[1]));
    }
    if (given.length > 2) {
      builder.certificate(Path.of(given[2]), Path.of(given[3]));
    }
    try (Broker broker = builder.build()) {
      for (String name : new String[] {"a", "b"}) {
        try (Hold hold = broker.lock(name).acquire(Duration.ofSeconds(5))) {
          say("held");
        } catch (LockBrokerException error) {
          say(error.code(), error.getMessage());
        }
      }
    }
  }

  /** With one carrier: who pins it stops all. */
  static void virtual() throws Exception {
    try (Broker broker = broker()) {
      List<Thread> threads = new ArrayList<>();
      AtomicInteger had = new AtomicInteger();
      for (int i = 0; i < 20; i++) {
        threads.add(virtual(() -> {
          BrokerLock lock = broker.lock("held");
          lock.lock();
          had.incrementAndGet();
          lock.unlock();
        }));
      }
      hear();
      virtual(() -> {
        try (Hold hold = broker.lock("free").acquire()) {
          say("held", had);
        } catch (InterruptedException error) {
          say(error);
        }
      }).join();
      hear();
      for (Thread thread : threads) {
        thread.join();
      }
      say(had);
    }
  }

  private static Thread virtual(Runnable work) throws ReflectiveOperationException {
    return (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
        .invoke(null, work);
  }

  /** It ends, though nothing was closed. */
  static void open() throws Exception {
    Broker broker = broker();
    broker.lock("a").lock();
    broker.lock("b").lockAsync().get();
    say("held");
  }

  /** After close(), nothing of the client is left. */
  static void closed() throws Exception {
    int before = Thread.activeCount();
    Broker broker = broker();
    Hold hold = broker.lock("a").acquire();
    hold.onLost(() -> say("told"));
    broker.lock("b").acquire().close();
    broker.close();
    say(hold.isLost(), end(hold::close), end(() -> broker.lock("c").tryLock()));
    broker.close();
    while (Thread.activeCount() > before) {
      Thread.sleep(20);
    }
    say("nothing is left");
  }

  public static void main(String[] args) throws Exception {
    given = Arrays.copyOfRange(args, 1, args.length);
    var story = JavaStories.class.getDeclaredMethod(args[0]);
    if (!Modifier.isStatic(story.getModifiers())) {
      throw new IllegalArgumentException(args[0]);
    }
    story.invoke(null);
  }
}
