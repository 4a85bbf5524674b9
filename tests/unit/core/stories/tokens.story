# Token holds: locks as lock libraries take them from Redis.

== tokens: taken, extended, asked about and released
config debug
0 ready 2
10 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> log token-granted name=a fence=100 session=1 peer=peer
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 query a token=t1
> op token a seq=2 client=t1 how=qxr
40 < value a fence=100 ttl=29990 text=t1 first=1 second=3
> 2 done 1 held own meant fence=100 left=29990 token=t1
50 token 1 extend a token=t1 px=1m
> op token a seq=3 ttl=60000 client=t1 how=exr
60 < renewed a fence=100 ttl=1m text=t1
> log token-extended name=a fence=100 session=1 peer=peer
> 1 done 1 held own meant fence=100 left=60000 token=t1
70 token 1 release a token=t1
> op token a seq=4 client=t1 how=rxr
80 < ended a fence=100 ttl=59990 text=t1 first=1 second=3
> log token-released name=a fence=100 session=1 peer=peer
> 1 done 1 held own meant fence=100 left=59990 token=t1

== tokens: an extension to a time that is over ends the hold
0 ready 1
0 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
10 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
20 token 1 extend a token=t1 px=-1
> op token a seq=2 ttl=-1 client=t1 how=exr
30 < ended a fence=100 ttl=29980 text=t1 first=1 second=3
> 1 done 1 held own meant fence=100 left=29980 token=t1
40 token 1 extend a token=t1 px=-5s bound=add
> op token a seq=3 ttl=-5000 client=t1 how=exa
50 < gone a
> 1 absent 0 free all

== tokens: without a bound; a token of any bytes
0 ready 1
10 token 1 acquire a token=a|b%ä
> op claim a seq=1 client=a%7cb%25%01%c3%a4 other=a%7cb%25%01%c3%a4 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 token=a|b%ä
30 token 1 query a
> op token a seq=2 how=qxr
40 < value a fence=100 text=a%7cb%25%01%c3%a4 first=1 second=3
> 1 done 1 held own meant fence=100 token=a|b%ä

== tokens: what is in the way
0 ready 2
10 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < busy a fence=100 ttl=5s text=t2 first=1 second=2
> 1 busy 0 held own fence=100 left=5000 token=t2
30 token 1 acquire a token=t1 px=30s
> op claim a seq=2 ttl=30000 client=t1 other=t1 how=e-r
40 < busy a fence=100 ttl=5s text=x.0123456789abcdef.4 first=2
> 1 busy 0 native fence=100 token=x.0123456789abcdef.4
50 token 1 acquire a token=t1 px=30s
> op claim a seq=3 ttl=30000 client=t1 other=t1 how=e-r
60 < busy a ttl=700 text=plain first=3
> 1 busy 0 plain left=700 token=plain
70 token 1 release a token=t1
> op token a seq=4 client=t1 how=rxr
80 < lost a fence=100 ttl=5s text=t2 first=1 second=2
> 1 others 0 held own fence=100 left=5000 token=t2
90 token 1 release a token=t1
> op token a seq=5 client=t1 how=rxr
100 < gone a
> 1 absent 0 free all
110 token 1 extend a token=t1 px=30s bound=add
> op token a seq=6 ttl=30000 client=t1 how=exa
120 < late a
> 1 unbound 0 free

== tokens: a session of this broker that has it, or waits, comes first
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 token 2 acquire a token=t px=30s
> 2 busy 0 native fence=100 token=b.0000000000000000.1
40 1 UNLOCK a
> op end a seq=1
50 < ended a
> 1 OK depth=0
60 1 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
70 token 2 acquire b token=t px=30s
> 2 busy 0 native

== tokens: several names, all or none
0 ready 1
10 token 1 acquire b a token=t px=30s
> op claim a seq=1 ttl=30000 client=t other=t how=e-r
20 < granted a fence=100
> op claim b seq=2 ttl=30000 client=t other=t how=e-r
30 < busy b fence=90 ttl=1s text=o first=1
> op token a seq=1 how=u--
> 1 busy 0 held fence=90 left=1000
40 < ended a
50 token 1 acquire b a token=t px=30s
> op claim a seq=3 ttl=30000 client=t other=t how=e-r
60 < granted a fence=110
> op claim b seq=4 ttl=30000 client=t other=t how=e-r
70 < granted b fence=120
> 1 done 2 held own meant fence=120 left=30000 token=t
80 token 1 extend b a token=t px=1m
> op token b seq=5 ttl=60000 client=t how=qxr
> op token a seq=6 ttl=60000 client=t how=qxr
90 < value a fence=110 ttl=20s text=t first=1 second=3
100 < value b fence=120 ttl=20s text=t first=1 second=3
> op token b seq=7 ttl=60000 client=t how=exr
> op token a seq=8 ttl=60000 client=t how=exr
110 < renewed a fence=110 ttl=1m text=t
120 < renewed b fence=120 ttl=1m text=t
> 1 done 2 held own meant fence=120 left=60000 token=t
130 token 1 extend b a token=t px=1m
> op token b seq=9 ttl=60000 client=t how=qxr
> op token a seq=10 ttl=60000 client=t how=qxr
140 < value a fence=110 ttl=20s text=t first=1 second=3
150 < value b fence=120 ttl=20s text=o first=1 second=2
> 1 others 0 held own fence=120 left=20000 token=o
160 token 1 release b a token=t
> op token b seq=11 client=t how=rxr
> op token a seq=12 client=t how=rxr
170 < ended a fence=110 ttl=20s text=t first=1 second=3
180 < gone b
> 1 done 1 free left=20000
# One of them is free, or all are.
190 token 1 extend b a token=t px=1m
> op token b seq=13 ttl=60000 client=t how=qxr
> op token a seq=14 ttl=60000 client=t how=qxr
200 < value a fence=110 ttl=20s text=t first=1 second=3
210 < value b
> 1 absent 0 free
220 token 1 extend b a token=t px=1m
> op token b seq=15 ttl=60000 client=t how=qxr
> op token a seq=16 ttl=60000 client=t how=qxr
230 < value a
240 < value b
> 1 absent 0 free all

== tokens: several names of which the token has some
0 ready 1
# It has the later one: that is in the way.
10 token 1 acquire a b token=t px=30s either
> op claim a seq=1 ttl=30000 client=t other=t how=exr
20 < granted a fence=100
> op claim b seq=2 ttl=30000 client=t other=t how=exr
30 < busy b fence=90 ttl=1s text=t first=1 second=3
> op token a seq=1 how=u--
> 1 busy 0 held own meant fence=90 left=1000 token=t
40 < ended a
# It has the first one: a look at all tells that it does not have the other.
50 token 1 acquire a b token=t px=30s either
> op claim a seq=3 ttl=30000 client=t other=t how=exr
60 < busy a fence=90 ttl=1s text=t first=1 second=3
> op token a seq=4 ttl=30000 client=t how=qxr
> op token b seq=5 ttl=30000 client=t how=qxr
70 < value a fence=90 ttl=1s text=t first=1 second=3
70 < value b
> 1 busy 0 free
# It has both.
80 token 1 acquire a b token=t px=30s either
> op claim a seq=6 ttl=30000 client=t other=t how=exr
90 < busy a fence=90 ttl=1s text=t first=1 second=3
> op token a seq=7 ttl=30000 client=t how=qxr
> op token b seq=8 ttl=30000 client=t how=qxr
100 < value a fence=90 ttl=1s text=t first=1 second=3
100 < value b fence=91 ttl=1s text=t first=1 second=3
> op token a seq=9 ttl=30000 client=t how=exr
110 < renewed a fence=90 ttl=30s text=t
> op token b seq=10 ttl=30000 client=t how=exr
120 < renewed b fence=91 ttl=30s text=t
> 1 done 2 held own meant fence=90 left=30000 token=t

== tokens: written again where Redis has forgotten them
0 ready 1
10 token 1 acquire a token=t1 px=1m
> op claim a seq=1 ttl=60000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=60000 token=t1
30 token 1 acquire b token=t2
> op claim b seq=2 client=t2 other=t2 how=e-r
40 < granted b fence=110
> 1 done 1 held own meant fence=110 token=t2
50 guard pending id:1
> op retain a seq=1 ttl=59970 fence=100 client=t1
> op retain b seq=2 fence=110 client=t2
> log guard-pending node=0 cause=replica wait=13600 down=40
60 < renewed a fence=100 ttl=59s text=t1 first=1
70 < unknown b
2000 until
> 747 op retain b seq=2 fence=110 client=t2
2010 < lost b

