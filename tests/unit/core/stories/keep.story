# keep, delay and hold.

== keep: a group of the session that had it stands before another
0 ready 4
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 1 @1 LOCK a b
> op renew a seq=1 ttl=59970 fence=100 reserve=1
> op renew b seq=2 ttl=13000 fence=200 reserve=1
60 3 LOCK a
60 < renewed a fence=110
60 < renewed b fence=210
70 1 @2 UNLOCK a
> 1 @2 OK depth=0
80 2 UNLOCK b
> 2 OK depth=0
> op renew a seq=1 ttl=59940 fence=110 reserve=1
> 1 @1 OK fence=110,210 depth=1,1

== keep: another does not join those who share
0 ready 4
10 1 LOCK a keep=30s mode=shared
> op acquire a seq=1 ttl=31000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
40 1 UNLOCK a
> 1 OK depth=0
50 3 LOCK a mode=shared
60 2 UNLOCK a
> op end a seq=1 linger=29960
70 < ended a
> 2 OK depth=0
30010 until

== a tombstone is written again for no longer than it lasts
0 ready 4
10 1 LOCK a keep=20s
> op acquire a seq=1 ttl=21000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=19990
40 < ended a
> 1 OK depth=0
50 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=40
> op renew a seq=1 ttl=19970 fence=100
60 < renewed a
20010 until
> 13650 op bless pend=p1
20011 2 LOCK a

== keep: the same session once more, then away
0 ready 4
10 1 LOCK a keep=20s
> op acquire a seq=1 ttl=21000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=19990
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op confirm a seq=1 ttl=19970 reserve=1
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=1 linger=19950
80 < ended a
> 1 OK depth=0
90 2 TRYLOCK a
> 2 BUSY

== delay: after a crash, not after UNLOCK or QUIT
0 ready 4
10 1 LOCK a delay=2s
> op acquire a seq=1 ttl=15000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a delay=2s
> op acquire a seq=2 ttl=15000 reserve=1 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 gone 1
> op end a seq=2 linger=2000
80 < ended a
90 2 TRYLOCK a
> 2 BUSY
100 3 LOCK a
2070 until
> 2070 op end a seq=2
2080 < ended a
> op acquire a seq=3 ttl=13000 reserve=1 queue
2090 < granted a fence=300
> 3 OK fence=300 depth=1
2100 quit 3
> op end a seq=3
2110 < ended a

== delay: after a bound; the same session need not wait
0 ready 4
10 1 LOCK a delay=2s hold=1s
> op acquire a seq=1 ttl=15000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1020 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 op end a seq=1 linger=2000
1030 < ended a
1040 1 LOCK a
> op confirm a seq=1 ttl=13000 reserve=1
1050 < granted a fence=200
> 1 OK fence=200 depth=1

== keep: the tombstone is another's by now
0 ready 4
10 1 LOCK a keep=20s
> op acquire a seq=1 ttl=21000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=19990
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op confirm a seq=1 ttl=19970 reserve=1
60 < lost a
> op acquire a seq=2 ttl=13000 reserve=1 queue
70 < granted a fence=200
> 1 OK fence=200 depth=1

== keep: another waits here
0 ready 4
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 1 UNLOCK a
> op end a seq=1 linger=1970
60 < ended a
> 1 OK depth=0
2020 until
> 2020 op end a seq=1
2030 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
2040 < granted a fence=200
> 2 OK fence=200 depth=1

== keep: another broker waits
0 ready 4
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=1990
40 message waits 1 a
50 < ended a
> 1 OK depth=0
2020 until
> 2020 op end a seq=1
2030 < ended a

== keep: another broker waits, and Redis answers at once
0 ready 4
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
25 message waits 1 a
30 1 UNLOCK a
> op end a seq=1 linger=1990
30 < ended a
> 1 OK depth=0
2030 until
> 2020 op end a seq=1 prompt

== keep: longer than it was, on re-entry
0 ready 4
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a keep=1h
> op renew a seq=1 ttl=3601000 fence=100 reserve=1
40 < renewed a
> 1 OK fence=100 depth=2
50 1 UNLOCK a
> 1 OK depth=1
60 1 UNLOCK a
> op end a seq=1 linger=3599980

== keep: forced away
0 ready 4
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=3599990
40 < ended a
> 1 OK depth=0
50 message force 1 1000000 45000 0123456789abcdef a
> log forced name=a by=another broker
> op end a seq=1
60 < ended a
70 2 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
80 < granted a fence=200
> 2 OK fence=200 depth=1

== keep: forced away while it ends
0 ready 4
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=3599990
40 message force 1 1000000 38000 0123456789abcdef a
> log forced name=a by=another broker
50 < ended a
> 1 OK depth=0
> op end a seq=1
60 < ended a
70 2 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
80 < granted a fence=200
> 2 OK fence=200 depth=1

