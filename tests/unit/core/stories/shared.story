# Shared and exclusive, upgrades, and what other brokers share.

== shared: several come in together, one behind a writer waits
0 ready 5
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 2 LOCK a mode=shared
20 < granted a fence=100
> 1 OK fence=100 depth=1
> 2 OK fence=100 depth=1
30 3 LOCK a
40 4 LOCK a mode=shared
50 1 UNLOCK a
> 1 OK depth=0
60 2 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=2
> 2 OK depth=0
70 < granted a fence=200
> 3 OK fence=200 depth=1
80 3 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=1 shared
> 3 OK depth=0
90 < granted a fence=300
> 4 OK fence=300 depth=1

== shared: another broker shares, too; the exclusive one here goes to the end
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
40 1 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=1
> 1 OK depth=0
50 < busy a ttl=5s waiting
> op end a seq=1 prompt
60 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
70 < queued a ttl=5s

== a place of a sharer in the queue, then only an exclusive one waits
0 ready 3
10 1 LOCK a mode=shared wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < queued a ttl=1m
30 2 LOCK a
1010 until
> 1010 1 TIMEOUT
1020 message grant 1 a
> op confirm a seq=1 ttl=13000 reserve=1
1030 < granted a fence=100 text=s
> op convert a seq=1 ttl=13000 reserve=1
1040 < granted a fence=200
> 2 OK fence=200 depth=1

== upgrade: the only one
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 < granted a fence=200
> 1 OK fence=200 depth=2
50 1 LOCK a mode=shared
> 1 OK fence=200 depth=3
60 1 UNLOCK a
> 1 OK depth=2
61 1 UNLOCK a
> 1 OK depth=1
62 1 UNLOCK a
> op end a seq=1
70 < ended a
> 1 OK depth=0

== upgrade: others share it here
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 2 LOCK a mode=shared
20 < granted a fence=100
> 1 OK fence=100 depth=1
> 2 OK fence=100 depth=1
30 1 LOCK a
> 1 ERR deadlock others share the lock; release it first: two sessions that wait for each other to leave would wait forever

== upgrade: others share it there
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 < busy a ttl=5s
> 1 ERR deadlock others share the lock; release it first: two sessions that wait for each other to leave would wait forever
50 1 UNLOCK a
> op end a seq=1 prompt
60 < ended a
> 1 OK depth=0

== upgrade: lost, refused, and of unknown outcome
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a wait=5s
> op convert a seq=1 ttl=13000 reserve=1
40 < unknown a
100 until
> 90 op convert a seq=1 ttl=13000 reserve=1
110 < refused a text=x
1200 until
> 826 op convert a seq=1 ttl=13000 reserve=1
1300 < lost a
> 1 !LOST a fence=100 reason=taken
> op acquire a seq=2 ttl=13000 reserve=1 queue
1310 < granted a fence=300
> 1 @1 OK fence=300 depth=1

== convert: under way when the lease runs out
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
9910 until
> 5010 1 !ATRISK a fence=100 left=4898
> 9908 1 !LOST a fence=100 reason=unreachable
9920 < granted a fence=200
> op end a seq=1
9930 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue

== convert: makes safe what was at risk
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
5010 until
> 5010 1 !ATRISK a fence=100 left=4898
5020 < granted a fence=200 sent=5000
> 1 !SAFE a fence=100
> 1 @1 OK fence=200 depth=2

== shared: at risk, all are told
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 2 LOCK a mode=shared
20 < granted a fence=100
> 1 OK fence=100 depth=1
> 2 OK fence=100 depth=1
5010 until
> 2176 op renew a seq=1 ttl=13000 fence=100 by=1000009908 shared
> 5010 2 !ATRISK a fence=100 left=4898
> 5010 1 !ATRISK a fence=100 left=4898
5020 < renewed a sent=5000
> 2 !SAFE a fence=100
> 1 !SAFE a fence=100
10000 until
> 8320 op renew a seq=1 ttl=13000 fence=100 by=1000014898 shared
> 10000 2 !ATRISK a fence=100 left=4898
> 10000 1 !ATRISK a fence=100 left=4898
14900 until
> 14898 1 !LOST a fence=100 reason=unreachable
> 14898 2 !LOST a fence=100 reason=unreachable

== acquiring: in one mode at a time under one token
0 ready 3
10 1 LOCK a mode=shared wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 2 LOCK a
1010 < unknown a
> 1 TIMEOUT
> op end a seq=1
1060 until
1070 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
1080 < granted a fence=100
> 2 OK fence=100 depth=1

== shared: those who wait for the phase to end keep others out
0 ready 4
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a wait=1s
40 3 LOCK a mode=shared
1030 until
> 1030 2 TIMEOUT
> 1030 3 OK fence=100 depth=1

== several names that would share do not keep a lease coming back
# Another broker shares a, and 1 lacks b: 2 gets in line for a at once.
0 ready 2
10 1 LOCK a b mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
> op acquire b seq=2 ttl=13000 reserve=1 shared
20 < granted a fence=100
20 < queued b ttl=1m
> op acquire b seq=3 ttl=13000 reserve=1 shared queue
30 2 LOCK a
> op convert a seq=1 ttl=13000 reserve=2
40 < busy a
> op end a seq=1 prompt
50 < ended a
> op acquire a seq=4 ttl=13000 reserve=2 queue
60 < queued a ttl=13s

== renewed too late: as if nobody had answered
0 ready 2
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3000 until
> 2176 op renew a seq=1 ttl=13000 fence=100 by=1000009908 shared
3000 < late a
3100 until
> 3050 op renew a seq=1 ttl=13000 fence=100 by=1000009908 shared
3100 < renewed a
3200 until

== a shared re-entry that is lost before it is told waits in its own mode
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 EXTEND a hold=100ms
> 1 OK
119 1 @2 LOCK a mode=shared ...
130 until
> 130 1 !LOST a fence=100 reason=hold
> 130 op convert a seq=1 ttl=13000 reserve=1 shared
140 < granted a fence=200
> 1 @2 OK fence=200 depth=1

== a sharer that wants a longer key stands behind one for which the name is kept
0 ready 2
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a mode=shared keep=20s
> op renew a seq=1 ttl=21000 fence=100 by=1000009908 shared
40 < renewed a
> 2 OK fence=100 depth=1
50 2 UNLOCK a
> 2 OK depth=0
60 1 LOCK a mode=shared delay=2s
> op renew a seq=1 ttl=19980 fence=100 by=1000020040 shared
70 2 LOCK a mode=shared
80 < unknown a
130 until
> 130 op renew a seq=1 ttl=19910 fence=100 by=1000020040 shared
140 < renewed a
> 1 OK fence=100 depth=2
> 2 OK fence=100 depth=1

== upgrade: never told, as its client is gone; the hold is shared as before
0 ready 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
50 < granted a fence=200 ...
50 gone 1
60 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=1
80 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
90 2 UNLOCK a
> 2 OK depth=0
100 1 LOCK a
> op renew a seq=1 ttl=13000 fence=200 reserve=1
110 < renewed a fence=300
> 1 OK fence=300 depth=2

== upgrade: never told, and lost with what was told before
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 < granted a fence=200 ...
9000 time ...
> 1 !ATRISK a fence=100 left=928
> op renew a seq=1 ttl=13000 fence=200
20000 flush
> 1 !LOST a fence=100 reason=unreachable

== upgrade: a fence that does not rise is no answer
0 ready 1
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 < granted a fence=100
