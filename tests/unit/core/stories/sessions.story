# What is left when a session ends.

== a reset session that was told a valid= goes on until that has run out
0 ready 1
0 open 2 tcp
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 ping 2
> valid 9877
40 gone 2
50 1 LOCK a wait=20s
> op renew a seq=1 ttl=13000 fence=100 reserve=1
60 < renewed a fence=110
3500 until
> 3328 op renew a seq=1 ttl=13000 fence=110
3510 < renewed a
9920 until
> 6592 op renew a seq=1 ttl=13000 fence=110
> 8328 2 !ATRISK a fence=100 left=4898
> 9908 1 OK fence=110 depth=1

== an orderly end is an end
0 ready 1
0 open 2 tcp
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 ping 2
> valid 9877
40 close 2
> op end a seq=1
50 < ended a

== over a Unix socket a valid= binds nobody
0 ready 2
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 ping 2
> valid 9877
40 gone 2
> op end a seq=1
50 < ended a

== stop while a session is detached
0 ready 1
0 open 2 tcp
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 ping 2
> valid 9877
40 gone 2
50 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> op end a seq=1 linger=12858

== stop while a session is detached, which has permits
# They are left to run out; those of the other go back.
0 ready 1
0 open 2 tcp
10 2 ACQUIRE s limit=3
> op take s seq=1 need=1 want=1 limit=3 queue
20 < taken s first=1
> 2 OK permits=1 free=0
30 1 ACQUIRE s limit=3
> op take s seq=2 have=1 need=1 want=1 limit=3 queue
40 < taken s first=2
> 1 OK permits=1 free=0
50 ping 2
> valid 9877
60 gone 2
70 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> op hold s seq=3 have=1 by=1000012928 limit=3
80 < kept s
90 stopped?
> yes

== STATUS: here, elsewhere, nowhere
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 STATUS a
> op look a
35 < value a text=b.0000000000000000.1|100 ttl=12s first=6
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=9873 age=15 other=semaphore,latch
36 2 STATUS a kind=lock
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=9872 age=16
40 2 STATUS b
> op look b
50 < value b text=c.0123456789abcdef.7|33 ttl=5s
> op tell b client=c.0123456789abcdef.7 other=about b.0000000000000000.2
51 < gone b
> 2 OK state=held waiters=0 broker=c lease_fence=33 ttl=4999
60 2 STATUS b
> op look b
70 < value b text=@shared|44 ttl=5s
> 2 OK state=shared waiters=0 fence=44 ttl=5000
80 2 STATUS b
> op look b
90 < value b text=plain ttl=5s
> 2 OK state=held waiters=0 ttl=5000
100 2 STATUS b
> op look b
110 < value b
> 2 OK state=free waiters=0
120 2 STATUS b
> op look b
130 < unknown b
> 2 ERR unavailable Redis did not answer in time; try again
140 down
150 2 STATUS b
2150 until
> 2150 2 ERR unavailable Redis cannot be used
2160 2 STATUS b
2170 up
> op look b
2175 < value b
> 2 OK state=free waiters=0

== STATUS: until when, and where
config address=host:5625
1 ready 3
10 1 LOCK a hold=20s keep=30s
> op acquire a seq=1 ttl=31000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 STATUS a kind=lock
> 2 OK state=held waiters=0 broker=b address=host:5625 session=1 peer=peer fence=100 ttl=9878 age=10 until=19990
40 1 UNLOCK a
> op end a seq=1 linger=29980
50 < ended a
> 1 OK depth=0
60 2 STATUS a kind=lock
> 2 OK state=held waiters=0 broker=b address=host:5625 ttl=29960 until=29960 kept=29960 was=peer
70 2 STATUS b
> op look b
80 < value b text=c.0123456789abcdef.7|33 ttl=5s also=other:5625 first=8
> op tell b client=c.0123456789abcdef.7 other=about b.0000000000000000.2
81 < gone b
> 2 OK state=held waiters=0 broker=c address=other:5625 lease_fence=33 ttl=4999 other=barrier

