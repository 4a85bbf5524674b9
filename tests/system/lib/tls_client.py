"""A client of the broker that speaks TLS."""

import os
import select
import socket
import ssl

from .client import Client
from .wait import PROMPT, Deadline, hang


def context(authority=None, certificate=None, version=None):
    """What a client trusts, and what it shows (paths without .crt and .key)."""
    made = ssl.create_default_context(cafile=f"{authority}.crt" if authority else None)
    made.verify_flags |= ssl.VERIFY_X509_STRICT  # the default of Python 3.13
    if not authority:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if certificate:
        made.load_cert_chain(f"{certificate}.crt", f"{certificate}.key")
    if version:
        made.maximum_version = version
    return made


class TlsClient(Client):
    """As Client, over TLS; close() ends it without a close_notify, end() with one."""

    def __init__(self, port, how, timeout=PROMPT, receive_buffer=None, name="localhost"):
        self._receive_buffer = receive_buffer
        super().__init__(("127.0.0.1", port), timeout=timeout, receive_buffer=receive_buffer)
        self.sock = how.wrap_socket(self.sock, server_hostname=name,
                                    do_handshake_on_connect=False)
        self.sock.do_handshake()

    def send_raw(self, data):
        deadline = Deadline(30)
        self.sock.setblocking(False)
        try:
            while data:
                try:
                    data = data[self.sock.send(data[:16384]):]
                except ssl.SSLWantWriteError:
                    self._ready(select.POLLIN | select.POLLOUT, 1.0)
                    self._take()
                except ssl.SSLWantReadError:
                    self._ready(select.POLLIN, 1.0)
                assert not deadline.over(), "the broker does not read"
        finally:
            self.sock.settimeout(hang())

    def _ready(self, events, timeout):
        # select() takes no descriptor above 1023.
        poll = select.poll()
        poll.register(self.sock, events)
        return bool(poll.poll(timeout * 1000))

    def pump(self, timeout=0.0):
        if self.eof:
            return False
        ready = self._ready(select.POLLIN, timeout)
        if ready:
            self._take()
        return ready

    def _take(self):
        self.sock.setblocking(False)
        try:
            super()._take()
            while not self.eof and self.sock.pending():
                super()._take()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except ssl.SSLError:
            self.eof = True
        finally:
            if not self.eof:
                self.sock.settimeout(hang())

    def shut(self):
        """Say that nothing more will come (close_notify), and stay to read."""
        self.sock.setblocking(False)
        try:
            said = self._farewell()
        finally:
            self.sock.settimeout(hang())
        os.write(self.sock.fileno(), said)

    def _farewell(self):
        """The bytes of a close_notify. unwrap() would also read, and throw away what the broker has
        written meanwhile; so it gets another socket at its descriptor."""
        fd = self.sock.fileno()
        kept = os.dup(fd)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            theirs.setblocking(False)
            os.dup2(theirs.fileno(), fd)
            try:
                self.sock.unwrap()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
            finally:
                os.dup2(kept, fd)
                os.close(kept)
            return ours.recv(65536)

    def end(self):
        """As orderly as it can be."""
        try:
            self.shut()
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.close()
