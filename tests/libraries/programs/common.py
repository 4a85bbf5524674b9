"""What the programs in Python share: each step says what it came to, in words."""

import os
import sys
import threading

PORTS = [int(port) for port in sys.argv[1:3]]


def say(what, call, *args, **kwargs):
    try:
        result = call(*args, **kwargs)
    except Exception as error:  # its class is what a program can go by
        result = type(error).__name__
    print(what, result if isinstance(result, (str, bool, int, type(None))) else "done", flush=True)
    return result


def contend(lock_of, threads=8, rounds=5):
    """lock_of(number) is a context manager; a file that must not be there shows two at a time."""
    path, faults, done = f"/tmp/lbl-{os.getpid()}", [], []

    def work(number):
        for _ in range(rounds):
            try:
                with lock_of(number):
                    os.close(os.open(path, os.O_CREAT | os.O_EXCL))
                    os.unlink(path)
                    done.append(number)
            except Exception as error:
                faults.append(repr(error))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print("contend", len(done), faults)
