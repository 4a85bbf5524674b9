# Frozen processes and bounds of time.

== frozen with a grant not told yet: it is withdrawn, and waits on
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
9907 time ...
> 1 !ATRISK a fence=100 left=1
> op renew a seq=1 ttl=13000 fence=100
9908 time ...
9908 flush
9920 < ended a
> op end a seq=1
9930 < granted a fence=200

== frozen with a grant not told yet: it waits on until its wait= is over
0 ready 2
10 1 LOCK a wait=12s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
9908 time ...
> op end a seq=1
9908 flush
9920 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
9930 < queued a
12009 time
12010 time
> 1 TIMEOUT
> op end a seq=2

== frozen with a re-entry not told yet: it waits until its wait= is over
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a wait=12s ...
9908 time ...
> 1 !LOST a fence=100 reason=unreachable
> op end a seq=1
9908 flush
9920 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
9930 < queued a
12029 time
12030 time
> 1 TIMEOUT
> op end a seq=2

== frozen for a moment with a grant not told yet
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
9907 flush
> 1 !ATRISK a fence=100 left=1
> op renew a seq=1 ttl=13000 fence=100
> 1 OK fence=100 depth=1

== frozen: what was lost is told before a request is served
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50000 2 LOCK a
> 1 !LOST a fence=100 reason=unreachable
> 2 !LOST b fence=200 reason=unreachable
> op acquire a seq=3 ttl=13000 reserve=1 queue

== frozen with a handover not told yet
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 1 UNLOCK a ...
> 1 OK depth=0
20000 flush
> op acquire a seq=2 ttl=13000 reserve=1 queue

== frozen with several names not told yet: none is held
0 ready 3
10 1 LOCK a b
> op acquire a seq=1 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1
20 < granted a fence=100
9000 < granted b fence=200 sent=8990 ...
> op renew a seq=1 ttl=13000 fence=100
9950 flush
9960 < ended a
> op end a seq=1
9970 < granted a fence=300

== frozen with several names, one of which was held before
0 ready 3
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
8990 until
8990 < granted b fence=200 sent=8980
> 1 OK fence=200 depth=1
9000 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
9000 < granted a fence=100 sent=100
> op renew a seq=2 ttl=13000 fence=100
> 1 !ATRISK a fence=100 left=998
> 1 OK fence=100 depth=1
9100 1 @1 LOCK a b ...
10050 flush
> 1 !LOST a fence=100 reason=unreachable
> op renew b seq=1 ttl=13000 fence=200 reserve=1

== hold: a bound
0 ready 2
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1019 until
1020 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1
1030 1 UNLOCK a
> 1 ERR lost this session held a and lost it
1040 1 UNLOCK a
> 1 ERR not-held this session does not hold a
1050 < ended a

== hold: replaced on re-entry, and by EXTEND
0 ready 2
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
500 1 LOCK a
> 1 OK fence=100 depth=2
600 1 LOCK a hold=2s
> 1 OK fence=100 depth=3
2500 1 EXTEND a hold=1s
> op renew a seq=1 ttl=13000 fence=100
> 1 OK
3400 1 EXTEND a hold=0
> 1 OK
3500 until
3600 1 EXTEND b hold=1s
> 1 ERR not-held this session does not hold b
20000 1 EXTEND a hold=1s
> 1 !LOST a fence=100 reason=unreachable
> 1 ERR lost this session held a and lost it

== hold: a bound that is over before the grant is told
0 ready 2
10 1 LOCK a hold=10ms
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
30 flush
> 1 OK fence=100 depth=1
39 until
40 until
> 40 1 !LOST a fence=100 reason=hold
> 40 op end a seq=1

== hold: a re-entry that was not told when the hold is lost keeps its place
config fences=8
0 ready 2
10 1 LOCK a hold=4s
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
4000 until
> 2176 op renew a seq=1 ttl=13000 fence=107
4000 1 @1 LOCK a ...
4025 2 LOCK a ...
> 1 !LOST a fence=100 reason=hold
4025 flush ...
4025 flush ...
> 1 @1 OK fence=101 depth=1

== hold: a re-entry that was not told when the hold is lost keeps no name
config fences=8
0 ready 3
10 1 LOCK a hold=4s
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
4000 until
> 2176 op renew a seq=1 ttl=13000 fence=107
4000 2 LOCK a
4000 1 @1 LOCK a keep=5s ...
4025 3 LOCK a ...
> 1 !LOST a fence=100 reason=hold
4025 flush ...
4025 flush ...
> 2 OK fence=101 depth=1

== hold: re-entries that were not told when the hold is lost are together
config fences=8
0 ready 2
10 1 LOCK a hold=4s
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
4000 until
> 2176 op renew a seq=1 ttl=13000 fence=107
4000 1 @1 LOCK a ...
4000 1 @2 LOCK a ...
4025 time ...
> 1 !LOST a fence=100 reason=hold
4025 flush ...
4025 flush ...
4025 flush ...
> 1 @1 OK fence=101 depth=1
> 1 @2 OK fence=101 depth=2

