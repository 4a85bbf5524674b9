# Names that are kept for nobody: what bounds them, and what counts.

== keep= and delay= have a bound, whoever has the name
config max_keep=1m max_delay=10s
0 ready 1
10 1 LOCK a keep=1m delay=10s
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a keep=60001ms
> 1 ERR limit keep= may be 1m at most (locks.max_keep)
40 1 LOCK a delay=10001ms
> 1 ERR limit delay= may be 10s at most (locks.max_delay)
50 1 TRYLOCK b keep=2m
> 1 ERR limit keep= may be 1m at most (locks.max_keep)
60 1 LOCK c d delay=1h
> 1 ERR limit delay= may be 10s at most (locks.max_delay)
config max_keep=1h max_delay=10s
70 1 LOCK a keep=1h
> op renew a seq=1 ttl=3601000 fence=100 reserve=1
80 unowned?
> unowned 0 bound 1 latches 0

== a name counts from the request until nothing keeps it
config unowned=2
0 ready 3
10 1 LOCK a keep=30s
> op acquire a seq=1 ttl=31000 reserve=1 queue
10 unowned?
> unowned 0 bound 1 latches 0
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a keep=31s
> op renew a seq=1 ttl=32000 fence=100 reserve=1
40 2 LOCK a keep=1s
50 unowned?
> unowned 0 bound 1 latches 0
60 2 LOCK b delay=2s
> op acquire b seq=2 ttl=15000 reserve=1 queue
70 < granted b fence=200
> 2 OK fence=200 depth=1
80 unowned?
> unowned 0 bound 2 latches 0
90 3 LOCK c keep=1s
> 3 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; ask later, or without keep= and delay=
100 3 LOCK c delay=1s
> 3 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; ask later, or without keep= and delay=
110 3 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
120 < granted c fence=300
> 3 OK fence=300 depth=1
130 3 LOCK c keep=1s
> 3 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; ask later, or without keep= and delay=
140 unowned?
> unowned 0 bound 2 latches 0
150 2 UNLOCK b
> op end b seq=2
160 < ended b
> 2 OK depth=0
170 unowned?
> unowned 0 bound 1 latches 0
180 3 LOCK c keep=1s
> 3 OK fence=300 depth=2
190 < renewed c
> no operation of that name
200 unowned?
> unowned 0 bound 2 latches 0

== what is left behind counts until it is over
config unowned=1
0 ready 2
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 unowned?
> unowned 0 bound 1 latches 0
40 1 UNLOCK a
> op end a seq=1 linger=1980
50 < ended a
> 1 OK depth=0
60 unowned?
> unowned 1 bound 1 latches 0
70 2 LOCK b keep=1s
> 2 ERR limit this broker may reserve at most 1 names without a holder (limits.unowned); it has 1; ask later, or without keep= and delay=
2011 until
2020 unowned?
> unowned 1 bound 1 latches 0
2030 2 LOCK b delay=1s
> op acquire b seq=2 ttl=14000 reserve=1 queue
2040 < granted b fence=200
> 2 OK fence=200 depth=1
2050 gone 2
> op end b seq=2 linger=1000
2060 < ended b
2070 unowned?
> unowned 1 bound 1 latches 0
3060 until
3070 < ended b
> no operation of that name
3080 unowned?
> unowned 0 bound 0 latches 0

== a request that ends without the name counts no more
config unowned=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a keep=1s wait=100ms
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 unowned?
> unowned 0 bound 1 latches 0
130 until
> 130 2 @1 TIMEOUT
140 unowned?
> unowned 0 bound 0 latches 0
150 2 @2 LOCK a delay=1s
160 cancel 2 2
> 2 @2 CANCELLED
> 2 OK
170 unowned?
> unowned 0 bound 0 latches 0
180 2 LOCK a delay=1s
190 gone 2
200 unowned?
> unowned 0 bound 0 latches 0
210 3 TRYLOCK b keep=1s
> op acquire b seq=2 ttl=13000 reserve=1
220 < busy b ttl=5s
> 3 BUSY
230 unowned?
> unowned 0 bound 0 latches 0

== several names count each; none is asked for where there is no room for all
config unowned=2
0 ready 2
10 1 LOCK a b c keep=1s
> 1 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 0; ask later, or without keep= and delay=
20 1 LOCK a b keep=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1
30 unowned?
> unowned 0 bound 2 latches 0
40 2 LOCK b d delay=1s
> 2 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; ask later, or without keep= and delay=
50 2 LOCK a b delay=1s
60 unowned?
> unowned 0 bound 2 latches 0

== who had it under a keep= has it again; it counts once
config unowned=1
0 ready 1
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=59990
40 < ended a
> 1 OK depth=0
50 1 LOCK a keep=2m
> op confirm a seq=1 ttl=121000 reserve=1
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 unowned?
> unowned 0 bound 1 latches 0
80 1 UNLOCK a
> op end a seq=1 linger=119980
90 < ended a
> 1 OK depth=0
100 unowned?
> unowned 1 bound 1 latches 0

