# The life of a lease: each state, and each way into and out of it.

== none, acquiring, held, ending, none
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 UNLOCK a
> 1 ERR not-held this session does not hold a

== acquiring to queued, confirming and held by a message
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message grant 1 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < granted a fence=100
> 1 OK fence=100 depth=1

== a message that overtakes the reply
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
15 message grant 1 a
20 < queued a ttl=5s
> op confirm a seq=1 ttl=13000 reserve=1
40 < granted a fence=100
> 1 OK fence=100 depth=1

== a message of another token, of another name, and none at all
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message grant 2 a
31 message grant
32 message grant x a
33 message grant 1
34 message grantx 1 a
35 message other 1 a
36 message waits 7 b
37 message look 1 a
# No token of this broker has such a number.
38 message grant 0 b
39 message grant 2 b
40 message grant 1 b
> op end b seq=1
50 < gone b

== queued: a look when the other's key ends
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
5030 until
> 5022 op acquire a seq=1 ttl=13000 reserve=1 queue
5040 < granted a fence=100
> 1 OK fence=100 depth=1

== queued: a look once a lease
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
10030 until
> 10020 op acquire a seq=1 ttl=13000 reserve=1 queue
10040 < queued a
20050 until
> 20040 op acquire a seq=1 ttl=13000 reserve=1 queue

== queued: the place before this one was handed over: a look two pads later
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
30 message look 1 a
6040 until
> 6032 op acquire a seq=1 ttl=13000 reserve=1 queue
6050 message look 1 a
6060 < queued a ttl=3s

== queued: nobody waits any more
0 ready 2
10 1 LOCK a wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
1020 until
> 1010 1 TIMEOUT
> 1010 op end a seq=1
1030 < gone a

== queued behind a plain client's key
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < foreign a ttl=1m
1280 until
> 947 op acquire a seq=1 ttl=13000 reserve=1 queue
1290 < foreign a ttl=1m waiting
11300 until
> 11290 op acquire a seq=1 ttl=13000 reserve=1 queue

== messages were missed: a look at each queued name
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=100
> 2 OK fence=100 depth=1
50 resubscribed
2000 until
> 766 op acquire a seq=1 ttl=13000 reserve=1 queue

== confirming: the key is another's by now, and the place may be in the queue
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
30 message grant 1 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < lost a
> op end a seq=1
45 < gone a
> op acquire a seq=2 ttl=13000 reserve=1 queue
50 < granted a fence=100
> 1 OK fence=100 depth=1

== confirming: of unknown outcome
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
30 message grant 1 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < unknown a
100 until
> 90 op confirm a seq=1 ttl=13000 reserve=1
110 < granted a fence=100
> 1 OK fence=100 depth=1

== confirming: nobody waits any more
0 ready 2
10 1 LOCK a wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
900 message grant 1 a
> op confirm a seq=1 ttl=13000 reserve=1
1010 until
> 1010 1 TIMEOUT
1020 < unknown a
> op end a seq=1
1030 < ended a

== confirming: the guard is pending
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
30 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=20
40 message grant 1 a
50 guard blessed
> log guard-ready node=0 after=40
> op confirm a seq=1 ttl=13000 reserve=1
60 < granted a fence=100
> 1 OK fence=100 depth=1

== acquiring: refused, and asked again later
0 ready 2
10 1 LOCK a wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < refused a text=OOM
30 2 TRYLOCK a
> 2 ERR unavailable OOM
1010 until
> 697 op acquire a seq=1 ttl=13000 reserve=1 queue
> 1010 1 ERR unavailable OOM
1020 < granted a fence=100
> op end a seq=1

== acquiring: refused, and the time is up before it is asked again
0 ready 2
10 1 LOCK a wait=200ms
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < refused a text=OOM
300 until
> 210 1 ERR unavailable OOM
> 210 op end a seq=1

