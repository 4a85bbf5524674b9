# LOCK of several names: all or nothing.

== a name that one who waits for more needs longer than the first in line
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < granted a fence=200
50 3 LOCK a delay=5s
> op renew a seq=2 ttl=18000 fence=200 reserve=2
60 < renewed a fence=210
> 3 OK fence=210 depth=1
70 3 UNLOCK a
> 3 OK depth=0

== granted several, the first of which closes a circle
# 4 holds b shared and waits for a; 2 is granted a and b in one step.
0 ready 4
10 3 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 3 OK fence=100 depth=1
30 4 LOCK b mode=shared
> op acquire b seq=2 ttl=13000 reserve=1 shared queue
40 < granted b fence=200
> 4 OK fence=200 depth=1
50 2 LOCK a b mode=shared
> op renew a seq=1 ttl=13000 fence=100 reserve=1
60 4 LOCK a
60 < renewed a fence=110
70 3 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=1 shared
> 3 OK depth=0
80 < granted a fence=300
> 2 OK fence=300,200 depth=1,1

== a name whose lease is over is none that the session has
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
10 < granted b fence=100
> 1 OK fence=100 depth=1
10 2 LOCK a hold=9880
> op acquire a seq=2 ttl=13000 reserve=1 queue
10 < granted a fence=200
> 2 OK fence=200 depth=1
20 1 @1 LOCK a b
> op renew a seq=2 ttl=13000 fence=200 reserve=1
> op renew b seq=1 ttl=13000 fence=100 reserve=1
30 < renewed b fence=110 sent=20
3000 < renewed a fence=210 sent=3000
9880 until
> 3328 op renew b seq=1 ttl=13000 fence=110
> 5020 1 !ATRISK b fence=100 left=4898
> 6272 op renew a seq=2 ttl=13000 fence=210
> 8000 2 !ATRISK a fence=200 left=4898
9925 time
> 1 !LOST b fence=100 reason=unreachable
> 2 !LOST a fence=200 reason=hold

== three names for a firm group, for two of which another broker waits
0 ready 4
10 1 LOCK a b c
> op acquire a seq=1 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1
> op acquire c seq=3 ttl=13000 reserve=1
20 < granted a fence=100
20 < granted b fence=200
20 < queued c ttl=60s
> op acquire c seq=4 ttl=13000 reserve=1 queue
30 < queued c ttl=60s
3500 until
> 2176 op renew a seq=1 ttl=13000 fence=100
> 3264 op renew b seq=2 ttl=13000 fence=200
3500 < renewed a
3500 < renewed b
6900 until
> 5440 op renew a seq=1 ttl=13000 fence=100
> 6528 op renew b seq=2 ttl=13000 fence=200
6900 < renewed a
6900 < renewed b
10300 until
> 8704 op renew a seq=1 ttl=13000 fence=100
> 9792 op renew b seq=2 ttl=13000 fence=200
> 10030 op acquire c seq=4 ttl=13000 reserve=1 queue
10300 < renewed a
10300 < renewed b
10300 < queued c ttl=60s
13700 until
> 12032 op renew a seq=1 ttl=13000 fence=100
> 13056 op renew b seq=2 ttl=13000 fence=200
13700 < renewed a waiting
13700 < renewed b waiting
17100 until
> 15296 op renew a seq=1 ttl=13000 fence=100
> 16320 op renew b seq=2 ttl=13000 fence=200
17100 < renewed a waiting
17100 < renewed b waiting
20500 until
> 18560 op renew a seq=1 ttl=13000 fence=100
> 19584 op renew b seq=2 ttl=13000 fence=200
> 20300 op acquire c seq=4 ttl=13000 reserve=1 queue
20500 < renewed a waiting
20500 < renewed b waiting
20500 < queued c ttl=60s
23800 until
> 21824 op renew a seq=1 ttl=13000 fence=100
> 22848 op renew b seq=2 ttl=13000 fence=200
23800 < renewed a waiting
23800 < renewed b waiting
23900 message grant 4 c
> op confirm c seq=4 ttl=13000 reserve=1
23910 < granted c fence=300
> 1 OK fence=100,200,300 depth=1,1,1
24010 until

