# What becomes of a name where an answer of the store is lost, late or bad.

== an acquire of unknown outcome is sent again under the same token
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < unknown a
70 until
> 70 op acquire a seq=1 ttl=13000 reserve=1 queue
80 < granted a fence=100
> 1 OK fence=100 depth=1

== an acquire that was not sent
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
10 < unsent a
60 until
> 60 op acquire a seq=1 ttl=13000 reserve=1 queue
70 < granted a fence=100
> 1 OK fence=100 depth=1

== an acquire of unknown outcome, and nobody waits any more
0 ready 2
10 1 LOCK a wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < unknown a
70 until
> 70 op acquire a seq=1 ttl=13000 reserve=1 queue
1010 until
> 1010 1 TIMEOUT
2070 < unknown a
> op end a seq=1
2070 < ended a

== an ending of unknown outcome is sent again until the key has run out
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
2030 < unknown a
> 1 OK depth=0 deferred=1
2080 until
> 2080 op end a seq=1
4080 < unknown a
4130 until
> 4130 op end a seq=1
13100 < unknown a
13150 until

== a share of unknown outcome: nobody has the name for himself after it
# The store may have let others in.
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a mode=shared
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 1 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=1 shared
> 1 OK depth=0
60 3 @1 LOCK a
60 < unknown a
61 cancel 2 1
> 2 @1 CANCELLED
> 2 OK
120 until
> 110 op convert a seq=1 ttl=13000 reserve=1
130 < granted a fence=200
> 3 @1 OK fence=200 depth=1
140 3 UNLOCK a
> op end a seq=1

== a share is under way: several names do not take it for granted
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 2 OK fence=200 depth=1
50 3 LOCK a mode=shared
> op renew a seq=1 ttl=13000 fence=100 reserve=1
60 4 LOCK b a
> op renew b seq=2 ttl=13000 fence=200 reserve=1
60 < renewed a fence=110
60 < renewed b fence=210
70 1 UNLOCK a
> op convert a seq=1 ttl=13000 reserve=1 shared
> 1 OK depth=0
80 2 UNLOCK b
> 2 OK depth=0
90 < granted a fence=300
> 3 OK fence=300 depth=1

== a convert is refused while the guard is pending: the lease goes on
0 ready 2
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 guard pending p1
> log guard-pending node=0 cause=replica wait=13600 down=30
40 < pending a
> op renew a seq=1 ttl=13000 fence=100 by=1000009908 shared
50 < renewed a
3500 until
> 3328 op renew a seq=1 ttl=13000 fence=100 by=1000009938 shared
3500 < renewed a
13640 until
> 6592 op renew a seq=1 ttl=13000 fence=100 by=1000013226 shared
> 8328 1 !ATRISK a fence=100 left=4898
> 13226 1 !LOST a fence=100 reason=unreachable
> 13640 op bless pend=p1
13641 < done @guard
13641 guard blessed
> log guard-ready node=0 after=13631
13650 < granted a fence=300
> op end a seq=1

== a keep is in the key before it is promised, whatever got lost
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a keep=1h
> op renew a seq=1 ttl=3601000 fence=100 reserve=1
40 1 UNLOCK a
> 1 OK depth=0
50 < unknown a
150 until
> 100 op renew a seq=1 ttl=3601000 fence=100 reserve=1
160 < renewed a fence=110
> 2 OK fence=110 depth=1
170 1 LOCK a keep=2h
> op renew a seq=1 ttl=7201000 fence=110 reserve=1
180 < unknown a
190 2 UNLOCK a
> op end a seq=1 linger=3599970

== an acquire that was to share, unheard, is not asked for again as another
0 ready 2
10 1 LOCK a mode=shared wait=1s
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 2 LOCK a
1010 < unknown a
> 1 TIMEOUT
> op end a seq=1
1060 until
