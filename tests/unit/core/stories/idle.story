# Brokers that have nothing: how often their guards are called.

== a broker that has nothing stays away for as long as it is told
config away=9s
0 ready 2
30000 until
> 1 op heartbeat most=52000
> 9000 op heartbeat most=52000
> 18000 op heartbeat most=52000
> 27000 op heartbeat most=52000

== what is asked for ends that, and what is held; then it begins anew
config away=9s
0 ready 2
2000 until
> 1 op heartbeat most=52000
2500 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
2510 guard blessed
2510 < granted a fence=100
> 1 OK fence=100 depth=1
4500 until
> 3510 op heartbeat
4600 1 UNLOCK a
> op heartbeat
> op end a seq=1
4610 guard blessed
4610 < ended a
> 1 OK depth=0
20000 until
> 5610 op heartbeat most=52000
> 9000 op heartbeat most=52000
> 18000 op heartbeat most=52000

== a broker that waits for something does not stay away
config away=9s
0 ready 2
2000 until
> 1 op heartbeat most=52000
2500 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
2510 guard blessed
2510 < queued a ttl=9s
6000 until
> 3510 op heartbeat
> 4510 op heartbeat
> 5510 op heartbeat

== a name that somebody watches is something
config away=9s
0 ready 2
2000 until
> 1 op heartbeat most=52000
2500 1 WATCH a
> op status a
2510 guard blessed
2510 < value a
> 1 OK
> 1 !FREE a
6000 until
> 3510 op heartbeat
> 4510 op heartbeat
> 5510 op heartbeat

== a broker that has permits does not stay away
config away=9s
0 ready 2
2000 until
> 1 op heartbeat most=52000
2500 1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
2510 guard blessed
2510 < taken s first=1 second=1
> 1 OK permits=1 free=1
4500 until
> 3510 op heartbeat

== a broker that hears of another history calls as often as ever
config away=9s
0 ready 2
2000 until
> 1 op heartbeat most=52000
9001 until
> 9000 op heartbeat most=52000
9005 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=5
13500 until
> 9006 op heartbeat
> 10006 op heartbeat
> 11006 op heartbeat
> 12006 op heartbeat
> 13006 op heartbeat

== a broker that stops does not stay away
config away=9s
0 ready 2
2000 until
> 1 op heartbeat most=52000
2500 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> op idle
2510 < done @guard

== a broker that has asked for something only now does not stay away
config away=9s
0 ready 2
900 until
> 1 op heartbeat most=52000
990 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
1001 until
6000 until

== over a quorum all servers are asked as ever while one of them recovers
config away=9s quorum=3
0 ready 2
10000 until
> 1 op heartbeat most=52000 on=0
> 1 op heartbeat most=52000 on=1
> 1 op heartbeat most=52000 on=2
> 9000 log guard-ready count=3 of=3
> 9000 op heartbeat most=52000 on=0
> 9000 op heartbeat most=52000 on=2
> 9000 op heartbeat most=52000 on=1
18500 guard pending p1 on=1
> op heartbeat most=52000 on=0
> op heartbeat most=52000 on=1
> op heartbeat most=52000 on=2
21000 until
> 19500 log guard-pending node=1 cause=replica wait=27200 down=9500
> 19500 op heartbeat on=0
> 19500 op heartbeat on=2
> 19500 op heartbeat on=1
> 20500 op heartbeat on=0
> 20500 op heartbeat on=1
> 20500 op heartbeat on=2
