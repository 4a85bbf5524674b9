# Warm names: what is locked here again and again stays for a moment.

== a name that was taken twice within a second stays; the next LOCK asks nobody
config warm=200ms fences=8
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 2 LOCK a
> 2 OK fence=201 depth=1
90 2 UNLOCK a
> 2 OK depth=0
100 1 LOCK a wait=0
> 1 OK fence=202 depth=1
110 1 UNLOCK a
> 1 OK depth=0
400 until
> 310 op end a seq=2
410 < ended a

== names that share a place in the memory of what was taken become warm in turn
config warm=200ms fences=8
0 ready 1
10 1 LOCK n95
> op acquire n95 seq=1 ttl=13000 reserve=8 queue
15 < granted n95 fence=100
> 1 OK fence=100 depth=1
20 1 UNLOCK n95
> op end n95 seq=1
25 < ended n95
> 1 OK depth=0
30 1 LOCK n125
> op acquire n125 seq=2 ttl=13000 reserve=8 queue
35 < granted n125 fence=200
> 1 OK fence=200 depth=1
40 1 UNLOCK n125
> op end n125 seq=2
45 < ended n125
> 1 OK depth=0
50 1 LOCK n95
> op acquire n95 seq=3 ttl=13000 reserve=8 queue
55 < granted n95 fence=300
> 1 OK fence=300 depth=1
60 1 UNLOCK n95
> 1 OK depth=0
70 1 LOCK n125
> op acquire n125 seq=4 ttl=13000 reserve=8 queue
75 < granted n125 fence=400
> 1 OK fence=400 depth=1
80 1 UNLOCK n125
> 1 OK depth=0
90 1 LOCK n95
> 1 OK fence=301 depth=1
95 1 LOCK n125
> 1 OK fence=401 depth=1

== without the setting it goes back each time
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2
80 < ended a
> 1 OK depth=0

== names that do not fit, or were taken more than a second ago, go back
config warm=200ms fences=8 warm_b
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2
80 < ended a
> 1 OK depth=0
90 1 LOCK bee
> op acquire bee seq=3 ttl=13000 reserve=8 queue
100 < granted bee fence=300
> 1 OK fence=300 depth=1
110 1 UNLOCK bee
> op end bee seq=3
120 < ended bee
> 1 OK depth=0
1200 1 LOCK bee
> op acquire bee seq=4 ttl=13000 reserve=8 queue
1210 < granted bee fence=400
> 1 OK fence=400 depth=1
1220 1 UNLOCK bee
> op end bee seq=4
1230 < ended bee
> 1 OK depth=0
1240 1 LOCK bee
> op acquire bee seq=5 ttl=13000 reserve=8 queue
1250 < granted bee fence=500
> 1 OK fence=500 depth=1
1260 1 UNLOCK bee
> 1 OK depth=0
1500 until
> 1460 op end bee seq=5

== at most a tenth of the lease, after the last release
config lease=1s warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=1500 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=1500 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
169 until
170 until
> 170 op end a seq=2

== it is not renewed while nobody holds it; but with the next hold
config lease=2s warm=200ms fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=2600 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=2600 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
400 1 UNLOCK a
> 1 OK depth=0
590 until
# It goes out with others, at the next tick.
595 1 LOCK a
> 1 OK fence=201 depth=1
610 until
> 608 op renew a seq=2 ttl=2600 fence=207
611 < renewed a
612 1 UNLOCK a
> 1 OK depth=0
812 until
> 812 op end a seq=2

== a renewal that is late goes out at once with the next hold
config warm=1s fences=16
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=16 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=16 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
60 1 UNLOCK a
> 1 OK depth=0
850 1 LOCK a
> 1 OK fence=201 depth=1
860 1 UNLOCK a
> 1 OK depth=0
1650 1 LOCK a
> 1 OK fence=202 depth=1
1660 1 UNLOCK a
> 1 OK depth=0
2450 1 LOCK a
> 1 OK fence=203 depth=1
2460 1 UNLOCK a
> 1 OK depth=0
3250 1 LOCK a
> 1 OK fence=204 depth=1
3330 until
> 3328 op renew a seq=2 ttl=13000 fence=215
3330 < renewed a
3340 1 UNLOCK a
> 1 OK depth=0
4100 1 LOCK a
> 1 OK fence=205 depth=1
4110 1 UNLOCK a
> 1 OK depth=0
4900 1 LOCK a
> 1 OK fence=206 depth=1
4910 1 UNLOCK a
> 1 OK depth=0
5700 1 LOCK a
> 1 OK fence=207 depth=1
5702 1 UNLOCK a
> 1 OK depth=0
6450 1 LOCK a
> 1 OK fence=208 depth=1
6460 1 UNLOCK a
> 1 OK depth=0
7100 1 LOCK a
> op renew a seq=2 ttl=13000 fence=215
> 1 OK fence=209 depth=1
7110 < renewed a
7120 1 UNLOCK a
> 1 OK depth=0

