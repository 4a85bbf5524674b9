import java.util.List;
import java.util.StringJoiner;
import java.util.UUID;
import org.lockbroker.Broker;
import org.lockbroker.BrokerLock;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * A client in Java that takes a lock and gives it back, again and again; see clients.py. Usage: {@code
 * Pair broker|redis PORT SECONDS}.
 */
final class Pair {
  private static final String GIVE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
  private static final int WARM_UP = 3000;

  private static Runnable broker(String address) {
    BrokerLock lock = Broker.connect(address).lock("pair");
    return () -> {
      lock.lock();
      lock.unlock();
    };
  }

  /** As programs do it themselves with Jedis. */
  private static Runnable redis(int port) {
    Jedis jedis = new Jedis("127.0.0.1", port);
    String give = jedis.scriptLoad(GIVE);
    SetParams how = SetParams.setParams().nx().px(20000);
    return () -> {
      String token = UUID.randomUUID().toString();
      if (jedis.set("pair", token, how) == null) {
        throw new IllegalStateException("it is held");
      }
      jedis.evalsha(give, List.of("pair"), List.of(token));
    };
  }

  public static void main(String[] args) {
    Runnable pair = args[0].equals("broker") ? broker(args[1])
        : redis(Integer.parseInt(args[1]));
    for (int i = 0; i < WARM_UP; i++) {
      pair.run();
    }
    StringJoiner took = new StringJoiner(",", "[", "]");
    long begin = System.nanoTime();
    long end = begin + (long) (Double.parseDouble(args[2]) * 1e9);
    while (begin < end) {
      pair.run();
      long now = System.nanoTime();
      took.add(Double.toString((now - begin) / 1e3));
      begin = now;
    }
    System.out.println(took);
  }
}
