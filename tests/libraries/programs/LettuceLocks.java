// The two scripts of the manual of Redis, by Lettuce.
import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

class LettuceLocks extends Common {
    static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then " +
        "return redis.call('del', KEYS[1]) else return 0 end";
    static final String EXTEND = "if redis.call('get', KEYS[1]) == ARGV[1] then " +
        "return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

    static Long eval(RedisCommands<String, String> commands, String text, String name,
                     String... args) {
        return commands.eval(text, ScriptOutputType.INTEGER, new String[] { name }, args);
    }

    public static void main(String[] args) {
        run(args, () -> {
            RedisClient one = RedisClient.create("redis://127.0.0.1:" + ports[0]),
                other = RedisClient.create("redis://127.0.0.1:" + ports[1]);
            RedisCommands<String, String> a = one.connect().sync(), b = other.connect().sync();
            contend((number, work) -> {
                RedisCommands<String, String> commands = number % 2 == 1 ? a : b;
                String token = UUID.randomUUID().toString();
                while (commands.set("busy", token, SetArgs.Builder.nx().px(BUSY_MS)) == null)
                    Thread.sleep(10);
                work.call();
                if (eval(commands, RELEASE, "busy", token) != 1)
                    throw new IllegalStateException("it was lost");
            });
            say("take", () -> a.set("job", "t", SetArgs.Builder.nx().px(20000)));
            say("another is refused", () -> b.set("job", "u", SetArgs.Builder.nx().px(20000)));
            say("look", () -> b.get("job"));
            say("time", () -> b.pttl("job") > 0);
            say("extend", () -> eval(a, EXTEND, "job", "t", "30000"));
            say("another extends", () -> eval(b, EXTEND, "job", "u", "30000"));
            say("release of another's", () -> eval(b, RELEASE, "job", "u"));
            say("release", () -> eval(a, RELEASE, "job", "t"));
            String sum = b.scriptLoad(RELEASE);
            say("release by its sum", () -> b.evalsha(sum, ScriptOutputType.INTEGER,
                                                      new String[] { "job" }, "t"));
            say("later", () -> one.connect().async().set("job", "v", SetArgs.Builder.nx().ex(20))
                .get(5, TimeUnit.SECONDS));
            say("release what was taken", () -> eval(a, RELEASE, "job", "v"));
            say("take for a while", () -> a.set("job", "w", SetArgs.Builder.nx().px(200)));
            Thread.sleep(400);
            say("extend what is over", () -> eval(a, EXTEND, "job", "w", "1000"));
            say("take what is over", () -> b.set("job", "x", SetArgs.Builder.nx().px(20000)));
            say("delete it", () -> b.del("job"));
        });
    }
}
