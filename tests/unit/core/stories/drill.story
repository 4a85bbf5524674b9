# DRILL: the holder is told that it has lost a name, which nobody gets before it has let go.

== the holder goes on for a while, and lets go
0 ready 4
10 1 LOCK a hold=1m
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=7 reserve=1
35 < renewed a fence=8 ttl=13s
40 3 DRILL a
> 1 !LOST a fence=7 reason=drill
50 4 DRILL a
> 4 ERR exists a drill of it is under way
60 4 EXTEND a hold=1s
> 4 ERR not-held this session does not hold a
70 1 EXTEND a hold=1s
> 1 ERR lost this session held a and lost it
80 1 LOCK a
> 1 ERR lost this session has lost a (drill); it must UNLOCK it first
90 1 @1 LOCK b a
> 1 @1 ERR lost this session has lost a (drill); it must UNLOCK it first
95 1 TRYLOCK a
> 1 ERR lost this session has lost a (drill); it must UNLOCK it first
100 4 STATUS a kind=lock
> 4 OK state=held waiters=1 broker=b session=1 peer=peer fence=7 ttl=9828 age=80 until=59920
640 1 UNLOCK a
> 1 ERR lost this session held a and lost it
> 3 OK holder=peer took=600
> 2 OK fence=8 depth=1
660 1 UNLOCK a
> 1 ERR not-held this session does not hold a

== it has max to answer, and the drill goes on without it
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=7 reserve=1
35 < renewed a fence=8 ttl=13s
40 3 DRILL a max=1s
> 1 !LOST a fence=7 reason=drill
1039 time
1040 time
> 3 OK holder=peer took=max
1050 3 DRILL a max=1s
> 3 ERR exists a drill of it is under way
1060 1 UNLOCK a
> 1 ERR lost this session held a and lost it
> 2 OK fence=8 depth=1

== its client comes for it and goes; CANCEL
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
40 3 @5 DRILL a
> 1 !LOST a fence=7 reason=drill
50 cancel 3 5
> 3 @5 CANCELLED
> 3 OK
60 2 UNLOCK-FORCE a
> log unlock-force name=a session=2 peer=peer holder=1 holder_peer=peer fence=7 held=40
> op end a seq=1
70 < done a

== nobody; one who shares; a name that is kept; one whose client is gone
0 ready 4
10 1 DRILL a
> op look a
20 < gone a
> 1 ERR not-found the lock has no holder
30 1 LOCK a mode=shared
> op acquire a seq=2 ttl=13000 reserve=1 shared queue
40 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
50 2 DRILL a
> 2 ERR unsupported the lock is shared; a drill needs one holder
60 2 LOCK b keep=1m
> op acquire b seq=3 ttl=61000 reserve=1 queue
70 < granted b fence=7 ttl=60s
> 2 OK fence=7 depth=1
80 2 UNLOCK b
> op end b seq=3 linger=59990
90 < ended b
> 2 OK depth=0
100 2 DRILL b
> 2 ERR not-found the lock has no holder
110 < gone b
> no operation of that name

== the end of its session lets go, when its last valid= is over
0 ready 4
5 open 9 tcp
10 9 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 9 OK fence=7 depth=1
30 ping 9
> valid 9877
40 2 LOCK a
> op renew a seq=1 ttl=13000 fence=7 reserve=1
45 < renewed a fence=8 ttl=13s
50 3 DRILL a
> 9 !LOST a fence=7 reason=drill
60 gone 9
70 4 DRILL a
> 4 ERR exists a drill of it is under way
4000 time
> op renew a seq=1 ttl=13000 fence=8
4010 < renewed a ttl=13s
8000 time
> op renew a seq=1 ttl=13000 fence=8
8010 < renewed a ttl=13s
9800 time
9999 until
> 9908 3 OK holder=peer took=9858
> 9908 2 OK fence=8 depth=1

== it is lost in earnest meanwhile; forced
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
40 3 DRILL a
> 1 !LOST a fence=7 reason=drill
50 4 UNLOCK-FORCE a
> log unlock-force name=a session=4 peer=peer holder=1 holder_peer=peer fence=7 held=30
> 3 ERR lost the holder really lost the lock during the drill
> op end a seq=1
60 < done a
70 1 UNLOCK a
> 1 ERR lost this session held a and lost it

== its bound is over, and it is at risk
0 ready 4
10 1 LOCK a hold=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=7 reserve=1
35 < renewed a fence=8 ttl=13s
40 3 DRILL a max=1h
> 1 !LOST a fence=7 reason=drill
2500 time
4500 time
> op renew a seq=1 ttl=13000 fence=8
4550 < renewed a ttl=13s
5000 down
9900 time
16000 time
> 3 ERR lost the holder really lost the lock during the drill