== keep: who keeps a name does not share it
0 ready 4
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=3599990
40 < ended a
> 1 OK depth=0
50 1 LOCK a mode=shared
> op confirm a seq=1 ttl=3599970 reserve=1
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 2 TRYLOCK a mode=shared
> op renew a seq=1 ttl=3599950 fence=200 reserve=1
> 2 BUSY
80 1 LOCK a
> 1 OK fence=200 depth=2
90 1 UNLOCK a
> 1 OK depth=1
100 1 UNLOCK a

== keep: nobody comes before it is over
0 ready 4
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=1990
40 < ended a
> 1 OK depth=0
2020 until
2030 2 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue

== delay: what a second request needs is in the key before it is promised
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a delay=3s
> op renew a seq=1 ttl=16000 fence=100 reserve=1
35 1 @2 LOCK a delay=4s wait=0
40 < unknown a
100 until
> 90 op renew a seq=1 ttl=17000 fence=100 reserve=2
110 < renewed a
> 1 @2 OK fence=100 depth=2
> 1 @1 OK fence=100 depth=3
120 gone 1
> op end a seq=1 linger=4000

== keep of one who only reaches a plain BUSY
0 ready 4
10 1 TRYLOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1
20 < busy a ttl=5s
> 1 BUSY
30 2 TRYLOCK a
> op acquire a seq=2 ttl=13000 reserve=1

== keep: a shorter one later changes nothing
0 ready 2
10 1 LOCK a keep=30s
> op acquire a seq=1 ttl=31000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK a keep=1s
> 1 OK fence=100 depth=2
40 1 UNLOCK a
> 1 OK depth=1
50 1 UNLOCK a
> op end a seq=1 linger=29970
60 < ended a
> 1 OK depth=0
70 2 TRYLOCK a
> 2 BUSY

== a tombstone is written again, too, while its session takes it up
0 ready 2
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=59990
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op confirm a seq=1 ttl=59970 reserve=1
60 guard pending y
> log guard-pending node=0 cause=replica wait=13600 down=50
70 < pending a
> op renew a seq=1 ttl=59950 fence=100
80 < unknown a
200 until
> 130 op renew a seq=1 ttl=59890 fence=100
200 < renewed a
300 guard blessed
> log guard-ready node=0 after=290
> op confirm a seq=1 ttl=59720 reserve=1
310 < granted a fence=101
> 1 OK fence=101 depth=1

== keep: several names, one of which lingers, and another broker waits for that
# It is taken up when the others are here, and does not come and go till then.
0 ready 2
10 1 LOCK b keep=1m
> op acquire b seq=1 ttl=61000 reserve=1 queue
20 < granted b fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK b
> op end b seq=1 linger=59990
40 < ended b
> 1 OK depth=0
50 message waits 1 b
60 1 LOCK a b
> op acquire a seq=2 ttl=13000 reserve=1 queue
70 < queued a ttl=13s
80 message grant 2 a
> op confirm a seq=2 ttl=13000 reserve=1
90 < granted a fence=200
> op confirm b seq=1 ttl=59930 reserve=1
100 < granted b fence=101
> 1 OK fence=200,101 depth=1,1

== keep: several names that all linger, and one behind them that does not
0 ready 2
10 1 LOCK a b keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
> op acquire b seq=2 ttl=61000 reserve=1
20 < granted a fence=100
20 < granted b fence=200
> 1 OK fence=100,200 depth=1,1
30 1 UNLOCK a b
> op end a seq=1 linger=59990
> op end b seq=2 linger=59990
40 < ended a
40 < ended b
> 1 OK depth=0,0
50 1 LOCK c b a
> op acquire c seq=3 ttl=13000 reserve=1 queue
60 < queued c ttl=13s
80 message grant 3 c
> op confirm c seq=3 ttl=13000 reserve=1
90 < granted c fence=300
> op confirm a seq=1 ttl=59930 reserve=1
100 < granted a fence=101
> op confirm b seq=2 ttl=59920 reserve=1
110 < granted b fence=201
> 1 OK fence=300,201,101 depth=1,1,1

== keep: it goes on where the next grant is not told
0 ready 2
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=59990
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op confirm a seq=1 ttl=59970 reserve=1
60 < granted a fence=101 ...
60 gone 1
> op end a seq=1 linger=59960

== keep: of two that shared it, the longer one waits for the end of the other's
0 ready 4
10 1 LOCK a keep=30s mode=shared
> op acquire a seq=1 ttl=31000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a keep=10s mode=shared
> 2 OK fence=100 depth=1
40 1 UNLOCK a
> 1 OK depth=0
50 2 UNLOCK a
> op end a seq=1 linger=29970
60 < ended a
> 2 OK depth=0
70 1 TRYLOCK a
> 1 BUSY
80 1 LOCK a
11000 until
> 10030 op confirm a seq=1 ttl=19990 reserve=1

