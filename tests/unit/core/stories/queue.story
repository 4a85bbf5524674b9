# Who waits, until when, and who does not wait at all.

== queue=: who was let in stays
0 ready 4
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a queue=1
40 1 @1 LOCK a
> op convert a seq=1 ttl=13000 reserve=2

== unlock behind a renewal, and the store is gone
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3400 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3400 1 UNLOCK a
3500 down
5000 < unknown a
> 1 OK depth=0 deferred=1

== try: free, and taken by another here
0 ready 3
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 TRYLOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 2 BUSY

== try: taken by another broker
0 ready 3
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=5s
> 1 BUSY

== try: a plain client's
0 ready 3
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < foreign a ttl=5s
> 1 BUSY

== try: queued here already
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 2 TRYLOCK a
> 2 BUSY

== try: no answer
0 ready 3
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
2010 until
> 2010 1 ERR unavailable Redis did not answer in time; try again
2020 < granted a fence=100
> op end a seq=1

== try: the store can't be reached
0 ready 3
10 down
20 1 TRYLOCK a
2020 until
> 2020 1 ERR unavailable Redis cannot be used

== try: the store can be reached in time
0 ready 3
10 down
20 1 TRYLOCK a
1000 up
> op acquire a seq=1 ttl=13000 reserve=1
1010 < granted a fence=100
> 1 OK fence=100 depth=1

== try: the guard is pending for longer
0 ready 3
10 guard pending p1
> log guard-pending node=0 cause=replica wait=13600
20 1 TRYLOCK a
> 1 ERR unavailable no new locks for 13.6 s: Redis has a new dataset (adding the first replica does that); locks that are held are kept

== try: while it is being ended
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
31 2 TRYLOCK a
40 < ended a
> 1 OK depth=0
> op acquire a seq=2 ttl=13000 reserve=1
50 < granted a fence=200
> 2 OK fence=200 depth=1

== try: of unknown outcome
0 ready 3
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < unknown a
100 until
> 70 op acquire a seq=1 ttl=13000 reserve=1
2020 until
> 2010 1 ERR unavailable Redis did not answer in time; try again
2030 < ended a
> op end a seq=1

== queue=: so many wait already
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a queue=0
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 2 BUSY
31 2 LOCK a queue=1
32 3 LOCK a queue=1
> 3 BUSY
33 3 LOCK a queue=2

== a token hold ends sooner than was said
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message ends 1 300 a
331 until
332 until
> 332 op acquire a seq=1 ttl=13000 reserve=1 queue

== a token hold ends no later than was said
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message ends 1 9000 a
5022 until
> 5022 op acquire a seq=1 ttl=13000 reserve=1 queue

== of no other place in the queue
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=5s
30 message ends 2 300 a
40 message ends 1 soon a
5021 until
5022 until
> 5022 op acquire a seq=1 ttl=13000 reserve=1 queue

== queue=: behind another broker
0 ready 5
10 1 LOCK a queue=0
> op acquire a seq=1 ttl=13000 reserve=1
11 2 LOCK a queue=1
20 < busy a ttl=5s
> 1 BUSY
> op acquire a seq=2 ttl=13000 reserve=1 queue
30 < queued a ttl=5s
40 3 LOCK a queue=1
> 3 BUSY

== a waiter times out
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a wait=1s
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
1029 until
1030 until
> 1030 2 TIMEOUT

== a waiter is cancelled
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @7 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 cancel 2 7
> 2 @7 CANCELLED
> 2 OK
60 cancel 2 7
> 2 ERR not-found no request with that tag is waiting
70 cancel 1 9
> 1 ERR not-found no request with that tag is waiting

== drain: behind a holder
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 drain 2
> 2 CANCELLED
41 drain 2
50 close 2

== drain: the answer is under way
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
11 drain 1
20 < granted a fence=100
> 1 OK fence=100 depth=1
21 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1
30 < busy b ttl=5s
> 1 CANCELLED
40 close 1
> op end a seq=1
50 < ended a

== drain: the store can't be reached
0 ready 2
10 down
20 1 LOCK a
21 drain 1
> 1 CANCELLED
22 1 LOCK a
> 1 CANCELLED

== drain: the guard is pending
0 ready 2
10 guard pending p1
> log guard-pending node=0 cause=replica wait=13600
20 1 LOCK a
21 drain 1
> 1 CANCELLED

== the end of a connection: its waiters leave
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < queued a ttl=1m
30 2 LOCK a
40 gone 1
50 gone 2
> op end a seq=1
60 < gone a

== the end of a connection: the next one has it
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 gone 1
> 2 OK fence=110 depth=1
60 close 2
> op end a seq=1
70 < ended a

== the end of a connection with a grant not told
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
20 gone 1
> op end a seq=1
30 < ended a

