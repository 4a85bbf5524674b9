# Several independent servers: what a majority of them does is done.

== a majority grants, the others are not waited for
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
20 1 UNLOCK a
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2
21 < ended a on=0
22 < ended a on=1
> 1 OK depth=0
23 < unknown a on=2

== servers that disagree: the highest fence is written back first
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=105 on=1
> op raise a seq=1 ttl=13000 fence=105 on=0
> op raise a seq=1 ttl=13000 fence=105 on=1
> op raise a seq=1 ttl=13000 fence=105 on=2
13 < renewed a on=0
14 < granted a fence=100 on=2
15 < renewed a on=2
> 1 OK fence=105 depth=1

== who says yes after a pad is not counted: the key of another may have ended meanwhile
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
3011 < granted a fence=100 on=1
> log guard-ready count=3 of=3
3012 < unknown a on=2
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2

== the write-back fails: nothing is granted, all is ended
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=105 on=1
> op raise a seq=1 ttl=13000 fence=105 on=0
> op raise a seq=1 ttl=13000 fence=105 on=1
> op raise a seq=1 ttl=13000 fence=105 on=2
13 < granted a fence=100 on=2
14 < lost a on=0
15 < lost a on=2
> op end a seq=1 on=1

== a write-back for which there are too few servers takes nothing for taken
config quorum=3
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1 on=0
> op acquire a seq=1 ttl=13000 reserve=1 on=1
> op acquire a seq=1 ttl=13000 reserve=1 on=2
11 < granted a fence=100 on=0
12 < granted a fence=105 on=1
> op raise a seq=1 ttl=13000 fence=105 on=0
> op raise a seq=1 ttl=13000 fence=105 on=1
> op raise a seq=1 ttl=13000 fence=105 on=2
13 < granted a fence=100 on=2
14 < unsent a on=0
15 < unsent a on=2
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2
16 < renewed a on=1
17 < ended a on=0
17 < ended a on=1
17 < gone a on=2
65 until
> 65 op acquire a seq=1 ttl=13000 reserve=1 on=0
> 65 op acquire a seq=1 ttl=13000 reserve=1 on=1
> 65 op acquire a seq=1 ttl=13000 reserve=1 on=2
66 < granted a fence=106 on=0
67 < granted a fence=106 on=2
> 1 OK fence=106 depth=1

== a majority says no: what a minority granted is ended
config quorum=3
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1 on=0
> op acquire a seq=1 ttl=13000 reserve=1 on=1
> op acquire a seq=1 ttl=13000 reserve=1 on=2
11 < granted a fence=100 on=0
12 < busy a ttl=1000 on=1
13 < busy a ttl=1000 on=2
> 1 BUSY
> op undo a seq=1 on=0

== a minority that has lost the key does not end the lease
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
3400 until
> 1010 log guard-ready count=3 of=3
> 2176 op renew a seq=1 ttl=13000 fence=100 on=0
> 2176 op renew a seq=1 ttl=13000 fence=100 on=1
> 2176 op renew a seq=1 ttl=13000 fence=100 on=2
3401 < lost a on=0
3402 < renewed a on=1
3403 < renewed a on=2

== a server that needs more words for a renewal is asked again, alone
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
3400 until
> 1010 log guard-ready count=3 of=3
> 2176 op renew a seq=1 ttl=13000 fence=100 on=0
> 2176 op renew a seq=1 ttl=13000 fence=100 on=1
> 2176 op renew a seq=1 ttl=13000 fence=100 on=2
3401 < again a on=0
> op renew a seq=1 ttl=13000 fence=100 whole on=0
3402 < renewed a on=1
3403 < renewed a on=0
3404 < again a on=2
> op renew a seq=1 ttl=13000 fence=100 whole on=2
3405 < lost a on=2

== a lease that no majority can have is lost
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
3400 until
> 1010 log guard-ready count=3 of=3
> 2176 op renew a seq=1 ttl=13000 fence=100 on=0
> 2176 op renew a seq=1 ttl=13000 fence=100 on=1
> 2176 op renew a seq=1 ttl=13000 fence=100 on=2
3401 < lost a on=0
3402 < lost a on=1
> 1 !LOST a fence=100 reason=taken

== a lease counts from the earliest of those that granted it
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 sent=3 on=0
12 < granted a fence=100 sent=10 on=1
> 1 OK fence=100 depth=1
13 < unknown a on=2
14 ping 1
> valid 9886

== who comes back empty votes after the grace period, when it has all fences
config quorum=3
0 ready 1
10 guard pending p1 on=2
13610 until
> 1010 log guard-ready count=3 of=3
> 1010 log guard-pending node=2 cause=replica wait=27200
> 13610 op bless pend=p1 on=2
13620 < done @guard
13620 guard blessed on=2

