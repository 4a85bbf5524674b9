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
import org.lockbroker.Hold;
import org.lockbroker.LockBrokerException;

/** The driver of the conformance story for the client in Java: {@code Driver ADDRESSES [grace]}. */
final class Driver {
  private static synchronized void say(Object... words) {
    System.out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }

  /** A block, in a thread of its own, until it is told to end. */
  private static final class Block implements Runnable {
    private final String number;
    private final BrokerLock lock;
    private final Duration wait; // null: for ever
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile Hold hold;

    Block(Broker broker, String number, String wait, String... names) {
      this.number = number;
      this.wait = wait.equals("-") ? null : Duration.ofMillis(Long.parseLong(wait));
      String last = names[names.length - 1];
      int at = last.indexOf('=');
      lock = at < 0 ? broker.lock(names)
          : broker.lock(Arrays.copyOf(names, names.length - 1)).withValue(last.substring(at + 1));
    }

    void value(String text) {
      ask(number, () -> {
        hold.setValue(text);
        return "valued";
      });
    }

    @Override
    public void run() {
      try (Hold mine = wait == null ? lock.acquire() : lock.acquire(wait)) {
        hold = mine;
        mine.onLost(() -> say(number, "told"));
        say(number, "held",
            Arrays.toString(mine.fences()).replaceAll("[\\[\\] ]", ""));
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
        if (words[0].equals("lock")) {
          block = new Block(broker, words[1], words[2], Arrays.copyOfRange(words, 3, words.length));
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