== limits
config holds=2 waiters=1
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=200
> 1 OK fence=200 depth=1
50 1 LOCK c
> 1 ERR limit this session already holds, waits for or watches 2 objects (limits.holds)
60 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
70 3 LOCK a
> 3 ERR limit 1 requests are already waiting for a (limits.waiters)
80 3 TRYLOCK a
> 3 BUSY
90 3 LOCK c a
> 3 ERR limit 1 requests are already waiting for a (limits.waiters)

== limits: what is granted counts once, also before it is told
config holds=3
0 ready 1
10 1 @1 LOCK a ...
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
20 1 @2 LOCK b ...
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=100 ...
30 1 @3 LOCK c ...
> op acquire c seq=3 ttl=13000 reserve=1 queue
30 1 @4 LOCK d ...
> 1 @4 ERR limit this session already holds, waits for or watches 3 objects (limits.holds)
40 < granted c fence=100 ...
40 1 @5 LOCK d ...
> 1 @5 ERR limit this session already holds, waits for or watches 3 objects (limits.holds)
40 1 @6 LOCK a
> 1 @1 OK fence=100 depth=1
> 1 @2 OK fence=100 depth=1
> 1 @3 OK fence=100 depth=1
> 1 @6 OK fence=100 depth=2
50 1 @7 UNLOCK c
> op end c seq=3
50 1 @8 LOCK c e ...
> 1 @8 ERR limit this session already holds, waits for or watches 2 objects (limits.holds)
50 1 @9 LOCK d
> op acquire d seq=4 ttl=13000 reserve=1 queue
60 < granted d fence=100
> 1 @9 OK fence=100 depth=1

== limits: so it is with a grant that is not told after all
config holds=1
0 ready 1
10 1 @1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
20000 1 @2 LOCK b
> 1 @2 ERR limit this session already holds, waits for or watches 1 objects (limits.holds)
> op acquire a seq=2 ttl=13000 reserve=1 queue

== limits: so it is with permits
config holds=3
0 ready 1
10 1 @1 ACQUIRE s limit=9 ...
> op take s seq=1 need=1 want=1 limit=9 queue
20 < taken s first=1 ...
20 1 @2 ACQUIRE t limit=1 ...
> op take t seq=2 need=1 want=1 limit=1 queue
30 < taken t first=1 ...
30 1 @3 ACQUIRE u limit=1 ...
> op take u seq=3 need=1 want=1 limit=1 queue
30 1 @4 ACQUIRE v limit=1 ...
> 1 @4 ERR limit this session already holds, waits for or watches 3 objects (limits.holds)
40 < taken u first=1 ...
40 1 @5 ACQUIRE v limit=1 ...
> 1 @5 ERR limit this session already holds, waits for or watches 3 objects (limits.holds)
45 time
> 1 @1 OK permits=1 free=0
> 1 @2 OK permits=1 free=0
> 1 @3 OK permits=1 free=0
50 1 @7 RELEASE t
> op hold t seq=4 limit=1
50 1 @8 ACQUIRE v limit=1
> op take v seq=5 need=1 want=1 limit=1 queue

== stop
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 3 LOCK b c
> op acquire b seq=2 ttl=13000 reserve=1 queue
> op acquire c seq=3 ttl=13000 reserve=1
50 < renewed a fence=110
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 2 ERR shutdown the broker is stopping; try another one
> 3 !SHUTDOWN
> 3 ERR shutdown the broker is stopping; try another one
> 4 !SHUTDOWN
> op end a seq=1
61 stop
70 1 LOCK d
> 1 ERR shutdown the broker is stopping; try another one
71 stopped?
> no
80 < ended a
90 < granted b fence=300
> op end b seq=2
91 < unknown c
> op end c seq=3
95 < ended b
96 < gone c
> op idle
97 stopped?
> no
100 < done @guard
110 stopped?
> yes

== stop, the store is out of reach
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 down
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
> 4 !SHUTDOWN
61 stopped?
> no
13100 until
13110 stopped?
> yes

== unlock, the store is out of reach
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 down
40 1 UNLOCK a
> 1 OK depth=0 deferred=1
50 2 TRYLOCK a
60 up
> op end a seq=1
70 < ended a
> op acquire a seq=2 ttl=13000 reserve=1
80 < granted a fence=200
> 2 OK fence=200 depth=1

== try: the guard is pending, but not for long
config trust_new
0 up
0 open 1
10 guard pending p1 fresh
> log guard-pending node=0 cause=new wait=0
10 1 TRYLOCK a
11 until
> 11 op bless pend=p1
12 < done @guard
12 guard blessed
> log guard-ready node=0 after=2
> op acquire a seq=1 ttl=13000 reserve=1
20 < granted a fence=100
> 1 OK fence=100 depth=1

== try: an upgrade
0 ready 2
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 TRYLOCK a
> op convert a seq=1 ttl=13000 reserve=1
40 < unknown a
90 until
> 90 op convert a seq=1 ttl=13000 reserve=1
95 < granted a fence=200
> 1 OK fence=200 depth=2

