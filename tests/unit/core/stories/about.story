# What another broker says of a name that it has: STATUS, UNLOCK-FORCE fence=.

== STATUS: the broker that has the name answers
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s also=other:5625 first=2
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
30 < done a
40 message told 1 fence=35 session=9 age=1200 until=4000 label=cron peer=10.0.0.7:5512 a
> 1 OK state=held waiters=0 broker=c address=other:5625 session=9 label=cron peer=10.0.0.7:5512 fence=35 ttl=4980 age=1200 until=4000 other=semaphore

== the answer is faster than that the question was sent; what is new in it is ignored
0 ready 1
10 1 STATUS a kind=lock
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
25 message told 1 colour=blue fence=35 age=1200 mood a
> 1 OK state=held waiters=0 broker=c fence=35 ttl=4995 age=1200
30 < done a

== who has the name there has gone, or keeps it for nobody
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
25 message told 1 a
> 1 OK state=held waiters=0 broker=c lease_fence=33 ttl=4995
30 < done a
40 1 STATUS a
> op look a
50 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
55 message told 2 until=900 was=cron a
> 1 OK state=held waiters=0 broker=c ttl=4995 until=900 kept=900 was=cron

== no answer, and one that is late
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
219 time
220 time
> 1 OK state=held waiters=0 broker=c lease_fence=33 ttl=4800
230 message told 1 fence=35 session=9 age=1200 a

== nobody listens there; Redis does not carry it out
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
30 < gone a
> 1 OK state=held waiters=0 broker=c lease_fence=33 ttl=4990
40 1 STATUS a
> op look a
50 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
60 < refused a text=NOPERM
> 1 OK state=held waiters=0 broker=c lease_fence=33 ttl=4990

== what is no answer is ignored
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
30 message told 1 fence=35 b
31 message told 2 fence=35 a
32 message told 1 fence=-35 a
33 message told 1 fence=99999999999999999999 a
34 message told 1 age=soon a
35 message told 1 label= a
36 message told 1 label=@x a
37 message told 1 fence=35  a=b
38 message told 1
39 message told one fence=35 a
100 message told 1 fence=35 a
> 1 OK state=held waiters=0 broker=c fence=35 ttl=4920

== one that answers has the name no more, or this broker has it by then
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 2 STATUS a
> op look a
40 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
41 < done a
50 message given 1 101 1000000 49000 0123456789abcdef 0 a
> 1 OK fence=101 depth=1
60 message told 2 a
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=101 ttl=2957 age=10

== a token hold that another broker looks after
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33| ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
30 message told 1 fence=33 session=4 age=77 peer=10.0.0.7:5512 a
> 1 OK state=held waiters=0 broker=c session=4 peer=10.0.0.7:5512 fence=33 ttl=4990 age=77
40 1 STATUS a
> op look a
50 < value a text=c.0123456789abcdef.7|33| ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
51 < gone a
> 1 OK state=held waiters=0 broker=c fence=33 ttl=4999

== nobody is asked about a phase; a process of this broker that leaves is
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=@shared|33 ttl=5s
> 1 OK state=shared waiters=0 fence=33 ttl=5000
30 1 STATUS a
> op look a
40 < value a text=b.0123456789abcdef.7|33 ttl=5s
> op tell a client=b.0123456789abcdef.7 other=about b.0000000000000000.1
45 message told 1 fence=35 session=9 age=1200 label=cron a
> 1 OK state=held waiters=0 broker=b session=9 label=cron fence=35 ttl=4995 age=1200

== the broker stops
0 ready 1
10 1 STATUS a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
30 stop
> 1 OK state=held waiters=0 broker=c lease_fence=33 ttl=4990
> 1 !SHUTDOWN

== at the broker that is asked: a hold, one that has a bound, and nothing
0 ready 2
10 session 1 label=cron
> 1 OK id=1 key=K label=cron
20 1 LOCK a hold=30s
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 message about 1 web-2.00000000000000bb.5 a
> op tell a client=web-2.00000000000000bb.5 other=told fence=100 session=1 age=10 until=29990 label=cron peer=peer
41 < done a
50 message about 7 web-2.00000000000000bb.6 nobody
> op tell nobody client=web-2.00000000000000bb.6 other=told
51 < gone nobody
60 message about 1 web-2.00000000000000bb a
61 message about 1 nobody a
62 message about 1 a
70 1 UNLOCK a
> op end a seq=1
80 message about 1 web-2.00000000000000bb.7 a
> op tell a client=web-2.00000000000000bb.7 other=told

== at the broker that is asked: a name that is kept
0 ready 1
10 1 LOCK a keep=30s
> op acquire a seq=1 ttl=31000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=29990
40 < ended a
> 1 OK depth=0
50 message about 1 web-2.00000000000000bb.7 a
> op tell a client=web-2.00000000000000bb.7 other=told until=29970 was=peer

== at the broker that is asked: a token hold
0 ready 1
10 token 1 acquire a token=t ttl=20s
> op claim a seq=1 client=t other=t how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 token=t
30 message about 1 web-2.00000000000000bb.7 a
> op tell a client=web-2.00000000000000bb.7 other=told fence=100 session=1 age=10 peer=peer

