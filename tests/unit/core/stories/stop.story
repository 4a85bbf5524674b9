# What a broker that stops keeps for clients that count on it, and how long.

== who was told a valid= has a second to give back; the others lose all at once
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 ping 1
> valid 9857
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> op end b seq=2
70 < ended b
80 stopped?
> no
90 1 UNLOCK a
> op end a seq=1
100 < ended a
> 1 OK depth=0
> op idle
110 < done @guard
120 stopped?
> yes

# A call would note the broker in the guard that it has signed off from.
== a STATUS of what it does not have is refused, and Redis not asked
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 9877
40 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
50 2 STATUS a
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=9858 age=30
60 2 STATUS b
> 2 ERR shutdown the broker is stopping; try another one

# The broker does not sign off: the guard, not marked as idle, notices if the
# clock of Redis jumps and the key that lingers ends too early.
== what is not given back lingers for its valid= and a pad
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 9877
60 stop
> 1 !SHUTDOWN
1059 until
1060 until
> 1060 op end a seq=1 linger=11848
1070 < ended a
1090 stopped?
> yes

== and for its delay= after that, as if it had been held so long
0 ready 1
10 1 LOCK a delay=2s
> op acquire a seq=1 ttl=15000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 9877
60 stop
> 1 !SHUTDOWN
1060 until
> 1060 op end a seq=1 linger=13848

== during the second nothing new is granted, and nothing more is promised
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 9877
3360 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3370 < renewed a
3400 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
3500 1 LOCK b
> 1 ERR shutdown the broker is stopping; try another one
3510 1 LOCK a
> 1 ERR shutdown the broker is stopping; try another one
3520 1 ACQUIRE s limit=2
> 1 ERR shutdown the broker is stopping; try another one
3530 ping 1
> valid 6377
3540 ping 2
> valid -1
4400 until
> 4400 op end a seq=1 linger=8508

== renewals go on during the second
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 9877
3000 stop
> op renew a seq=1 ttl=13000 fence=100
> 1 !SHUTDOWN
4000 until

== what is lost during the second is told
0 ready 1
10 1 LOCK a hold=500ms
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 489
100 stop
> 1 !SHUTDOWN
1100 until
> 520 1 !LOST a fence=100 reason=hold
> 520 op end a seq=1

== a client that closes in order, or quits, gives back all
0 ready 2
0 open 3 tcp
10 3 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 3 OK fence=100 depth=1
30 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
50 ping 3
> valid 9857
50 ping 1
> valid 9877
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
70 close 3
> op end a seq=1
80 quit 1
> op end b seq=2

== one that is reset gives back nothing, but at the Unix socket
0 ready 2
0 open 3 tcp
10 3 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 3 OK fence=100 depth=1
30 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
50 ping 3
> valid 9857
50 ping 1
> valid 9877
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
70 gone 3
> op end a seq=1 linger=12838
80 gone 1
> op end b seq=2

== a valid= that is over binds nobody
0 ready 1
10 1 LOCK a hold=50ms
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 39
40 1 UNLOCK a
> op end a seq=1
50 < ended a
> 1 OK depth=0
60 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
70 < granted b fence=200
> 1 OK fence=200 depth=1
80 stop
> 1 !SHUTDOWN
> op end b seq=2

== a name that several share is kept by who counts on it
0 ready 2
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
40 ping 1
> valid 9867
50 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
60 ping 2
> valid -1
1050 until
> 1050 op end a seq=1 linger=11858

== permits: given back in the second, or left to run out
0 ready 3
10 1 ACQUIRE s limit=3
> op take s seq=1 need=1 want=1 limit=3 queue
20 < taken s first=1
> 1 OK permits=1 free=0
30 2 ACQUIRE s limit=3
> op take s seq=2 have=1 need=1 want=1 limit=3 queue
40 < taken s first=2
> 2 OK permits=1 free=0
45 3 ACQUIRE s limit=3
> op take s seq=3 have=2 need=1 want=1 limit=3 queue
50 < taken s first=3
> 3 OK permits=1 free=0
60 ping 1
> valid 9882
60 ping 2
> valid 9882
70 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
> op hold s seq=4 have=2 by=1000009943 limit=3
80 < kept s
90 1 RELEASE s
> op hold s seq=5 have=1 by=1000009968 limit=3
100 < kept s
> 1 OK permits=0
1070 until
> 1070 op hold s seq=6 have=1 by=1000012943 limit=3
1080 < kept s
1100 stopped?
> yes

== permits that were left stay so, whatever others give back after that
0 ready 1
0 open 2 tcp
10 1 ACQUIRE s limit=3
> op take s seq=1 need=1 want=1 limit=3 queue
20 < taken s first=1
> 1 OK permits=1 free=0
30 2 ACQUIRE s limit=3
> op take s seq=2 have=1 need=1 want=1 limit=3 queue
40 < taken s first=2
> 2 OK permits=1 free=0
60 ping 1
> valid 9867
60 ping 2
> valid 9867
70 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
80 gone 2
> op hold s seq=3 have=2 by=1000009928 limit=3
90 < kept s
100 1 RELEASE s
> op hold s seq=4 have=1 by=1000012928 limit=3
110 < kept s
> 1 OK permits=0
120 stopped?
> yes

== where clients come through proxies a close gives nothing back
0 ready 1
0 open 2 tcp proxied
0 open 3 tcp proxied
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 3 OK fence=200 depth=1
50 ping 2
> valid 9857
50 ping 3
> valid 9877
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
70 close 2
> op end a seq=1 linger=12838
80 quit 3
> op end b seq=2

== who is granted something while others are still refused is refused, too
config work=2
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
40 3 @1 LOCK a mode=shared
41 3 @2 LOCK a mode=shared
42 3 @3 LOCK a mode=shared
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 2 ERR shutdown the broker is stopping; try another one
> 3 !SHUTDOWN
> 3 @1 ERR shutdown the broker is stopping; try another one
> 3 @2 ERR shutdown the broker is stopping; try another one
> 3 @3 ERR shutdown the broker is stopping; try another one

== permits that were not told yet are not told any more
config work=1
0 ready 1
10 1 @1 ACQUIRE s limit=5
> op take s seq=1 need=1 want=1 limit=5 queue
11 1 @2 ACQUIRE s limit=5
12 1 @3 ACQUIRE s limit=5
13 1 @4 ACQUIRE s limit=5
14 1 @5 ACQUIRE s limit=5
20 < taken s first=5 ...
21 time ...
22 time ...
23 time ...
30 stop
> 1 !SHUTDOWN
> 1 @1 ERR shutdown the broker is stopping; try another one
> 1 @2 ERR shutdown the broker is stopping; try another one
> op hold s seq=2 have=3 by=1000009908 limit=5
> 1 @3 ERR shutdown the broker is stopping; try another one
> 1 @4 ERR shutdown the broker is stopping; try another one
> 1 @5 ERR shutdown the broker is stopping; try another one
