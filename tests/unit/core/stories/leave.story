# A broker that leaves: who is told, who is turned away, what is handed over.

== each session is told once, and all goes on
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
40 leave 60000
> 1 !LEAVING left=60000
> 2 !LEAVING left=60000
50 left?
> no
60 leave 60000
70 1 UNLOCK a
> op end a seq=1
75 < ended a
> 1 OK depth=0
80 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
90 < granted b fence=200
> 2 OK fence=200 depth=1
100 close 2
> op end b seq=2
110 open 3
> 3 !LEAVING left=59950

== who holds nothing is turned away, and who holds something is not
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 turn-away
> 1 !LEAVING
> 2 !LEAVING
> 2 ERR shutdown the broker is stopping; try another one
50 2 LOCK b
> 2 ERR shutdown the broker is stopping; try another one
60 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
70 < granted b fence=200
> 1 OK fence=200 depth=1
80 left?
> no
90 1 UNLOCK a b
> op end b seq=2
95 < ended b
100 left?
> yes

== a drain is taken back: who was turned away gets locks again, and what is held stays
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 turn-away
> 1 !LEAVING
> 2 !LEAVING
> 2 ERR shutdown the broker is stopping; try another one
50 2 LOCK b
> 2 ERR shutdown the broker is stopping; try another one
60 stay
70 left?
> no
80 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
90 < granted b fence=200
> 2 OK fence=200 depth=1
100 open 3
110 3 LOCK a
120 1 UNLOCK a
> 1 OK depth=0
130 left?
> no

== one that was replaced, drained, and then not, leaves as before
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 leave
> 1 !LEAVING
> 2 !LEAVING
40 turn-away
50 2 LOCK b
> 2 ERR shutdown the broker is stopping; try another one
60 leave
70 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
80 < granted b fence=200
> 2 OK fence=200 depth=1
90 left?
> no

== so is what waits for a session that releases the last that it held
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 1 @7 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
60 turn-away
> 1 !LEAVING
> 2 !LEAVING
70 1 UNLOCK a
> op end a seq=1
> 1 @7 ERR shutdown the broker is stopping; try another one
75 < ended a
> 1 OK depth=0
80 2 UNLOCK b
90 left?
> yes

== token holds are handed over once
config away=9s
0 ready 2
10 token 1 acquire a token=t1 px=10m
> op heartbeat most=52000
> op claim a seq=1 ttl=600000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=600000 token=t1
30 leave
> 1 !LEAVING
> 2 !LEAVING
40 until
> 31 op heartbeat seq=1
60 token 1 acquire b token=t1 px=10m
> op claim b seq=2 ttl=600000 client=t1 other=t1 how=e-r
70 < granted b fence=101
> 1 done 1 held own meant fence=101 left=600000 token=t1
3000 until
> 1031 op heartbeat
> 2031 op heartbeat

== but for what came after an operation that is in doubt
config away=9s
0 ready 2
10 token 1 acquire a token=t1 px=10m
> op heartbeat most=52000
> op claim a seq=1 ttl=600000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=600000 token=t1
25 token 2 acquire b token=t2 px=10m
> op claim b seq=2 ttl=600000 client=t2 other=t2 how=e-r
30 leave
> 1 !LEAVING
> 2 !LEAVING
40 until
> 31 op heartbeat seq=1

== a broker that is drained has nobody to hand them over to
config away=9s
0 ready 2
10 token 1 acquire a token=t1 px=10m
> op heartbeat most=52000
> op claim a seq=1 ttl=600000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=600000 token=t1
30 turn-away
> 1 !LEAVING
> 2 !LEAVING
40 until
> 31 op heartbeat

== a name that is kept for nobody becomes a token hold, and is handed over
config away=9s
0 ready 2
10 1 LOCK a keep=10m
> op heartbeat most=52000
> op acquire a seq=1 ttl=601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b keep=10m
> op acquire b seq=2 ttl=601000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 close 1
> op end a seq=1 linger=599970
60 2 UNLOCK b
> op end b seq=2 linger=599980
70 < ended a
80 < ended b
> 2 OK depth=0
90 leave
> 2 !LEAVING
> op disown a seq=1 ttl=599930
100 < renewed a fence=100
> op heartbeat
110 until
> 101 op heartbeat seq=2
3000 until
> 1101 op heartbeat
> 2101 op heartbeat

