# What the log says: who lost what, when and why.

== a lock from its grant to its release
config debug
0 ready 1
5 open 2
> log session-begins session=2 peer=peer
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> log lock-granted name=a fence=100 session=2 peer=peer waited=10
> 2 OK fence=100 depth=1
25 2 LOCK a
> 2 OK fence=100 depth=2
30 1 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 2 UNLOCK a
> 2 OK depth=1
50 2 UNLOCK a
> log lock-released name=a fence=100 session=2 peer=peer held=30
> 2 OK depth=0
60 gone 1
> log session-ends session=1 peer=peer
70 < ended a
> op end a seq=1

== lost while Redis is away: at risk first, and safe again in between
config debug
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
30 down
5020 until
> 5010 1 !ATRISK a fence=100 left=4898
> 5010 log lock-at-risk name=a fence=100 session=1 peer=peer held=4990 left=4898
5030 up
> op renew a seq=1 ttl=13000 fence=100
5040 < renewed a
> 1 !SAFE a fence=100
> log lock-safe name=a fence=100 session=1 peer=peer held=5020
5050 down
16000 until
> 10030 1 !ATRISK a fence=100 left=4898
> 10030 log lock-at-risk name=a fence=100 session=1 peer=peer held=10010 left=4898
> 14928 1 !LOST a fence=100 reason=unreachable
> 14928 log lock-lost name=a reason=unreachable fence=100 session=1 peer=peer held=14908

== lost by its own hold, which nobody needs to look after
config debug
0 ready 1
10 1 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
1500 until
> 1020 1 !LOST a fence=100 reason=hold
> 1020 log lock-lost name=a reason=hold fence=100 session=1 peer=peer held=1000
> 1020 op end a seq=1

== permits
config debug
0 ready 1
10 1 ACQUIRE a limit=2 n=2 hold=1s
> op take a seq=1 need=2 want=2 limit=2 queue
20 < taken a first=2
> log permits-granted name=a permits=2 session=1 peer=peer held=0
> 1 OK permits=2 free=0
1500 until
> 1020 1 !LOST a kind=semaphore permits=2 reason=hold
> 1020 log permits-lost name=a permits=2 session=1 peer=peer held=1000 reason=hold
> 1020 op hold a seq=2 limit=2

== permits at risk
config debug
0 ready 1
10 1 ACQUIRE a limit=2 n=2
> op take a seq=1 need=2 want=2 limit=2 queue
20 < taken a first=2
> log permits-granted name=a permits=2 session=1 peer=peer held=0
> 1 OK permits=2 free=0
30 down
5020 until
> 5010 1 !ATRISK a kind=semaphore permits=2 left=4898
> 5010 log permits-at-risk name=a permits=2 session=1 peer=peer held=4990 left=4898
5030 up
> op hold a seq=2 have=2 by=1000009908 limit=2
5040 < kept a first=2
> 1 !SAFE a kind=semaphore permits=2
> log permits-safe name=a permits=2 session=1 peer=peer held=5020

== given up: what is given back, or left, while it is at risk
config debug
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
21 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
22 < granted b fence=101
> log lock-granted name=b fence=101 session=1 peer=peer waited=1
> 1 OK fence=101 depth=1
23 2 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
24 < granted c fence=102
> log lock-granted name=c fence=102 session=2 peer=peer waited=1
> 2 OK fence=102 depth=1
30 down
5020 1 STATUS a
> 1 !ATRISK a fence=100 left=4888
> log lock-at-risk name=a fence=100 session=1 peer=peer held=5000 left=4888
> 1 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=4888 at_risk=4888 age=5000
5030 1 UNLOCK a
> 1 !ATRISK b fence=101 left=4889
> log lock-at-risk name=b fence=101 session=1 peer=peer held=5008 left=4889
> 2 !ATRISK c fence=102 left=4891
> log lock-at-risk name=c fence=102 session=2 peer=peer held=5006 left=4891
> log lock-given-up name=a reason=given-up fence=100 session=1 peer=peer held=5010
> log lock-released name=a fence=100 session=1 peer=peer held=5010
> 1 OK depth=0 deferred=1
5040 gone 2
> log lock-given-up name=c reason=given-up fence=102 session=2 peer=peer held=5016
> log lock-released name=c fence=102 session=2 peer=peer held=5016
> log session-ends session=2 peer=peer
5060 up
> op end a seq=1
> op end c seq=3
> op renew b seq=2 ttl=13000 fence=101
5070 1 UNLOCK b
> log lock-given-up name=b reason=given-up fence=101 session=1 peer=peer held=5048
> log lock-released name=b fence=101 session=1 peer=peer held=5048