== tokens: asked about as soon as Redis is back
0 ready 1
10 token 1 acquire a token=t1
> op claim a seq=1 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 token=t1
30 down
11000 until
12000 up
> op retain a seq=1 fence=100 client=t1

== tokens: another broker has ended it, or taken it over
0 ready 1
10 token 1 acquire a token=t1 px=1m
> op claim a seq=1 ttl=60000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=60000 token=t1
30 message took 1 a
40 guard pending id:1
> log guard-pending node=0 cause=replica wait=13600 down=30

== tokens: looked after once a lease, till its bound is over
0 ready 1
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=15000 token=t1
11000 until
> 10020 op retain a seq=1 ttl=5000 fence=100 client=t1
11010 < renewed a fence=100 ttl=4000 text=t1 first=1
30000 until
> 15021 op token a seq=1 how=u--

== tokens: who is gone is granted nothing
0 ready 2
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 close 1
30 < granted a fence=100
> op token a seq=1 how=u--
> 1 done 1 held own meant fence=100 left=15000 token=t1
40 < ended a

== tokens: a claim that nobody has answered is taken back
0 ready 2
10 token 1 acquire a token=t1
> op claim a seq=1 client=t1 other=t1 how=e-r
20 < unknown a
> op token a seq=1 how=u--
> 1 ERR unavailable Redis did not answer in time; try again
30 < unknown a
2000 until
> 707 op token a seq=1 how=u--
2010 < gone a
30000 until

== tokens: an answer that took a grace period is not believed
0 ready 2
10 token 1 acquire a token=t1 px=1m
> op claim a seq=1 ttl=60000 client=t1 other=t1 how=e-r
20 token 2 acquire b token=t2 px=1m
> op claim b seq=2 ttl=60000 client=t2 other=t2 how=e-r
13600 < granted a fence=100
> 1 done 1 held own meant fence=100 left=60000 token=t1
13620 < granted b fence=110
> op token b seq=2 how=u--
> 2 ERR unavailable Redis did not answer in time; try again

== tokens: Redis is not to be asked for a moment, or for longer
0 ready 2
10 down
20 token 1 @1 acquire a token=t1 px=15s
30 up
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
40 < pending a
50 guard pending id:1
> log guard-pending node=0 cause=replica wait=13600 down=20
60 guard blessed
> log guard-ready node=0 after=30
> op claim a seq=2 ttl=15000 client=t1 other=t1 how=e-r
70 < granted a fence=100
> 1 @1 done 1 held own meant fence=100 left=15000 token=t1
80 down
90 token 1 @2 release a token=t1
5000 until
> 2090 1 @2 ERR unavailable Redis cannot be used (undone)

== tokens: a broker that stops leaves them, and says so
0 ready 2
10 token 1 acquire a token=t1
> op claim a seq=1 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 token=t1
30 down
40 token 1 acquire b token=t1
50 up ...
> op claim b seq=2 client=t1 other=t1 how=e-r
60 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> log tokens-left count=1
70 token 1 acquire c token=t1
> 1 ERR shutdown the broker is stopping; try another one (undone)
80 < granted b fence=110
> 1 done 1 held own meant fence=110 token=t1
> op idle

== tokens: bounds of the configuration
config max_hold=1m default_hold=20s unowned=2
0 ready 2
10 token 1 acquire a token=t1
> op claim a seq=1 ttl=20000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=20000 token=t1
30 token 1 extend a token=t1
> op token a seq=2 ttl=60000 client=t1 how=exr
40 < renewed a fence=100 ttl=1m text=t1
> 1 done 1 held own meant fence=100 left=60000 token=t1
50 token 1 acquire b token=t1 px=1h
> op claim b seq=3 ttl=60000 client=t1 other=t1 how=e-r
60 < granted b fence=110
> 1 done 1 held own meant fence=110 left=60000 token=t1
70 token 1 acquire c token=t1 px=1h
> 1 ERR limit this broker may reserve at most 2 names without a holder (limits.unowned); it has 2; release some, or raise the limit (undone)

== tokens: not over a quorum
config quorum=3
0 ready 1
10 token 1 acquire a token=t1
> 1 ERR unsupported token holds do not work over a quorum; use LOCK (undone)

== tokens: found and extended, or taken
0 ready 1
10 token 1 acquire a token=t1 px=10s either
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=exr
20 < busy a fence=90 ttl=1s text=t1 first=1 second=3
> op token a seq=2 ttl=10000 client=t1 how=exr
30 < renewed a fence=90 ttl=10s text=t1
> 1 done 1 held own meant fence=90 left=10000 token=t1
40 token 1 extend a token=t1 new=t2 px=10s either
> op token a seq=3 ttl=10000 client=t1 other=t2 how=exr
50 < gone a
> op claim a seq=4 ttl=10000 client=t2 other=t1 how=exr
60 < granted a fence=100
> 1 done 1 held own meant fence=100 left=10000 token=t2
70 token 1 extend a token=t2 px=10s either
> op token a seq=5 ttl=10000 client=t2 how=exr
80 < lost a fence=110 ttl=1s text=t3 first=1 second=2
> 1 others 0 held own fence=110 left=1000 token=t3

== tokens: found, and gone before it is extended; the other way round
0 ready 1
10 token 1 acquire a token=t1 px=10s either
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=exr
20 < busy a fence=90 ttl=1s text=t1 first=1 second=3
> op token a seq=2 ttl=10000 client=t1 how=exr
30 < gone a
> 1 busy 0 free
40 token 1 extend a token=t1 px=10s either
> op token a seq=3 ttl=10000 client=t1 how=exr
50 < gone a
> op claim a seq=4 ttl=10000 client=t1 other=t1 how=exr
60 < busy a fence=90 ttl=1s text=t1 first=1 second=3
> 1 others 0 held own meant fence=90 left=1000 token=t1

== tokens: Redis answers late, and can't be asked for the rest
0 ready 1
10 token 1 extend a token=t1 px=10s either
> op token a seq=1 ttl=10000 client=t1 how=exr
2020 until
2030 down
2040 < gone a
> 1 ERR unavailable Redis cannot be used (undone)

== tokens: found and extended, and told too late
0 ready 1
10 token 1 acquire a token=t1 px=100 either
> op claim a seq=1 ttl=100 client=t1 other=t1 how=exr
20 < busy a fence=90 ttl=1s text=t1 first=1 second=3
> op token a seq=2 ttl=100 client=t1 how=exr
# It was sent at 20, and 120 was its end.
120 < renewed a fence=90 ttl=100 text=t1
> op token a seq=2 how=u--
> 1 busy 0 free fence=90 left=100 token=t1
130 < gone a

== tokens: extended, and told too late
0 ready 1
10 token 1 acquire a token=t1 px=10s
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=e-r
20 < granted a fence=90
> 1 done 1 held own meant fence=90 left=10000 token=t1
30 token 1 extend a token=t1 px=300
> op token a seq=2 ttl=300 client=t1 how=exr
# It was sent at 30, and 330 was its end: others may have the name since.
330 < renewed a fence=90 ttl=300 text=t1
> 1 absent 0 free all
# By what the script says is left, whatever the request added.
360 token 1 extend b token=t2 px=100 bound=add
> op token b seq=3 ttl=100 client=t2 how=exa
800 < renewed b fence=95 ttl=500 text=t2
> 1 done 1 held own meant fence=95 left=500 token=t2
810 token 1 extend b token=t2 px=100 bound=add
> op token b seq=4 ttl=100 client=t2 how=exa
1100 < renewed b fence=95 ttl=290 text=t2
> 1 absent 0 free all
# Neither is written again.
1110 guard pending id:1
> log guard-pending node=0 cause=replica wait=13600 down=10

== tokens: the reply to an extension is lost
0 ready 1
10 token 1 acquire a token=t1 px=10s
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=e-r
20 < granted a fence=90
> 1 done 1 held own meant fence=90 left=10000 token=t1
30 token 1 extend a token=t1 new=t2 px=60s
> op token a seq=2 ttl=60000 client=t1 other=t2 how=exr
# The broker asks at once, and looks after what the key says.
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op retain a seq=1 ttl=9980 fence=90 client=t1
50 < renewed a fence=90 ttl=50s text=t2 first=2
60 guard pending id:1
> op retain a seq=2 ttl=49990 fence=90 client=t2
> log guard-pending node=0 cause=replica wait=13600 down=50