== held: renewed each third of the lease
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3400 < renewed a
6800 until
> 5440 op renew a seq=1 ttl=13000 fence=100
6800 < renewed a

== held: a renewal that needs more words than a row has goes by itself
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3400 < again a
> op renew a seq=1 ttl=13000 fence=100 whole
3410 < lost a
> 1 !LOST a fence=100 reason=taken

== held: handed to the next here, while the reserve lasts
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
10 2 LOCK a
10 3 LOCK a
20 < granted a fence=100
> op renew a seq=1 ttl=13000 fence=100 reserve=2
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> 1 OK depth=0
40 < renewed a fence=200
> 2 OK fence=200 depth=1
50 2 UNLOCK a
> 2 OK depth=0
> 3 OK fence=201 depth=1
60 4 LOCK a
> op renew a seq=1 ttl=13000 fence=201 reserve=1
70 3 UNLOCK a
> 3 OK depth=0
80 4 UNLOCK a
> 4 ERR not-held this session does not hold a

== held: the reserve is used up, and the next draw is lost
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < unknown a
50 1 UNLOCK a
> 1 OK depth=0
100 until
> 90 op renew a seq=1 ttl=13000 fence=100 reserve=1
110 < renewed a fence=200
> 2 OK fence=200 depth=1
120 2 UNLOCK a
> op end a seq=1

== held: the key is not ours any more
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < lost a
> 1 !LOST a fence=100 reason=taken
> op acquire a seq=2 ttl=13000 reserve=1 queue
50 1 UNLOCK a
> 1 ERR lost this session held a and lost it
60 1 UNLOCK a
> 1 ERR not-held this session does not hold a
70 < granted a fence=300
> 2 OK fence=300 depth=1

== at risk and safe again, to the millisecond
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
4000 until
> 2176 op renew a seq=1 ttl=13000 fence=100
4000 < unknown a
4100 until
> 4050 op renew a seq=1 ttl=13000 fence=100
5009 time
5010 time
> 1 !ATRISK a fence=100 left=4898
5020 < renewed a sent=4990
> 1 !SAFE a fence=100
8400 until
> 8256 op renew a seq=1 ttl=13000 fence=100

== at risk and lost, to the millisecond
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
100 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
110 < unknown a
5010 until
> 160 op renew a seq=1 ttl=13000 fence=100 reserve=1
> 5010 1 !ATRISK a fence=100 left=4898
9907 until
9908 time
> 1 !LOST a fence=100 reason=unreachable
9920 < renewed a fence=300
> op end a seq=1
9930 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
9940 < granted a fence=400
> 2 OK fence=400 depth=1

== at risk and lost, the store is out of reach
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
100 down
5009 until
5010 until
> 5010 1 !ATRISK a fence=100 left=4898
9907 until
9908 until
> 9908 1 !LOST a fence=100 reason=unreachable
9910 1 UNLOCK a
> 1 ERR lost this session held a and lost it
10000 2 LOCK a wait=1s
11000 until
> 11000 2 ERR unavailable Redis cannot be used
14000 until
14010 up
14020 2 TRYLOCK a
> op acquire a seq=2 ttl=13000 reserve=1

== granted after a long way: it counts from when it was sent
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
9800 < granted a fence=100 sent=10
> op renew a seq=1 ttl=13000 fence=100
> 1 !ATRISK a fence=100 left=108
> 1 OK fence=100 depth=1
9907 until
9908 time
> 1 !LOST a fence=100 reason=unreachable

== granted when it is over already: nobody is told
0 ready 2
10 1 LOCK a wait=20s
> op acquire a seq=1 ttl=13000 reserve=1 queue
10000 < granted a fence=100 sent=10
> op end a seq=1
10010 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
10020 < granted a fence=200
> 1 OK fence=200 depth=1

== ending: GONE is as good as ended
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < gone a
> 1 OK depth=0