== hold: lost, and locked anew: it is not lost any more
0 ready 2
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1020 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1
1030 < ended a
1040 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
1050 < granted a fence=200
> 1 OK fence=200 depth=1
1060 1 UNLOCK a
> op end a seq=2
1070 < ended a
> 1 OK depth=0
1080 1 UNLOCK a
> 1 ERR not-held this session does not hold a

== hold: at most what the configuration allows
config max_hold=2s default_hold=1s
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1020 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1
1030 < ended a
1040 2 LOCK a hold=1h
> op acquire a seq=2 ttl=13000 reserve=1 queue
1050 < granted a fence=200
> 2 OK fence=200 depth=1
1060 2 EXTEND a hold=0
> 2 OK
3060 until
> 3060 2 !LOST a fence=200 reason=hold
> 3060 op end a seq=2

== ping: the least that is vouched for
0 ready 2
10 ping 1
> valid -1
10 1 LOCK a hold=5s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 ping 1
> valid 4989
30 1 LOCK b hold=1h
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
5000 ping 1
> valid 19
> op renew a seq=1 ttl=13000 fence=100
> op renew b seq=2 ttl=13000 fence=200
5020 until
> 5010 1 !ATRISK a fence=100 left=4898
> 5020 1 !LOST a fence=100 reason=hold
5030 ping 1
> valid 4897
> 1 !ATRISK b fence=200 left=4898
9940 ping 1
> valid 0
> 1 !LOST b fence=200 reason=unreachable

== frozen with grants of several requests: they wait on in their order
0 ready 4
10 1 LOCK a mode=shared wait=30s
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 2 LOCK a mode=shared queue=5
12 3 LOCK a
20 < granted a fence=100 ...
9930 flush
> op end a seq=1
9940 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 shared queue
9950 < granted a fence=200
> 1 OK fence=200 depth=1
> 2 OK fence=200 depth=1

== frozen while a client has shut down: it does not wait on
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
21 drain 1 ...
9930 flush
> op end a seq=1

== frozen: what was lost is told before what is at risk
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 ACQUIRE s limit=2
> op take s seq=2 need=1 want=1 limit=2 queue
40 < taken s first=1
> 1 OK permits=1 free=0
3500 until
> 2176 op renew a seq=1 ttl=13000 fence=100
> 3264 op hold s seq=3 have=1 by=1000009928 limit=2
3500 < kept s first=1
8000 until
> 5010 1 !ATRISK a fence=100 left=4898
> 6528 op hold s seq=4 have=1 by=1000013162 limit=2
10000 time
> 1 !LOST a fence=100 reason=unreachable
> 1 !ATRISK s kind=semaphore permits=1 left=3162

== hold: a new bound that is not told is none
0 ready 1
0 open 2 tcp
10 2 LOCK a hold=9s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 ping 2
> valid 8989
40 2 LOCK a hold=1s ...
40 gone 2
2000 until

== a loss is told to an EXTEND, and still to the next UNLOCK
0 ready 1
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1100 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1
1200 1 EXTEND a hold=1s
> 1 ERR lost this session held a and lost it
1210 1 EXTEND a hold=1s
> 1 ERR lost this session held a and lost it
1220 1 UNLOCK a
> 1 ERR lost this session held a and lost it
1230 1 UNLOCK a
> 1 ERR not-held this session does not hold a
1240 1 EXTEND a hold=1s
> 1 ERR not-held this session does not hold a

== a loss is told to an UNLOCK that comes before the next grant is told
0 ready 1
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1100 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1
1100 < ended a
1100 1 @1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
1110 < granted a fence=200 ...
1110 1 @2 EXTEND a hold=1s ...
> 1 @2 ERR lost this session held a and lost it
1110 1 @3 UNLOCK a ...
> 1 @3 ERR lost this session held a and lost it
1110 flush
> 1 @1 OK fence=200 depth=1
1120 1 UNLOCK a
> op end a seq=2
1130 < ended a
> 1 OK depth=0

== a loss is told to the next UNLOCK if the grant behind it was not told
0 ready 1
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1100 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1
1100 < ended a
1100 1 @1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
1110 < granted a fence=200 ...
20000 flush
> op acquire a seq=3 ttl=13000 reserve=1 queue
20000 1 @2 UNLOCK a
> 1 @2 ERR lost this session held a and lost it

== all losses of one moment are told before an answer that was due in between
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 down
8000 until
> 5010 1 !ATRISK a fence=100 left=4898
> 5020 2 !ATRISK b fence=200 left=4898
8000 2 LOCK a wait=1910ms
9900 time
9920 time
> 1 !LOST a fence=100 reason=unreachable
> 2 !LOST b fence=200 reason=unreachable
> 2 ERR unavailable Redis cannot be used

