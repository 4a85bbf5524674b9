# Turns: other brokers wait for what this one has.

== so many handovers, then the name passes on
config handovers=2
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
31 3 LOCK a
32 4 LOCK a
40 < renewed a fence=200
50 message waits 1 a
60 1 UNLOCK a
> op renew a seq=1 ttl=13000 fence=200 reserve=2
> 1 OK depth=0
> 2 OK fence=200 depth=1
65 < renewed a fence=300 waiting
70 2 UNLOCK a
> 2 OK depth=0
> 3 OK fence=300 depth=1
80 3 UNLOCK a
> op end a seq=1 prompt
90 < ended a
> 3 OK depth=0
> op acquire a seq=2 ttl=13000 reserve=1 queue
100 < queued a ttl=5s

== no longer than one lease
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
31 3 LOCK a
40 < renewed a fence=200 waiting
3400 until
> 3328 op renew a seq=1 ttl=13000 fence=200
3400 < renewed a waiting
6800 until
> 6592 op renew a seq=1 ttl=13000 fence=200
6800 < renewed a waiting
10000 until
> 9856 op renew a seq=1 ttl=13000 fence=200
10010 < renewed a waiting
10039 1 UNLOCK a
> op renew a seq=1 ttl=13000 fence=200 reserve=1
> 1 OK depth=0
> 2 OK fence=200 depth=1
10045 < renewed a fence=300 waiting
10050 2 UNLOCK a
> op end a seq=1 prompt
10060 < ended a
> 2 OK depth=0
> op acquire a seq=2 ttl=13000 reserve=1 queue

== the other does not wait any more
config handovers=1
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 waiting
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=200
50 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=200 depth=1
60 3 LOCK a
> op renew a seq=1 ttl=13000 fence=200 reserve=1
70 < renewed a fence=300
80 2 UNLOCK a
> 2 OK depth=0
> 3 OK fence=300 depth=1

== a turn is over, and whether the other has it is not known
config handovers=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 waiting
> 1 OK fence=100 depth=1
25 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
30 < renewed a fence=200 waiting
40 1 UNLOCK a
> op end a seq=1 prompt
50 < unknown a
> 1 OK depth=0 deferred=1

== a message that somebody waits before the grant
config handovers=1
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
11 2 LOCK a
15 message waits 1 a
20 < granted a fence=100
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> 1 OK depth=0

== new sharers come in for no longer than one lease
0 ready 5
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100 waiting
> 1 OK fence=100 depth=1
30 2 LOCK a mode=shared
> 2 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100 by=1000009908 shared
3400 < renewed a waiting
6800 until
> 5440 op renew a seq=1 ttl=13000 fence=100 by=1000012074 shared
6800 < renewed a waiting
10030 3 LOCK a mode=shared
> op renew a seq=1 ttl=13000 fence=100 by=1000015338 shared
10040 1 UNLOCK a
> 1 OK depth=0
10050 2 UNLOCK a
> 2 OK depth=0
10060 < ended a
> op end a seq=1 prompt

== a forced release by another broker
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message force 1 1000000 25000 0123456789abcdef a
> log forced name=a by=another broker fence=100 session=1 peer=peer held=10
> 1 !LOST a fence=100 reason=forced
> op end a seq=1
40 < ended a
50 1 UNLOCK a
> 1 ERR lost this session held a and lost it

== a token that polls and came first comes before a younger waiter
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 token 2 acquire a token=t2 px=30s park=80
> 2 busy 0 native fence=100 token=b.0000000000000000.1
31 3 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=200
100 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
110 < busy a fence=100 text=x.0123456789abcdef.1 first=2
111 message waits 1 a
120 1 UNLOCK a
> op end a seq=1 prompt
130 < ended a waiting
> 1 OK depth=0
131 message given 2 110 1000000 120000 0123456789abcdef 0 a
> op claim a seq=2 ttl=30000 client=t2 how=q--
140 < granted a fence=300
> 2 done 1 held own meant fence=300 left=30000 token=t2

== but not a token that is away, or came later
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 token 2 acquire a token=t2 px=30s park=80
> 2 busy 0 native fence=100 token=b.0000000000000000.1
31 3 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=200
41 token 4 acquire a token=t4 px=30s park=80
> 4 busy 0 native fence=100 token=b.0000000000000000.1
100 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
110 < busy a fence=100 text=x.0123456789abcdef.1 first=2
111 message waits 1 a
170 token 4 acquire a token=t4 px=30s park=80
200 1 UNLOCK a
> 2 busy 0 native fence=100 token=x.0123456789abcdef.1
> 1 OK depth=0
> 3 OK fence=200 depth=1

== the broker gives way so often, and then grants
config handovers=2
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 token 2 acquire a token=t2 px=30s park=5m
> 2 busy 0 native fence=100 token=b.0000000000000000.1
31 3 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=200
100 token 2 acquire a token=t2 px=30s park=5m
> op claim a seq=2 ttl=30000 client=t2 how=q--
110 < busy a fence=100 text=x.0123456789abcdef.1 first=2
111 message waits 1 a
120 1 UNLOCK a
> op end a seq=1 prompt
130 < ended a waiting
> 1 OK depth=0
140 message given 3 500 1000000 120000 0123456789abcdef 1 a
> op end a seq=3 fence=500 prompt
150 < ended a waiting
160 message given 4 600 1000000 120000 0123456789abcdef 1 a
> 3 OK fence=600 depth=1