== ending: refused
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < refused a text=LOADING
> 1 OK depth=0 deferred=1
1100 until
> 756 op end a seq=1
1110 < ended a

== ending: who comes meanwhile waits for it
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
35 2 LOCK a
40 < ended a
> 1 OK depth=0
> op acquire a seq=2 ttl=13000 reserve=1 queue
50 < granted a fence=200
> 2 OK fence=200 depth=1

== a renewal is under way when the name is given back
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3410 1 UNLOCK a
3420 < renewed a
> op end a seq=1
3430 < ended a
> 1 OK depth=0

== a renewal is under way, and the next one has it
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3410 1 UNLOCK a
3415 2 LOCK a
> 1 OK depth=0
3420 < renewed a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
3430 < renewed a fence=200
> 2 OK fence=200 depth=1

== a session locks again, deeper and back
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a
> 1 OK fence=100 depth=2
40 1 LOCK a mode=shared
> 1 OK fence=100 depth=3
50 1 UNLOCK a
> 1 OK depth=2
60 1 UNLOCK a
> 1 OK depth=1
70 1 UNLOCK a
> op end a seq=1
80 < ended a
> 1 OK depth=0

== a grant re-enters what else the session waits for
0 ready 2
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 1 @1 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
31 1 @2 LOCK a
32 1 @3 LOCK a wait=0
> 1 @3 BUSY
33 < renewed a fence=110
40 2 UNLOCK a
> 2 OK depth=0
> 1 @1 OK fence=110 depth=1
> 1 @2 OK fence=110 depth=2
50 1 @4 UNLOCK a
> 1 @4 OK depth=1
51 1 @5 UNLOCK a
> op end a seq=1

== UNLOCK of several names: all or none
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
50 1 UNLOCK a b c
> 1 ERR not-held this session does not hold c
60 1 UNLOCK a b
> op end a seq=1
> op end b seq=2
70 < ended b
80 < unknown a
> 1 OK depth=0,0 deferred=1

== held: the name passes on here while a renewal is under way
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
31 3 LOCK a
40 < renewed a fence=200
3500 until
> 3328 op renew a seq=1 ttl=13000 fence=200
3500 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=200 depth=1
3510 2 UNLOCK a
> 2 OK depth=0
3520 < renewed a
> op renew a seq=1 ttl=13000 fence=200 reserve=1
3530 < renewed a fence=300
> 3 OK fence=300 depth=1

== a renewal that is due within a tick goes along with an end
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 1 LOCK b c
> op acquire b seq=2 ttl=13000 reserve=1 queue
> op acquire c seq=3 ttl=13000 reserve=1
30 < granted b fence=200
30 < granted c fence=300
> 1 OK fence=200,300 depth=1,1
2158 1 UNLOCK b
> op end b seq=2
2160 < ended b
> 1 OK depth=0
2173 1 UNLOCK c
> op end c seq=3
> op renew a seq=1 ttl=13000 fence=100
2178 until

== of a session that waits twice, a keep= is told when the key lives for it
0 ready 2
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 1 @1 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 1 @2 LOCK a keep=20s
50 1 @3 LOCK a
60 2 UNLOCK a
> 2 OK depth=0
70 < renewed a fence=110
> op renew a seq=1 ttl=21000 fence=110 reserve=1
> 1 @1 OK fence=110 depth=1
> 1 @3 OK fence=110 depth=2
80 < renewed a
> 1 @2 OK fence=110 depth=3

== drawn ahead: names pass on while the store is away
config fences=3
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=3 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 down
40 2 LOCK a
40 3 LOCK a
50 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=101 depth=1
60 2 UNLOCK a
> 2 OK depth=0
> 3 OK fence=102 depth=1
70 1 LOCK a
80 3 UNLOCK a
> 3 OK depth=0

== a fence that falls is no answer
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
11 2 LOCK a
20 < granted a fence=100
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> 1 OK depth=0
40 < renewed a fence=100