== tokens: the reply to a release is lost, and then the data of Redis
0 ready 1
10 token 1 acquire a token=t1 px=10s
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=e-r
20 < granted a fence=90
> 1 done 1 held own meant fence=90 left=10000 token=t1
30 token 1 release a token=t1
> op token a seq=2 client=t1 how=rxr
# Others may have had the name since: it is asked about, and not written again.
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op token a seq=1 client=t1 how=qa-
50 < value a fence=90 ttl=9s text=t1 first=1 second=3
60 guard pending id:1
> op token a seq=1 client=t1 how=qa-
> log guard-pending node=0 cause=replica wait=13600 down=50
70 < value a
# It is over.
80 guard pending id:1

== tokens: the reply to an extension that ends the hold is lost
0 ready 1
10 token 1 acquire a token=t1 px=10s
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=e-r
20 < granted a fence=90
> 1 done 1 held own meant fence=90 left=10000 token=t1
30 token 1 extend a token=t1 px=-1
> op token a seq=2 ttl=-1 client=t1 how=exr
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op token a seq=1 client=t1 how=qa-
50 < value a fence=90 ttl=9s text=t1 first=1 second=3
# What its client extends is its own again.
60 token 1 extend a token=t1 px=20s
> op token a seq=3 ttl=20000 client=t1 how=exr
70 < renewed a fence=90 ttl=20s text=t1
> 1 done 1 held own meant fence=90 left=20000 token=t1
80 guard pending id:1
> op retain a seq=3 ttl=19990 fence=90 client=t1
> log guard-pending node=0 cause=replica wait=13600 down=70

== tokens: the reply to an extension that ends the hold sooner is lost
0 ready 1
10 token 1 acquire a token=t1 px=10s
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=e-r
20 < granted a fence=90
> 1 done 1 held own meant fence=90 left=10000 token=t1
30 token 1 extend a token=t1 px=500
> op token a seq=2 ttl=500 client=t1 how=exr
# Until then it is written again, ...
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op retain a seq=1 ttl=490 fence=90 client=t1
50 < renewed a fence=90 ttl=9s text=t1 first=1
100 guard pending id:1
> op retain a seq=1 ttl=430 fence=90 client=t1
> log guard-pending node=0 cause=replica wait=13600 down=90
110 < renewed a fence=90 ttl=430 text=t1 first=1
# ... and then no more.
600 until
> 530 op token a seq=1 client=t1 how=qa-
610 < value a

== tokens: the reply to an extension is lost that a lower locks.max_hold may have cut
config max_hold=1m
0 ready 1
10 token 1 extend a token=t1 px=1m bound=add
> op token a seq=1 ttl=60000 client=t1 how=exa
20 < renewed a fence=90 ttl=1h text=t1
> 1 done 1 held own meant fence=90 left=3600000 token=t1
30 token 1 extend a token=t1 px=1m bound=add
> op token a seq=2 ttl=60000 client=t1 how=exa
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op retain a seq=1 ttl=59990 fence=90 client=t1

== tokens: the reply to a forced release is lost
0 ready 2
10 token 1 acquire a token=t1 px=10s
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=e-r
20 < granted a fence=90
> 1 done 1 held own meant fence=90 left=10000 token=t1
30 2 UNLOCK-FORCE a
> log unlock-force name=a session=2 peer=peer
> op force a by=1000002030
# It may be another's by now: the broker asks, and does not write it again.
1040 < unknown a
> 2 ERR unavailable Redis did not answer in time; try again
> op token a seq=1 client=t1 how=qa-
1050 < value a

== tokens: a hold that the client had is not ended where nobody answers
0 ready 1
10 token 1 acquire a token=t1 px=10s either
> op claim a seq=1 ttl=10000 client=t1 other=t1 how=exr
20 < busy a fence=90 ttl=1s text=t1 first=1 second=3
> op token a seq=2 ttl=10000 client=t1 how=exr
30 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
40 token 1 acquire b token=t1 px=10s either
> op claim b seq=3 ttl=10000 client=t1 other=t1 how=exr
50 < unknown b
> op token b seq=3 how=u--
> 1 ERR unavailable Redis did not answer in time; try again

== parking: the first try is answered at once, the next one waits
0 ready 3
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=3
> 2 busy 0 held own meant fence=100 left=29000 token=t1
100 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 how=q--
110 < busy a fence=100 ttl=29s text=t1 first=1 second=3
120 token 1 release a token=t1
> op pass a seq=4 ttl=30000 client=t1 other=t2 stand=3
125 < ended a fence=100 ttl=29s text=t1 first=1 second=3
> 1 done 1 held own meant fence=100 left=29000 token=t1
130 message given 3 110 1000000 120000 0123456789abcdef 0 a
> op claim a seq=3 ttl=30000 client=t2 how=q--
140 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2

== parking: who takes or extends waits as well, and extends at once
0 ready 3
10 token 2 acquire a token=t2 px=30s either park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=exr
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
# It may have been granted it elsewhere meanwhile.
100 token 2 acquire a token=t2 px=30s either park=80
> op token a seq=2 ttl=30000 client=t2 how=exr
110 < lost a fence=100 ttl=29s text=x first=1
> op claim a seq=3 ttl=30000 client=t2 how=q--
120 < busy a fence=100 ttl=29s text=x first=1
130 message given 3 110 1000000 120000 0123456789abcdef 0 a
> op claim a seq=3 ttl=30000 client=t2 how=q--
140 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2
150 token 2 acquire a token=t2 px=30s either park=80
> op claim a seq=4 ttl=30000 client=t2 other=t2 how=exr
160 < busy a fence=111 ttl=29s text=t2 first=1 second=3
> op token a seq=5 ttl=30000 client=t2 how=exr
170 < renewed a fence=111 ttl=30s text=t2
> 2 done 1 held own meant fence=111 left=30000 token=t2
# Others wait, and it extends all the same.
180 token 3 acquire a token=t3 px=30s either park=80
> op claim a seq=6 ttl=30000 client=t3 other=t3 how=exr
190 < busy a fence=111 ttl=29s text=t2 first=1
> 3 busy 0 held fence=111 left=29000
200 token 3 acquire a token=t3 px=30s either park=80
> op token a seq=7 ttl=30000 client=t3 how=exr
210 < lost a fence=111 ttl=29s text=t2 first=1
> op claim a seq=8 ttl=30000 client=t3 how=q--
220 < busy a fence=111 ttl=29s text=t2 first=1
230 token 2 acquire a token=t2 px=30s either park=80
> op token a seq=9 ttl=30000 client=t2 how=exr
240 < renewed a fence=111 ttl=30s text=t2
> 2 done 1 held own meant fence=111 left=30000 token=t2
# What is free is theirs who wait.
250 token 1 acquire a token=t1 px=30s either park=80
> op token a seq=10 ttl=30000 client=t1 how=exr
260 < gone a
> 1 busy 0 free

== parking: who takes or extends keeps its place while Redis is away
0 ready 3
10 token 2 acquire a token=t2 px=30s either park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=exr
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 down
1500 token 2 acquire a token=t2 px=30s either park=80
1510 up
> op token a seq=2 ttl=30000 client=t2 how=exr
1520 < unknown a
> 2 ERR unavailable Redis did not answer in time; try again
3000 token 2 acquire a token=t2 px=30s either park=80
> op token a seq=3 ttl=30000 client=t2 how=exr
3010 < lost a fence=100 ttl=29s text=x first=1
> op claim a seq=4 ttl=30000 client=t2 how=q--
3020 < busy a fence=100 ttl=29s text=x first=1

== parking: a place is kept for as long as an answer takes
0 ready 3
10 token 2 acquire a token=t2 px=30s either park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=exr
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
1000 token 2 acquire a token=t2 px=30s either park=80
> op token a seq=2 ttl=30000 client=t2 how=exr
2500 < unknown a
> 2 ERR unavailable Redis did not answer in time; try again
# Otherwise it would be a newcomer, and take the name by a claim.
4400 token 2 acquire a token=t2 px=30s either park=80
> op token a seq=3 ttl=30000 client=t2 how=exr

