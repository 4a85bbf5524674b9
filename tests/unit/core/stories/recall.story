# Recalls: a name that another broker keeps warm is asked back before anybody
# here is told that it is taken.

== TRYLOCK: the owner is asked, gives the name back, and the second try has it
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
30 < value a ttl=1s
40 message recalled 2 a
> op acquire a seq=1 ttl=13000 reserve=1
50 < granted a fence=100
> 1 OK fence=100 depth=1

== an owner whose name is somebody's is asked once; another one is asked anew
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
30 message recalled 2 a
> op acquire a seq=1 ttl=13000 reserve=1
31 < value a ttl=1s
40 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> 1 BUSY
25000 1 TRYLOCK a
> op acquire a seq=3 ttl=13000 reserve=1
25010 < busy a ttl=9s waiting text=web-2.00000000000000bb.8
> 1 BUSY
25011 1 TRYLOCK a
> op acquire a seq=4 ttl=13000 reserve=1
25012 < busy a ttl=9s waiting text=web-3.00000000000000cc.8
> op recall a seq=5
25013 < gone a
> op acquire a seq=4 ttl=13000 reserve=1
25014 < busy a ttl=9s waiting text=web-3.00000000000000cc.8
> 1 BUSY
25100 1 TRYLOCK a
> op acquire a seq=6 ttl=13000 reserve=1
25110 < busy a ttl=9s waiting text=web-2.00000000000000bb.9
> op recall a seq=7

== an owner that had let the name go before it was asked is asked the next time
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
30 < done a
> op acquire a seq=1 ttl=13000 reserve=1
40 < busy a ttl=9s waiting text=web-2.00000000000000bb.8
> 1 BUSY
50 1 TRYLOCK a
> op acquire a seq=3 ttl=13000 reserve=1
60 < busy a ttl=9s waiting text=web-2.00000000000000bb.8
> op recall a seq=4

== an owner that does not answer: its warmth is over by then
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
30 < value a ttl=500
1000 until
> 580 op acquire a seq=1 ttl=13000 reserve=1
1010 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> 1 BUSY

== what the second try finds stands, however late it comes
0 ready 1
10 1 STATUS a
> op look a
20 < value a ttl=9s waiting text=web-2.00000000000000bb.7|90
> op recall a seq=1
30 < value a ttl=500
600 until
> 580 op look a
2000 < value a ttl=9s waiting text=web-2.00000000000000bb.7|90
> op tell a client=web-2.00000000000000bb.7 other=about b.0000000000000000.2
2001 < gone a
> 1 OK state=held waiters=0 broker=web-2 lease_fence=90 ttl=8999

== a STATUS that waited for Redis has the rest of its time only
0 open 1
10 1 STATUS a
600 up
> op look a
610 < value a ttl=9s waiting text=web-2.00000000000000bb.7|90
> op recall a seq=1
620 < value a ttl=5s
2000 until
> 1310 op look a

== one question is enough for all that wait for its answer
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
30 1 @5 STATUS a
> op look a
40 < value a ttl=1s
50 < value a ttl=9s waiting text=web-2.00000000000000bb.7|90
60 message recalled 2 a
> op look a
> op acquire a seq=1 ttl=13000 reserve=1

== who waits in the queue needs no recall, nor does an owner that keeps nothing
0 ready 2
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s text=web-2.00000000000000bb.7
> 1 BUSY
30 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
40 < queued a ttl=9s
50 2 TRYLOCK a
> 2 BUSY

== STATUS and WATCH
0 ready 1
10 1 STATUS a
> op look a
20 < value a ttl=9s waiting text=web-2.00000000000000bb.7|90
> op recall a seq=1
30 message recalled 1 a
> op look a
31 < value a ttl=1s
40 < value a
> 1 OK state=free waiters=0
50 1 WATCH b
> op status b
60 < value b ttl=9s first=1 text=web-2.00000000000000bb.8|91
> op recall b seq=2
70 message recalled 2 b
> op status b

== a broker that stops asks nothing any more
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
20 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
30 stop
> op acquire a seq=1 ttl=13000 reserve=1
> 1 !SHUTDOWN
> 1 ERR shutdown the broker is stopping; try another one

