"""The driver for the locks of others, and for the client of this tree; see
peers.py.
usage: peerlocks.py broker|etcd|zookeeper PORT WORKERS SECONDS one|own WORK-MS PAUSE-MS"""

import sys

import workers

LEASE_S = 20


def broker(port, name):
    """The client of this tree."""
    import lockbroker
    client = lockbroker.Broker(f"127.0.0.1:{port}")
    lock = None

    def acquire():
        nonlocal lock
        lock = client.lock(name)
        lock.__enter__()

    return acquire, lambda: lock.__exit__(None, None, None)


def number(n):
    """A varint of protobuf."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(tag, value):
    """A field of protobuf: a number, or bytes."""
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    return number(tag << 3 | 2) + number(len(value)) + value


def fields(data):
    """Those of a message, by tag."""
    found, at = {}, 0

    def varint():
        nonlocal at
        n = shift = 0
        while True:
            byte = data[at]
            at += 1
            n |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return n
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            found[key >> 3] = varint()
        else:
            length = varint()
            found[key >> 3] = data[at:at + length]
            at += length
    return found


def etcd(port, name):
    """etcd's own lock service, by gRPC; the four messages are simple enough to be
    written here, so that no generated code is needed."""
    import grpc
    channel = grpc.insecure_channel(
        f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)])
    grant = channel.unary_unary("/etcdserverpb.Lease/LeaseGrant")
    lock = channel.unary_unary("/v3lockpb.Lock/Lock")
    unlock = channel.unary_unary("/v3lockpb.Lock/Unlock")
    lease = fields(grant(field(1, LEASE_S * 10)))[2]
    key = None

    def acquire():
        nonlocal key
        key = fields(lock(field(1, name.encode()) + field(2, lease)))[2]

    return acquire, lambda: unlock(field(1, key))


def zookeeper(port, name):
    """kazoo's lock."""
    from kazoo.client import KazooClient
    client = KazooClient(f"127.0.0.1:{port}", timeout=LEASE_S)
    client.start(30)
    lock = client.Lock(f"/bench/{name}")
    return lock.acquire, lock.release


if __name__ == "__main__":
    workers.main({"broker": broker, "etcd": etcd, "zookeeper": zookeeper}
                 [sys.argv[1]], sys.argv[2:])
