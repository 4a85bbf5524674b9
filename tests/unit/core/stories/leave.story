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
