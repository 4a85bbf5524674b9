// A client that takes a lock and gives it back, again and again; see
// tests/bench/pairs.py. usage: JedisPairs PORT SECONDS
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

class JedisPairs {
    static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then " +
        "return redis.call('del', KEYS[1]) else return 0 end";
    static final double WARM_UP_S = 1.5;

    static List<String> pairs(Jedis jedis, double seconds) {
        String sha = jedis.scriptLoad(RELEASE);
        List<String> took = new ArrayList<>();
        long begin = System.nanoTime(), end = begin + (long) (seconds * 1e9);
        while (begin < end) {
            String token = Long.toString(begin);
            jedis.set("pair", token, SetParams.setParams().nx().px(20000));
            jedis.evalsha(sha, List.of("pair"), List.of(token));
            long now = System.nanoTime();
            took.add(Double.toString((now - begin) / 1e3));
            begin = now;
        }
        return took;
    }

    public static void main(String[] args) {
        try (Jedis jedis = new Jedis("127.0.0.1", Integer.parseInt(args[0]))) {
            pairs(jedis, WARM_UP_S);
            System.out.println(pairs(jedis, Double.parseDouble(args[1])));
        }
    }
}