== through another broker
0 ready 2
10 1 DRILL a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
21 < done a
30 message told 2 fence=35 session=9 age=1200 label=etl a
> op tell a client=c.0123456789abcdef.7 other=drill b.0000000000000000.1 35
31 < done a
40 message drilled 1 begun 0 a
4000 message drilled 1 over 3960 a
> 1 OK holder=etl took=3960
4010 1 DRILL a max=2s
> op look a
4020 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.4
4021 < done a
4030 message told 4 fence=35 session=9 age=1200 label=etl a
> op tell a client=c.0123456789abcdef.7 other=drill b.0000000000000000.3 35
4031 < done a
4040 message drilled 3 begun 0 a
5000 message drilled 3 begun 0 a
6039 time
6040 time
> 1 OK holder=etl took=max

== the other broker refuses, does not listen, does not answer
0 ready 2
10 1 DRILL a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
21 < done a
30 message told 2 fence=35 session=9 age=1200 label=etl a
> op tell a client=c.0123456789abcdef.7 other=drill b.0000000000000000.1 35
31 < done a
40 message drilled 1 exists 0 a
> 1 ERR exists a drill of it is under way
50 1 DRILL a
> op look a
60 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.4
61 < done a
70 message told 4 fence=35 session=9 age=1200 label=etl a
> op tell a client=c.0123456789abcdef.7 other=drill b.0000000000000000.3 35
71 < gone a
> 1 ERR unavailable the holder's broker is unreachable
80 1 DRILL a
> op look a
90 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.6
91 < done a
100 message told 6 fence=35 session=9 age=1200 label=etl a
> op tell a client=c.0123456789abcdef.7 other=drill b.0000000000000000.5 35
101 < done a
4000 time
> 1 ERR unavailable the holder's broker did not answer; an earlier version does not support drills
4010 1 DRILL a
> op look a
4020 < value a text=c.0123456789abcdef.7|33| ttl=5s
> 1 ERR unsupported a token of a Redis client holds it, and gets no events
4030 1 DRILL a
> op look a
4040 < gone a
> 1 ERR not-found the lock has no holder
4050 1 DRILL a
> op look a
4060 < value a text=@shared|34 ttl=5s
> 1 ERR unsupported the lock is shared; a drill needs one holder

== another broker asks for it
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 message drill 1 c.0123456789abcdef.9 8 a
> op tell a client=c.0123456789abcdef.9 other=drilled gone 0
31 < done a
40 message drill 1 c.0123456789abcdef.9 7 a
> 1 !LOST a fence=7 reason=drill
> op tell a client=c.0123456789abcdef.9 other=drilled begun 0
41 < done a
50 message drill 1 c.0123456789abcdef.9 7 a
> op tell a client=c.0123456789abcdef.9 other=drilled exists 0
51 < done a
500 1 UNLOCK a
> 1 ERR lost this session held a and lost it
> op tell a client=c.0123456789abcdef.9 other=drilled over 460
> op end a seq=1
510 < done a

== a re-entry that was granted before the loss was told waits
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 1 @1 LOCK a ...
30 2 DRILL a
> 1 !LOST a fence=7 reason=drill
> op renew a seq=1 ttl=13000 fence=7 reserve=1
40 1 UNLOCK a
> 1 ERR lost this session held a and lost it
> 2 OK holder=peer took=10

== an UNLOCK of one level of several does not let go
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 1 LOCK a
> 1 OK fence=7 depth=2
40 2 DRILL a
> 2 ERR unsupported its session holds it more than once; try again later
50 1 UNLOCK a
> 1 OK depth=1
60 2 DRILL a
> 1 !LOST a fence=7 reason=drill

== what the holder waits for untagged is refused: its UNLOCK is not read meanwhile
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=7 ttl=13s
> 2 OK fence=7 depth=1
50 1 LOCK a b
> op renew a seq=1 ttl=13000 fence=7 reserve=1
> op renew b seq=2 ttl=13000 fence=7 reserve=1
55 < renewed a fence=8 ttl=13s
56 < renewed b fence=8 ttl=13s
60 3 DRILL a
> 1 !LOST a fence=7 reason=drill
> 1 ERR lost this session has lost a (drill); it must UNLOCK it first
70 1 UNLOCK a
> 1 ERR lost this session held a and lost it
> 3 OK holder=peer took=10
> op end a seq=1
80 < done a

== its client sends nothing more: what it waits for is cancelled
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=7 ttl=13s
> 2 OK fence=7 depth=1
50 1 @1 LOCK a b
> op renew a seq=1 ttl=13000 fence=7 reserve=1
> op renew b seq=2 ttl=13000 fence=7 reserve=1
55 < renewed a fence=8 ttl=13s
56 < renewed b fence=8 ttl=13s
60 3 DRILL a
> 1 !LOST a fence=7 reason=drill
70 2 UNLOCK b
> 2 OK depth=0
80 drain 1
> 1 @1 CANCELLED
> op end b seq=2
90 < done b

== the broker ends while a drill goes on
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 DRILL a
> 1 !LOST a fence=7 reason=drill
