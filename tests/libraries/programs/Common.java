// What the programs in Java share: each step says what it came to, in words.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

class Common {
    interface Walk { void walk() throws Exception; }
    interface Turn { void take(int number, Callable<?> work) throws Exception; }
    static int[] ports;

    static <T> T say(String what, Callable<T> call) {
        try {
            T result = call.call();
            boolean plain = result == null || result instanceof String ||
                result instanceof Boolean || result instanceof Number;
            System.out.println(what + " " + (plain ? result : "done"));
            return result;
        } catch (Exception error) {
            System.out.println(what + " " + error.getClass().getSimpleName());
            return null;
        }
    }

    // What the broker does not serve; the runner looks whether its error says so.
    static void unserved(String what, Callable<?> call) {
        String said = "served";
        try {
            call.call();
        } catch (Exception error) {
            said = error.getMessage();
            for (Throwable cause = error; cause != null; cause = cause.getCause())
                said = cause.getMessage();
        }
        System.out.println("unserved " + what + ": " + said);
    }

    static FutureTask<Void> begin(Walk walk) {
        FutureTask<Void> task = new FutureTask<>(() -> { walk.walk(); return null; });
        new Thread(task).start();
        return task;
    }

    // A file that must not be there shows two at a time.
    static void contend(Turn turn) throws Exception {
        Path path = Path.of("/tmp/lbl-" + ProcessHandle.current().pid());
        AtomicInteger done = new AtomicInteger();
        FutureTask<?>[] tasks = new FutureTask<?>[8];
        for (int i = 0; i < tasks.length; i++) {
            int number = i;
            tasks[i] = begin(() -> {
                for (int round = 0; round < 5; round++)
                    turn.take(number, () -> {
                        Files.createFile(path);
                        Thread.sleep(1);
                        Files.delete(path);
                        return done.incrementAndGet();
                    });
            });
        }
        for (FutureTask<?> task : tasks)
            task.get();
        System.out.println("contend " + done);
    }

    static void run(String[] args, Walk walk) {
        ports = new int[] { Integer.parseInt(args[0]), Integer.parseInt(args[1]) };
        try {
            walk.walk();
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }
}