== unless it is of a session that is still there, or time does it first
0 ready 2
10 1 LOCK a keep=1h
> op acquire a seq=1 ttl=3601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b keep=2s
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 1 UNLOCK a
> op end a seq=1 linger=3599970
60 close 2
> op end b seq=2 linger=1980
70 < ended a
> 1 OK depth=0
80 < ended b
90 leave
> 1 !LEAVING
> op disown b seq=2 ttl=1950
2050 < unknown b
2100 until
2150 1 LOCK b
> op acquire b seq=3 ttl=13000 reserve=1 queue
2160 < busy b ttl=1000
2200 1 LOCK a
> op confirm a seq=1 ttl=3597820 reserve=1
2210 < granted a fence=300
> 1 OK fence=300 depth=1

== a disowned name is asked for again until that is answered, and ended if it is forced
0 ready 2
10 1 LOCK a keep=10m
> op acquire a seq=1 ttl=601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
50 close 1
> op end a seq=1 linger=599970
70 < ended a
90 leave
> 2 !LEAVING
> op disown a seq=1 ttl=599930
100 < unknown a
1000 until
> 150 op disown a seq=1 ttl=599870
1020 2 UNLOCK-FORCE a
> log unlock-force name=a session=2 peer=peer
> op force a by=1000003020
1030 < renewed a fence=100
> op end a seq=1
1100 until

== one that is another's by then is nobody's here
0 ready 2
10 1 LOCK a keep=10m
> op acquire a seq=1 ttl=601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
50 close 1
> op end a seq=1 linger=599970
70 < ended a
90 leave
> 2 !LEAVING
> op disown a seq=1 ttl=599930
100 < lost a
1000 until

== what is shared stays with the process that leaves
0 ready 2
10 1 LOCK a mode=shared keep=10m
> op acquire a seq=1 ttl=601000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
50 close 1
> op end a seq=1 linger=599970
70 < ended a
90 leave
> 2 !LEAVING
100 until

== and so does all where the broker is drained
0 ready 2
10 1 LOCK a keep=10m
> op acquire a seq=1 ttl=601000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
50 close 1
> op end a seq=1 linger=599970
70 < ended a
90 turn-away
> 2 !LEAVING
100 until

== a window that is over when that is answered is ended
0 ready 2
10 1 LOCK a keep=2s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
50 close 1
> op end a seq=1 linger=1970
70 < ended a
90 leave
> 2 !LEAVING
> op disown a seq=1 ttl=1930
2100 < renewed a fence=100
> op end a seq=1
2110 < ended a

== one that stays after all grants again, and tells those of the next time
0 ready 1
10 leave 60000
> 1 !LEAVING left=60000
20 stay
30 open 2
40 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
50 left?
> no
60 leave 60000
> 2 !LEAVING left=60000
70 open 3
> 3 !LEAVING left=59990

== one that stays turns nobody away any more
0 ready 2
10 turn-away
> 1 !LEAVING
> 2 !LEAVING
20 1 LOCK a
> 1 ERR shutdown the broker is stopping; try another one
30 stay
40 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue

== one that stays does not tell again that it leaves
0 ready 1
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 leave
> 1 !LEAVING
30 gone 1
40 stay
50 open 2
60 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=0

# The successor of the next time may have been started since the last one was told.
== one that stays tells the successor of the next time what is handed over
config away=9s
0 ready 1
10 token 1 acquire a token=t1 px=1m
> op heartbeat most=52000
> op claim a seq=1 ttl=60000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=60000 token=t1
30 leave
> 1 !LEAVING
40 guard blessed
> op heartbeat seq=1
1000 until
1010 stay
1020 guard blessed
> op heartbeat
2000 until
2010 leave
2020 guard blessed
> op heartbeat seq=1
3000 until
