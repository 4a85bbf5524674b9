// One of the JVMs of tests/bench/redisson.py: threads that want one lock.
//
// usage: RedissonBench PORT THREADS SECONDS WORK-MS one|own. It says that it is
// ready, waits for a line, and prints when each wait began, was over, and when the
// lock was given back: a line of JSON, in seconds of the clock that nobody sets.
// With "own" each thread has a lock of its own.
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.IntFunction;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

class RedissonBench {
    // Before it says that it is ready: until the JVM has compiled what runs.
    static final double WARM_UP_S = 15;

    static void run(RLock lock, int thread, long end, int work_ms, List<String> grants) {
        while (System.nanoTime() < end) {
            long start = System.nanoTime();
            lock.lock();
            long begin = System.nanoTime();
            try {
                if (work_ms > 0)
                    Thread.sleep(work_ms);
            } catch (InterruptedException error) {
                throw new RuntimeException(error);
            }
            lock.unlock();
            grants.add("[" + thread + "," + start / 1e9 + "," + begin / 1e9 + "," +
                System.nanoTime() / 1e9 + "]");
        }
    }

    // All threads want one lock for so many seconds.
    static List<String> run_all(IntFunction<RLock> lock_of, int threads, double seconds,
            int work_ms) throws Exception {
        long end = System.nanoTime() + (long) (seconds * 1e9);
        List<String> grants = Collections.synchronizedList(new ArrayList<>());
        List<Thread> running = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            running.add(new Thread(() -> run(lock_of.apply(thread), thread, end, work_ms,
                grants)));
            running.get(i).start();
        }
        for (Thread thread : running)
            thread.join();
        return grants;
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[1]), work_ms = Integer.parseInt(args[3]);
        Config config = new Config();
        config.setNettyThreads(4).useSingleServer().setAddress("redis://127.0.0.1:" + args[0])
            .setConnectionMinimumIdleSize(threads).setConnectionPoolSize(threads + 1);
        RedissonClient client = Redisson.create(config);
        String id = UUID.randomUUID().toString();
        boolean own = args[4].equals("own");
        run_all(i -> client.getLock(own ? "warm-up-" + id + i : "warm-up"), threads,
            WARM_UP_S, work_ms);
        System.out.println("ready");
        if (System.in.read() < 0)
            return;
        List<String> grants = run_all(i -> client.getLock(own ? "own-" + id + i : "bench"),
            threads, Double.parseDouble(args[2]), work_ms);
        System.out.println("[" + String.join(",", grants) + "]");
        System.exit(0);
    }
}
