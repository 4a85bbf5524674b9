# Circles of sessions that wait for each other.

== two
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 1 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
50 2 LOCK a
> 2 ERR deadlock sessions would deadlock: b -> a -> b

== three
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
30 3 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
40 < granted c fence=300
> 3 OK fence=300 depth=1
40 1 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
50 2 LOCK c
> op renew c seq=3 ttl=13000 fence=300 reserve=1
60 3 LOCK a
> 3 ERR deadlock sessions would deadlock: c -> a -> b -> c

== who can still do something waits for nobody
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 1 @1 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
50 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
60 2 TRYLOCK a
> 2 BUSY

== a time-out makes no difference, wait=0 does
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 1 LOCK b wait=1s
> op renew b seq=2 ttl=13000 fence=200 reserve=1
50 2 @1 TRYLOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 2 @1 BUSY
60 2 LOCK a wait=1s
> 2 ERR deadlock sessions would deadlock: b -> a -> b

== through several names
0 ready 4
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
20 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
30 < granted b fence=200
> 2 OK fence=200 depth=1
40 1 LOCK c b
> op acquire c seq=3 ttl=13000 reserve=1
> op renew b seq=2 ttl=13000 fence=200 reserve=1
50 2 LOCK a
> 2 ERR deadlock sessions would deadlock: b -> a -> b

== formed by a grant
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
50 2 LOCK a
60 < renewed a fence=110
70 1 LOCK b
> op renew b seq=2 ttl=13000 fence=200 reserve=1
80 3 UNLOCK a
> 1 ERR deadlock sessions would deadlock: a -> b -> a
> op renew a seq=1 ttl=13000 fence=110 reserve=1
> 3 OK depth=0
> 1 @1 OK fence=110 depth=1

== two sharers who both want it for themselves
0 ready 4
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
11 2 LOCK a mode=shared
20 < granted a fence=100
> 1 OK fence=100 depth=1
> 2 OK fence=100 depth=1
30 1 LOCK a
> 1 ERR deadlock others share the lock; release it first: two sessions that wait for each other to leave would wait forever
40 2 LOCK a
> 2 ERR deadlock others share the lock; release it first: two sessions that wait for each other to leave would wait forever
