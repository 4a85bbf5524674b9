# Servers that forget: when something new may be granted.

== a new server: a grace period, then it is blessed
0 up
0 open 1
10 guard pending p1
> log guard-pending node=0 cause=unwatched wait=13600
10 1 LOCK a
13600 until
13610 until
> 13610 op bless pend=p1
13620 < done @guard
13620 guard blessed
> log guard-ready node=0 after=13610
> op acquire a seq=1 ttl=13000 reserve=1 queue
13630 < granted a fence=100
> 1 OK fence=100 depth=1

== the pend value has changed: the grace period begins again
0 up
10 guard pending p1
> log guard-pending node=0 cause=unwatched wait=13600
10000 guard pending p2
> log guard-pending node=0 cause=unwatched wait=13600 down=9990
13650 until
23600 until
> 23600 op bless pend=p2

== a server never seen before is trusted
config trust_new
0 up
10 guard pending p1 fresh
> log guard-pending node=0 cause=new wait=0
12 until
> 11 op bless pend=p1

== a server seen before is not
config trust_new
0 up
10 guard pending p1
> log guard-pending node=0 cause=unwatched wait=13600
100 until

== a server that this broker has seen is not, whatever it says of itself
config trust_new
0 ready 3
10 guard pending p1 fresh
> log guard-pending node=0 cause=emptied wait=13600
100 until

== what is held is written again at once
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK b mode=shared
> op acquire b seq=2 ttl=13000 reserve=1 shared queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
50 1 UNLOCK b
> op end b seq=2
60 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=50
> op renew a seq=1 ttl=13000 fence=100
61 until
70 < renewed a
70 < ended b
> 1 OK depth=0
80 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
90 < renewed a fence=300
100 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=300 depth=1

== what was lost with the history is told
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
60 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=50
> op renew a seq=1 ttl=13000 fence=100
61 until
70 < lost a
> 1 !LOST a fence=100 reason=failover

== a renewal of the history before does not count
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3410 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=400
3420 < renewed a
> op renew a seq=1 ttl=13000 fence=100
3430 < renewed a

== other states: why a request waits
0 ready 3
10 guard readonly
> log guard-refuses node=0 cause=replica
20 1 LOCK a wait=1s
1020 until
> 1020 1 ERR unavailable that Redis server is a replica; redis.nodes must name the master, or its Sentinels
1030 guard config lease=30000
> log guard-refuses node=0 cause=settings down=1020
1040 1 TRYLOCK a
> 1 ERR unavailable the brokers on that Redis use other settings (lease=30000) than this one (locks.lease 10s, redis.replicas 0); make them equal on all
1045 guard config v1,lease=30000,replicas=2
1046 1 TRYLOCK a
> 1 ERR unavailable the brokers on that Redis use other settings (locks.lease 30s, redis.replicas 2) than this one (locks.lease 10s, redis.replicas 0); make them equal on all
1050 guard clock
> log guard-refuses node=0 cause=clock down=1040
1060 1 TRYLOCK a
> 1 ERR unavailable the clock of the Redis server is beyond the year 2255
1070 guard unknown
> log guard-refuses node=0 cause=unknown down=1060
1080 1 LOCK a wait=1s
2080 until
> 2080 1 ERR unavailable Redis has not answered yet
2090 down
2100 1 LOCK a wait=1s
3100 until
> 3100 1 ERR unavailable Redis cannot be used
3110 guard blessed
> log guard-ready node=0 after=3100

== the link is lost and comes back
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 down
21 down
30 < unsent a
40 up
80 until
> 80 op acquire a seq=1 ttl=13000 reserve=1 queue
90 < granted a fence=100
> 1 OK fence=100 depth=1

== a tombstone is written again
0 ready 3
10 1 LOCK a keep=5s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=4990
40 < ended a
> 1 OK depth=0
50 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=40
> op renew a seq=1 ttl=4970 fence=100
51 until
60 < renewed a
70 1 LOCK a
5100 until
> 5020 op end a seq=1

== the tombstone of unknown outcome is written again
0 ready 3
10 1 LOCK a keep=5s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=4990
40 < ended a
> 1 OK depth=0
50 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=40
> op renew a seq=1 ttl=4970 fence=100
51 until
60 < unknown a
120 until
> 110 op renew a seq=1 ttl=4910 fence=100
130 < lost a

== a bless that is refused, or of unknown outcome, is not repeated in haste
0 up
10 guard pending p1
> log guard-pending node=0 cause=unwatched wait=13600
13610 until
> 13610 op bless pend=p1
13611 < refused @guard text=x
13720 until
> 13711 op bless pend=p1
13720 < unknown @guard
14300 until
> 13820 op bless pend=p1

== fences that are far ahead of the clock are told of once, odd ones now and then
0 ready 1
10 guard blessed fence=1086400010000
20 guard blessed fence=1086401020000
> log fence-ahead node=0 fence=1086401020000
30 guard blessed fence=1086401000001
40 guard blessed spoilt=lock:@fence
> log fence-refused node=0
50 guard blessed spoilt=lock:a

== calls that take something are refused: nothing new, until a try is carried out
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 guard refused OOM takes
> log guard-refuses node=0 cause=refused down=30
50 < refused b text=OOM
60 3 TRYLOCK c
> 3 ERR unavailable OOM
70 3 LOCK c wait=30ms
80 1 LOCK d
110 until
> 100 3 ERR unavailable OOM
140 until
> 140 op acquire @try ttl=1 reserve=1
150 < refused @try text=OOM
160 guard refused OOM takes
1200 until
> 649 op acquire @try ttl=1 reserve=1
1210 guard blessed takes
> log guard-ready node=0 after=1200
> op acquire d seq=3 ttl=13000 reserve=1 queue
> op acquire b seq=2 ttl=13000 reserve=1 queue
1220 < granted @try fence=200
1900 until

== they are refused while renewals go on
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 guard refused OOM takes
> log guard-refuses node=0 cause=refused down=20
40 2 TRYLOCK b
> 2 ERR unavailable OOM
50 guard blessed
60 2 TRYLOCK b
> 2 ERR unavailable OOM

== calls that keep something are refused: until the next that is not
0 ready 3
10 guard refused WRONGTYPE
> log guard-refuses node=0 cause=refused
> log guard-ready node=0
20 1 TRYLOCK b
> op acquire b seq=1 ttl=13000 reserve=1
30 guard blessed
40 1 TRYLOCK b

== a bless is refused, though its call is not
0 up
0 open 1
10 guard pending p1
> log guard-pending node=0 cause=unwatched wait=13600
13610 until
> 13610 op bless pend=p1
13620 < refused @guard text=no
13630 1 TRYLOCK b
> 1 ERR unavailable no
13720 until
> 13720 op bless pend=p1
13730 guard blessed
> log guard-ready node=0 after=13720
13740 < done @guard
13750 1 TRYLOCK b
> op acquire b seq=1 ttl=13000 reserve=1

== a refusal does not begin a grace period anew
0 up
0 open 1
10 guard pending p1
> log guard-pending node=0 cause=unwatched wait=13600
20 guard refused WRONGTYPE
30 1 TRYLOCK b
> 1 ERR unavailable WRONGTYPE
40 guard pending p1
13700 until
> 13610 op bless pend=p1
13710 guard blessed
> log guard-ready node=0 after=13700
13720 < done @guard
