# Watched names: what their watchers hear, and when others' keys are read.

== watches outlive the connection
0 ready 3
10 session 1 grace=50s
> 1 OK id=1 key=K grace=50000
20 1 WATCH a
> op status a
30 < value a
> 1 OK
> 1 !FREE a
40 1 WATCH b
> op status b
50 < value b
> 1 OK
> 1 !FREE b
60 gone 1
70 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
80 < granted a fence=100
> 1 !HELD a fence=100 broker=b
> 2 OK fence=100 depth=1
90 2 UNLOCK a
> op end a seq=1
100 < ended a
> 2 OK depth=0
> 1 !FREE a
110 2 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
120 < granted a fence=200
> 1 !HELD a fence=200 broker=b
> 2 OK fence=200 depth=1
130 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=0
> 1 !FREE b
> 1 !HELD a fence=200 broker=b

== news that is written behind a line of the client is told again
# That line was sent before it: it does not show that the news has arrived.
0 ready 4
10 session 1 grace=50s
> 1 OK id=1 key=K grace=50000
20 1 WATCH a
> op status a
30 < value a
> 1 OK
> 1 !FREE a
40 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
50 < granted a fence=100 ...
> 1 !HELD a fence=100 broker=b
60 1 UNLOCK z
> 1 ERR not-held this session does not hold z
> 2 OK fence=100 depth=1
70 gone 1
80 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=0
> 1 !HELD a fence=100 broker=b
90 1 UNLOCK z
> 1 ERR not-held this session does not hold z
100 gone 1
110 resume 4 1
> 1 attach 4
> 1 OK id=1 locks=0

== but not of a name that it no longer watches
0 ready 3
10 session 1 grace=50s
> 1 OK id=1 key=K grace=50000
20 1 WATCH a
> op status a
30 < value a
> 1 OK
> 1 !FREE a
40 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
50 < granted a fence=100 ...
> 1 !HELD a fence=100 broker=b
60 1 UNWATCH a
> 1 OK
> 2 OK fence=100 depth=1
70 gone 1
80 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=0

== quick changes are one
# One step may take a name and give it up: nothing has changed then.
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 3 WATCH a
> 3 OK
> 3 !HELD a fence=100 broker=b
40 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
50 < renewed a fence=110
60 1 UNLOCK a
> 1 OK depth=0
> 3 !HELD a fence=110 broker=b
> 2 OK fence=110 depth=1

== the key of a name that is held elsewhere is read once a lease
0 ready 2
10 1 WATCH a ...
> op status a
10 2 WATCH a
20 < value a
> 1 OK
> 1 !FREE a
> 2 OK
> 2 !FREE a
10020 until
> 7741 op status a
10030 < value a text=b2.0123456789abcdef.7|4711 ttl=10s
> op tell a client=b2.0123456789abcdef.7 other=about b.0000000000000000.1
> 1 !HELD a fence=4711 broker=b2
> 2 !HELD a fence=4711 broker=b2
20040 until
> 16275 op status a
20050 1 UNWATCH a
> 1 OK
20060 2 UNWATCH a
> 2 OK
20070 < value a
60000 until

== watches are bounded
config holds=4
0 ready 1
10 1 WATCH a
> op status a
10 1 WATCH b
> op status b
10 1 WATCH c
> op status c
10 1 WATCH d
> op status d
20 < value a
> 1 OK
> 1 !FREE a
20 < value b
> 1 OK
> 1 !FREE b
20 < value c
> 1 OK
> 1 !FREE c
20 < value d
> 1 OK
> 1 !FREE d
30 1 WATCH e
> 1 ERR limit this session already holds, waits for or watches 4 objects (limits.holds)
40 1 WATCH a
> op status a
50 < value a
> 1 OK
> 1 !FREE a
