"""What the programs in Python share: each step says what it came to, in words."""

import asyncio
import os
import socket
import sys
import threading
import time

PORTS = [int(port) for port in sys.argv[1:3]]
# The port of the witness of faults.py and our number there, or None.
WITNESS = os.environ.get("WITNESS")
BUSY_S = 6 if WITNESS else 20


def say(what, call, *args, **kwargs):
    try:
        result = call(*args, **kwargs)
    except Exception as error:  # its class is what a program can go by
        result = type(error).__name__
    print(what, result if isinstance(result, (str, bool, int, type(None))) else "done", flush=True)
    return result


async def say_aio(what, call):
    """`call` may raise at once, where it is no coroutine."""
    try:
        result = await (call() if callable(call) else call)
    except Exception as error:
        result = error
    if isinstance(result, Exception):
        result = type(result).__name__
    say(what, lambda: result)


def unserved(what, call, *args):
    """What the broker does not serve; the runner looks whether its error says so."""
    said = "served"
    try:
        call(*args)
    except Exception as error:
        said = str(error)
    print(f"unserved {what}: {said}")


def witnessed():
    """While it has the lock: says so to the witness, and goes on when told to."""
    port, number = WITNESS.split()
    with socket.create_connection(("127.0.0.1", int(port))) as witness:
        witness.sendall(f"{number}\n".encode())
        witness.recv(1)


def hunt(lock_of):
    """Takes the lock again and again, until it is killed."""
    number = int(WITNESS.split()[1])
    while True:
        try:
            with lock_of(number):
                witnessed()
        except Exception as error:
            print(f"error {type(error).__name__}: {error}", flush=True)
            time.sleep(0.05)


def contend(lock_of, threads=8, rounds=5):
    """lock_of(number) is a context manager; a file that must not be there shows two at a time."""
    if WITNESS:
        hunt(lock_of)
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


async def contend_aio(lock_of, tasks=8, rounds=5):
    """The same with tasks."""
    path, done = f"/tmp/lbl-{os.getpid()}", []

    async def turn(number):
        async with lock_of(number):
            if WITNESS:
                await asyncio.get_running_loop().run_in_executor(None, witnessed)
                return
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            await asyncio.sleep(0.001)
            os.unlink(path)
            done.append(number)

    while WITNESS:
        try:
            await turn(int(WITNESS.split()[1]))
        except Exception as error:
            print(f"error {type(error).__name__}: {error}", flush=True)
            await asyncio.sleep(0.05)

    async def work(number):
        for _ in range(rounds):
            await turn(number)

    await asyncio.gather(*(work(number) for number in range(tasks)))
    print("contend", len(done))