== two requests for several names of one millisecond, the first of which is not passed
# 3 came first, although its tag is the larger one.
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 3 @9 LOCK b c
> op renew b seq=2 ttl=13000 fence=200 reserve=1
> op acquire c seq=3 ttl=13000 reserve=1
40 4 @5 LOCK a c
> op renew a seq=1 ttl=13000 fence=100 reserve=1
50 < granted c fence=300
50 < renewed a fence=110
50 < renewed b fence=210
3500 until
> 2304 op renew c seq=3 ttl=13000 fence=300
> 3200 op renew b seq=2 ttl=13000 fence=210
> 3328 op renew a seq=1 ttl=13000 fence=110
3500 < renewed a
3500 < renewed b
3500 < renewed c
6900 until
> 5568 op renew c seq=3 ttl=13000 fence=300
> 6464 op renew b seq=2 ttl=13000 fence=210
> 6656 op renew a seq=1 ttl=13000 fence=110
6900 < renewed a
6900 < renewed b
6900 < renewed c
10030 until
> 8832 op renew c seq=3 ttl=13000 fence=300
> 9728 op renew b seq=2 ttl=13000 fence=210
> 9920 op renew a seq=1 ttl=13000 fence=110
10040 < renewed a
10040 < renewed b
10040 < renewed c
10050 1 UNLOCK a
> 1 OK depth=0
10060 2 UNLOCK b
> 2 OK depth=0
> op renew c seq=3 ttl=13000 fence=300 reserve=1
> 3 @9 OK fence=210,300 depth=1,1
10070 3 UNLOCK b c
> op end b seq=2

== a group needs a longer key of a name that its session has come to hold
# 2 waits before it for b, and goes on waiting until 1 lets go of that.
0 ready 4
10 4 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 4 OK fence=100 depth=1
20 3 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
30 < granted a fence=200
> 3 OK fence=200 depth=1
40 1 @1 LOCK b
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 2 LOCK b
40 1 @2 LOCK a b delay=5s
> op renew a seq=2 ttl=18000 fence=200 reserve=1
50 < renewed a fence=210
50 < renewed b fence=110
60 4 UNLOCK b
> op renew b seq=1 ttl=18000 fence=110 reserve=2
> 4 OK depth=0
> 1 @1 OK fence=110 depth=1
70 3 UNLOCK a
> 3 OK depth=0
80 < renewed b fence=210
> 1 @2 OK fence=210,110 depth=1,2
100 1 UNLOCK a b
> op end a seq=2

== try a name that is kept for a firm group
0 ready 4
10 1 LOCK a b
> op acquire a seq=1 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1
20 < granted a fence=100
20 < queued b ttl=60s
> op acquire b seq=3 ttl=13000 reserve=1 queue
30 < queued b ttl=60s
3500 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3500 < renewed a
6900 until
> 5440 op renew a seq=1 ttl=13000 fence=100
6900 < renewed a
10300 until
> 8704 op renew a seq=1 ttl=13000 fence=100
> 10030 op acquire b seq=3 ttl=13000 reserve=1 queue
10300 < renewed a
10300 < queued b ttl=60s
10320 2 TRYLOCK a
> 2 BUSY
13000 until
> 11968 op renew a seq=1 ttl=13000 fence=100

== all are free
0 ready 4
10 1 LOCK a b
> op acquire a seq=1 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1
20 < granted a fence=100
20 < granted b fence=200
> 1 OK fence=100,200 depth=1,1
30 1 UNLOCK a b
> op end a seq=1
> op end b seq=2
40 < ended a
40 < ended b
> 1 OK depth=0,0