== all losses of one moment are told before what comes of them
0 ready 2
10 1 LOCK a mode=shared delay=1h
> op acquire a seq=1 ttl=3613000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
40 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
50 < granted b fence=200
> 2 OK fence=200 depth=1
60 down
9000 until
> 5010 2 !ATRISK a fence=100 left=4898
> 5010 1 !ATRISK a fence=100 left=4898
> 5040 2 !ATRISK b fence=200 left=4898
9800 2 TRYLOCK a mode=shared keep=2h
9900 time
9940 time
> 1 !LOST a fence=100 reason=unreachable
> 2 !LOST a fence=100 reason=unreachable
> 2 !LOST b fence=200 reason=unreachable
> 2 BUSY

== a link that was away for a moment puts nothing at risk
# The renewal that was planned before it went comes when it is due.
config fences=2
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=2 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1000 down
1010 2 TRYLOCK a
> 2 BUSY
1500 up
5000 until
> 2176 op renew a seq=1 ttl=13000 fence=101

== the server's clock gains: what is held is confirmed at once
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1000 guard blessed
1010 clock 700
1020 guard blessed
1030 clock 700
1040 guard blessed
> log clock-gained node=0
> op renew a seq=1 ttl=13000 fence=100
1050 until
1060 < renewed a
1070 ping 1
> valid 9867

== it gains by more than what is left: lost
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1000 guard blessed
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 1 !LOST a fence=100 reason=unreachable
> op end a seq=1
1030 until

== it gains, and a client that is not there counts on its valid=: it lingers
0 ready 1
0 open 2 tcp
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
500 ping 2
> valid 9407
600 gone 2
1000 guard blessed
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 2 !LOST a fence=100 reason=unreachable
> op end a seq=1 linger=11888
1030 until

== it gains, and the server grants nothing new: what is held is written again
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1000 guard blessed
1010 clock 3600000
1020 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=20
> op renew a seq=1 ttl=13000 fence=100
1030 until

== quorum: the clock of one server does not matter, those of two of three do
config quorum=3
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=2
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=1
1000 guard blessed on=0
1000 guard blessed on=1
1000 guard blessed on=2
1010 clock 2000
1020 guard blessed on=0
> log clock-gained node=0
> op renew a seq=1 ttl=13000 fence=100 on=0
> op renew a seq=1 ttl=13000 fence=100 on=1
> op renew a seq=1 ttl=13000 fence=100 on=2
1030 until
1040 ping 1
> valid 8867
1050 guard blessed on=1
> log clock-gained node=1
1060 until
1070 ping 1
> valid 6839

== no grant is told by the FLUSH behind a loss: the loss is written first
config fences=8
0 ready 2
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
1100 time ...
> 1 !LOST a fence=100 reason=hold
1100 flush ...
1100 flush ...
> 2 OK fence=101 depth=1

== permits that ran out untold, and nothing is left of their semaphore
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 ACQUIRE s limit=1
> op take s seq=2 need=1 want=1 limit=1 queue
40 < taken s first=1 ...
14000 time ...
> 1 !LOST a fence=100 reason=unreachable
14000 flush ...
14000 flush ...
> 2 ERR unavailable the lease expired before the grant could be sent; you do not hold it, try again

== what passed others for a grant that ran out untold goes back to its place
config fences=8
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a wait=14s
40 3 LOCK a
50 2 @2 LOCK a delay=2s
60 1 UNLOCK a ...
> op renew a seq=1 ttl=15000 fence=107 reserve=8
> 1 OK depth=0
13500 time ...
13500 flush ...
13500 flush ...
13600 < unknown a
> op end a seq=1
13700 < ended a
> op acquire a seq=2 ttl=13000 reserve=8 queue
14100 until
> 14030 2 @1 TIMEOUT
14200 < granted a fence=200
> 3 OK fence=200 depth=1

== so does a request for several names
config fences=8
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 4 LOCK b
> op acquire b seq=2 ttl=13000 reserve=8 queue
30 < granted b fence=150
> 4 OK fence=150 depth=1
30 2 @1 LOCK a wait=14s
40 3 LOCK a
50 2 @2 LOCK a b delay=2s
60 1 UNLOCK a ...
> 1 OK depth=0
9000 time ...
> 2 !ATRISK a fence=101 left=908
> op renew a seq=1 ttl=15000 fence=107
> 4 !ATRISK b fence=150 left=918
> op renew b seq=2 ttl=15000 fence=157
9010 < renewed b ...
> 4 !SAFE b fence=150
13500 time ...
> op renew b seq=2 ttl=15000 fence=157
13500 flush ...
13500 flush ...
13600 < unknown a
> op end a seq=1
13700 < ended a
> op acquire a seq=3 ttl=13000 reserve=8 queue
14100 until
> 14000 4 !ATRISK b fence=150 left=4898
> 14030 2 @1 TIMEOUT
14110 4 UNLOCK b
> 4 OK depth=0
14200 < granted a fence=200
> 3 OK fence=200 depth=1
