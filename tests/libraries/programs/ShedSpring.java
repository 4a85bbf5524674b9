import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

class ShedSpring extends ShedLocks {
    static LockProvider provider(int port) {
        LettuceConnectionFactory factory = new LettuceConnectionFactory("127.0.0.1", port);
        factory.afterPropertiesSet();
        factory.start();
        return new RedisLockProvider(factory);
    }

    public static void main(String[] args) {
        run(args, () -> walk(provider(ports[0]), provider(ports[1])));
    }
}