== UNLOCK-FORCE fence=: here
0 ready 2
10 session 1 label=cron
> 1 OK id=1 key=K label=cron
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 2 UNLOCK-FORCE a fence=99
> 2 ERR mismatch the fence is 100 now (cron, for 0.1 s)
50 2 UNLOCK-FORCE a fence=100
> log unlock-force name=a session=2 peer=peer holder=1 holder_label=cron holder_peer=peer fence=100 held=20
> 1 !LOST a fence=100 reason=forced
> op end a seq=1
60 < ended a
> 2 OK

== UNLOCK-FORCE fence=: what is kept for nobody
0 ready 2
10 1 LOCK a keep=30s
> op acquire a seq=1 ttl=31000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=29990
40 < ended a
> 1 OK depth=0
50 2 UNLOCK-FORCE a fence=100
> 2 ERR mismatch no current hold has a fence

== UNLOCK-FORCE fence=: another broker has another hold, the one that is meant, keeps it
0 ready 1
10 1 UNLOCK-FORCE a fence=35
> log unlock-force name=a session=1 peer=peer
> op force a fence=35 by=1000002010
20 < value a text=c.0123456789abcdef.7|33 waiting
> log unlock-force-asked name=a broker=c
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
25 < done a
30 message told 1 fence=36 age=1200 label=cron a
> op status a
> 1 ERR mismatch the fence is 36 now (cron, for 1.2 s)
40 < value a text=c.0123456789abcdef.7|33
100 1 UNLOCK-FORCE a fence=36
> log unlock-force name=a session=1 peer=peer
> op force a fence=36 by=1000002100
110 < value a text=c.0123456789abcdef.7|33 waiting
> log unlock-force-asked name=a broker=c
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
115 < done a
116 message told 2 a
500 until
> 120 op status a
510 < value a text=
> 1 OK
600 1 UNLOCK-FORCE a fence=36
> log unlock-force name=a session=1 peer=peer
> op force a fence=36 by=1000002600
610 < value a text=c.0123456789abcdef.7|33 waiting
> log unlock-force-asked name=a broker=c
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.3
615 < done a
616 message told 3 until=8000 a
> 1 ERR mismatch no current hold has a fence

== UNLOCK-FORCE fence=: its broker is too old to compare
0 ready 1
10 1 UNLOCK-FORCE a fence=35
> log unlock-force name=a session=1 peer=peer
> op force a fence=35 by=1000002010
20 < value a text=c.0123456789abcdef.7|33 waiting
> log unlock-force-asked name=a broker=c
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
2500 until
> 30 op status a
> 2010 1 ERR unavailable the broker holding the lock did not release that hold in time; a broker of an earlier version cannot compare fences, and releases nothing
2600 < value a text=c.0123456789abcdef.7|33 waiting

== UNLOCK-FORCE fence=: Redis compares a token hold, a phase, a plain client's key
0 ready 1
10 1 UNLOCK-FORCE a fence=35
> log unlock-force name=a session=1 peer=peer
> op force a fence=35 by=1000002010
20 < lost a fence=33 text=c.0123456789abcdef.7|33|
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
30 message told 1 fence=33 age=5 peer=10.0.0.7:5512 a
> 1 ERR mismatch the fence is 33 now (10.0.0.7:5512, for 0.1 s)
40 1 UNLOCK-FORCE a fence=35
> log unlock-force name=a session=1 peer=peer
> op force a fence=35 by=1000002040
50 < lost a fence=44 text=@shared|44
> 1 ERR mismatch the fence is 44 now
60 1 UNLOCK-FORCE a fence=35
> log unlock-force name=a session=1 peer=peer
> op force a fence=35 by=1000002060
70 < lost a text=hello
> 1 ERR mismatch no current hold has a fence

== UNLOCK-FORCE fence=: a token hold that this broker looks after
0 ready 1
10 token 1 acquire a token=t ttl=20s
> op claim a seq=1 client=t other=t how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 token=t
30 1 UNLOCK-FORCE a fence=99
> log unlock-force name=a session=1 peer=peer
> op force a fence=99 by=1000002030
40 < lost a fence=100 text=b.0000000000000000.1|100|
> 1 ERR mismatch the fence is 100 now (peer, for 0.1 s)
50 1 STATUS a
> op look a
60 < value a text=b.0000000000000000.1|100| ttl=15s
> 1 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=15000 age=40

== it is told to end the hold with a fence, and has it, or another one
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message force-if 1 99 1000000 29000 0123456789abcdef a
31 message force-if 1 x 1000000 29000 0123456789abcdef a
40 message force-if 1 100 1000000 39000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=20
> 1 !LOST a fence=100 reason=forced
> op end a seq=1

== over a quorum nobody is asked
config quorum=3
0 ready 1
10 1 STATUS a kind=lock
> op look a on=0
20 < value a on=0 text=c.0123456789abcdef.7|33 ttl=5s
> 1 OK state=held waiters=0 broker=c lease_fence=33 ttl=5000
