# Sessions with grace=, which survive their connections, and who may resume them.

== a session survives its connection, which was reset
0 ready 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 1 LOCK a
> 1 OK fence=100 depth=2
50 gone 1
60 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
70 < renewed a fence=110
4000 resume 3 1
> op renew a seq=1 ttl=13000 fence=110
> 1 attach 3
> 1 OK id=1 locks=1
4010 1 UNLOCK a
> 1 OK depth=1
4020 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=110 depth=1

== a session survives its connection, which was closed
0 ready 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 1 LOCK a
> 1 OK fence=100 depth=2
50 close 1
60 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
70 < renewed a fence=110
4000 resume 3 1
> op renew a seq=1 ttl=13000 fence=110
> 1 attach 3
> 1 OK id=1 locks=1
4010 1 UNLOCK a
> 1 OK depth=1
4020 1 UNLOCK a
> 1 OK depth=0
> 2 OK fence=110 depth=1

== its grace runs out
0 ready 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 gone 1
50 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
60 < renewed a fence=110
3400 until
> 3328 op renew a seq=1 ttl=13000 fence=110
3410 < renewed a
5039 until
5040 until
> 5040 2 OK fence=110 depth=1
5050 resume 3 1
> 3 ERR not-found no session has that key; it may have ended

== a late client finds no session that has yet to end: many end at once
config work=1
0 ready 5
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
10 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
10 session 4 grace=5s
> 4 OK id=4 key=K grace=5000
20 gone 1
20 gone 2
20 gone 3
20 gone 4
5020 resume 5 1
> 5 ERR not-found no session has that key; it may have ended
5020 resume 5 2
> 5 ERR not-found no session has that key; it may have ended
5020 resume 5 3
> 5 ERR not-found no session has that key; it may have ended
5020 resume 5 4
> 5 ERR not-found no session has that key; it may have ended

== QUIT does not wait for the grace
0 ready 2
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 quit 1
> op end a seq=1
50 < ended a
60 2 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
70 < granted a fence=200
> 2 OK fence=200 depth=1
80 resume 2 1
> 2 ERR not-found no session has that key; it may have ended

== a connection that lives is closed when another resumes its session
0 ready 2
10 session 1 grace=0
> 1 OK id=1 key=K
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 resume 2 1
> close 1
> 1 attach 2
> 1 OK id=1 locks=1
50 1 LOCK a
> 1 OK fence=100 depth=2
# It has no grace of its own.
60 gone 1
> op end a seq=1
70 < ended a

== a client that is back has what was kept for nobody
# After a reset it lives for the valid= alone: then no client is waited for.
0 ready 0
0 open 1 tcp
0 open 2 tcp
0 open 3 tcp
10 session 1 grace=0
> 1 OK id=1 key=K
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 ping 1
> valid 9877
50 gone 1
60 unowned?
> unowned 1 bound 1 latches 0
70 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=1
80 unowned?
> unowned 0 bound 0 latches 0
90 gone 1
100 unowned?
> unowned 1 bound 1 latches 0
110 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=1
120 quit 1
> op end a seq=1
130 unowned?
> unowned 0 bound 0 latches 0

== with a grace nothing is kept for nobody
0 ready 0
0 open 1 tcp
0 open 2 tcp
0 open 3 tcp
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 ping 1
> valid 9877
50 gone 1
60 unowned?
> unowned 0 bound 0 latches 0
70 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=1
80 unowned?
> unowned 0 bound 0 latches 0
90 gone 1
100 unowned?
> unowned 0 bound 0 latches 0
110 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=1
120 quit 1
> op end a seq=1
130 unowned?
> unowned 0 bound 0 latches 0

== only a session without anything takes over another
0 ready 2
10 session 1 grace=0
> 1 OK id=1 key=K
20 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 2 OK fence=100 depth=1
40 resume 2 1
> 2 ERR bad-request the session of this connection holds or waits for something; resume over a fresh one
50 resume 1 1
> 1 OK id=1 locks=0

== only its user resumes a session
0 ready 3
10 user 1 deploy
20 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
30 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
40 < granted a fence=100
> 1 OK fence=100 depth=1
50 gone 1
60 user 2 ops
70 resume 2 1
> 2 ERR not-found no session has that key; it may have ended
80 user 2 deploy
90 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=1

== what a session has is known
0 ready 2
10 has? 1
> no
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
50 has? 1
> yes
60 has? 2
> yes
70 has? 1 a
> yes
80 has? 2 a
> no
90 has? 1 b
> no