== the owner gives back what is warm, and then says so
config warm=200ms
0 ready 1
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
60 < granted a fence=200
> 1 OK fence=200 depth=1
70 1 UNLOCK a
> 1 OK depth=0
80 message recall 2 web-2.00000000000000bb.5 a
> op end a seq=2
85 message recall 2 web-3.00000000000000cc.6 a
90 < ended a
> op tell a client=web-3.00000000000000cc.6 other=recalled
> op tell a client=web-2.00000000000000bb.5 other=recalled

== it says so at once of what is held, and of what it does not have
config warm=200ms
0 ready 1
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message recall 1 web-2.00000000000000bb.5 a
> op tell a client=web-2.00000000000000bb.5 other=recalled
31 < done a
40 message recall 9 web-2.00000000000000bb.6 nobody
> op tell nobody client=web-2.00000000000000bb.6 other=recalled
50 1 UNLOCK a
> op end a seq=1
60 < ended a
> 1 OK depth=0
70 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
80 < granted a fence=200
> 1 OK fence=200 depth=1
90 1 UNLOCK a
> op end a seq=2

== a token: SET NX, and GET
0 ready 1
10 token 1 acquire a token=t px=9s
> op claim a seq=1 ttl=9000 client=t other=t how=e-r
20 < busy a ttl=9s waiting first=2 text=web-2.00000000000000bb.7
> op recall a seq=2
30 < value a ttl=1s
40 message recalled 2 a
> op claim a seq=3 ttl=9000 client=t other=t how=e-r
50 < granted a fence=100
> 1 done 1 held own meant fence=100 left=9000 token=t
60 token 1 query b token=t
> op token b seq=4 client=t how=qxr
70 < value b waiting first=2 text=web-2.00000000000000bb.7
> op recall b seq=5
80 < gone b
> op token b seq=6 client=t how=qxr

== a renewal of what is warm is under way: another broker is told when the name has gone back
config lease=1s warm=100ms fences=8
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=1500 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=1500 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
100 1 UNLOCK a
> 1 OK depth=0
190 1 LOCK a
> 1 OK fence=201 depth=1
200 1 UNLOCK a
> 1 OK depth=0
290 1 LOCK a
> 1 OK fence=202 depth=1
310 until
> 304 op renew a seq=2 ttl=1500 fence=207
320 1 UNLOCK a
> 1 OK depth=0
330 message recall 2 web-2.00000000000000bb.5 a
340 < renewed a
> op end a seq=2
350 < ended a
> op tell a client=web-2.00000000000000bb.5 other=recalled

== the same at this broker: SET NX and GET wait until it has gone back
config lease=1s warm=100ms fences=8
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=1500 reserve=8 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 1 UNLOCK a
> op end a seq=1
40 < ended a
> 1 OK depth=0
50 1 LOCK a
> op acquire a seq=2 ttl=1500 reserve=8 queue
60 < granted a fence=200
> 1 OK fence=200 depth=1
100 1 UNLOCK a
> 1 OK depth=0
190 1 LOCK a
> 1 OK fence=201 depth=1
200 1 UNLOCK a
> 1 OK depth=0
290 1 LOCK a
> 1 OK fence=202 depth=1
310 until
> 304 op renew a seq=2 ttl=1500 fence=207
320 1 UNLOCK a
> 1 OK depth=0
330 token 2 acquire a token=t
> op claim a seq=3 client=t other=t how=e-r
331 token 2 query a token=t
> op token a seq=4 client=t how=qxr
340 < renewed a
> op end a seq=2
341 < busy a waiting first=2 text=b.0000000000000000.2
342 < value a waiting first=2 text=b.0000000000000000.2
350 < ended a
> op token a seq=6 client=t how=qxr
> op claim a seq=7 client=t other=t how=e-r
360 < value a
> 2 done 0 free
361 < granted a fence=300
> 2 done 1 held own meant fence=300 token=t

== no time is left to ask again: what was found is the answer
0 ready 1
10 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
1900 < busy a ttl=9s waiting text=web-2.00000000000000bb.7
> op recall a seq=2
2500 until
> 1955 1 BUSY
