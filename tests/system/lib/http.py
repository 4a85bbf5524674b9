"""HTTP as monitoring speaks it, and metrics as Prometheus understands them."""

import base64
import json
import re
import socket

from .wait import eventually

PORT = re.compile(r"listening address=127\.0\.0\.1:(\d+) protocol=http")


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1])
        self.headers = {}
        for line in lines[1:]:
            key, _, value = line.partition(": ")
            assert key.lower() not in self.headers, f"{key} twice"
            self.headers[key.lower()] = value

    @property
    def text(self):
        return self.body.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.text)


class Http:
    """Asks one address, with a new connection for each request."""

    def __init__(self, port, user=None, password=None, version="1.1"):
        self.port = port
        self.version = version
        self.more = []
        if user is not None:
            both = base64.b64encode(f"{user}:{password}".encode()).decode()
            self.more = [f"Authorization: Basic {both}"]

    def connect(self, timeout=20):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def raw(self, data, timeout=20):
        """Everything that comes back for these bytes, to the end; b"" if nothing does."""
        with self.connect(timeout) as s:
            s.sendall(data)
            return drain(s)

    def ask(self, method, target, headers=(), timeout=20):
        lines = [f"{method} {target} HTTP/{self.version}", "Connection: close", *self.more, *headers]
        if not any(line.startswith("Host:") for line in lines):
            lines.append(f"Host: 127.0.0.1:{self.port}")
        return Answer(self.raw("\r\n".join(lines + ["", ""]).encode(), timeout))

    def get(self, target, *headers):
        return self.ask("GET", target, headers)

    def metrics(self):
        return samples(self.get("/metrics").text)


def drain(s):
    data = b""
    while True:
        try:
            part = s.recv(65536)
        except ConnectionResetError:
            return data
        if not part:
            return data
        data += part


def of(broker, **login):
    """The address that a broker serves HTTP on."""
    line = eventually(lambda: broker.log_lines("protocol=http"), 10, "it listens")[0]
    return Http(int(PORT.search(line).group(1)), **login)


def samples(text):
    """{'name{label="value"}': number}"""
    out = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.rpartition(" ")
            assert key not in out, f"{key} twice"
            out[key] = float(value)
    return out


def families(text):
    """The names that have a TYPE, and the types."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