== a majority that has all fences may be out of reach: others go first
config quorum=3
0 ready 1
10 down on=1
20 guard pending p1 on=2
> log quorum-lost of=3 up=2 ready=1 needed=2
13650 until
> 1010 log guard-ready count=3 of=3
> 1010 log guard-pending node=2 cause=replica wait=27200 down=10
13660 up on=1
> log quorum-back of=3 up=3 ready=2 needed=2
13661 until
> 13661 op bless pend=p1 on=2

== ... but not for ever
config quorum=3
0 ready 1
10 down on=1
20 guard pending p1 fence=90 on=2
> log quorum-lost of=3 up=2 ready=1 needed=2
27180 until
> 1010 log guard-ready count=3 of=3
> 1010 log guard-pending node=2 cause=replica wait=27200 down=10
27220 until
> 27220 op bless pend=p1 on=2
> 27220 log guard-fences node=2

== no majority has all fences: nobody is waited for
config quorum=3
0 ready 1
10 guard pending p1 on=1
20 guard pending p2 fence=90 on=2
> log quorum-lost of=3 up=3 ready=1 needed=2
13690 until
> 1010 log guard-ready count=3 of=3
> 1010 log guard-pending count=2 of=3 cause=replica wait=27200 down=10
> 13610 op bless pend=p1 on=1
> 13610 log guard-fences node=1
> 13620 op bless pend=p2 on=2
> 13620 log guard-fences node=2

== a start while one is dead: no grace period comes after the other
config quorum=3
0 ready 1
10 down on=1
20 guard pending p1 on=0
> log quorum-lost of=3 up=2 ready=1 needed=2
500 guard pending p2 on=2
> log guard-ready count=3 of=3
> log guard-pending node=0 cause=replica wait=27200 down=10
13630 until
> 1500 log guard-pending node=2 cause=replica wait=27200 down=490
> 13620 op bless pend=p1 on=0
13640 < done @guard
13640 guard blessed on=0
14140 until
> 14100 log guard-ready node=0 after=13630
> 14100 op bless pend=p2 on=2

== nothing was ever granted: there is nothing to say
config quorum=3
0 ready 1
10 guard pending p1 fresh on=1
20 guard pending p2 fresh on=2
> log quorum-lost of=3 up=3 ready=1 needed=2
13690 until
> 1010 log guard-ready count=3 of=3
> 1010 log guard-pending count=2 of=3 cause=emptied wait=27200 down=10
> 13610 op bless pend=p1 on=1
> 13620 op bless pend=p2 on=2

== another broker waits: after a turn it comes first
config quorum=3 handovers=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 waiting on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
20 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1 on=0
> op renew a seq=1 ttl=13000 fence=100 reserve=1 on=1
> op renew a seq=1 ttl=13000 fence=100 reserve=1 on=2
30 3 LOCK a
40 1 UNLOCK a
> 1 OK depth=0
41 < renewed a fence=101 on=0
42 < renewed a fence=101 waiting on=2
> op end a seq=1 prompt on=0
> op end a seq=1 prompt on=1
> op end a seq=1 prompt on=2
50 < renewed a fence=101 on=1
51 < ended a on=0
52 < ended a on=1
100 until
102 until
> 102 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 102 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 102 op acquire a seq=2 ttl=13000 reserve=1 queue on=2

== a keep that can not be confirmed now is kept
config quorum=3
0 ready 1
10 1 LOCK a keep=8s
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
20 1 UNLOCK a
> op end a seq=1 linger=7992 on=0
> op end a seq=1 linger=7992 on=1
> op end a seq=1 linger=7992 on=2
21 < ended a on=0
22 < ended a on=1
> 1 OK depth=0
23 < ended a on=2
30 1 LOCK a
> op confirm a seq=1 ttl=13000 reserve=1 on=0
> op confirm a seq=1 ttl=13000 reserve=1 on=1
> op confirm a seq=1 ttl=13000 reserve=1 on=2
31 < granted a fence=101 on=0
32 < unknown a on=1
33 < unknown a on=2
100 until
> 83 op confirm a seq=1 ttl=13000 reserve=1 on=0
> 83 op confirm a seq=1 ttl=13000 reserve=1 on=1
> 83 op confirm a seq=1 ttl=13000 reserve=1 on=2
101 < granted a fence=102 on=0
102 < granted a fence=101 on=1
> op raise a seq=1 ttl=13000 fence=102 on=0
> op raise a seq=1 ttl=13000 fence=102 on=1
> op raise a seq=1 ttl=13000 fence=102 on=2
103 < granted a fence=101 on=2
104 < renewed a on=0
105 < unknown a on=1
106 < unknown a on=2

