// The two scripts of the manual of Redis, by Jedis 3 and later.
import java.util.List;
import java.util.UUID;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

class JedisLocks extends Common {
    static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then " +
        "return redis.call('del', KEYS[1]) else return 0 end";
    static final String EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then " +
        "return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

    static String take(Jedis jedis, String token, int ms) {
        return jedis.set("job", token, SetParams.setParams().nx().px(ms));
    }

    static Object release(Jedis jedis, String name, String token) {
        return jedis.eval(RELEASE, List.of(name), List.of(token));
    }

    static Object extend(Jedis jedis, String token, int ms) {
        return jedis.eval(EXTEND, List.of("job"), List.of(token, "" + ms));
    }

    public static void main(String[] args) {
        run(args, () -> {
            contend((number, work) -> {
                try (Jedis jedis = new Jedis("127.0.0.1", ports[number % 2])) {
                    String token = UUID.randomUUID().toString();
                    while (jedis.set("busy", token, SetParams.setParams().nx().px(BUSY_MS)) == null)
                        Thread.sleep(10);
                    work.call();
                    if (!release(jedis, "busy", token).equals(1L))
                        throw new IllegalStateException("it was lost");
                }
            });
            Jedis a = new Jedis("127.0.0.1", ports[0]), b = new Jedis("127.0.0.1", ports[1]);
            say("take", () -> take(a, "t", 20000));
            say("another is refused", () -> take(b, "u", 20000));
            say("look", () -> b.get("job"));
            say("time", () -> b.pttl("job") > 0);
            say("extend", () -> extend(a, "t", 30000));
            say("another extends", () -> extend(b, "u", 30000));
            say("release of another's", () -> release(b, "job", "u"));
            say("release", () -> release(a, "job", "t"));
            say("release by its sum", () -> b.evalsha(b.scriptLoad(RELEASE), 1, "job", "t"));
            say("take for a while", () -> take(a, "v", 200));
            Thread.sleep(400);
            say("extend what is over", () -> extend(a, "v", 1000));
            say("take what is over", () -> take(b, "w", 20000));
            say("delete it", () -> b.del("job"));
        });
    }
}
