# Watchers and administrators: what is seen and done from outside.

== watch: Redis is away, and what was here ends meanwhile
0 ready 3
5 2 WATCH a
> op status a
6 < value a
> 2 OK
> 2 !FREE a
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 !HELD a fence=100 broker=b
> 1 OK fence=100 depth=1
25 down
30 1 UNLOCK a
> 1 OK depth=0 deferred=1
12900 3 WATCH a
16000 until
> 13010 2 !FREE a
> 13010 3 OK
> 13010 3 !FREE a

== watch: Redis was away, and the name is taken here before a look
0 ready 2
10 down
20 2 WATCH a
25 up
26 guard blessed
30 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
35 < granted a fence=100
> 2 OK
> 2 !HELD a fence=100 broker=b
> 1 OK fence=100 depth=1

== force: the clock of the store has jumped, and the key is not there
0 ready 2
10 1 UNLOCK-FORCE a
> log unlock-force session 1: a
> op force a
20 < value a text=b9.0000000000000009.1|50 waiting
30 until
> 30 op status a
40 guard pending p2
> log guard-pending shard 0: its history changed; grants begin in 13600ms
40 < value a
5000 until
> 60 op status a
> 2010 1 ERR unavailable the broker that has the name has not given it up in time; its lease ends by itself

== force: the store is empty, and the holder writes its key again
0 ready 2
10 1 UNLOCK-FORCE a
> log unlock-force session 1: a
> op force a
20 guard pending p2
> log guard-pending shard 0: its history changed; grants begin in 13600ms
20 < gone a
> 1 ERR unavailable Redis is new or has lost its history (a restart, a failover, a freeze); grants begin again in 13600ms, when every earlier lease is known or over

== forced: it only lingers here, and is another broker's by now
0 ready 4
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=3599990
40 < ended a
> 1 OK depth=0
50 2 UNLOCK-FORCE a
> log unlock-force session 2: a
> op force a
> op end a seq=1
60 < value a text=b9.0000000000000009.7|200 waiting
60 < gone a
75 time
> op status a
80 < value a
> 2 OK

== forced: it only lingers here
0 ready 4
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=3599990
40 < ended a
> 1 OK depth=0
50 2 UNLOCK-FORCE a
> log unlock-force session 2: a
> op force a
> op end a seq=1
60 < value a text=b.0000000000000000.1|100
60 < ended a
> 2 OK
