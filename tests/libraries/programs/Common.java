// What the programs in Java share: each step says what it came to, in words.
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

class Common {
    interface Walk { void walk() throws Exception; }
    interface Turn { void take(int number, Callable<?> work) throws Exception; }
    static int[] ports;
    // The port of the witness of faults.py and our number there, or nothing.
    static final String[] witness = System.getenv().getOrDefault("WITNESS", "").split(" ");
    static final boolean hunting = witness.length == 2;
    static final int BUSY_MS = hunting ? 6000 : 20000;

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

    // While it has the lock: says so to the witness, and goes on when told to.
    static int witnessed() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(witness[0]))) {
            socket.getOutputStream().write((witness[1] + "\n").getBytes());
            return socket.getInputStream().read();
        }
    }

    // Takes the lock again and again, until it is killed.
    static void hunt(Turn turn) throws Exception {
        for (;;) {
            try {
                turn.take(Integer.parseInt(witness[1]), Common::witnessed);
            } catch (Exception error) {
                String said = "error " + error;
                for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause())
                    said += " < " + cause;
                System.out.println(said.replace('\n', ' '));
                Thread.sleep(50);
            }
        }
    }

    // A file that must not be there shows two at a time.
    static void contend(Turn turn) throws Exception {
        if (hunting)
            hunt(turn);
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