== parking: who takes or extends has gone meanwhile, or its place
0 ready 3
10 token 2 acquire a token=t2 px=30s either park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=exr
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
100 token 2 acquire a token=t2 px=30s either park=80
> op token a seq=2 ttl=30000 client=t2 how=exr
110 close 2
120 < lost a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000

== parking: not for longer than that; it is asked for while it is away, no more
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
100 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
110 < busy a fence=100 ttl=29s text=x first=1
400 until
> 180 2 busy 0 held fence=100 left=29000
500 until
> 430 op token a seq=2 how=u--
510 < ended a
3000 until
3000 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 other=t2 how=e-r
3010 < granted a fence=120
> 2 done 1 held own meant fence=120 left=30000 token=t2

== parking: an answer about an older hold ends no newer one
# The place in the queue is older than the question of the third.
0 ready 4
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 4 acquire a token=t4 px=30s park=80
> op claim a seq=2 ttl=30000 client=t4 other=t4 how=e-r
35 < busy a fence=100 ttl=29s text=x first=1
> 4 busy 0 held fence=100 left=29000
40 token 3 acquire a token=t3 px=30s either park=80
> op claim a seq=3 ttl=30000 client=t3 other=t3 how=exr
45 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=4 ttl=30000 client=t2 how=q--
65 < busy a fence=100 ttl=29s text=x first=1
70 token 4 acquire a token=t4 px=30s park=80
80 token 3 acquire a token=t3 px=30s either park=80
> op token a seq=5 ttl=30000 client=t3 how=exr
85 < lost a fence=100 ttl=29s text=x first=1
90 message given 4 110 1000000 90000 0123456789abcdef 0 a
> op claim a seq=4 ttl=30000 client=t2 how=q--
100 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2
> op claim a seq=6 ttl=30000 client=t4 how=q--
110 < busy a fence=111 ttl=29s text=t2 first=1
170 until
> 150 4 busy 0 held fence=111 left=29000
> 165 3 busy 0 held fence=100 left=29000
11000 until
> 415 op token a seq=6 how=u--
> 10100 op retain a seq=4 ttl=20000 fence=111 client=t2

== parking: who comes back within a moment has its place still
0 ready 4
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=3 ttl=30000 client=t3 how=q--
60 < busy a fence=100 ttl=29s text=x first=1
70 token 2 acquire a token=t2 px=30s park=80
# A newcomer is behind them, without asking Redis.
80 token 4 acquire a token=t4 px=30s park=80
> 4 busy 0 native
90 message given 3 110 1000000 90000 0123456789abcdef 0 a
> op claim a seq=3 ttl=30000 client=t2 how=q--
# Both are here, and the second one came first.
100 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2
> op claim a seq=4 ttl=30000 client=t3 how=q--
140 until
> 130 3 busy 0 held fence=100 left=29000
# Nobody is here: what is given then is passed on.
150 < busy a fence=111 ttl=29s text=t2 first=1
160 message given 4 112 1000000 160000 0123456789abcdef 0 a
> op token a seq=4 how=u--
170 < ended a
180 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=5 ttl=30000 client=t1 other=t1 how=e-r
500 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=6 ttl=30000 client=t1 other=t1 how=e-r
510 < granted a fence=130
> 1 done 1 held own meant fence=130 left=30000 token=t1

== parking: a token that has got the name elsewhere, and extends it here, has no place
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 2 extend a token=t2 px=30s
> op token a seq=3 ttl=30000 client=t2 how=exr
60 < renewed a fence=110 ttl=30s text=t2
> 2 done 1 held own meant fence=110 left=30000 token=t2
70 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=4 ttl=30000 client=t3 how=q--
80 < busy a fence=110 ttl=29s text=t2 first=1
# It comes behind the one that waits, without asking Redis.
90 token 2 acquire a token=t2 px=30s park=80
> 2 busy 0 native

== parking: who is away when it hears that it is next keeps its place
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
100 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
110 < busy a fence=100 ttl=29s text=x first=1
190 until
> 180 2 busy 0 held fence=100 left=29000
200 message look 2 a
280 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
290 < granted a fence=110
> 2 done 1 held own meant fence=110 left=30000 token=t2

== parking: who is away at its turn is the first when it is back
0 ready 4
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
100 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
110 < busy a fence=100 ttl=29s text=x first=1
190 until
> 180 2 busy 0 held fence=100 left=29000
200 message given 2 110 1000000 90000 0123456789abcdef 1 a
> op token a seq=2 how=u--
210 < ended a
280 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 how=f--
290 < busy a fence=120 ttl=29s text=y first=1
# Once for each turn that it missed.
300 message given 3 130 1000000 90000 0123456789abcdef 1 a
> op claim a seq=3 ttl=30000 client=t2 how=q--
310 < granted a fence=130
> 2 done 1 held own meant fence=130 left=30000 token=t2

== parking: a turn that another token has is missed by the first that is away
0 ready 4
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=x first=1
70 token 3 acquire a token=t3 px=30s park=80
80 token 4 acquire a token=t4 px=30s park=5s
> 4 busy 0 native
90 token 4 acquire a token=t4 px=30s park=5s
160 until
> 130 2 busy 0 held fence=100 left=29000
> 150 3 busy 0 free left=0
170 message given 3 110 1000000 90000 0123456789abcdef 1 a
> op claim a seq=3 ttl=30000 client=t4 how=q--
180 < granted a fence=110
> 4 done 1 held own meant fence=110 left=30000 token=t4
190 token 3 acquire a token=t3 px=30s park=5s
> op claim a seq=4 ttl=30000 client=t3 how=q--
200 < busy a fence=110 ttl=29s text=t4 first=1
210 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=4 ttl=30000 client=t2 how=f--

== parking: its place is kept while its time is up, and others are there
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=x first=1
100 token 3 acquire a token=t3 px=30s park=80
140 until
> 130 2 busy 0 held fence=100 left=29000
150 token 2 acquire a token=t2 px=30s park=80
155 message given 3 110 1000000 90000 0123456789abcdef 0 a
> op claim a seq=3 ttl=30000 client=t2 how=q--
160 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2
> op claim a seq=4 ttl=30000 client=t3 how=q--

== parking: a token that came once keeps nobody out
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < granted a fence=110
> 3 done 1 held own meant fence=110 left=30000 token=t3

== parking: who has gone meanwhile is granted nothing; the next one is
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=80
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 how=q--
60 token 3 acquire a token=t3 px=30s park=80
70 close 2
80 < granted a fence=110
> op token a seq=3 how=u--
> op claim a seq=4 ttl=30000 client=t3 how=q--
90 < ended a
100 < granted a fence=120
> 3 done 1 held own meant fence=120 left=30000 token=t3

== parking: the claim of a stand is not answered
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
40 < unknown a
> op token a seq=2 how=u--
> 2 ERR unavailable Redis did not answer in time; try again
50 < gone a
3000 until

== parking: Redis can not grant just now
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 down
40 token 2 acquire a token=t2 px=30s park=80
200 until
> 120 2 ERR unavailable Redis cannot be used (undone)

== parking: a broker that stops
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
40 < busy a fence=100 ttl=29s text=x first=1
50 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 3 !SHUTDOWN
> 2 ERR shutdown the broker is stopping; try another one (undone)
> op token a seq=2 how=u--
60 < ended a
> op idle
70 stopped?
> no

== tokens: whatever token has the name, it gets another
0 ready 1
10 token 1 extend a token=u new=u match=any px=20s
> op token a seq=1 ttl=20000 client=u other=u how=ear
20 < renewed a fence=100 ttl=20s text=u
> 1 done 1 held own meant fence=100 left=20000 token=u

== awaiting: the name is kept for the user, whose next token gets it
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=5s text=x first=1
> 2 busy 0 held fence=100 left=5000
30 token 2 @7 acquire a park=10s awaits
> op claim a seq=2 ttl=1000 client=% how=q--
40 < busy a fence=100 ttl=5s text=x first=1
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=1000 client=% how=q--
70 < granted a fence=111
> 2 @7 done 1 held own meant fence=111 left=1000 token=%
# Meanwhile it is nobody else's.
80 token 3 acquire a token=t3 px=30s park=80
> op token a seq=3 ttl=30000 client=% other=t3 how=exr
90 < renewed a fence=111 ttl=30s text=t3
> 3 done 1 held own meant fence=111 left=30000 token=t3
100 token 3 release a token=t3
> op token a seq=4 client=t3 how=rxr
110 < ended a fence=111 ttl=29s text=t3 first=1 second=3
> 3 done 1 held own meant fence=111 left=29000 token=t3
3000 until

