// Redisson by its Spring Boot starter, with the defaults of both.
import org.redisson.api.RedissonClient;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;

@EnableAutoConfiguration
class RedissonBoot extends Common {
    static RedissonClient client(int port) {
        return new SpringApplicationBuilder(RedissonBoot.class).web(WebApplicationType.NONE)
            .properties("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port,
                        "spring.main.banner-mode=off", "logging.level.root=off")
            .run().getBean(RedissonClient.class);
    }

    public static void main(String[] args) {
        run(args, () -> {
            RedissonClient one = client(ports[0]), other = client(ports[1]);
            RedissonClient[] clients = { one, other };
            contend((number, work) -> {
                RedissonLocks.during(clients[number % 2].getLock("busy"), work);
            });
            RedissonLocks.one_kind("lock", one.getLock("job"), other.getLock("job"));
            unserved("getMap", () -> one.getMap("u").put("k", "v"));
        });
    }
}