== a keep that no majority confirms before it is over is given up
# It has run out on one server, another is silent, and the third has it for a
# lease by the confirm.
config quorum=3
0 ready 1
10 1 LOCK a keep=100
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
20 1 UNLOCK a
> op end a seq=1 linger=92 on=0
> op end a seq=1 linger=92 on=1
> op end a seq=1 linger=92 on=2
21 < ended a on=0
22 < ended a on=1
> 1 OK depth=0
23 < ended a on=2
90 1 LOCK a
> op confirm a seq=1 ttl=13000 reserve=1 on=0
> op confirm a seq=1 ttl=13000 reserve=1 on=1
> op confirm a seq=1 ttl=13000 reserve=1 on=2
120 < granted a fence=101 on=0
121 < lost a on=1
122 < unknown a on=2
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2
123 < ended a on=0
124 < gone a on=1
> op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> op acquire a seq=2 ttl=13000 reserve=1 queue on=2
125 < unknown a on=2
126 < granted a fence=102 on=0
127 < granted a fence=102 on=1
> 1 OK fence=102 depth=1
128 < unknown a on=2

== another has it on a majority: nobody tries before that is over
config quorum=3
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < queued a ttl=12s text=h on=0
12 < queued a ttl=12s text=h on=1
> op undo a seq=1 on=2
13 < queued a ttl=12s text=h on=2
20 2 TRYLOCK a
> 2 BUSY
1000 message free 0 other a
2000 until
> 1010 log guard-ready count=3 of=3
2001 message free 0 h a
2002 message free 0 h a
2010 until
> 2004 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 2004 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 2004 op acquire a seq=2 ttl=13000 reserve=1 queue on=2
2011 < granted a fence=100 on=0
2012 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
2013 message free 0 h a
2020 until

== ... or its keys end on so many servers that the rest are no majority
config quorum=4
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
> op acquire a seq=1 ttl=13000 reserve=1 queue on=3
11 < queued a ttl=8s text=h on=0
12 < queued a ttl=4s text=h on=1
> op undo a seq=1 on=2
> op undo a seq=1 on=3
13 < queued a ttl=3s text=h on=2
4010 until
> 1010 log guard-ready count=4 of=4
4040 until
> 4033 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 4033 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 4033 op acquire a seq=2 ttl=13000 reserve=1 queue on=2
> 4033 op acquire a seq=2 ttl=13000 reserve=1 queue on=3

== ... or a lease has passed, whatever was not heard
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < queued a ttl=1d text=h on=0
12 < queued a ttl=1d text=h on=1
> op undo a seq=1 on=2
10010 until
> 1010 log guard-ready count=3 of=3
10040 until
> 10029 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 10029 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 10029 op acquire a seq=2 ttl=13000 reserve=1 queue on=2

== ... or messages were missed
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < queued a ttl=12s text=h on=0
12 < queued a ttl=12s text=h on=1
> op undo a seq=1 on=2
1000 resubscribed
2500 until
> 1010 log guard-ready count=3 of=3
> 1519 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 1519 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 1519 op acquire a seq=2 ttl=13000 reserve=1 queue on=2

== it is over before all servers have heard of that: soon again
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < queued a ttl=12s text=h on=0
12 message free 0 h a
13 < queued a ttl=12s text=h on=1
> op undo a seq=1 on=2
40 until
> 17 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 17 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 17 op acquire a seq=2 ttl=13000 reserve=1 queue on=2

== they came in each other's way: a random part of a time that doubles
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < queued a ttl=13s text=x on=1
13 < queued a ttl=13s text=y on=2
> op undo a seq=1 on=0
30 until
> 17 op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> 17 op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> 17 op acquire a seq=2 ttl=13000 reserve=1 queue on=2
31 < ended a on=0
31 < queued a ttl=13s text=x on=0
31 < queued a ttl=13s text=y on=1
> op undo a seq=2 on=2
31 < granted a fence=101 on=2
90 until
> 35 op acquire a seq=3 ttl=13000 reserve=1 queue on=0
> 35 op acquire a seq=3 ttl=13000 reserve=1 queue on=1
> 35 op acquire a seq=3 ttl=13000 reserve=1 queue on=2
91 < ended a on=2
91 < queued a ttl=13s text=x on=0
91 < queued a ttl=13s text=y on=1
> op undo a seq=3 on=2
91 < granted a fence=101 on=2
500 until
> 208 op acquire a seq=4 ttl=13000 reserve=1 queue on=0
> 208 op acquire a seq=4 ttl=13000 reserve=1 queue on=1
> 208 op acquire a seq=4 ttl=13000 reserve=1 queue on=2