== another broker that waits ends it at once, and it stays cold for a while
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 message waits 2 a
> op end a seq=2 prompt
85 1 LOCK a
90 < ended a
> op acquire a seq=3 ttl=13000 reserve=8 queue
100 < granted a fence=300
> 1 OK fence=300 depth=1
110 1 UNLOCK a
> op end a seq=3
120 < ended a
> 1 OK depth=0
130 1 LOCK a
> op acquire a seq=4 ttl=13000 reserve=8 queue
140 < granted a fence=400
> 1 OK fence=400 depth=1
150 1 UNLOCK a
> op end a seq=4
160 < ended a
> 1 OK depth=0
70000 1 LOCK a
> op acquire a seq=5 ttl=13000 reserve=8 queue
70010 < granted a fence=500
> 1 OK fence=500 depth=1
70020 1 UNLOCK a
> op end a seq=5
70030 < ended a
> 1 OK depth=0
70040 1 LOCK a
> op acquire a seq=6 ttl=13000 reserve=8 queue
70050 < granted a fence=600
> 1 OK fence=600 depth=1
70060 1 UNLOCK a
> 1 OK depth=0
70500 1 LOCK a
> 1 OK fence=601 depth=1

== nor does it stay while another broker waits
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200 waiting
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2 prompt
80 < ended a
> 1 OK depth=0
90 1 LOCK a
> op acquire a seq=3 ttl=13000 reserve=8 queue
100 < granted a fence=300
> 1 OK fence=300 depth=1
110 1 UNLOCK a
> 1 OK depth=0
120 1 LOCK a
> 1 OK fence=301 depth=1

== a token asks: it goes back before that call
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 token 1 acquire a token=t
> op end a seq=2
> op claim a seq=3 client=t other=t how=e-r
90 < ended a
100 < granted a fence=300
> 1 done 1 held own meant fence=300 token=t

== fences come from the reserve, and a draw is for a second
config warm=1s
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 1 LOCK a
> op renew a seq=2 ttl=13000 fence=200 reserve=100
90 < renewed a fence=300
> 1 OK fence=300 depth=1
100 1 UNLOCK a
> 1 OK depth=0
110 1 LOCK a
> 1 OK fence=301 depth=1
120 1 UNLOCK a
> 1 OK depth=0

== the seldomer a name is taken, the less is drawn
config warm=1s
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
570 1 LOCK a
> op renew a seq=2 ttl=13000 fence=200 reserve=2
580 < renewed a fence=300
> 1 OK fence=300 depth=1
600 1 UNLOCK a
> 1 OK depth=0
1100 1 LOCK a
> 1 OK fence=301 depth=1
1110 1 UNLOCK a
> 1 OK depth=0
1600 1 LOCK a
> op renew a seq=2 ttl=13000 fence=301 reserve=1

== a draw that is under way longer than the name would stay
config warm=100ms
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 1 LOCK a wait=300ms
> op renew a seq=2 ttl=13000 fence=200 reserve=100
700 until
> 380 1 TIMEOUT
710 < renewed a fence=300
> op end a seq=2
720 < ended a

== an UNLOCK does not wait for a renewal that is under way
config lease=1s warm=100ms fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=1500 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=1500 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
100 1 UNLOCK a
> 1 OK depth=0
190 1 LOCK a
> 1 OK fence=201 depth=1
200 1 UNLOCK a
> 1 OK depth=0
290 1 LOCK a
> 1 OK fence=202 depth=1
310 until
> 304 op renew a seq=2 ttl=1500 fence=207
320 1 UNLOCK a
> 1 OK depth=0
450 until
460 < renewed a
> op end a seq=2

== a key that outlives the lease for delay= does not stay
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a delay=5s
> op acquire a seq=2 ttl=18000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2
80 < ended a
> 1 OK depth=0