== a lock that is safe again is released, and not given up
config debug
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
30 down
5020 up
> 1 !ATRISK a fence=100 left=4888
> log lock-at-risk name=a fence=100 session=1 peer=peer held=5000 left=4888
> op renew a seq=1 ttl=13000 fence=100
5030 < renewed a
> 1 !SAFE a fence=100
> log lock-safe name=a fence=100 session=1 peer=peer held=5010
5040 1 UNLOCK a
> log lock-released name=a fence=100 session=1 peer=peer held=5020
> op end a seq=1

== permits that are given up, all of them
config debug
0 ready 1
10 1 ACQUIRE a limit=2 n=2
> op take a seq=1 need=2 want=2 limit=2 queue
20 < taken a first=2
> log permits-granted name=a permits=2 session=1 peer=peer held=0
> 1 OK permits=2 free=0
30 down
5020 1 RELEASE a n=1
> 1 !ATRISK a kind=semaphore permits=2 left=4888
> log permits-at-risk name=a permits=2 session=1 peer=peer held=5000 left=4888
> log permits-released name=a permits=1 session=1 peer=peer held=5000
> 1 OK permits=1 deferred=1
5030 1 RELEASE a n=1
> log permits-given-up name=a permits=1 session=1 peer=peer held=5010 reason=given-up
> log permits-released name=a permits=1 session=1 peer=peer held=5010
> 1 OK permits=0 deferred=1

== a stop names the locks that were not given back
config debug
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=101
> log lock-granted name=b fence=101 session=2 peer=peer waited=10
> 2 OK fence=101 depth=1
50 2 UNLOCK b
> log lock-released name=b fence=101 session=2 peer=peer held=10
> op end b seq=2
60 < ended b
> 2 OK depth=0
70 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> log lock-stopped name=a fence=100 session=1 peer=peer held=50
> log lock-released name=a fence=100 session=1 peer=peer held=50
> op end a seq=1

== a token hold whose time is over while nobody can extend it
config debug
0 ready 1
10 token 1 acquire a token=t1 px=4s
> op claim a seq=1 ttl=4000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> log token-granted name=a fence=100 session=1 peer=peer
> 1 done 1 held own meant fence=100 left=4000 token=t1
30 down
5000 until
> 4021 log lock-lost name=a reason=unreachable fence=100 session=1 peer=peer held=4001