== what a client that is gone counts on
config unowned=1
0 ready 1
0 open 2 tcp
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 2 LOCK b mode=shared
> op acquire b seq=2 ttl=13000 reserve=1 shared queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 1 LOCK b mode=shared
> 1 OK fence=200 depth=1
60 ping 2
> valid 9847
70 gone 2
80 unowned?
> unowned 1 bound 1 latches 0
90 1 UNLOCK b
> 1 OK depth=0
100 unowned?
> unowned 2 bound 2 latches 0
110 1 LOCK c keep=1s
> 1 ERR limit this broker may reserve at most 1 names without a holder (limits.unowned); it has 2; ask later, or without keep= and delay=
120 1 LOCK d
> op acquire d seq=3 ttl=13000 reserve=1 queue
130 < granted d fence=300
> 1 OK fence=300 depth=1
9910 until
> 2176 op renew a seq=1 ttl=13000 fence=100
> 2432 op renew d seq=3 ttl=13000 fence=300
> 3264 op renew b seq=2 ttl=13000 fence=200 by=1000009928 shared
> 5010 2 !ATRISK a fence=100 left=4898
> 5030 2 !ATRISK b fence=200 left=4898
> 5120 1 !ATRISK d fence=300 left=4898
> 9908 2 !LOST a fence=100 reason=unreachable
9910 unowned?
> unowned 0 bound 0 latches 0

== latches count for the ttl= that they were made with
config unowned=2 max_ttl=1m
0 ready 2
10 1 LATCH l n=3 ttl=61s
> 1 ERR limit ttl= may be 1m at most (locks.max_ttl)
20 1 LATCH l n=3 ttl=1s
> op latch l seq=1 ttl=1000 need=3
30 2 LATCH l n=3 ttl=1m
40 1 @1 LATCH m n=3 ttl=1m
> 1 @1 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; give latches a shorter ttl=, or make this one later
50 < made l first=3
> 1 OK count=3
> op latch l seq=2 ttl=60000 need=3
60 < exists l
> 2 ERR exists a latch of this name already exists
70 unowned?
> unowned 0 bound 0 latches 1
80 1 LOCK a keep=1s
> op acquire a seq=3 ttl=13000 reserve=1 queue
90 1 LATCH k n=1 ttl=1m
> 1 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; give latches a shorter ttl=, or make this one later
1050 until
1060 unowned?
> unowned 0 bound 1 latches 0
1070 1 LATCH k n=1 ttl=1m
> op latch k seq=4 ttl=60000 need=1
1080 < made k first=1
> 1 OK count=1
1090 unowned?
> unowned 0 bound 1 latches 1

== one of several users has a quarter of all names at most
config unowned=8
0 ready 4
10 user 1 deploy
10 user 2 deploy
10 user 3 ops
20 1 LOCK a keep=30s
> op acquire a seq=1 ttl=31000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
50 token 2 acquire b token=t2 px=30s
> op claim b seq=2 ttl=30000 client=t2|deploy other=t2|deploy how=e-r
60 < granted b fence=110
> 2 done 1 held own meant fence=110 left=30000 token=t2
70 token 2 acquire c token=t3 px=30s
> 2 ERR limit a user may reserve at most 2 names without a holder (a quarter of limits.unowned); you have 2; release some, or raise the limit (undone)
80 1 LOCK d keep=1s
> 1 ERR limit a user may reserve at most 2 names without a holder (a quarter of limits.unowned); you have 2; ask later, or without keep= and delay=
90 1 @1 LATCH l n=1 ttl=1000
> 1 @1 ERR limit a user may reserve at most 2 names without a holder (a quarter of limits.unowned); you have 2; give latches a shorter ttl=, or make this one later
# The name counts already.
100 2 LOCK a keep=1s
> op renew a seq=1 ttl=29930 fence=100 reserve=1
# Another user has a share of his own; who is no user has none, but the bound.
110 token 3 acquire c token=t4 px=30s
> op claim c seq=3 ttl=30000 client=t4|ops other=t4|ops how=e-r
120 < granted c fence=120
> 3 done 1 held own meant fence=120 left=30000 token=t4
130 3 @1 LATCH l n=1 ttl=1000
> op latch l seq=4 ttl=1000 need=1
140 < made l
> 3 @1 OK count=1
150 3 LOCK d keep=1s
> 3 ERR limit a user may reserve at most 2 names without a holder (a quarter of limits.unowned); you have 2; ask later, or without keep= and delay=
160 4 LOCK d keep=1s
> op acquire d seq=5 ttl=13000 reserve=1 queue
170 < granted d fence=130
> 4 OK fence=130 depth=1
# What ends makes room.
180 token 2 release b token=t2
> op token b seq=6 client=t2|deploy how=rxr
190 < ended b
> 2 done 1 free
200 token 2 acquire e token=t2 px=30s
> op claim e seq=7 ttl=30000 client=t2|deploy other=t2|deploy how=e-r

== what is kept no longer makes room in the share of its user
config unowned=4
0 ready 2
10 user 1 deploy
10 user 2 deploy
20 1 LOCK a keep=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 1 LOCK b keep=1s
> 1 ERR limit a user may reserve at most 1 names without a holder (a quarter of limits.unowned); you have 1; ask later, or without keep= and delay=
50 1 UNLOCK a
> op end a seq=1 linger=980
60 < ended a
> 1 OK depth=0
70 1 LOCK b keep=1s
> 1 ERR limit a user may reserve at most 1 names without a holder (a quarter of limits.unowned); you have 1; ask later, or without keep= and delay=
1100 until
1110 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
1120 < granted b fence=110
> 1 OK fence=110 depth=1
# Its keep= counts for as long as it waits.
1130 2 LOCK b keep=1s wait=1s
> op renew b seq=2 ttl=13000 fence=110 reserve=1
1140 1 LOCK c keep=1s
> 1 ERR limit a user may reserve at most 1 names without a holder (a quarter of limits.unowned); you have 1; ask later, or without keep= and delay=
2200 until
> 2130 2 TIMEOUT
2210 1 LOCK c keep=1s
> op acquire c seq=3 ttl=13000 reserve=1 queue