== keep: its session shares it again, and nobody else while another broker waits
0 ready 3
10 1 LOCK a keep=30s mode=shared
> op acquire a seq=1 ttl=31000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message waits 1 a
40 1 UNLOCK a
> op end a seq=1 linger=29980
50 < ended a
> 1 OK depth=0
15000 2 LOCK a mode=shared
15010 1 LOCK a mode=shared
> op confirm a seq=1 ttl=15010 reserve=2
15020 < granted a fence=100 text=s waiting
> 1 OK fence=100 depth=1

== keep: who shares it re-enters with a longer one while another's goes on
# The group waits for 1, which waits for its answer.
0 ready 5
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 < granted b fence=101
> 3 OK fence=101 depth=1
30 2 LOCK a mode=shared keep=9s hold=100ms
> 2 OK fence=100 depth=1
200 until
> 130 2 !LOST a fence=100 reason=hold
210 4 LOCK b a
> op renew b seq=2 ttl=13000 fence=101 reserve=1
220 1 LOCK a mode=shared keep=30s
> op renew a seq=1 ttl=31000 fence=100 by=1000009908 shared
230 < renewed a
> 1 OK fence=100 depth=2

== keep: who shares it re-enters before very many groups of one who shares it, too
# Each of them waits for 1, which waits for its answer.
0 ready 5
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 < granted b fence=101
> 1 OK fence=101 depth=1
40 4 LOCK a mode=shared
> 4 OK fence=100 depth=1
210 1 LOCK a mode=shared keep=30s
> op renew a seq=1 ttl=31000 fence=100 by=1000009908 shared
220 4 @1 LOCK a b mode=shared
> op renew b seq=2 ttl=13000 fence=101 reserve=1
220 4 @2 LOCK a b mode=shared
220 4 @3 LOCK a b mode=shared
220 4 @4 LOCK a b mode=shared
220 4 @5 LOCK a b mode=shared
220 4 @6 LOCK a b mode=shared
220 4 @7 LOCK a b mode=shared
220 4 @8 LOCK a b mode=shared
220 4 @9 LOCK a b mode=shared
220 4 @10 LOCK a b mode=shared
230 < renewed a
> 1 OK fence=100 depth=2

== keep: a group takes up its name, though a starving one waits for that, too
# The name is not here for the starving group, which therefore keeps no other
# name: it is the same whether the name lingers or has just been taken up.
config lease=2s
0 ready 2
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message waits 1 a
40 2 LOCK b a
> op acquire b seq=2 ttl=2600 reserve=1
> op renew a seq=1 ttl=59980 fence=100 reserve=1
50 < renewed a fence=110 waiting
50 < granted b fence=200
60 1 UNLOCK a
> op end a seq=1 linger=59960
70 < ended a
> 1 OK depth=0
80 message waits 2 b
> op end b seq=2 prompt
90 < ended b
3000 1 LOCK b a
> op acquire b seq=3 ttl=2600 reserve=2 queue
3010 < granted b fence=300
> op confirm a seq=1 ttl=57010 reserve=2
3020 < granted a fence=120 waiting
> 1 OK fence=300,120 depth=1,1

== keep: a group that takes up its name need not wait for a starving one
# The starving group could have no name before the other session's is free.
config lease=2s
0 ready 2
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message waits 1 a
40 2 LOCK b a
> op acquire b seq=2 ttl=2600 reserve=1
> op renew a seq=1 ttl=59980 fence=100 reserve=1
50 < renewed a fence=110
50 < granted b fence=200
60 1 UNLOCK a
> op end a seq=1 linger=59960
70 < ended a
> 1 OK depth=0
80 message waits 2 b
> op end b seq=2 prompt
90 < ended b
3000 1 LOCK b a
> op acquire b seq=3 ttl=2600 reserve=2 queue
3010 < granted b fence=300
> op confirm a seq=1 ttl=57010 reserve=2
3020 < granted a fence=120 waiting
> 1 OK fence=300,120 depth=1,1

== keep: one of several sharers comes back, and is not alone
# Its upgrade was cancelled, so the lease is exclusive, and another joined.
0 ready 2
10 1 LOCK a mode=shared keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 cancel 1 1 9
> 1 @1 CANCELLED
> 1 @9 OK
50 < granted a fence=200
60 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 1 LOCK a mode=shared
> 1 OK fence=100 depth=1
90 1 LOCK a
> 1 ERR deadlock others share the lock; release it first: two sessions that wait for each other to leave would wait forever
