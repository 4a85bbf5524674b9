import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.Security;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.lockbroker.Broker;
import org.lockbroker.BrokerLock;
import org.lockbroker.BrokerSemaphore;
import org.lockbroker.Hold;
import org.lockbroker.LockBrokerException;

/** The driver of the conformance story for the client in Java: {@code Driver ADDRESSES [grace]}. */
final class Driver {
  private static synchronized void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }

  /** A request that sleeps until it is granted. */
  private interface Take {
    Hold take() throws InterruptedException;
  }

  /** How the words of a line are asked for: {@code lock N WAIT NAME ...}, {@code slot N WAIT NAME LIMIT}. */
  private static Take take(Broker broker, String... words) {
    Duration wait = words[2].equals("-") ? null : Duration.ofMillis(Long.parseLong(words[2]));
    if (words[0].equals("slot")) {
      BrokerSemaphore one = broker.semaphore(words[3], Integer.parseInt(words[4])).withSlot();
      return () -> wait == null ? one.acquire() : one.acquire(wait);
    }
    String last = words[words.length - 1];
    int at = last.indexOf('=');
    String[] names = Arrays.copyOfRange(words, 3, words.length - (at < 0 ? 0 : 1));
    BrokerLock one = at < 0 ? broker.lock(names)
        : broker.lock(names).withValue(last.substring(at + 1));
    return () -> wait == null ? one.acquire() : one.acquire(wait);
  }

  /** A block, in a thread of its own, until it is told to end. */
  private static final class Block implements Runnable {
    private final String number;
    private final Take request;
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile Hold hold;

    Block(String number, Take request) {
      this.number = number;
      this.request = request;
    }

    void value(String text) {
      ask(number, () -> {
        hold.setValue(text);
        return "valued";
      });
    }

    @Override
    public void run() {
      try (Hold mine = request.take()) {
        hold = mine;
        mine.onLost(() -> say(number, "told"));
        say(number, "held", mine.slot() >= 0 ? "slot=" + mine.slot()
            : Arrays.toString(mine.fences()).replaceAll("[\\[\\] ]", ""));
        end.await();
      } catch (LockBrokerException | InterruptedException error) {
        say(number, error instanceof LockBrokerException ? ((LockBrokerException) error).code()
            : "interrupted", error.getMessage());
        return;
      }
      say(number, "released");
    }
  }

  /** In a thread of its own: what others read, or what can be read of them. */
  private static void ask(String number, Supplier<String> question) {
    Thread thread = new Thread(() -> {
      try {
        say(number, question.get());
      } catch (LockBrokerException error) {
        say(number, error.code(), error.getMessage());
      }
    });
    thread.setDaemon(true);
    thread.start();
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Security.setProperty("networkaddress.cache.negative.ttl", "0");
    boolean grace = Arrays.asList(args).contains("grace");
    boolean virtual = Arrays.asList(args).contains("virtual");
    Map<String, Block> blocks = new ConcurrentHashMap<>();
    try (Broker broker = Broker.builder().addresses(args[0])
        .grace(Duration.ofSeconds(grace ? 5 : 0)).build()) {
      BufferedReader lines = new BufferedReader(
          new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line; (line = lines.readLine()) != null; ) {
        String[] words = line.split(" ");
        Block block = blocks.get(words[1]);
        if (words[0].equals("lock") || words[0].equals("slot")) {
          block = new Block(words[1], take(broker, words));
          blocks.put(words[1], block);
          start(block, virtual);
        } else if (words[0].equals("unlock")) {
          block.end.countDown();
        } else if (words[0].equals("check")) {
          say(words[1], block.hold.isLost() ? "lost" : "safe");
        } else if (words[0].equals("value")) {
          block.value(words[2]);
        } else if (words[0].equals("read")) {
          ask(words[1], () -> broker.value(words[2]).map((found) -> "read " + found)
              .orElse("none"));
        } else if (words[0].equals("stall")) {
          Thread.sleep(Long.parseLong(words[1]));
          say(words[1], "stalled");
        }
      }
    }
  }

  private static void start(Block block, boolean virtual) {
    Thread thread = new Thread(block);
    thread.setDaemon(true);
    if (!virtual) {
      thread.start();
      return;
    }
    try {
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, block);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("there are no virtual threads here", error);
    }
  }
}