== many at risk: the first are named, the others counted
config debug
0 ready 23
10 1 LOCK n mode=shared
> op acquire n seq=1 ttl=13000 reserve=1 shared queue
20 < granted n fence=100
> log lock-granted name=n fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
30 2 LOCK n mode=shared
> log lock-granted name=n fence=100 session=2 peer=peer waited=0
> 2 OK fence=100 depth=1
30 3 LOCK n mode=shared
> log lock-granted name=n fence=100 session=3 peer=peer waited=0
> 3 OK fence=100 depth=1
30 4 LOCK n mode=shared
> log lock-granted name=n fence=100 session=4 peer=peer waited=0
> 4 OK fence=100 depth=1
30 5 LOCK n mode=shared
> log lock-granted name=n fence=100 session=5 peer=peer waited=0
> 5 OK fence=100 depth=1
30 6 LOCK n mode=shared
> log lock-granted name=n fence=100 session=6 peer=peer waited=0
> 6 OK fence=100 depth=1
30 7 LOCK n mode=shared
> log lock-granted name=n fence=100 session=7 peer=peer waited=0
> 7 OK fence=100 depth=1
30 8 LOCK n mode=shared
> log lock-granted name=n fence=100 session=8 peer=peer waited=0
> 8 OK fence=100 depth=1
30 9 LOCK n mode=shared
> log lock-granted name=n fence=100 session=9 peer=peer waited=0
> 9 OK fence=100 depth=1
30 10 LOCK n mode=shared
> log lock-granted name=n fence=100 session=10 peer=peer waited=0
> 10 OK fence=100 depth=1
30 11 LOCK n mode=shared
> log lock-granted name=n fence=100 session=11 peer=peer waited=0
> 11 OK fence=100 depth=1
30 12 LOCK n mode=shared
> log lock-granted name=n fence=100 session=12 peer=peer waited=0
> 12 OK fence=100 depth=1
30 13 LOCK n mode=shared
> log lock-granted name=n fence=100 session=13 peer=peer waited=0
> 13 OK fence=100 depth=1
30 14 LOCK n mode=shared
> log lock-granted name=n fence=100 session=14 peer=peer waited=0
> 14 OK fence=100 depth=1
30 15 LOCK n mode=shared
> log lock-granted name=n fence=100 session=15 peer=peer waited=0
> 15 OK fence=100 depth=1
30 16 LOCK n mode=shared
> log lock-granted name=n fence=100 session=16 peer=peer waited=0
> 16 OK fence=100 depth=1
30 17 LOCK n mode=shared
> log lock-granted name=n fence=100 session=17 peer=peer waited=0
> 17 OK fence=100 depth=1
30 18 LOCK n mode=shared
> log lock-granted name=n fence=100 session=18 peer=peer waited=0
> 18 OK fence=100 depth=1
30 19 LOCK n mode=shared
> log lock-granted name=n fence=100 session=19 peer=peer waited=0
> 19 OK fence=100 depth=1
30 20 LOCK n mode=shared
> log lock-granted name=n fence=100 session=20 peer=peer waited=0
> 20 OK fence=100 depth=1
30 21 LOCK n mode=shared
> log lock-granted name=n fence=100 session=21 peer=peer waited=0
> 21 OK fence=100 depth=1
30 22 LOCK n mode=shared
> log lock-granted name=n fence=100 session=22 peer=peer waited=0
> 22 OK fence=100 depth=1
30 23 LOCK n mode=shared
> log lock-granted name=n fence=100 session=23 peer=peer waited=0
> 23 OK fence=100 depth=1
40 down
5020 until
> 5010 23 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=23 peer=peer held=4980 left=4898
> 5010 22 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=22 peer=peer held=4980 left=4898
> 5010 21 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=21 peer=peer held=4980 left=4898
> 5010 20 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=20 peer=peer held=4980 left=4898
> 5010 19 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=19 peer=peer held=4980 left=4898
> 5010 18 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=18 peer=peer held=4980 left=4898
> 5010 17 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=17 peer=peer held=4980 left=4898
> 5010 16 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=16 peer=peer held=4980 left=4898
> 5010 15 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=15 peer=peer held=4980 left=4898
> 5010 14 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=14 peer=peer held=4980 left=4898
> 5010 13 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=13 peer=peer held=4980 left=4898
> 5010 12 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=12 peer=peer held=4980 left=4898
> 5010 11 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=11 peer=peer held=4980 left=4898
> 5010 10 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=10 peer=peer held=4980 left=4898
> 5010 9 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=9 peer=peer held=4980 left=4898
> 5010 8 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=8 peer=peer held=4980 left=4898
> 5010 7 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=7 peer=peer held=4980 left=4898
> 5010 6 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=6 peer=peer held=4980 left=4898
> 5010 5 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=5 peer=peer held=4980 left=4898
> 5010 4 !ATRISK n fence=100 left=4898
> 5010 log lock-at-risk name=n fence=100 session=4 peer=peer held=4980 left=4898
> 5010 3 !ATRISK n fence=100 left=4898
> 5010 2 !ATRISK n fence=100 left=4898
> 5010 1 !ATRISK n fence=100 left=4898
> 5010 log locks-at-risk count=3
6100 time

== forced by another broker, which says who has asked
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1000 guard blessed
1010 message force-by 1 uid=0,pid:7,session=3,broker=c a
1020 message force 1 1000000 900000 0123456789abcdef a
> log forced name=a by=uid=0,pid:7,session=3,broker=c fence=100 session=1 peer=peer held=1000
> 1 !LOST a fence=100 reason=forced
> op end a seq=1

== a guard that goes on to refuse is told again now and then
0 ready 1
1000 guard config lease=30000
> log guard-refuses node=0 cause=settings
2000 guard config lease=30000
301000 guard config lease=30000
> log guard-refuses node=0 cause=settings down=300000
302000 guard config lease=30000
303000 guard blessed
> log guard-ready node=0 after=302000

== causes: each as far as it can be told
0 open 1
0 up
10 guard pending 0123456789abcdef:x fresh
> log guard-pending node=0 cause=new wait=13600
100 guard blessed
> log guard-ready node=0 after=90
200 guard pending 0123456789abcdef:y
> log guard-pending node=0 cause=frozen wait=13600 down=100
300 guard blessed
> log guard-ready node=0 after=200
400 guard pending 0123456789abcdef:z fresh
> log guard-pending node=0 cause=emptied wait=13600 down=100
500 guard blessed
> log guard-ready node=0 after=200
600 down
650 guard pending 1123456789abcdef:y
> log guard-pending node=0 cause=restarted wait=13600 down=150
700 up
900 guard blessed
> log guard-ready node=0 after=400
1000 guard config lease=30000
> log guard-refuses node=0 cause=settings down=100
1100 guard pending 0123456789abcdef:w
> log guard-pending node=0 cause=settings wait=13600 down=200

== a master that was replaced
config failover
0 up
10 guard blessed
> log guard-ready node=0
20 down
30 guard pending 1123456789abcdef:y
> log guard-pending node=0 cause=new-master wait=13600 down=20
40 up

== where a broker is reached: told again where Redis may have forgotten it
config address=host:5625
10 ready 1
500 guard pending 1123456789abcdef:y
> log guard-pending node=0 cause=replica wait=13600 down=490
520 until
> 501 op heartbeat