== awaiting: one after the other; what nobody takes passes on
0 ready 4
10 token 2 @7 acquire a park=10s awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 token 3 @8 acquire a park=10s awaits
30 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=1 ttl=1000 client=% how=q--
40 message look 1 a
50 < granted a fence=111
> 2 @7 done 1 held own meant fence=111 left=1000 token=%
# A message that comes twice.
60 message given 1 110 1000000 40000 0123456789abcdef 0 a
529 until
531 until
> 530 op token a seq=1 how=u--
> 530 op claim a seq=2 ttl=1000 client=% how=q--
540 < ended a
550 < granted a fence=120
> 3 @8 done 1 held own meant fence=120 left=1000 token=%
560 token 4 acquire a token=t4 px=30s
> op token a seq=3 ttl=30000 client=% other=t4 how=exr
570 < lost a fence=130 ttl=30s text=x first=1
> 4 busy 0 held fence=130 left=30000
3000 until

== awaiting: what is released here comes by the queue
0 ready 3
10 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 @7 acquire a park=10s awaits
> op claim a seq=2 ttl=1000 client=% how=q--
40 < busy a fence=100 ttl=29s text=t1 first=1
50 token 1 release a token=t1
> op pass a seq=3 ttl=1000 client=t1 other=% stand=2
60 < ended a fence=100 ttl=29s text=t1 first=1 second=3
> 1 done 1 held own meant fence=100 left=29000 token=t1
70 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=1000 client=% how=q--
80 < granted a fence=111
> 2 @7 done 1 held own meant fence=111 left=1000 token=%

== awaiting: what is released here is kept at once, if nobody else waits
0 ready 3
10 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 @7 acquire a park=10s awaits
> op claim a seq=2 ttl=1000 client=% how=q--
40 < busy a fence=100 ttl=29s text=t1 first=1
45 token 3 @8 acquire a park=10s awaits
50 token 1 release a token=t1
> op pass a seq=3 ttl=1000 client=t1 other=% stand=2
60 < granted a fence=110 first=100
> 1 done 1 held own meant fence=100 left=0 token=t1
> 2 @7 done 1 held own meant fence=110 left=1000 token=%
# The stand has no place in the queue but that.
70 token 2 acquire a token=t2 px=30s
> op token a seq=4 ttl=30000 client=% other=t2 how=exr
> op claim a seq=5 ttl=1000 client=% how=q--
80 < renewed a fence=110 ttl=30s text=t2
> 2 done 1 held own meant fence=110 left=30000 token=t2
90 < busy a fence=110 ttl=30s text=t2 first=1
# Nobody comes to take it.
100 token 2 release a token=t2
> op pass a seq=6 ttl=1000 client=t2 other=% stand=5
110 < granted a fence=120 first=110
> 2 done 1 held own meant fence=110 left=0 token=t2
> 3 @8 done 1 held own meant fence=120 left=1000 token=%
700 until
> 600 op token a seq=6 how=u--
710 < ended a

== awaiting: the client for which it is to be kept has gone meanwhile
0 ready 3
10 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 @7 acquire a park=10s awaits
> op claim a seq=2 ttl=1000 client=% how=q--
40 < busy a fence=100 ttl=29s text=t1 first=1
50 token 1 release a token=t1
> op pass a seq=3 ttl=1000 client=t1 other=% stand=2
55 close 2
60 < granted a fence=110 first=100
> 1 done 1 held own meant fence=100 left=0 token=t1
> op token a seq=3 how=u--
> op token a seq=2 how=u--
70 < ended a
800 until

== awaiting: not for longer than asked
0 ready 2
10 token 2 @7 acquire a park=100 awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 < busy a fence=100 ttl=5s text=x first=1
300 until
> 110 2 @7 busy 0 held fence=100 left=5000
> 110 op token a seq=1 how=u--

== awaiting: a client that goes is not awaited for
0 ready 2
10 token 2 @7 acquire a park=10s awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 < busy a fence=100 ttl=5s text=x first=1
30 close 2
> op token a seq=1 how=u--
50 < ended a
300 until

== awaiting: a client that sends nothing more is answered
0 ready 2
10 token 2 @7 acquire a park=10s awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 < busy a fence=100 ttl=5s text=x first=1
30 drain 2
> 2 @7 busy 0 held fence=100 left=5000
> op token a seq=1 how=u--
300 until

== awaiting: a broker that stops
0 ready 2
10 token 2 @7 acquire a park=10s awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 < granted a fence=100
> 2 @7 done 1 held own meant fence=100 left=1000 token=%
30 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> op token a seq=1 how=u--
40 stopped?
> no

== awaiting: a name that is kept is not granted too late
0 ready 2
10 token 2 @7 acquire a park=10s awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 < granted a fence=100
> 2 @7 done 1 held own meant fence=100 left=1000 token=%
30 token 2 acquire a token=t2 px=100
> op token a seq=2 ttl=100 client=% other=t2 how=exr
200 < renewed a fence=100 ttl=100 text=t2
> op token a seq=2 how=u--
> 2 busy 0 free fence=100 left=100 token=t2

== tokens: extended for a client that has gone meanwhile
0 ready 2
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=15000 token=t1
30 message took 1 a
40 token 1 extend a token=t1 px=20s
> op token a seq=2 ttl=20000 client=t1 how=exr
50 close 1
60 < renewed a fence=100 ttl=20s text=t1
> 1 done 1 held own meant fence=100 left=20000 token=t1
70 guard pending id:1
> op retain a seq=2 ttl=19990 fence=100 client=t1
> log guard-pending node=0 cause=replica wait=13600 down=60

== tokens: a grant is told too late
0 ready 2
10 token 1 acquire a token=t1 px=100
> op claim a seq=1 ttl=100 client=t1 other=t1 how=e-r
200 < granted a fence=100
> op token a seq=1 how=u--
> 1 busy 0 free fence=100 left=100
210 < ended a

== parking: a message that is old ends no hold
0 ready 2
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
40 < granted a fence=110
> 2 done 1 held own meant fence=110 left=30000 token=t2
50 message given 2 109 1000000 40000 0123456789abcdef 0 a
> op end a seq=2

== tokens: what was made before the server may have forgotten it is in doubt
0 ready 2
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 guard pending id:1
> log guard-pending node=0 cause=replica wait=13600 down=10
30 guard blessed
> log guard-ready node=0 after=20
40 < granted a fence=100
> op token a seq=1 how=u--
> 1 ERR unavailable Redis did not answer in time; try again
50 < gone a
60 token 1 acquire b token=t1 px=15s park=80
> op claim b seq=2 ttl=15000 client=t1 other=t1 how=e-r
70 < busy b fence=90 ttl=1s text=o first=1
> 1 busy 0 held fence=90 left=1000
80 token 1 acquire b token=t1 px=15s park=80
> op claim b seq=3 ttl=15000 client=t1 how=q--
90 guard pending id:2
> log guard-pending node=0 cause=replica wait=13600 down=60
100 guard blessed
> log guard-ready node=0 after=70
110 < granted b fence=110
> op token b seq=3 how=u--
> 1 ERR unavailable Redis did not answer in time; try again

== tokens: what a server denies that too few replicas confirm is in doubt
# It may have been replaced, and its successor may have the hold.
0 ready 2
10 token 1 acquire a token=t1 px=1m
> op claim a seq=1 ttl=60000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=60000 token=t1
30 token 2 extend a token=t1 px=30s
> op token a seq=2 ttl=30000 client=t1 how=exr
40 < lost a alone
> 2 ERR unavailable Redis did not answer in time; try again
> op retain a seq=1 ttl=29990 fence=100 client=t1
45 < renewed a fence=100 ttl=59970 text=t1 first=1
50 token 2 release a token=t1
> op token a seq=3 client=t1 how=rxr
60 < gone a alone
> 2 ERR unavailable Redis did not answer in time; try again
> op token a seq=1 client=t1 how=qa-
70 < value a alone
1200 until
> 747 op token a seq=1 client=t1 how=qa-
1210 < value a

