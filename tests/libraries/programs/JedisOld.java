// The two scripts of the manual of Redis, by Jedis 2; and distributed-redis-lock, which uses it.
import com.crossoverjie.distributed.lock.redis.RedisLock;
import java.util.Collections;
import java.util.UUID;
import redis.clients.jedis.Jedis;

class JedisOld extends Common {
    static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then " +
        "return redis.call('del', KEYS[1]) else return 0 end";

    static Object release(Jedis jedis, String token) {
        return jedis.eval(RELEASE, Collections.singletonList("old"),
                          Collections.singletonList(token));
    }

    static RedisLock<Jedis> lock(Jedis jedis) {
        RedisLock<Jedis> lock = new RedisLock<>();
        lock.setJedis(jedis);
        return lock;
    }

    public static void main(String[] args) {
        run(args, () -> {
            contend((number, work) -> {
                try (Jedis jedis = new Jedis("127.0.0.1", ports[number % 2])) {
                    String request = UUID.randomUUID().toString();
                    lock(jedis).lock("busy", request);
                    work.call();
                    if (!lock(jedis).unlock("busy", request))
                        throw new IllegalStateException("it was lost");
                }
            });
            Jedis one = new Jedis("127.0.0.1", ports[0]), other = new Jedis("127.0.0.1", ports[1]);
            say("Jedis takes", () -> one.set("old", "t", "NX", "PX", 20000));
            say("another is refused", () -> other.set("old", "u", "NX", "EX", 20));
            say("release of another's", () -> release(other, "u"));
            say("release", () -> release(one, "t"));
            RedisLock<Jedis> a = lock(one), b = lock(other);
            say("take", () -> a.tryLock("job", "t"));
            say("another is refused", () -> b.tryLock("job", "u"));
            say("another waits in vain", () -> b.lock("job", "u", 300));
            say("release of another's", () -> b.unlock("job", "u"));
            say("release", () -> a.unlock("job", "t"));
            say("release again", () -> a.unlock("job", "t"));
            say("take for a while", () -> a.tryLock("job", "v", 200));
            Thread.sleep(400);
            say("take what is over", () -> b.tryLock("job", "w", 20000));
            say("release it", () -> b.unlock("job", "w"));
        });
    }
}