== each digit of a key counts
0 ready 2
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 resume 2 1 wrong
> 2 ERR not-found no session has that key; it may have ended
30 resume 2 1
> close 1
> 1 attach 2
> 1 OK id=1 locks=0

== a grant that was not told is taken back
# The connection drops between the grant and the flush that would tell it.
0 ready 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
30 < granted b fence=100
> 1 OK fence=100 depth=1
40 1 LOCK b ...
40 1 LOCK a ...
> op acquire a seq=2 ttl=13000 reserve=1 queue
50 < granted a fence=200 ...
50 gone 1 ...
> op end a seq=2
60 2 LOCK a
70 < ended a
> op acquire a seq=3 ttl=13000 reserve=1 queue
80 < granted a fence=300
> 2 OK fence=300 depth=1
90 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=1
100 1 UNLOCK b
> op end b seq=1
110 < ended b
> 1 OK depth=0

== what waits leaves its queue with the connection
0 ready 3
10 2 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 2 OK fence=100 depth=1
30 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
40 1 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
50 < renewed a fence=110
60 gone 1
70 2 UNLOCK a
> op end a seq=1
80 < ended a
> 2 OK depth=0
90 resume 3 1
> 1 attach 3
> 1 OK id=1 locks=0

== events are told again
0 ready 5
10 session 1 grace=50s
> 1 OK id=1 key=K grace=50000
20 1 LOCK a hold=1s ...
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
30 < granted b fence=200
> 1 OK fence=200 depth=1
1030 until
> 1030 1 !LOST a fence=100 reason=hold
> 1030 op end a seq=1
1040 < ended a
1050 gone 1
8100 until
> 3264 op renew b seq=2 ttl=13000 fence=200
> 5020 1 !ATRISK b fence=200 left=4898
8200 < renewed b sent=8190
> 1 !SAFE b fence=200
8300 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=1
> 1 !LOST a fence=100 reason=hold
> 1 !SAFE b fence=200
# Nothing was heard of the client: it may not have heard them.
8400 resume 3 1
> close 2
> 1 attach 3
> 1 OK id=1 locks=1
> 1 !LOST a fence=100 reason=hold
> 1 !SAFE b fence=200
8500 ping 1
> valid 9587
8600 gone 1
8700 resume 4 1
> 1 attach 4
> 1 OK id=1 locks=1
# A request says that the client is there.
8800 1 LOCK c hold=100ms
> op acquire c seq=3 ttl=13000 reserve=1 queue
8810 < granted c fence=300
> 1 OK fence=300 depth=1
8950 until
> 8910 1 !LOST c fence=300 reason=hold
> 8910 op end c seq=3
8960 < ended c
8970 1 UNLOCK b
> op end b seq=2
8980 gone 1
8990 resume 5 1
> 1 attach 5
> 1 OK id=1 locks=0

== a name that is shared again is not told to be lost
# With the same fence it would seem that what the session has now is lost.
0 ready 4
10 session 1 grace=50s
> 1 OK id=1 key=K grace=50000
# Session 3 goes on with the phase.
20 3 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
30 < granted a fence=100
> 3 OK fence=100 depth=1
40 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
50 < granted b fence=200
> 2 OK fence=200 depth=1
60 1 LOCK a mode=shared hold=100ms
> 1 OK fence=100 depth=1
70 1 LOCK a b mode=shared
> op renew b seq=2 ttl=13000 fence=200 reserve=1
80 < renewed b fence=210
170 until
> 160 1 !LOST a fence=100 reason=hold
180 2 UNLOCK b
> op convert b seq=2 ttl=13000 reserve=1 shared
> 2 OK depth=0
190 < granted b fence=220
> 1 OK fence=100,220 depth=1,1
210 gone 1
220 resume 4 1
> 1 attach 4
> 1 OK id=1 locks=2

== a session of before there were users is of whoever has its key
0 ready 0
0 open 1
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 gone 1
50 open 2
50 user 2 bob
60 resume 2 1 wrong
> 2 ERR not-found no session has that key; it may have ended
70 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=1
80 gone 1
# From then on it is that user's.
90 open 3
90 user 3 eve
100 resume 3 1
> 3 ERR not-found no session has that key; it may have ended
110 open 4
110 user 4 bob
120 resume 4 1
> 1 attach 4
> 1 OK id=1 locks=1

== without users every client may resume all
0 ready 0
0 open 1
0 user 1 bob
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 gone 1
30 open 2
40 resume 2 1
> 1 attach 2
> 1 OK id=1 locks=0