== for keep= it lingers as ever
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a keep=5s
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2 linger=4990
80 < ended a
> 1 OK depth=0

== STATUS and WATCH say that it is free, NAMES too
config warm=1s fences=8
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 2 WATCH a
> op status a
55 < value a
> 2 OK
> 2 !FREE a
60 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
70 < granted a fence=200
> 2 !HELD a fence=200 broker=b
> 1 OK fence=200 depth=1
80 1 UNLOCK a
> 1 OK depth=0
> 2 !FREE a
90 2 STATUS a
> op look a
95 < value a also=
> 2 OK state=free waiters=0
1200 until
> 1080 op end a seq=2
1210 < ended a

== a broker that stops gives it back
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 stop
> 1 !SHUTDOWN
> op end a seq=2
90 < ended a
> op idle
100 < done @guard
110 stopped?
> yes

== when Redis is out of reach it goes back, and no LOCK is granted from it
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 down
90 1 LOCK a wait=0
100 up
> op end a seq=2
110 guard blessed

== after a change of history it goes back
config warm=1s fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 guard pending p1
> op end a seq=2
> log guard-pending node=0 cause=replica wait=13600 down=70

== several names at once are taken from what is warm
config warm=1s fences=8
0 ready 1
10 1 LOCK a b
> op acquire a seq=1 ttl=13000 reserve=8 queue
> op acquire b seq=2 ttl=13000 reserve=8
20 < granted a fence=100
20 < granted b fence=101
> 1 OK fence=100,101 depth=1,1
30 1 UNLOCK a b
> op end a seq=1
> op end b seq=2
40 < ended a
40 < ended b
> 1 OK depth=0,0
50 1 LOCK a b
> op acquire a seq=3 ttl=13000 reserve=8 queue
> op acquire b seq=4 ttl=13000 reserve=8
60 < granted a fence=200
60 < granted b fence=201
> 1 OK fence=200,201 depth=1,1
70 1 UNLOCK a b
> 1 OK depth=0,0
80 1 LOCK b a
> 1 OK fence=202,201 depth=1,1
90 1 UNLOCK a b
> 1 OK depth=0,0
95 1 LOCK a mode=shared
> op convert a seq=3 ttl=13000 reserve=1 shared

== UNLOCK-FORCE of a warm name finds it free
config warm=1s fences=8
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 2 UNLOCK-FORCE a
> op end a seq=2
> log unlock-force name=a session=2 peer=peer
> op force a by=1000002080
90 < ended a

== over a quorum nothing stays
config warm=1s fences=8 quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
20 < granted a fence=100 on=0
20 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2
40 < ended a on=0
40 < ended a on=1
> 1 OK depth=0
45 < granted a fence=100 on=2
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> op acquire a seq=2 ttl=13000 reserve=1 queue on=2
60 < granted a fence=200 on=0
60 < granted a fence=200 on=1
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2 on=0
> op end a seq=2 on=1
> op end a seq=2 on=2

