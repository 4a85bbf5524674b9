"""A server that answers as a test wants, whatever it is asked."""

import socket
import threading


class FakeServer:
    """`answers`: bytes by the beginning of a command ("CLUSTER SLOTS"); "" is for all others."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def stop(self):
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        try:
            with sock, sock.makefile("rb") as file:
                while True:
                    line = file.readline()
                    if not line.startswith(b"*"):
                        return
                    words = [file.read(int(file.readline()[1:]) + 2)[:-2].decode()
                             for _ in range(int(line[1:]))]
                    command = " ".join(words)
                    self.asked.append(command)
                    begin = max((key for key in self.answers if command.startswith(key)),
                                key=len)
                    sock.sendall(self.answers[begin])
        except OSError:
            pass