== one is held here: a single request passes, until it is firm
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < renewed b fence=110
40 < granted a fence=200
50 3 LOCK a
> op renew a seq=2 ttl=13000 fence=200 reserve=1
> 3 OK fence=200 depth=1
60 3 UNLOCK a
> 3 OK depth=0
70 < renewed a fence=300
3400 until
> 3264 op renew a seq=2 ttl=13000 fence=300
> 3328 op renew b seq=1 ttl=13000 fence=110
3400 < renewed b
3410 < renewed a
6800 until
> 6528 op renew a seq=2 ttl=13000 fence=300
> 6592 op renew b seq=1 ttl=13000 fence=110
6800 < renewed b
6800 < renewed a
10030 until
> 9792 op renew a seq=2 ttl=13000 fence=300
> 9920 op renew b seq=1 ttl=13000 fence=110
10040 < renewed b
10040 < renewed a
10050 3 LOCK a
10060 1 UNLOCK b
> 1 OK depth=0
> op renew a seq=2 ttl=13000 fence=300 reserve=1
> 2 OK fence=300,110 depth=1,1
10070 2 UNLOCK a b
> op end b seq=1

== yields to another broker what it keeps for a group
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < renewed b fence=110
40 < granted a fence=200
50 message waits 2 a
150 until
> 90 op end a seq=2 prompt
160 < ended a
> op acquire a seq=3 ttl=13000 reserve=1 queue
170 < queued a ttl=5s

== try: one of them is taken, so the others are not asked for
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 TRYLOCK a b
> 2 BUSY
40 2 TRYLOCK a b mode=shared
> 2 BUSY
50 1 TRYLOCK a b
> op acquire a seq=2 ttl=13000 reserve=1
> op renew b seq=1 ttl=13000 fence=100 reserve=1
60 < granted a fence=200
> 1 OK fence=200,100 depth=1,2

== try: one of them is shared
0 ready 4
10 1 LOCK b mode=shared
> op acquire b seq=1 ttl=13000 reserve=1 shared queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 TRYLOCK a b
> 2 BUSY
40 2 TRYLOCK a b mode=shared
> op acquire a seq=2 ttl=13000 reserve=1 shared
50 < granted a fence=200
> 2 OK fence=200,100 depth=1,1
60 2 UNLOCK a b
> op end a seq=2
70 < ended a
> 2 OK depth=0,0
80 2 TRYLOCK a b mode=shared
> op acquire a seq=3 ttl=13000 reserve=1 shared
90 < foreign a ttl=5s
> 2 BUSY

== try: one of them is shared, and a writer waits for it
0 ready 4
10 1 LOCK b mode=shared
> op acquire b seq=1 ttl=13000 reserve=1 shared queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 3 LOCK b
40 2 TRYLOCK a b mode=shared
> op acquire a seq=2 ttl=13000 reserve=1 shared
> 2 BUSY

== queue=0: one of them is shared
0 ready 4
10 1 LOCK b mode=shared
> op acquire b seq=1 ttl=13000 reserve=1 shared queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b mode=shared queue=0
> op acquire a seq=2 ttl=13000 reserve=1 shared
40 < granted a fence=200
> 2 OK fence=200,100 depth=1,1

== time is up
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b wait=1s
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < renewed b fence=110
50 < granted a fence=200
1030 until
> 1030 2 TIMEOUT
> 1030 op end a seq=2

== cancelled, and gone
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < renewed b fence=110
50 < granted a fence=200
60 cancel 2 1
> 2 @1 CANCELLED
> 2 OK
> op end a seq=2
70 < ended a
80 2 @1 LOCK a b
> op acquire a seq=3 ttl=13000 reserve=1 queue
90 gone 2

== some are held already
0 ready 4
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
> op renew b seq=1 ttl=13000 fence=100 reserve=1
40 < granted a fence=200
> 1 OK fence=200,100 depth=1,2
50 1 LOCK b a
> 1 OK fence=100,200 depth=3,2
60 1 UNLOCK a b
> 1 OK depth=1,2
61 1 UNLOCK a b
> op end a seq=2
62 1 UNLOCK b

== shared
0 ready 4
10 1 LOCK b mode=shared
> op acquire b seq=1 ttl=13000 reserve=1 shared queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b mode=shared
> op acquire a seq=2 ttl=13000 reserve=1 shared queue
40 < granted a fence=200
> 2 OK fence=200,100 depth=1,1

== refused: a circle
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 1 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
50 2 LOCK c a
> 2 ERR deadlock sessions would deadlock: b -> a -> b