== auto: a fiftieth of the lease; after five seconds in a row the name is free for once
config auto fences=64
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=64 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=64 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
200 1 LOCK a
> 1 OK fence=201 depth=1
210 1 UNLOCK a
> 1 OK depth=0
390 1 LOCK a
> 1 OK fence=202 depth=1
400 1 UNLOCK a
> 1 OK depth=0
580 1 LOCK a
> 1 OK fence=203 depth=1
590 1 UNLOCK a
> 1 OK depth=0
770 1 LOCK a
> 1 OK fence=204 depth=1
780 1 UNLOCK a
> 1 OK depth=0
960 1 LOCK a
> 1 OK fence=205 depth=1
970 1 UNLOCK a
> 1 OK depth=0
1150 1 LOCK a
> 1 OK fence=206 depth=1
1160 1 UNLOCK a
> 1 OK depth=0
1340 1 LOCK a
> 1 OK fence=207 depth=1
1350 1 UNLOCK a
> 1 OK depth=0
1530 1 LOCK a
> 1 OK fence=208 depth=1
1540 1 UNLOCK a
> 1 OK depth=0
1720 1 LOCK a
> 1 OK fence=209 depth=1
1730 1 UNLOCK a
> 1 OK depth=0
1910 1 LOCK a
> 1 OK fence=210 depth=1
1920 1 UNLOCK a
> 1 OK depth=0
2100 1 LOCK a
> 1 OK fence=211 depth=1
2110 1 UNLOCK a
> 1 OK depth=0
2290 1 LOCK a
> 1 OK fence=212 depth=1
2300 1 UNLOCK a
> 1 OK depth=0
2480 1 LOCK a
> 1 OK fence=213 depth=1
2490 1 UNLOCK a
> 1 OK depth=0
2670 1 LOCK a
> 1 OK fence=214 depth=1
2680 1 UNLOCK a
> 1 OK depth=0
2860 1 LOCK a
> 1 OK fence=215 depth=1
2870 1 UNLOCK a
> 1 OK depth=0
3050 1 LOCK a
> 1 OK fence=216 depth=1
3060 1 UNLOCK a
> 1 OK depth=0
3240 1 LOCK a
> 1 OK fence=217 depth=1
3250 1 UNLOCK a
> 1 OK depth=0
3430 1 LOCK a
> 1 OK fence=218 depth=1
3440 1 UNLOCK a
> 1 OK depth=0
3620 1 LOCK a
> 1 OK fence=219 depth=1
3630 1 UNLOCK a
> 1 OK depth=0
3810 1 LOCK a
> op renew a seq=2 ttl=13000 fence=263
> 1 OK fence=220 depth=1
3815 < renewed a
3820 1 UNLOCK a
> 1 OK depth=0
4000 1 LOCK a
> 1 OK fence=221 depth=1
4010 1 UNLOCK a
> 1 OK depth=0
4190 1 LOCK a
> 1 OK fence=222 depth=1
4200 1 UNLOCK a
> 1 OK depth=0
4380 1 LOCK a
> 1 OK fence=223 depth=1
4390 1 UNLOCK a
> 1 OK depth=0
4570 1 LOCK a
> 1 OK fence=224 depth=1
4580 1 UNLOCK a
> 1 OK depth=0
4760 1 LOCK a
> 1 OK fence=225 depth=1
4770 1 UNLOCK a
> 1 OK depth=0
4950 1 LOCK a
> 1 OK fence=226 depth=1
4960 1 UNLOCK a
> 1 OK depth=0
5140 1 LOCK a
> 1 OK fence=227 depth=1
5150 1 UNLOCK a
> op end a seq=2
5160 < ended a
> 1 OK depth=0
5170 1 LOCK a
> op acquire a seq=3 ttl=13000 reserve=64 queue
5180 < granted a fence=300
> 1 OK fence=300 depth=1
5190 1 UNLOCK a
> op end a seq=3
5200 < ended a
> 1 OK depth=0
5300 1 LOCK a
> op acquire a seq=4 ttl=13000 reserve=64 queue
5310 < granted a fence=400
> 1 OK fence=400 depth=1
5320 1 UNLOCK a
> 1 OK depth=0
5330 1 LOCK a
> 1 OK fence=401 depth=1
5340 1 UNLOCK a
> 1 OK depth=0

== auto: not beside a program that uses SET NX itself: what is warm goes back
config auto fences=8
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 guard blessed met=b
> op end a seq=2
90 < ended a
> log warm-plain node=0 name=b
100 1 LOCK a
> op acquire a seq=3 ttl=13000 reserve=8 queue
110 < granted a fence=300
> 1 OK fence=300 depth=1
120 1 UNLOCK a
> op end a seq=3
130 < ended a
> 1 OK depth=0

== auto: until an hour after the last was met, and the minute in which it is not told again
config auto fences=8
0 ready 1
5 guard blessed met=b ago=3659s
> log warm-plain node=0 name=b
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> op end a seq=2
80 < ended a
> 1 OK depth=0
500 guard blessed met=c ago=3659s
990 1 LOCK a
> op acquire a seq=3 ttl=13000 reserve=8 queue
1000 < granted a fence=300
> 1 OK fence=300 depth=1
1010 1 UNLOCK a
> op end a seq=3
1020 < ended a
> 1 OK depth=0
1490 1 LOCK a
> op acquire a seq=4 ttl=13000 reserve=8 queue
1500 < granted a fence=400
> 1 OK fence=400 depth=1
1510 1 UNLOCK a
> 1 OK depth=0

== a number of warm means what it says, whoever was met
config warm=200ms fences=8
0 ready 1
5 guard blessed met=b
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