== STATUS: Redis is silent, and what is here is told all the same
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 STATUS a
> op look a
2030 < unknown a
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=7878 age=2010
2040 down
2050 2 STATUS a
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=7858 age=2030

== STATUS: while Redis is away it waits, and ends as all that waits
0 open 1
1 open 2
2 open 3
10 1 @5 STATUS a
20 cancel 1 5
> 1 @5 CANCELLED
> 1 OK
30 2 STATUS a
40 drain 2
> 2 CANCELLED
50 3 STATUS a
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
> 3 ERR shutdown the broker is stopping; try another one

== STATUS: semaphores, latches, barriers
0 ready 1
10 1 STATUS a kind=semaphore
> op look a
20 < value a first=5 second=3
> 1 OK kind=semaphore limit=5 free=3 waiters=0
30 1 STATUS a kind=latch
> op look a
40 < value a first=7
> 1 OK kind=latch count=7
50 1 STATUS a kind=barrier
> op look a
60 < value a first=3 second=1
> 1 OK kind=barrier parties=3 arrived=1
70 1 STATUS a kind=barrier
> op look a
80 < gone a
> 1 ERR not-found barrier a does not exist
90 1 STATUS a kind=latch
> op look a
100 < refused a text=why
> 1 ERR unavailable why

== QUEUE: here, elsewhere, while Redis is silent or away
config address=host:5625
1 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 QUEUE a
> 2 queue a
40 2 QUEUE b
> op look b
50 < value b text=c.0123456789abcdef.7|33 ttl=5s also=other:5625
> 2 queue b broker=c address=other:5625 mode=exclusive ttl=5000
60 2 QUEUE b
> op look b
70 < value b text=plain
> 2 queue b mode=exclusive
80 2 QUEUE b
> op look b
90 < unknown b
> 2 queue b
100 2 QUEUE b
> op look b
110 < value b
> 2 queue b
120 down
130 2 QUEUE b
> 2 queue b

== stop while a party is leaving a barrier
0 ready 1
10 1 @1 BARRIER g parties=2
> op arrive g seq=1 need=1 limit=1
20 < waiting g first=0 second=1
30 cancel 1 1 2
> op leave g seq=1 limit=1
40 stop
> 1 !SHUTDOWN
> 1 @1 ERR shutdown the broker is stopping; try another one
> 1 @2 ERR not-found that request has failed before

== STATUS: a lease of ours on its way is nobody's
0 ready 3
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < granted a fence=200
50 3 STATUS a
> op look a
60 < value a text=b.0000000000000000.2|200 ttl=12s
> 3 OK state=free waiters=1
70 3 STATUS a
> op look a
80 < value a text=b.0000000000000009.2|200 ttl=12s
> op tell a client=b.0000000000000009.2 other=about b.0000000000000000.3
85 < gone a
> 3 OK state=held waiters=1 broker=b lease_fence=200 ttl=11995

== where clients come through proxies a close is no word of theirs; QUIT is
0 ready 1
0 open 2 tcp proxied
0 open 3 tcp proxied
0 open 4 tcp proxied
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 3 OK fence=200 depth=1
50 4 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
60 < granted c fence=300
> 4 OK fence=300 depth=1
70 ping 2
> valid 9837
70 ping 3
> valid 9857
80 close 2
90 quit 3
> op end b seq=2
100 close 4
> op end c seq=3

== a session with end=quit counts on its valid= after any other end, whatever its socket
0 ready 1
0 open 2
0 open 3
0 open 4
1 session 2 quit
> 2 OK id=2 key=K end=quit
1 session 3 quit
> 3 OK id=3 key=K end=quit
1 session 4 quit
> 4 OK id=4 key=K end=quit
2 session 4
> 4 OK id=4 key=K end=quit
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 3 OK fence=200 depth=1
50 4 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
60 < granted c fence=300
> 4 OK fence=300 depth=1
70 ping 2
> valid 9837
70 ping 3
> valid 9857
80 close 2
90 quit 3
> op end b seq=2
100 close 4
> op end c seq=3