== a group of one who keeps a name, behind others
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b c
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> op acquire b seq=2 ttl=13000 reserve=1
> op acquire c seq=3 ttl=13000 reserve=1
40 < renewed a fence=110
40 < granted b fence=200
40 < granted c fence=300
50 gone 1
> 2 OK fence=110,200,300 depth=1,1,1

== a firm group that came after another broker does not pass it
# b is over for this broker, and the renewal under way keeps it from ending.
0 ready 3
10 2 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=100 waiting
> 2 OK fence=100 depth=1
30 3 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
40 < granted a fence=200
> 3 OK fence=200 depth=1
50 1 LOCK a b
> op renew a seq=2 ttl=13000 fence=200 reserve=1
> op renew b seq=1 ttl=13000 fence=100 reserve=1
60 < renewed a fence=210
60 < renewed b fence=110 waiting
3400 until
> 3200 op renew b seq=1 ttl=13000 fence=110
> 3328 op renew a seq=2 ttl=13000 fence=210
3400 < renewed a
3400 < renewed b waiting
6740 until
> 6464 op renew b seq=1 ttl=13000 fence=110
> 6592 op renew a seq=2 ttl=13000 fence=210
6740 < renewed a
6740 < renewed b waiting
10070 until
> 9728 op renew b seq=1 ttl=13000 fence=110
> 9920 op renew a seq=2 ttl=13000 fence=210
10070 < renewed a
10075 2 UNLOCK b
> 2 OK depth=0
10080 3 UNLOCK a
> 3 OK depth=0
10090 < renewed b waiting
> op end b seq=1 prompt
10100 < ended b
> op acquire b seq=3 ttl=13000 reserve=1 queue
10110 < queued b ttl=1s
10120 message grant 3 b
> op confirm b seq=3 ttl=13000 reserve=1
10130 < granted b fence=300
> 1 OK fence=210,300 depth=1,1

== several names are not granted past a firm group
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> op acquire b seq=2 ttl=13000 reserve=1
40 < renewed a fence=110
40 < granted b fence=200
3400 until
> 1920 op renew b seq=2 ttl=13000 fence=200
> 3328 op renew a seq=1 ttl=13000 fence=110
3400 < renewed a
3400 < renewed b
6740 until
> 5184 op renew b seq=2 ttl=13000 fence=200
> 6592 op renew a seq=1 ttl=13000 fence=110
6740 < renewed a
6740 < renewed b
10040 until
> 8512 op renew b seq=2 ttl=13000 fence=200
> 9856 op renew a seq=1 ttl=13000 fence=110
10040 < renewed a
10040 < renewed b
10050 3 TRYLOCK b c
> 3 BUSY
10060 4 LOCK b c
> op acquire c seq=3 ttl=13000 reserve=1
10070 < granted c fence=300
10080 1 UNLOCK a
> 1 OK depth=0
> op renew b seq=2 ttl=13000 fence=200 reserve=1
> 2 OK fence=110,200 depth=1,1
10090 2 UNLOCK b
> 2 OK depth=0
10100 < renewed b fence=210
> 4 OK fence=210,300 depth=1,1

== several names are not granted past one who wants one of them alone
# Readers of a and b would come in for ever.
0 ready 4
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
40 3 LOCK a b mode=shared
> op acquire b seq=2 ttl=13000 reserve=1 shared
50 < granted b fence=200
60 4 TRYLOCK a b mode=shared
> 4 BUSY
70 1 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=2
> 1 OK depth=0
80 < granted a fence=300
> 2 OK fence=300 depth=1
90 2 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=1 shared
> 2 OK depth=0
100 < granted a fence=400
> 3 OK fence=400,200 depth=1,1

== several names in time tell the reason of the one that was waited for
# a is held by another, and there is no memory for b.
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b wait=400
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> op acquire b seq=2 ttl=13000 reserve=1
40 < renewed a fence=110
40 < refused b OOM
430 until
> 430 2 ERR unavailable 
> 430 op end b seq=2
# The session has c; Redis goes away.
500 3 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
510 < granted c fence=300
> 3 OK fence=300 depth=1
520 down
530 3 LOCK c d wait=1s
1530 until
> 1530 3 ERR unavailable Redis cannot be used