== an answer that comes late tells who has it
config quorum=5
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
> op acquire a seq=1 ttl=13000 reserve=1 queue on=3
> op acquire a seq=1 ttl=13000 reserve=1 queue on=4
11 < queued a ttl=12s text=h on=0
12 < queued a ttl=12s text=h on=1
13 < queued a ttl=13s text=x on=2
> op undo a seq=1 on=3
> op undo a seq=1 on=4
14 < queued a ttl=12s text=h on=3
1000 until
1001 message free 0 h a
> op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> op acquire a seq=2 ttl=13000 reserve=1 queue on=2
> op acquire a seq=2 ttl=13000 reserve=1 queue on=3
> op acquire a seq=2 ttl=13000 reserve=1 queue on=4
1010 until
> 1010 log guard-ready count=5 of=5

== a majority may have had it: who waits is told of the end
config quorum=3
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1 on=0
> op acquire a seq=1 ttl=13000 reserve=1 on=1
> op acquire a seq=1 ttl=13000 reserve=1 on=2
11 < granted a fence=100 on=0
12 < queued a ttl=12s text=h on=1
13 < unknown a on=2
> 1 BUSY
> op end a seq=1 on=0
> op end a seq=1 on=2

== another has a server that a renewal needs, for a moment
config quorum=3
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
12 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
13 < granted a fence=100 on=2
3400 until
> 1010 log guard-ready count=3 of=3
> 2176 op renew a seq=1 ttl=13000 fence=100 on=0
> 2176 op renew a seq=1 ttl=13000 fence=100 on=1
> 2176 op renew a seq=1 ttl=13000 fence=100 on=2
3401 < renewed a on=0
3402 < lost a on=1
3440 until
3452 until
> 3452 op renew a seq=1 ttl=13000 fence=100 on=1
3453 < lost a on=1
3503 until
> 3503 op renew a seq=1 ttl=13000 fence=100 on=1
3504 < renewed a on=1
3600 until
3601 ping 1
> valid 8472

== who did not wait is not told: another who does tries at once
config quorum=3
0 ready 2
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1 on=0
> op acquire a seq=1 ttl=13000 reserve=1 on=1
> op acquire a seq=1 ttl=13000 reserve=1 on=2
11 2 LOCK a
12 < busy a ttl=12s text=h on=0
13 < busy a ttl=12s text=h on=1
> 1 BUSY
> op undo a seq=1 on=2
> op acquire a seq=2 ttl=13000 reserve=1 queue on=0
> op acquire a seq=2 ttl=13000 reserve=1 queue on=1
> op acquire a seq=2 ttl=13000 reserve=1 queue on=2
20 until

== a renewal in a row that is to be sent by itself, and the name is let go
# Behind the end it would write the key again, for nobody.
config quorum=3
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
11 < granted a fence=100 on=0
11 < granted a fence=100 on=1
> 1 OK fence=100 depth=1
12 < unknown a on=2
3000 until
> 1010 log guard-ready count=3 of=3
> 2176 op renew a seq=1 ttl=13000 fence=100 on=0
> 2176 op renew a seq=1 ttl=13000 fence=100 on=1
> 2176 op renew a seq=1 ttl=13000 fence=100 on=2
3000 < renewed a on=0
3000 < renewed a on=1
3010 1 UNLOCK a
> op end a seq=1 on=0
> op end a seq=1 on=1
> op end a seq=1 on=2
3020 < again a on=2
3030 < ended a on=0
3030 < ended a on=1
> 1 OK depth=0
3030 < gone a on=2

== an attempt that another stands against does not wait for a silent server
config quorum=3
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
20 < granted a fence=100 on=0
25 < queued a ttl=12s text=h on=1
91 until
> 90 op end a seq=1 on=0
> 90 op end a seq=1 on=2

== a server that is slower than another one is not taken for silent
config quorum=3
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue on=0
> op acquire a seq=1 ttl=13000 reserve=1 queue on=1
> op acquire a seq=1 ttl=13000 reserve=1 queue on=2
20 < granted a fence=100 on=0
110 < queued a ttl=12s text=h on=1
250 until
259 < granted a fence=100 on=2
> 1 OK fence=100 depth=1

== an attempt that failed with a server away was none that anybody waits for
config quorum=3
0 ready 2
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1 on=0
> op acquire a seq=1 ttl=13000 reserve=1 on=1
> op acquire a seq=1 ttl=13000 reserve=1 on=2
11 < unsent a on=0
12 < granted a fence=100 on=2
13 < busy a ttl=1000 on=1
> 1 BUSY
> op undo a seq=1 on=2

== nor with one that may not vote
config quorum=3
0 ready 2
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1 on=0
> op acquire a seq=1 ttl=13000 reserve=1 on=1
> op acquire a seq=1 ttl=13000 reserve=1 on=2
11 < pending a on=0
12 < granted a fence=100 on=2
13 < busy a ttl=1000 on=1
> 1 BUSY
> op undo a seq=1 on=2