== tokens: shown to people while Redis is away
0 ready 2
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=15000 token=t1
30 2 STATUS a
> op look a
40 < unknown a
> 2 OK state=held waiters=0 session=1 peer=peer fence=100 ttl=14980 age=20 until=14980
50 down
60 2 STATUS a
> 2 OK state=held waiters=0 session=1 peer=peer fence=100 ttl=14960 age=40 until=14960
70 2 STATUS b

== tokens: shown to people
0 ready 2
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=15000 token=t1
1020 2 STATUS a
> op look a
1030 < value a text=b.0000000000000000.1|100| ttl=14s
> 2 OK state=held waiters=0 broker=b session=1 peer=peer fence=100 ttl=14000 age=1010 until=13990
1040 2 QUEUE a limit=10
> op look a
1050 < value a text=b.0000000000000000.1|100| ttl=14s
> 2 queue a broker=b mode=exclusive ttl=14000 session=1 peer=peer fence=100 age=1030
1060 2 WATCH a
> op status a
1070 < value a text=b.0000000000000000.1|100| ttl=14s
> 2 OK
> 2 !HELD a fence=100 broker=b
1080 token 1 release a token=t1
> op token a seq=2 client=t1 how=rxr
1090 < ended a fence=100 ttl=13s text=t1 first=1 second=3
> 1 done 1 held own meant fence=100 left=13000 token=t1
> op status a
1090 until
1100 < value a
> 2 !FREE a
1110 2 STATUS a
> op look a
1120 < value a text=b.0000000000000000.3|200| ttl=14s
> 2 OK state=held waiters=0 broker=b fence=200 ttl=14000

== pressed: what comes behind a try on its connection ends its wait
# The first asks Redis once more, and keeps its place.
0 ready 4
10 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t3 px=30s park=5s
> op claim a seq=2 ttl=30000 client=t3 other=t3 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=3 ttl=30000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=x first=1
70 token 3 acquire a token=t3 px=30s park=5s
80 press 3
> 3 busy 0 free left=0
90 press 2
> op claim a seq=3 ttl=30000 client=t2 how=q--
100 < busy a fence=100 ttl=28s text=x first=1
> 2 busy 0 held fence=100 left=28000
110 press 2
120 token 2 acquire a token=t2 px=30s park=5s
130 press 2
> op claim a seq=3 ttl=30000 client=t2 how=q--
140 < granted a fence=110
> 2 done 1 held own meant fence=110 left=30000 token=t2

== pressed: while Redis is asked for it anyway
0 ready 3
10 token 1 acquire a token=t1 px=30s park=5s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=2 ttl=30000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=3
> 2 busy 0 held own meant fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=3 ttl=30000 client=t2 how=q--
60 press 2
70 < busy a fence=100 ttl=29s text=t1 first=1 second=3
> 2 busy 0 held own meant fence=100 left=29000 token=t1
80 token 2 acquire a token=t2 px=30s park=5s
100 token 1 release a token=t1
> op pass a seq=4 ttl=30000 client=t1 other=t2 stand=3
110 press 2
120 < ended a fence=100 ttl=29s text=t1 first=1 second=3
> 1 done 1 held own meant fence=100 left=29000 token=t1
> op claim a seq=3 ttl=30000 client=t2 how=q--
130 < busy a fence=111 text=x.0123456789abcdef.9 first=2
> 2 busy 0 native fence=111 token=x.0123456789abcdef.9
140 token 2 acquire a token=t2 px=30s park=5s
150 press 2
> op claim a seq=3 ttl=30000 client=t2 how=q--
160 < granted a fence=112
> 2 done 1 held own meant fence=112 left=30000 token=t2

== pressed: and where it is handed the name
0 ready 3
10 token 1 acquire a token=t1 px=30s park=5s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=2 ttl=30000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=3
> 2 busy 0 held own meant fence=100 left=29000 token=t1
80 token 2 acquire a token=t2 px=30s park=5s
> op claim a seq=3 ttl=30000 client=t2 how=q--
90 < busy a fence=100 ttl=29s text=t1 first=1 second=3
100 token 1 release a token=t1
> op pass a seq=4 ttl=30000 client=t1 other=t2 stand=3
110 press 2
120 < granted a fence=110 first=100
> 1 done 1 held own meant fence=100 left=0 token=t1
> 2 done 1 held own meant fence=110 left=30000 token=t2

== pressed: who takes or extends, while it asks for its hold
0 ready 3
10 token 2 acquire a token=t2 px=30s either park=5s
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=exr
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 2 acquire a token=t2 px=30s either park=5s
> op token a seq=2 ttl=30000 client=t2 how=exr
40 press 2
50 < lost a fence=100 ttl=29s text=x first=1
> op claim a seq=3 ttl=30000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
70 token 2 acquire a token=t2 px=30s either park=5s
> op token a seq=4 ttl=30000 client=t2 how=exr
80 press 2
90 < lost a fence=100 ttl=29s text=x first=1
> op claim a seq=3 ttl=30000 client=t2 how=q--
100 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000

== pressed: a newcomer does not wait for one that may be behind it
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
100 token 3 acquire a token=t3 px=30s park=20
> op token a seq=3 ttl=30000 client=t3 other=t3 how=q-r
105 token 4 acquire a token=t4 px=30s either park=20
> op token a seq=4 ttl=30000 client=t4 how=exr
107 press 4
110 < value a
115 press 3
> op claim a seq=5 ttl=30000 client=t3 other=t3 how=e-r
120 < gone a
> op claim a seq=6 ttl=30000 client=t4 other=t4 how=exr
125 < granted a fence=111
> 3 done 1 held own meant fence=111 left=30000 token=t3
130 < busy a fence=111 ttl=30s text=t3 first=1
> 4 busy 0 held fence=111 left=30000

== pressed: BLPOP blocks as in Redis
0 ready 2
10 token 2 @7 acquire a park=1s awaits
> op claim a seq=1 ttl=1000 client=% how=q--
20 < busy a fence=100 ttl=5s text=x first=1
30 press 2
1100 until
> 1010 2 @7 busy 0 held fence=100 left=5000
> 1010 op token a seq=1 how=u--

== tokens: who sends nothing more does not wait
0 ready 1
10 token 1 acquire a token=t1 px=15s park=5s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
20 < busy a fence=90 ttl=9s text=o first=1
> 1 busy 0 held fence=90 left=9000
30 token 1 acquire a token=t1 px=15s park=5s
> op claim a seq=2 ttl=15000 client=t1 how=q--
40 drain 1
> 1 busy 0 free left=0
50 < granted a fence=100
> op token a seq=2 how=u--
60 < gone a
70 token 1 acquire a token=t1 px=15s park=5s
> op claim a seq=3 ttl=15000 client=t1 other=t1 how=e-r
80 < busy a fence=90 ttl=9s text=o first=1
> 1 busy 0 held fence=90 left=9000

== tokens: ended elsewhere before the answer that made it
0 ready 1
10 token 1 acquire a token=t1 px=15s
> op claim a seq=1 ttl=15000 client=t1 other=t1 how=e-r
15 message took 1 a
20 < granted a fence=100
> 1 busy 0 free fence=100 left=15000
30 token 1 acquire b token=t1 px=15s
> op claim b seq=2 ttl=15000 client=t1 other=t1 how=e-r
40 < granted b fence=110
> 1 done 1 held own meant fence=110 left=15000 token=t1
50 token 1 extend b token=t1 px=15s
> op token b seq=3 ttl=15000 client=t1 how=exr
60 message took 3 b
70 < renewed b fence=110 ttl=15s text=t1
> 1 others 0 free fence=110 left=15000 token=t1
80 message took 2 b

== parking: who waits is counted by STATUS
0 ready 3
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 1 STATUS a kind=lock
> op look a
40 < value a
> 1 OK state=free waiters=0
50 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=x first=1
70 1 STATUS a kind=lock
> op look a
80 < value a
> 1 OK state=free waiters=1