== a keep of a name that is had already is in the store before it is told
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
50 1 LOCK a b keep=1m
> op renew a seq=1 ttl=61000 fence=100 reserve=1
> op renew b seq=2 ttl=61000 fence=200 reserve=1
60 < renewed a
> op renew a seq=1 ttl=61000 fence=100 reserve=1
70 < renewed b
> 1 OK fence=100,200 depth=2,2

== several names that stand first in one queue and last in another
# 1 jumps the queue of a, which it has then; and 2 came before it.
config lease=1s
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=1500 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 3 LOCK b
> op acquire b seq=2 ttl=1500 reserve=1 queue
40 < granted b fence=200
> 3 OK fence=200 depth=1
50 2 LOCK a b
> op renew a seq=1 ttl=1500 fence=100 reserve=1
> op renew b seq=2 ttl=1500 fence=200 reserve=1
60 < renewed a fence=110
60 < renewed b fence=210
70 1 @1 LOCK a b
80 1 UNLOCK a
> 1 OK depth=0
300 until
300 < renewed a
> no operation of that name
300 < renewed b
> no operation of that name
600 until
> 368 op renew b seq=2 ttl=1500 fence=210
> 368 op renew a seq=1 ttl=1500 fence=110
> 550 3 !ATRISK b fence=200 left=488
600 < renewed a
600 < renewed b
> 3 !SAFE b fence=200
900 until
> 688 op renew a seq=1 ttl=1500 fence=110
> 688 op renew b seq=2 ttl=1500 fence=210
> 868 3 !ATRISK b fence=200 left=488
900 < renewed a
900 < renewed b
> 3 !SAFE b fence=200
1200 until
> 1008 op renew a seq=1 ttl=1500 fence=110
> 1008 op renew b seq=2 ttl=1500 fence=210
> 1188 3 !ATRISK b fence=200 left=488
1200 < renewed a
1200 < renewed b
> 3 !SAFE b fence=200
1210 3 UNLOCK b
> op renew b seq=2 ttl=1500 fence=210 reserve=1
> 3 OK depth=0
> op renew a seq=1 ttl=1500 fence=110 reserve=1
> 2 OK fence=110,210 depth=1,1
1220 2 UNLOCK a b
> 2 OK depth=0,0

== a later name is not kept for a group while an earlier one is for another
config lease=3s
0 ready 4
10 1 LOCK a b
> op acquire a seq=1 ttl=3900 reserve=1 queue
> op acquire b seq=2 ttl=3900 reserve=1
20 < granted a fence=100
20 < queued b ttl=1m
> op acquire b seq=3 ttl=3900 reserve=1 queue
1050 until
> 976 op renew a seq=1 ttl=3900 fence=100
1050 < renewed a
2050 until
> 1952 op renew a seq=1 ttl=3900 fence=100
2050 < renewed a
3000 until
> 2928 op renew a seq=1 ttl=3900 fence=100
3000 < renewed a
3301 2 LOCK a c
> op acquire c seq=4 ttl=3900 reserve=1
3302 < granted c fence=300
4302 until
> 3920 op renew a seq=1 ttl=3900 fence=100
> 4176 op renew c seq=4 ttl=3900 fence=300
4302 < renewed a
4302 < renewed c
5302 until
> 4896 op renew a seq=1 ttl=3900 fence=100
> 5168 op renew c seq=4 ttl=3900 fence=300
5302 < renewed a
5302 < renewed c
6302 until
> 5888 op renew a seq=1 ttl=3900 fence=100
> 6160 op renew c seq=4 ttl=3900 fence=300
6302 < renewed a
6302 < renewed c
7302 until
> 6880 op renew a seq=1 ttl=3900 fence=100
> 7152 op renew c seq=4 ttl=3900 fence=300
7302 < renewed a
7302 < renewed c
8302 until
> 7872 op renew a seq=1 ttl=3900 fence=100
> 8128 op renew c seq=4 ttl=3900 fence=300
8302 < renewed a
8302 < renewed c
8303 message waits 4 c
> op end c seq=4 prompt
8402 until

