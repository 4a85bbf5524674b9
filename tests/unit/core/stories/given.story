# Names that another broker hands over, with all that is needed to hold them at
# once: given SEQ FENCE SECONDS MICROSECONDS HISTORY WAITING NAME.

== queued, held by the message, ended before it had to be confirmed
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
40 1 UNLOCK a
> op end a seq=1 fence=100
45 < ended a
> 1 OK depth=0

== held for longer: renewed soon, and then a lease like any
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
60 until
> 50 op renew a seq=1 ttl=13000 fence=100
60 < renewed a
4000 until
> 3328 op renew a seq=1 ttl=13000 fence=100

== by way of another server: asked for
# The script may not have counted this broker, and gone on to the next.
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 passed-on given 1 100 1000000 29000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < lost a
> op end a seq=1

== not confirmed: at risk, and lost, by the clock of the server
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
500 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
510 down
1400 until
1500 until
1600 until
> 1529 1 !ATRISK a fence=100 left=1468
2000 until
2900 until
3000 until
> 2997 1 !LOST a fence=100 reason=unreachable

== not confirmed for a while: safe again
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
2000 until
> 50 op renew a seq=1 ttl=13000 fence=100
> 1529 1 !ATRISK a fence=100 left=1468
2000 < renewed a sent=60
> 1 !SAFE a fence=100
2100 until

== taken by somebody: the renewal tells
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
60 until
> 50 op renew a seq=1 ttl=13000 fence=100
60 < lost a
> 1 !LOST a fence=100 reason=taken

== heard of too late: confirmed
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
800 message given 1 100 1000000 29000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
810 < granted a fence=200
> 1 OK fence=200 depth=1

== another server, or another history of it: confirmed
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdee 0 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < granted a fence=200
> 1 OK fence=200 depth=1

== a clock that was put forward: confirmed
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 33000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < granted a fence=200
> 1 OK fence=200 depth=1

== replicas must have it: confirmed
config replicas=1
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < granted a fence=200
> 1 OK fence=200 depth=1

== words that are none: a hint like any, or nothing
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef a
31 message given 1 100 1000000 29000  0 a
32 message given 1 a
33 message given 2 100 1000000 29000 0123456789abcdef 0 a
34 message given 1 100 1000000 1000000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < granted a fence=200
> 1 OK fence=200 depth=1

== overtakes the reply that it queues up
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
15 message given 1 100 1000000 14000 0123456789abcdef 0 a
20 < queued a ttl=5s
> 1 OK fence=100 depth=1

== overtakes a reply that grants
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
15 message given 1 100 1000000 14000 0123456789abcdef 0 a
20 < granted a fence=200
> 1 OK fence=200 depth=1

== overtakes the reply to the end that queues up again
config handovers=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 waiting
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
35 < renewed a fence=200 waiting
40 1 UNLOCK a
> op end a seq=1 prompt
45 message given 2 300 1000000 44000 0123456789abcdef 1 a
50 < ended a waiting ttl=6s
> 1 OK depth=0
> 2 OK fence=300 depth=1
60 2 UNLOCK a
> op end a seq=2 fence=300 prompt

== comes again while it is given back: it is none of the next token
config handovers=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 waiting
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
35 < renewed a fence=200 waiting
40 1 UNLOCK a
> op end a seq=1 prompt
45 message given 1 300 1000000 44000 0123456789abcdef 1 a
46 message grant 1 a
50 < ended a waiting ttl=6s
> 1 OK depth=0
6100 until
> 6052 op acquire a seq=2 ttl=13000 reserve=1 queue

== of a token that is over: it goes to the next in line
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
60 message given 1 300 1000000 44000 0123456789abcdef 1 a
> op end a seq=1
65 message given 9 300 1000000 44000 0123456789abcdef 1 a
70 < ended a
75 < queued a ttl=5s

== comes again while it is held
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
35 message given 1 100 1000000 29000 0123456789abcdef 0 a
40 message given 1 100 1000000 34000 0123456789abcdef 1 a
60 until
> 50 op renew a seq=1 ttl=13000 fence=100
60 < renewed a

== others wait: the turn is counted
config handovers=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
11 2 LOCK a
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 1 a
> 1 OK fence=100 depth=1
40 1 UNLOCK a
> op end a seq=1 fence=100 prompt
45 < ended a waiting ttl=6s
> 1 OK depth=0

== nobody else waits: more fences are drawn
config handovers=1
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
11 2 LOCK a
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 1 OK fence=100 depth=1
40 1 UNLOCK a
> 1 OK depth=0
45 < renewed a fence=200
> 2 OK fence=200 depth=1

== who asked has left
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
25 gone 1
> op end a seq=1
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
35 < gone a

== a place that is forgotten
0 ready 2
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> op end a seq=1
40 < gone a

== keep: the key must live longer before that is promised
0 ready 2
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> op renew a seq=1 ttl=61000 fence=100 reserve=1
35 < renewed a
> 1 OK fence=100 depth=1
40 1 UNLOCK a
> op end a seq=1 linger=59995

== a history that changes: written again
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
> 1 OK fence=100 depth=1
35 guard pending x:1
> log guard-pending node=0 cause=replica wait=13600 down=25
> op renew a seq=1 ttl=13000 fence=100
40 < renewed a

== while the guard refuses: confirmed when it may grant again
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
25 guard pending x:1
> log guard-pending node=0 cause=replica wait=13600 down=15
30 message given 1 100 1000000 29000 0123456789abcdef 0 a
900 guard blessed
> log guard-ready node=0 after=890
> op confirm a seq=1 ttl=13000 reserve=1
910 < lost a
> op end a seq=1
915 < gone a
> op acquire a seq=2 ttl=13000 reserve=1 queue

== a clock that was put back: what was sent before is not as young as it looks
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=20s
30 clock -3000
40 guard blessed fence=90
3030 message given 1 100 1000000 29000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
3040 < granted a fence=200
> 1 OK fence=200 depth=1

== a name that no client could give comes by a message, and is ignored
0 ready 1
0 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
10 message grant 1 @guard
20 message grant 1 two words
30 message grant 1 a=b
40 message grant 1 a
> op end a seq=1

== a fence that no broker can have given: asked about
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=20s
30 message given 1 0 1000000 29000 0123456789abcdef 0 a
> op confirm a seq=1 ttl=13000 reserve=1
40 < lost a
> op end a seq=1
50 < gone a
> op acquire a seq=2 ttl=13000 reserve=1 queue
60 < queued a ttl=20s
70 message given 2 4503599627370496 1000000 69000 0123456789abcdef 0 a
> op confirm a seq=2 ttl=13000 reserve=1
80 < granted a fence=300
> 1 OK fence=300 depth=1
