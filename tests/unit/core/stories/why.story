# SESSION why=yes: BUSY and TIMEOUT say who has the name that is in the way.

== a session of this broker, and how many were before
config address=b.example.org:5625
0 ready 5
10 session 3 why
> op heartbeat
> 3 OK id=3 key=K why=yes
10 session 4 why
> 4 OK id=4 key=K why=yes
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
50 3 LOCK a wait=1s
60 < renewed a fence=110
70 4 TRYLOCK a
> 4 BUSY name=a holder=peer broker=b address=b.example.org:5625 age=40 before=2
80 5 TRYLOCK a
> 5 BUSY
1050 until
> 1010 op heartbeat
> 1050 3 TIMEOUT name=a holder=peer broker=b address=b.example.org:5625 age=1020 before=1

== a label, if it has one
config address=b.example.org:5625
0 ready 2
10 session 1 label=cron
> op heartbeat
> 1 OK id=1 key=K label=cron
10 session 2 why
> 2 OK id=2 key=K why=yes
20 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
530 2 TRYLOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 2 BUSY name=a holder=cron broker=b address=b.example.org:5625 age=500 before=0

== of several names, the one that is in the way
0 ready 3
10 session 2 why
> 2 OK id=2 key=K why=yes
20 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
30 < granted b fence=100
> 1 OK fence=100 depth=1
40 2 TRYLOCK a b c
> 2 BUSY name=b holder=peer broker=b age=10 before=0
50 2 LOCK c b a wait=1s
> op acquire c seq=2 ttl=13000 reserve=1
> op renew b seq=1 ttl=13000 fence=100 reserve=1
> op acquire a seq=3 ttl=13000 reserve=1 queue
60 < granted a fence=100
60 < granted c fence=100
1050 until
> 1050 2 TIMEOUT name=b holder=peer broker=b age=1020 before=0
> 1050 op end c seq=2
> 1050 op end a seq=3

== another broker
0 ready 3
10 session 1 why
> 1 OK id=1 key=K why=yes
20 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
30 < busy a ttl=5000 text=other.0123456789abcdef.7
> 1 BUSY name=a broker=other before=0
40 1 @1 BROKERS
> op brokers
50 < value @guard text=other.0123456789abcdef,3,other.example.org:5625,1.0,10000,-
> 1 brokers
>   other version=1.0 lease=10000 seen=3 address=other.example.org:5625
60 1 LOCK a wait=1s
> op acquire a seq=2 ttl=13000 reserve=1 queue
70 < queued a ttl=5000 text=other.0123456789abcdef.7
1060 until
> 1060 1 TIMEOUT name=a broker=other address=other.example.org:5625 before=0
> 1060 op end a seq=2

== a token
0 ready 3
10 session 2 why
> 2 OK id=2 key=K why=yes
10 session 1 label=jvm
> 1 OK id=1 key=K label=jvm
20 token 1 acquire a token=t1 px=30s
> op claim a seq=1 ttl=30000 client=t1 other=t1 how=e-r
30 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 token=t1
40 2 TRYLOCK a
> op acquire a seq=2 ttl=13000 reserve=1
50 < busy a ttl=29980 text=b.0000000000000000.1
> 2 BUSY name=a holder=jvm broker=b age=20 before=0

== a plain client
0 ready 3
10 session 1 why
> 1 OK id=1 key=K why=yes
20 1 TRYLOCK a
> op acquire a seq=1 ttl=13000 reserve=1
30 < foreign a ttl=5000
> 1 BUSY name=a before=0

== a name that is kept for nobody
0 ready 3
10 session 2 why
> 2 OK id=2 key=K why=yes
20 1 LOCK a keep=10s
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 1 UNLOCK a
> op end a seq=1 linger=9990
50 < ended a
> 1 OK depth=0
60 2 TRYLOCK a
> 2 BUSY name=a broker=b kept=9970 before=0

== permits
0 ready 3
10 session 2 why
> 2 OK id=2 key=K why=yes
20 1 ACQUIRE s n=2 limit=2
> op take s seq=1 need=2 want=2 limit=2 queue
30 < taken s first=2
> 1 OK permits=2 free=0
40 2 ACQUIRE s limit=2 wait=0
> 2 BUSY name=s holder=peer broker=b age=10 before=0
50 2 ACQUIRE s limit=2 wait=1s
1050 until
> 1050 2 TIMEOUT name=s holder=peer broker=b age=1020 before=0

== a latch has no holder
0 ready 3
10 session 2 why
> 2 OK id=2 key=K why=yes
20 1 LATCH l n=1 ttl=60s
> op latch l seq=1 ttl=60000 need=1
30 < made l
> 1 OK count=1
40 2 AWAIT l wait=1s
> op await l seq=2
50 < shut l first=1
1040 until
> 1040 2 TIMEOUT name=l
