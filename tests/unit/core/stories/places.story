# Places for grace=: limits.clients of them, reserved when SESSION asks.

== those that have gone and hold nothing push nobody out
config clients=3
0 ready 0
0 open 1
0 open 2
0 open 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
10 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
20 close 1
20 close 2
20 close 3
30 open 4
30 session 4 grace=5s
> 4 OK id=4 key=K grace=5000
40 4 LOCK precious
> op acquire precious seq=1 ttl=13000 reserve=1 queue
50 < granted precious fence=100
> 4 OK fence=100 depth=1
60 gone 4
70 open 5
70 5 TRYLOCK precious
> op renew precious seq=1 ttl=13000 fence=100 reserve=1
> 5 BUSY
75 < renewed precious fence=110
80 open 6
80 resume 6 4
> 4 attach 6
> 4 OK id=4 locks=1
90 4 LOCK precious
> 4 OK fence=100 depth=2

== the one that has been away for longest goes first
config clients=3
0 ready 0
0 open 1
0 open 2
0 open 3
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
10 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
20 close 2
21 close 1
30 open 4
30 session 4 grace=5s
> 4 OK id=4 key=K grace=5000
40 open 5
40 resume 5 2
> 5 ERR not-found no session has that key; it may have ended
40 resume 5 1
> 1 attach 5
> 1 OK id=1 locks=0

== one too many is told so, and nothing is set
config clients=2 debug
0 ready 0
0 open 1
> log session-begins session=1 peer=peer
0 open 2
> log session-begins session=2 peer=peer
0 open 3
> log session-begins session=3 peer=peer
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer waited=10
> 1 OK fence=100 depth=1
40 gone 1
> log session-away session=1 peer=peer
50 session 3 grace=5s quit
> log grace-exhausted limit=2
> 3 ERR limit all 2 places for sessions with grace= are taken (limits.clients); nothing was set
60 session 3
> 3 OK id=3 key=K
70 session 3 grace=0
> 3 OK id=3 key=K
# One that has a place may ask again.
80 session 2 grace=1s
> 2 OK id=2 key=K grace=1000
# It gives its place back.
90 session 2 grace=0
> 2 OK id=2 key=K
100 session 3 grace=5s
> 3 OK id=3 key=K grace=5000

== an end gives the place back: QUIT, the grace, the last hold, a resumption
config clients=1
0 ready 0
0 open 1
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 quit 1
30 open 2
30 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
40 2 LOCK a hold=1s
> op acquire a seq=1 ttl=13000 reserve=1 queue
50 < granted a fence=100
> 2 OK fence=100 depth=1
60 gone 2
70 open 3
70 session 3 grace=5s
> 3 ERR limit all 1 places for sessions with grace= are taken (limits.clients); nothing was set
# It holds nothing any more: it goes on only as long as nobody needs the room.
1100 until
> 1050 2 !LOST a fence=100 reason=hold
> 1050 op end a seq=1
1110 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
1120 open 4
1120 resume 4 2
> 4 ERR not-found no session has that key; it may have ended
1130 3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
1140 < granted b fence=200
> 3 OK fence=200 depth=1
1150 gone 3
1160 4 STATUS b
> op look b
1170 resume 4 3
> 3 attach 4
> 3 OK id=3 locks=1
1180 open 5
1180 session 5 grace=5s
> 5 ERR limit all 1 places for sessions with grace= are taken (limits.clients); nothing was set
1190 5 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
1200 gone 3
6300 until
> 4352 op renew b seq=2 ttl=13000 fence=200
> 6130 3 !ATRISK b fence=200 left=4898
6310 session 5 grace=5s
> 5 OK id=5 key=K grace=5000

== who resumes a session with a place gives back that of its own
config clients=2
0 ready 0
0 open 1
0 open 2
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
20 resume 2 1
> close 1
> 1 attach 2
> 1 OK id=1 locks=0
30 open 3
30 session 3 grace=5s
> 3 OK id=3 key=K grace=5000

== a session that lives for a valid= alone takes no place
config clients=1
0 ready 0
0 open 1 tcp
0 open 2 tcp
10 session 1
> 1 OK id=1 key=K
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 ping 1
> valid 9877
50 gone 1
60 session 2 grace=5s
> 2 OK id=2 key=K grace=5000

== one user has three quarters of the places
config clients=4 debug
0 ready 0
0 open 1
> log session-begins session=1 peer=peer
0 open 2
> log session-begins session=2 peer=peer
0 open 3
> log session-begins session=3 peer=peer
0 open 4
> log session-begins session=4 peer=peer
0 open 5
> log session-begins session=5 peer=peer
0 user 1 eve
0 user 2 eve
0 user 3 eve
0 user 4 eve
0 user 5 bob
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
10 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
10 session 4 grace=5s
> log grace-exhausted limit=3 user=eve
> 4 ERR limit you have 3 sessions with grace=, the maximum for one user (three quarters of limits.clients); nothing was set
10 session 5 grace=5s
> 5 OK id=5 key=K grace=5000
20 close 1
> log session-away session=1 peer=peer
20 session 4 grace=5s
> log session-ends session=1 peer=peer
> 4 OK id=4 key=K grace=5000
40 open 7
> log session-begins session=7 peer=peer
40 user 7 bob
40 session 7 grace=5s
> 7 ERR limit all 4 places for sessions with grace= are taken (limits.clients); nothing was set

== who has three quarters has room for none of before
config clients=5
0 ready 0
0 open 1
0 open 2
0 open 3
0 open 4
0 open 5
0 user 1 eve
0 user 2 eve
0 user 3 eve
0 user 4 eve
0 user 5 eve
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
10 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
10 session 4 grace=5s
> 4 OK id=4 key=K grace=5000
20 close 1
30 session 5 grace=5s
> 5 OK id=5 key=K grace=5000
40 open 6
40 user 6 eve
40 resume 6 1
> 6 ERR not-found no session has that key; it may have ended
50 session 5 grace=0
> 5 OK id=5 key=K
60 resume 6 1
> 6 ERR not-found no session has that key; it may have ended
60 close 2
70 resume 6 2
> 2 attach 6
> 2 OK id=2 locks=0

== another user's places do not count when a session changes hands
config clients=4
0 ready 0
0 open 1
0 user 1 eve
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
20 user 1 bob
30 user 1
40 user 1 bob
50 gone 1

== a reload to fewer places takes none away
config clients=4
0 ready 0
0 open 1
0 open 2
0 open 3
0 open 4
10 session 1 grace=5s
> 1 OK id=1 key=K grace=5000
10 session 2 grace=5s
> 2 OK id=2 key=K grace=5000
10 session 3 grace=5s
> 3 OK id=3 key=K grace=5000
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 gone 1
50 close 2
50 close 3
60 session 4 grace=5s
> 4 OK id=4 key=K grace=5000
config clients=2
70 open 5
70 session 5 grace=5s
> 5 ERR limit all 2 places for sessions with grace= are taken (limits.clients); nothing was set
80 open 6
80 session 5 grace=5s
> 5 ERR limit all 2 places for sessions with grace= are taken (limits.clients); nothing was set
80 resume 6 2
> 6 ERR not-found no session has that key; it may have ended
80 resume 6 3
> 6 ERR not-found no session has that key; it may have ended
90 resume 6 1
> 1 attach 6
> 1 OK id=1 locks=1