== two that each stand first in one queue don't change the leases in turn
# 1 jumps the queue of a, which it has then; 2, which shares, came before it.
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 3 OK fence=200 depth=1
50 2 LOCK a b mode=shared
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> op renew b seq=2 ttl=13000 fence=200 reserve=1
60 < renewed a fence=110
60 < renewed b fence=210
70 1 @1 LOCK a b
80 1 UNLOCK a
> 1 OK depth=0
90 3 UNLOCK b
> op convert b seq=2 ttl=13000 reserve=1 shared
> 3 OK depth=0
100 < granted b fence=300
> op convert a seq=1 ttl=13000 reserve=1 shared
110 < granted a fence=400
> 2 OK fence=400,300 depth=1,1
130 2 UNLOCK a b
> op convert b seq=2 ttl=13000 reserve=1
> 2 OK depth=0,0

== a name that nobody may have before a group is not asked for over and over
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a b
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> op acquire b seq=2 ttl=13000 reserve=1
40 < granted b fence=200
40 < renewed a fence=110
5000 until
> 3264 op renew b seq=2 ttl=13000 fence=200
> 3328 op renew a seq=1 ttl=13000 fence=110
5000 < renewed a
5000 < renewed b
9000 until
> 6528 op renew b seq=2 ttl=13000 fence=200
> 6592 op renew a seq=1 ttl=13000 fence=110
> 8328 1 !ATRISK a fence=100 left=4898
9000 < renewed a
> 1 !SAFE a fence=100
9000 < renewed b
10100 3 LOCK b
> op renew a seq=1 ttl=13000 fence=110
> op renew b seq=2 ttl=13000 fence=200
10105 message waits 2 b
10110 < renewed a
10110 < renewed b waiting
> op end b seq=2 prompt
10120 < ended b
10369 until
10370 until
> 10370 op acquire b seq=3 ttl=13000 reserve=2 queue
10380 < queued b
10390 message grant 3 b
> op confirm b seq=3 ttl=13000 reserve=2
10400 < granted b fence=300
10410 message waits 3 b
> op end b seq=3 prompt
10420 < ended b
10430 1 UNLOCK a
> 1 OK depth=0
> op acquire b seq=4 ttl=13000 reserve=2 queue
10440 < granted b fence=400
> 2 OK fence=110,400 depth=1,1

== several names, taken back before they were told: a re-entry is as deep as what is left
0 ready 3
10 2 LOCK a b
> op acquire a seq=1 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1
20 < granted a fence=100
20 < granted b fence=200
> 2 OK fence=100,200 depth=1,1
30 1 @1 LOCK a b
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> op renew b seq=2 ttl=13000 fence=200 reserve=1
35 < renewed a fence=110
35 < renewed b fence=210
40 1 @2 LOCK a
50 2 UNLOCK a b ...
> op renew a seq=1 ttl=13000 fence=110 reserve=1
> 2 OK depth=0,0
50 3 UNLOCK-FORCE b
> log unlock-force name=b session=3 peer=peer holder=1 holder_peer=peer fence=210 held=0
> op end b seq=2
> 1 @2 OK fence=110 depth=1

== one of its names is shared elsewhere, and another is its session's, behind whose turn a broker waits
config handovers=1
0 ready 4
10 1 LOCK b mode=shared
> op acquire b seq=1 ttl=13000 reserve=1 shared queue
20 < granted b fence=100 waiting
> 1 OK fence=100 depth=1
30 2 LOCK a c mode=shared
> op acquire a seq=2 ttl=13000 reserve=1 shared queue
> op acquire c seq=3 ttl=13000 reserve=1 shared
60 < granted a fence=200
60 < busy c ttl=60s
> op acquire c seq=4 ttl=13000 reserve=1 shared queue
65 < queued c ttl=60s
70 1 LOCK a b
> op convert a seq=2 ttl=13000 reserve=2
> op convert b seq=1 ttl=13000 reserve=1
80 < granted b fence=300 waiting
80 < busy a ttl=60s
> op end a seq=2 prompt
90 < ended a
> op acquire a seq=5 ttl=13000 reserve=2 queue
100 < queued a ttl=60s