== drain: one that has queue=, and one that is granted
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a queue=5
> op renew a seq=1 ttl=13000 fence=100 reserve=1
35 2 @2 LOCK b wait=0
> op acquire b seq=2 ttl=13000 reserve=1
36 2 @3 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
40 < renewed a fence=110
50 < granted c fence=300 ...
50 drain 2
> 2 @1 CANCELLED
> 2 @3 OK fence=300 depth=1

== a look at what is held is none
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message look 1 a

== a session that is granted a name waits on for others, with no circle
0 ready 4
10 3 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 3 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 1 @1 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
50 1 @2 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
60 < renewed a fence=110
60 < renewed b fence=210
70 1 LOCK b
80 3 UNLOCK a
> 3 OK depth=0
> 1 @1 OK fence=110 depth=1

== who is granted a name re-enters with all its requests, before others
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 3 LOCK a
50 2 @2 LOCK a
60 < renewed a fence=110
70 1 UNLOCK a
> op renew a seq=1 ttl=13000 fence=110 reserve=1
> 1 OK depth=0
> 2 @1 OK fence=110 depth=1
> 2 @2 OK fence=110 depth=2

== a grant that is about to be told can't be cancelled
0 ready 2
10 1 @1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100 ...
20 cancel 1 1
> 1 ERR not-found no request with that tag is waiting
> 1 @1 OK fence=100 depth=1

== stop: what one lets go passes to nobody, nor is kept for what was not told
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a delay=1m
> op renew a seq=1 ttl=73000 fence=100 reserve=1
40 < renewed a fence=110
50 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 2 ERR shutdown the broker is stopping; try another one
> 3 !SHUTDOWN
> op end a seq=1
60 < ended a
> op idle

== stop: a grant that was not told leaves no delay
0 ready 3
10 1 LOCK a keep=1m delay=1m
> op acquire a seq=1 ttl=73000 reserve=1 queue
20 < granted a fence=100 ...
20 stop
> 1 !SHUTDOWN
> 1 ERR shutdown the broker is stopping; try another one
> 2 !SHUTDOWN
> 3 !SHUTDOWN
> op end a seq=1

== gone before a grant was told: its keep is nobody's
0 ready 3
10 1 LOCK a keep=1m delay=1m
> op acquire a seq=1 ttl=73000 reserve=1 queue
20 < granted a fence=100 ...
20 gone 1
> op end a seq=1

== many wait: fences are drawn before they run out
0 ready 20
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
31 3 LOCK a
32 4 LOCK a
33 5 LOCK a
34 6 LOCK a
35 7 LOCK a
36 8 LOCK a
37 9 LOCK a
38 10 LOCK a
39 11 LOCK a
40 12 LOCK a
41 13 LOCK a
42 14 LOCK a
43 15 LOCK a
44 16 LOCK a
45 17 LOCK a
46 18 LOCK a
47 19 LOCK a
50 < renewed a fence=200
> op renew a seq=1 ttl=13000 fence=200 reserve=18
51 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=200 depth=1
51 1 LOCK a
52 < renewed a fence=300
60 2 UNLOCK a
> 2 OK depth=0
> 3 OK fence=300 depth=1
60 2 LOCK a
61 3 UNLOCK a
> 3 OK depth=0
> 4 OK fence=301 depth=1
61 3 LOCK a
62 4 UNLOCK a
> 4 OK depth=0
> 5 OK fence=302 depth=1
62 4 LOCK a
63 5 UNLOCK a
> 5 OK depth=0
> 6 OK fence=303 depth=1
63 5 LOCK a
64 6 UNLOCK a
> 6 OK depth=0
> 7 OK fence=304 depth=1
64 6 LOCK a
65 7 UNLOCK a
> 7 OK depth=0
> 8 OK fence=305 depth=1
65 7 LOCK a
66 8 UNLOCK a
> 8 OK depth=0
> 9 OK fence=306 depth=1
66 8 LOCK a
67 9 UNLOCK a
> 9 OK depth=0
> 10 OK fence=307 depth=1
67 9 LOCK a
68 10 UNLOCK a
> 10 OK depth=0
> 11 OK fence=308 depth=1
68 10 LOCK a
69 11 UNLOCK a
> op renew a seq=1 ttl=13000 fence=317 reserve=17
> 11 OK depth=0
> 12 OK fence=309 depth=1
69 11 LOCK a
70 12 UNLOCK a
> 12 OK depth=0
> 13 OK fence=310 depth=1
70 12 LOCK a
80 < renewed a fence=400
81 13 UNLOCK a
> 13 OK depth=0
> 14 OK fence=400 depth=1

== who waits is told before the reply to a renewal that was before
0 ready 1
10 1 LOCK a keep=5s
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
3500 until
> 2176 op renew a seq=1 ttl=13000 fence=100
3501 message waits 1 a
3502 < renewed a
3503 1 UNLOCK a
> op end a seq=1 linger=1517
3504 < ended a
> 1 OK depth=0
5100 until
> 5020 op end a seq=1 prompt