== passing: what is released goes to the token that waits, in one operation
config debug
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> log token-granted name=a fence=100 session=1 peer=peer
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 token 3 acquire a token=t3 px=10s park=5s
> 3 busy 0 native
70 < busy a fence=100 ttl=29s text=t1 first=1 second=2
80 token 3 acquire a token=t3 px=10s park=5s
90 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3 behind=1
100 < granted a fence=110 first=100 waiting
> log token-released name=a fence=100 session=1 peer=peer
> 1 done 1 held own meant fence=100 left=0 token=t1
> log token-granted name=a fence=110 session=2 peer=peer
> 2 done 1 held own meant fence=110 left=20000 token=t2
110 token 2 release a token=t2
> op pass a seq=5 ttl=10000 client=t2 other=t3 stand=3
120 < granted a fence=120 first=110
> log token-released name=a fence=110 session=2 peer=peer
> 2 done 1 held own meant fence=110 left=0 token=t2
> log token-granted name=a fence=120 session=3 peer=peer
> 3 done 1 held own meant fence=120 left=10000 token=t3
# Nobody is behind the last one, so the stand has left the queue by that.
130 token 3 release a token=t3
> op token a seq=6 client=t3 how=rxr
140 < ended a fence=120 first=1 second=3 text=t3
> log token-released name=a fence=120 session=3 peer=peer
> 3 done 1 held own meant fence=120 token=t3

== passing: not while Redis is asked who comes next
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 token 1 release a token=t1
> op token a seq=4 client=t1 how=rxr
70 < granted a fence=110
> 2 done 1 held own meant fence=110 left=20000 token=t2
80 < gone a
> 1 absent 0 free all

== passing: a token that is away keeps no place in the queue
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 3 acquire a token=t3 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t3 other=t3 how=e-r
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 3 busy 0 held own fence=100 left=29000 token=t1
70 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=4 ttl=20000 client=t2 how=q--
80 < busy a fence=100 ttl=29s text=t1 first=1 second=2
90 token 1 release a token=t1
> op pass a seq=5 ttl=20000 client=t1 other=t2 stand=4
100 < granted a fence=110 first=100
> 1 done 1 held own meant fence=100 left=0 token=t1
> 2 done 1 held own meant fence=110 left=20000 token=t2
# It asks again when it comes back.
110 token 3 acquire a token=t3 px=20s park=5s
> op claim a seq=6 ttl=20000 client=t3 how=q--
120 < busy a fence=110 ttl=19s text=t2 first=1 second=2
130 token 2 release a token=t2
> op pass a seq=7 ttl=20000 client=t2 other=t3 stand=6
140 < granted a fence=120 first=110
> 2 done 1 held own meant fence=110 left=0 token=t2
> 3 done 1 held own meant fence=120 left=20000 token=t3

== passing: those who wait elsewhere come first
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
70 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3
80 < ended a fence=100 first=1 second=3 text=t1
> 1 done 1 held own meant fence=100 token=t1
90 message given 3 110 1000000 90000 0123456789abcdef 0 a
> op claim a seq=3 ttl=20000 client=t2 how=q--
100 < granted a fence=110
> 2 done 1 held own meant fence=110 left=20000 token=t2

== passing: what is not as this broker thought
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
70 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3
80 < lost a fence=105 ttl=9s text=t9 first=1 second=2
> 1 others 0 held own fence=105 left=9000 token=t9
> op claim a seq=3 ttl=20000 client=t2 how=q--
90 < busy a fence=105 ttl=9s text=t9 first=1 second=2
100 token 1 release a token=t1
> op pass a seq=5 ttl=20000 client=t1 other=t2 stand=3
110 < gone a
> 1 absent 0 free all
> op claim a seq=3 ttl=20000 client=t2 how=q--
120 < granted a fence=110
> 2 done 1 held own meant fence=110 left=20000 token=t2

== passing: whoever has gone meanwhile is handed nothing
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
70 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3
80 close 2
90 < granted a fence=110 first=100 waiting
> 1 done 1 held own meant fence=100 left=0 token=t1
> op token a seq=4 how=u--
100 < ended a

== passing: what became of it is unknown
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
70 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3
80 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op token a seq=4 how=u--
> op claim a seq=3 ttl=20000 client=t2 how=q--
> op token a seq=1 client=t1 how=qa-
90 < ended a
100 < granted a fence=120
> 2 done 1 held own meant fence=120 left=20000 token=t2

== passing: a hand-over from before the server may have forgotten it is in doubt
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
70 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3
80 guard pending id:1
> op retain a seq=1 ttl=29940 fence=100 client=t1
> log guard-pending node=0 cause=replica wait=13600 down=70
90 guard blessed
> log guard-ready node=0 after=80
100 < granted a fence=110 first=100 waiting
> 1 done 1 held own meant fence=100 left=0 token=t1
> op token a seq=4 how=u--
> op claim a seq=3 ttl=20000 client=t2 how=q--

== passing: Redis may not grant just now
0 ready 4
10 token 1 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
30 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=2 ttl=20000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=t1 first=1 second=2
> 2 busy 0 held own fence=100 left=29000 token=t1
50 token 2 acquire a token=t2 px=20s park=5s
> op claim a seq=3 ttl=20000 client=t2 how=q--
60 < busy a fence=100 ttl=29s text=t1 first=1 second=2
70 token 1 release a token=t1
> op pass a seq=4 ttl=20000 client=t1 other=t2 stand=3
80 < pending a
> op claim a seq=3 ttl=20000 client=t2 how=q--
85 < pending a
90 guard pending id:1
> op retain a seq=1 ttl=29930 fence=100 client=t1
> log guard-pending node=0 cause=replica wait=13600 down=80
100 guard blessed
> log guard-ready node=0 after=90
> op pass a seq=5 ttl=20000 client=t1 other=t2 stand=3
105 < renewed a fence=100 ttl=29s text=t1 first=1
110 < granted a fence=110 first=100 waiting
> 1 done 1 held own meant fence=100 left=0 token=t1
> 2 done 1 held own meant fence=110 left=20000 token=t2
> op token a seq=3 how=u--

== parking: a stand that is in the queue for sure does not ask again
0 ready 4
10 token 2 acquire a token=t2 px=30s park=5m
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 text=t9 first=1 second=2
> 2 busy 0 held own fence=100 token=t9
30 token 2 acquire a token=t2 px=30s park=5m
> op claim a seq=2 ttl=30000 client=t2 how=q--
40 < busy a fence=100 text=t9 first=1 second=2
50 token 3 acquire a token=t3 px=30s park=5m
> 3 busy 0 native
60 token 3 acquire a token=t3 px=30s park=5m
70 token 4 acquire a token=t4 px=30s park=5m
> 4 busy 0 native
# After a second a message may have been lost, for all that it knows.
1500 token 4 acquire a token=t4 px=30s park=5m
> op claim a seq=2 ttl=30000 client=t2 how=q--
1510 < busy a fence=100 text=t9 first=1 second=2
# It asks once a lease all the same.
12000 until
> 11510 op claim a seq=2 ttl=30000 client=t2 how=q--

== tokens: an answer that tells of another hold is none
0 ready 1
10 token 1 acquire a token=t1 px=1m
> op claim a seq=1 ttl=60000 client=t1 other=t1 how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=60000 token=t1
50 guard pending id:1
> op retain a seq=1 ttl=59970 fence=100 client=t1
> log guard-pending node=0 cause=replica wait=13600 down=40
60 < renewed a fence=99 ttl=59s text=t1 first=1
1100 until
> 737 op retain a seq=1 ttl=59283 fence=100 client=t1

== newcomers: one that finds the name free waits for who is between two tries
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
# It was away for 40 ms, so its turn lasts for 60.
100 token 3 acquire a token=t3 px=30s park=20
> op token a seq=3 ttl=30000 client=t3 other=t3 how=q-r
110 < value a
139 until
140 until
> 140 op claim a seq=4 ttl=30000 client=t3 other=t3 how=e-r
150 < granted a fence=111
> 3 done 1 held own meant fence=111 left=30000 token=t3

== newcomers: what is taken is told at once
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
100 token 3 acquire a token=t3 px=30s park=20
> op token a seq=3 ttl=30000 client=t3 other=t3 how=q-r
110 < value a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000

== newcomers: who comes back in its turn has the name
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
100 token 3 acquire a token=t3 px=30s park=20
> op token a seq=3 ttl=30000 client=t3 other=t3 how=q-r
110 < value a
115 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=4 ttl=30000 client=t2 how=f--
120 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2
140 until
> 140 op claim a seq=5 ttl=30000 client=t3 other=t3 how=e-r
150 < busy a fence=111 ttl=30s text=t2 first=1
> 3 busy 0 held fence=111 left=30000

