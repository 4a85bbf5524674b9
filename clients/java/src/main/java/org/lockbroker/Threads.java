package org.lockbroker;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads of the client, none of which keeps a program from ending. */
final class Threads {
  private static final MethodHandle IS_VIRTUAL = find("isVirtual",
      MethodType.methodType(boolean.class));
  private static final MethodHandle START_VIRTUAL = findStatic("startVirtualThread",
      MethodType.methodType(Thread.class, Runnable.class));
  private static final Executor POOL = pool();

  private Threads() {}

  private static ThreadPoolExecutor pool() {
    return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 2, TimeUnit.SECONDS,
        new SynchronousQueue<>(), (work) -> daemon(work, "lockbroker-work"));
  }

  private static MethodHandle find(String name, MethodType type) {
    try {
      return MethodHandles.publicLookup().findVirtual(Thread.class, name, type);
    } catch (ReflectiveOperationException error) {
      return null; // of a newer Java
    }
  }

  private static MethodHandle findStatic(String name, MethodType type) {
    try {
      return MethodHandles.publicLookup().findStatic(Thread.class, name, type);
    } catch (ReflectiveOperationException error) {
      return null;
    }
  }

  static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }

  static void run(Runnable work) {
    POOL.execute(work);
  }

  /** For what waits for long: in a virtual thread, where there are some. */
  static void wait(Runnable work) {
    if (START_VIRTUAL == null) {
      run(work);
      return;
    }
    try {
      Thread ignored = (Thread) START_VIRTUAL.invokeExact(work);
    } catch (Throwable error) {
      throw new IllegalStateException(error);
    }
  }

  /** Must it not sleep in a system call? */
  static boolean isVirtual() {
    if (IS_VIRTUAL == null) {
      return false;
    }
    try {
      return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
    } catch (Throwable error) {
      throw new IllegalStateException(error);
    }
  }
}
