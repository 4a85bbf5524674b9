import java.io.IOException;
import java.nio.file.*;
import java.sql.*;
import java.time.*;
import java.util.*;
import java.util.function.BooleanSupplier;
import org.lockbroker.*;

/** Runs one of the recipes in Java, which are a class behind this: Main NAME ARGUMENT. */
class Main {
  static String argument;

  public static void main(String[] args) throws Exception {
    argument = args[1];
    try (Broker broker = Broker.connect()) {
      switch (args[0]) {
        case "once":
          Recipes.nightlyReport(broker, LocalDate.parse(argument));
          break;
        case "lead":
          Recipes.lead(broker, argument);
          break;
        case "leader":
          System.out.println(Recipes.leader(broker).orElse("none"));
          break;
        case "thumbnails":
          thumbnails(broker);
          break;
        default:
          try (Connection books = DriverManager.getConnection(System.getenv("BOOKS"))) {
            Recipes.store(broker, books);
          }
      }
    }
  }

  static void thumbnails(Broker broker) throws InterruptedException {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Path path = Path.of(i + ".jpg");
      threads.add(new Thread(() -> {
        try {
          Recipes.thumbnail(broker, path);
        } catch (Exception error) {
          throw new IllegalStateException(error);
        }
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) thread.join();
  }

  static void note(String name, String line) throws IOException {
    Files.writeString(Path.of(name), line + "\n", StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
  }

  static void waitFor(String name, BooleanSupplier lost) throws InterruptedException {
    while (!Files.exists(Path.of(name)) && !lost.getAsBoolean()) Thread.sleep(10);
  }
}

// The program's own part of the recipes.

class Report {
  static void report(LocalDate day, Hold hold) throws Exception {
    Main.note("did", day.toString());
    if (Files.exists(Path.of("slow"))) Main.waitFor("go", hold::isLost);
  }
}

class Billing {
  static void bill(long fence) {
    try {
      Main.note("billed", Main.argument + "/" + fence);
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }
}

class Pictures {
  static void convert(Path path, Hold permit) throws Exception {
    Main.note("did", "+");
    Main.waitFor("go", permit::isLost);
    Main.note("did", "-");
  }
}

class Ledger {
  /** It does not heed the loss of its hold, so that only the fence ends a late write. */
  static long compute(Hold hold) throws Exception {
    if (Files.exists(Path.of("slow"))) {
      Main.note("did", "computes");
      Main.waitFor("go", () -> false);
    }
    return Long.parseLong(Main.argument);
  }
}