== newcomers: who comes back, and waits, comes first
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
100 token 3 acquire a token=t3 px=30s park=20
> op token a seq=3 ttl=30000 client=t3 other=t3 how=q-r
110 < value a
139 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=4 ttl=30000 client=t2 how=f--
140 until
> 140 3 busy 0 free
150 < granted a fence=111
> 2 done 1 held own meant fence=111 left=30000 token=t2

== newcomers: nobody waits for a client that has gone, nor for one that came once
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
100 gone 2
101 token 3 acquire a token=t3 px=30s park=20
> op claim a seq=3 ttl=30000 client=t3 other=t3 how=e-r
110 < granted a fence=111
> 3 done 1 held own meant fence=111 left=30000 token=t3
140 token 4 acquire b token=t4 px=30s park=20
> op claim b seq=4 ttl=30000 client=t4 other=t4 how=e-r
150 < busy b fence=100 ttl=29s text=x first=1
> 4 busy 0 held fence=100 left=29000
160 token 3 acquire b token=t3 px=30s park=20
> op claim b seq=5 ttl=30000 client=t3 other=t3 how=e-r
170 < granted b fence=120
> 3 done 1 held own meant fence=120 left=30000 token=t3

== newcomers: a parked call whose client goes leaves its place
0 ready 4
10 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
80 gone 2
90 token 3 acquire a token=t3 px=30s park=20
> op claim a seq=3 ttl=30000 client=t3 other=t3 how=e-r
100 < granted a fence=110
> 3 done 1 held own meant fence=110 left=30000 token=t3

== newcomers: who takes or extends waits as well
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
100 token 3 acquire a token=t3 px=30s either park=20
> op token a seq=3 ttl=30000 client=t3 how=exr
110 < gone a
140 until
> 140 op claim a seq=4 ttl=30000 client=t3 other=t3 how=exr
150 < granted a fence=111
> 3 done 1 held own meant fence=111 left=30000 token=t3

== newcomers: a name that is on its way back from who was away
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
# Later than its turn: Redis has given it to the poll queue meanwhile.
150 token 3 acquire a token=t3 px=30s park=20
> op claim a seq=3 ttl=30000 client=t3 other=t3 how=e-r
160 < busy a fence=111 text=b.0000000000000000.2 first=2
165 message given 2 111 1000000 155000 0123456789abcdef 0 a
> op token a seq=2 how=u--
170 < ended a
180 until
> 180 op claim a seq=4 ttl=30000 client=t3 other=t3 how=e-r
190 < granted a fence=112
> 3 done 1 held own meant fence=112 left=30000 token=t3

== newcomers: a client that goes meanwhile is granted nothing
0 ready 4
10 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=1 ttl=30000 client=t2 other=t2 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
60 token 2 acquire a token=t2 px=30s park=20
> op claim a seq=2 ttl=30000 client=t2 how=q--
70 < busy a fence=100 ttl=29s text=x first=1
85 until
> 80 2 busy 0 held fence=100 left=29000
90 message given 2 110 1000000 80000 0123456789abcdef 0 a
> op token a seq=2 how=u--
95 < ended a
100 token 3 acquire a token=t3 px=30s park=20
> op token a seq=3 ttl=30000 client=t3 other=t3 how=q-r
110 < value a
120 gone 3
400 until

== places: so many for a connection; who has none polls without one
config requests=1
0 ready 3
10 token 2 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
50 token 2 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 other=t2 how=e-r
60 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
70 token 2 acquire a token=t1 px=30s park=80
> op claim a seq=4 ttl=30000 client=t1 how=q--
80 < busy a fence=100 ttl=29s text=x first=1
2500 until
> 150 2 busy 0 held fence=100 left=29000
> 400 op token a seq=4 how=u--

== places: so many for a name; BLPOP looks again after a second
config waiters=1
0 ready 3
10 token 2 acquire a token=t1 px=30s park=80
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
20 < busy a fence=100 ttl=29s text=x first=1
> 2 busy 0 held fence=100 left=29000
30 token 3 acquire a token=t2 px=30s park=80
> op claim a seq=2 ttl=30000 client=t2 other=t2 how=e-r
40 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
50 token 3 acquire a token=t2 px=30s park=80
> op claim a seq=3 ttl=30000 client=t2 other=t2 how=e-r
60 < busy a fence=100 ttl=29s text=x first=1
> 3 busy 0 held fence=100 left=29000
70 token 3 @7 acquire a park=500 awaits
80 token 1 @8 acquire a park=5s awaits
600 until
> 570 3 @7 busy 0 free left=0
1100 until
> 1080 1 @8 done 0 free

== tokens: one that comes again at once over another connection: several addresses of one broker
0 ready 3
10 token 1 acquire a token=0123456789ab px=30s
> op claim a seq=1 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
11 token 2 acquire a token=0123456789ab px=30s
> op claim a seq=2 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=0123456789ab
21 < busy a fence=100 ttl=30s text=0123456789ab first=1 second=3
> log same-token-twice name=a fence=100 session=2 peer=peer advice=give the library one address: this broker is one server, even at several addresses
> 2 busy 0 held own meant fence=100 left=30000 token=0123456789ab
30 token 3 acquire a token=0123456789ab px=30s
> op claim a seq=3 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
31 < busy a fence=100 ttl=30s text=0123456789ab first=1 second=3
> 3 busy 0 held own meant fence=100 left=30000 token=0123456789ab
40 token 1 acquire b token=0123456789ab px=30s
> op claim b seq=4 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
41 < granted b fence=101
> 1 done 1 held own meant fence=101 left=30000 token=0123456789ab
42 token 2 acquire b token=0123456789ab px=30s
> op claim b seq=5 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
43 < busy b fence=101 ttl=30s text=0123456789ab first=1 second=3
> 2 busy 0 held own meant fence=101 left=30000 token=0123456789ab
60030 token 1 acquire c token=0123456789ab px=30s
> op token a seq=1 how=u--
> op token b seq=4 how=u--
> op claim c seq=6 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
60031 < granted c fence=102
> 1 done 1 held own meant fence=102 left=30000 token=0123456789ab
60032 token 2 acquire c token=0123456789ab px=30s
> op claim c seq=7 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
60033 < busy c fence=102 ttl=30s text=0123456789ab first=1 second=3
> log same-token-twice name=c fence=102 session=2 peer=peer advice=give the library one address: this broker is one server, even at several addresses
> 2 busy 0 held own meant fence=102 left=30000 token=0123456789ab

== tokens: one that comes again later, over its own connection, or is a constant
0 ready 2
10 token 1 acquire a token=0123456789ab px=30s
> op claim a seq=1 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=0123456789ab
30 token 1 acquire a token=0123456789ab px=30s
> op claim a seq=2 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
31 < busy a fence=100 ttl=30s text=0123456789ab first=1 second=3
> 1 busy 0 held own meant fence=100 left=30000 token=0123456789ab
121 token 2 acquire a token=0123456789ab px=30s
> op claim a seq=3 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
122 < busy a fence=100 ttl=30s text=0123456789ab first=1 second=3
> 2 busy 0 held own meant fence=100 left=30000 token=0123456789ab
130 token 1 acquire b token=locked px=30s
> op claim b seq=4 ttl=30000 client=locked other=locked how=e-r
131 < granted b fence=101
> 1 done 1 held own meant fence=101 left=30000 token=locked
132 token 2 acquire b token=locked px=30s
> op claim b seq=5 ttl=30000 client=locked other=locked how=e-r
133 < busy b fence=101 ttl=30s text=locked first=1 second=3
> 2 busy 0 held own meant fence=101 left=30000 token=locked
140 token 1 acquire c token=0123456789ab px=30s
> op claim c seq=6 ttl=30000 client=0123456789ab other=0123456789ab how=e-r
141 < granted c fence=102
> 1 done 1 held own meant fence=102 left=30000 token=0123456789ab
142 token 2 acquire c token=ba9876543210 px=30s
> op claim c seq=7 ttl=30000 client=ba9876543210 other=ba9876543210 how=e-r
143 < busy c fence=102 ttl=30s text=0123456789ab second=3
> 2 busy 0 free own meant fence=102 left=30000 token=0123456789ab
