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
> 13010 3 OK
> 13010 3 !FREE a
> 13010 2 !FREE a

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

== watch: a name that was shared here may be shared by others, still
0 ready 2
5 2 WATCH a
> op status a
6 < value a
> 2 OK
> 2 !FREE a
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 2 !HELD a fence=100 broker=b
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
35 < ended a
> 1 OK depth=0
60 until
> 55 op status a
60 < value a text=@shared|100
70 until

== force: the clock of the store has jumped, and the key is not there
0 ready 2
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b9.0000000000000009.1|50 waiting
> log unlock-force-asked name=a broker=b9
30 until
> 30 op status a
40 guard pending p2
> log guard-pending node=0 cause=replica wait=13600 down=30
40 < value a
5000 until
> 60 op status a
> 2010 1 ERR unavailable the broker holding the lock did not release it in time; its lease will expire

== force: the store is empty, and the holder writes its key again
0 ready 2
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 guard pending p2
> log guard-pending node=0 cause=replica wait=13600 down=10
20 < gone a
> 1 ERR unavailable no new locks for 13.6 s: Redis has a new dataset (adding the first replica does that); locks that are held are kept

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
> log unlock-force name=a session=2 peer=peer
> op force a by=1000002050
> op end a seq=1
60 < value a text=b9.0000000000000009.7|200 waiting
> log unlock-force-asked name=a broker=b9
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
> log unlock-force name=a session=2 peer=peer
> op force a by=1000002050
> op end a seq=1
60 < value a text=b.0000000000000000.1|100
60 < ended a
> 2 OK

== forced by another broker
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3000 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3000 < renewed a
3100 message force 2 1000003 90000 0123456789abcdef a
3101 message force 1 1000003 90000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=3081
> 1 !LOST a fence=100 reason=forced
> op end a seq=1
3110 1 UNLOCK a
> 1 ERR lost this session held a and lost it

== forced by another broker: a message of that kind that says less, or nothing
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message force 1 a
31 message force 1 1000000 25000 0123456789abcde a
32 message force 1 1000000 1000000 0123456789abcdef a
33 message force 1 1000000 0123456789abcdef a

== forced by another broker: of another history, or of a clock that was moved
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message force 1 1000000 25000 0123456789abcdee a
31 message force 1 1000000 34000 0123456789abcdef a
32 message force 1 1000000 33000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=12
> 1 !LOST a fence=100 reason=forced
> op end a seq=1

== forced by another broker: of a clock that runs a little faster
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
420 message force 1 1000000 427000 0123456789abcdef a
430 message force 1 1000000 436000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=410
> 1 !LOST a fence=100 reason=forced
> op end a seq=1

== forced by another broker: late, it finds who came next here
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=110 depth=1
60 message force 1 1000000 47000 0123456789abcdef a
61 2 UNLOCK a
> op end a seq=1

== forced by another broker: it may be meant, and is
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=110 depth=1
60 message force 1 1000000 48000 0123456789abcdef a
> log forced name=a by=another broker fence=110 session=2 peer=peer held=10
> 2 !LOST a fence=110 reason=forced
> op end a seq=1

== forced by another broker: who came later shares it on
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
50 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
60 message force 1 1000000 40000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=40
> 1 !LOST a fence=100 reason=forced
70 3 STATUS a kind=lock
> 3 OK state=shared waiters=0 broker=b session=2 peer=peer fence=100 ttl=9838 age=20 holders=1

== forced by another broker: what lingers of who came later stays
0 ready 2
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=3599990
40 < ended a
> 1 OK depth=0
50 message force 1 1000000 10000 0123456789abcdef a
60 message force 1 1000000 35000 0123456789abcdef a
> log forced name=a by=another broker
> op end a seq=1

== forced by another broker, on a quorum: any of the servers says when
config quorum=3
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
20 < granted a fence=100 on=0
20 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
30 message force 1 1000000 25000 0123456789abcdee a
31 message force 1 1000000 17000 0123456789abcdef a
32 message force 1 1000000 25000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=12
> 1 !LOST a fence=100 reason=forced
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2

== force: the broker that has it does not listen
0 ready 2
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b9.0000000000000009.1|50
> 1 ERR unavailable the broker holding the lock is unreachable; its lease will expire

== force: it came too late
0 ready 2
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < late a
> 1 ERR unavailable Redis did not answer in time; try again

== a watched name over a quorum: a server that can be reached is looked at
config quorum=3
0 ready 2
10 1 WATCH a
> op status a on=0
11 < value a on=0
> 1 OK
> 1 !FREE a
20 down on=0
9990 until
> 1010 log guard-ready count=3 of=3
> 7583 op status a on=1

== a watched name over a quorum: a server has the vote for another broker
config quorum=3
0 ready 2
10 1 WATCH a
> op status a on=0
11 < value a text=b3.0000000000000003.1|50 on=0
> 1 OK
> 1 !HELD a fence=50 broker=b3
9990 until
> 1010 log guard-ready count=3 of=3
> 7583 op status a on=0
9991 < value a text=b9.0000000000000009.1|50 on=0
> 1 !HELD a fence=50 broker=b9

== a STATUS over a quorum that comes back with another server
config quorum=3
0 ready 2
10 down on=1
11 down on=2
> log quorum-lost of=3 up=1 ready=1 needed=2
20 1 STATUS a
30 up on=2
> op look a on=0
> log quorum-back of=3 up=2 ready=2 needed=2
40 < value a on=0
> 1 OK state=free waiters=0

== WATCH: who waits for Redis is answered in time, however small the steps are
config work=1
0 ready 2
5 down
10 1 WATCH a
5000 until
> 2010 1 ERR unavailable Redis cannot be used
