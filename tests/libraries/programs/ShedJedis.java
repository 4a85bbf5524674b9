import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.jedis4.JedisLockProvider;
import redis.clients.jedis.JedisPool;

class ShedJedis extends ShedLocks {
    static LockProvider provider(int port) {
        return new JedisLockProvider(new JedisPool("127.0.0.1", port), "test");
    }

    public static void main(String[] args) {
        run(args, () -> walk(provider(ports[0]), provider(ports[1])));
    }
}
