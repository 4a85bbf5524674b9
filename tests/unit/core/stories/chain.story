# WHY: who has a name, what that one waits for, and so on, over brokers.

== nobody has it; one who waits for nothing; one who waits for it
0 ready 3
10 1 WHY a
> op look a
20 < gone a
> 1 why
>   a state=free end=holder
30 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
40 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
50 2 LOCK a
> op renew a seq=1 ttl=13000 fence=7 reserve=1
60 3 WHY a
> 3 why
>   a state=held holder=peer age=20 broker=b session=1 end=holder

== a chain here: untagged requests are followed, a tagged one is shown
0 ready 5
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < granted b fence=8 ttl=13s
> 2 OK fence=8 depth=1
45 3 LOCK c
> op acquire c seq=3 ttl=13000 reserve=1 queue
46 < granted c fence=9 ttl=13s
> 3 OK fence=9 depth=1
50 1 LOCK b
> op renew b seq=2 ttl=13000 fence=8 reserve=1
60 2 @7 LOCK c
> op renew c seq=3 ttl=13000 fence=9 reserve=1
70 3 LOCK a
> op renew a seq=1 ttl=13000 fence=7 reserve=1
80 5 WHY a
> 5 why
>   a state=held holder=peer age=60 broker=b session=1 end=denied
>   b state=held holder=peer age=40 broker=b session=2 end=denied
>   c state=held holder=peer age=34 broker=b session=3 tagged=1 end=holder

== over brokers: each that is asked tells one link; what is new in it is ignored
0 ready 2
10 1 WHY a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s also=other:5625
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
30 message told 1 fence=35 session=9 age=1200 label=etl waits=b risk=700 colour=red a
> op look b
40 < value b text=d.0123456789abcdef.8|44 ttl=5s
> op tell b client=d.0123456789abcdef.8 other=about b.0000000000000000.2
41 < done b
50 message told 2 fence=44 session=4 age=1300 peer=10.0.0.7:5512 b
> 1 why
>   a state=held holder=etl age=1200 broker=c address=other:5625 at_risk=700 session=9 end=denied
>   b state=held holder=10.0.0.7:5512 age=1300 broker=d session=4 end=holder

== and back: what its holder waits for is here
0 ready 3
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 2 WHY a
> op look a
40 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
41 < done a
50 message told 2 fence=35 session=9 age=1200 label=etl waits=b a
> 2 why
>   a state=held holder=etl age=1200 broker=c session=9 end=denied
>   b state=held holder=peer age=30 broker=b session=1 end=holder

== a circle over brokers
0 ready 3
10 1 LOCK b
> op acquire b seq=1 ttl=13000 reserve=1 queue
20 < granted b fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 1 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
40 < queued a ttl=5s
50 2 WHY a
> op look a
60 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.3
61 < done a
70 message told 3 fence=35 session=9 age=1200 label=etl waits=b a
> 2 why
>   a state=held holder=etl age=1200 broker=c session=9 end=denied
>   b state=held holder=peer age=50 broker=b session=1 end=circle

== a request under a tag is shown, and not followed
0 ready 2
10 1 WHY a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
30 message told 1 fence=35 session=9 age=1200 waits=b tagged=1 a
> op look b
40 < value b text=d.0123456789abcdef.8|44 ttl=5s
> op tell b client=d.0123456789abcdef.8 other=about b.0000000000000000.2
41 < done b
50 message told 2 fence=44 session=4 age=1300 waits=c b
> 1 why
>   a state=held age=1200 broker=c session=9 end=denied
>   b state=held age=1300 broker=d session=4 tagged=1 end=holder

== no answer, none in time, a name that is let go meanwhile, a plain client, a phase
0 ready 2
10 1 WHY a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
219 time
220 time
> 1 why
>   a state=held broker=c end=unknown
230 message told 1 fence=35 session=9 age=1200 a
240 1 WHY a
> op look a
250 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
260 < gone a
> 1 why
>   a state=held broker=c end=unknown
270 1 WHY a
> op look a
280 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.3
290 message told 3 a
> 1 why
>   a state=held broker=c end=unknown
291 < done a
300 1 WHY a
> op look a
310 < value a text=mine ttl=5s
> 1 why
>   a state=held end=unknown
320 1 WHY a
> op look a
330 < value a text=@33|c.0123456789abcdef.7 ttl=5s
> 1 why
>   a state=held end=unknown

== two seconds in all
0 ready 2
10 1 WHY a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
120 message told 1 fence=35 session=9 age=1200 waits=b a
> op look b
2009 time
2010 time
> 1 why
>   a state=held age=1200 broker=c session=9 end=denied
>   b state=unknown end=unknown
2020 < gone b

== Redis can't be reached: from memory, or not at all
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 down
40 2 WHY a
> 2 why
>   a state=held holder=peer age=20 broker=b session=1 end=holder
50 2 WHY b
> 2 why
>   b state=unknown end=unknown
6000 2 WHY a
> 1 !ATRISK a fence=7 left=3908
> 2 why
>   a state=held holder=peer age=5980 broker=b at_risk=3908 session=1 end=holder

== a name that is kept for nobody; several names of one request
0 ready 4
10 1 LOCK a keep=1m
> op acquire a seq=1 ttl=61000 reserve=1 queue
20 < granted a fence=7 ttl=60s
> 1 OK fence=7 depth=1
30 1 UNLOCK a
> op end a seq=1 linger=59990
40 < done a
> 1 OK depth=0 deferred=1
50 2 WHY a
> op look a
60 2 LOCK c
> op acquire c seq=2 ttl=13000 reserve=1 queue
70 < granted c fence=8 ttl=13s
> 2 OK fence=8 depth=1
80 3 LOCK d
> op acquire d seq=3 ttl=13000 reserve=1 queue
90 < granted d fence=8 ttl=13s
> op end a seq=1 linger=59930
> 3 OK fence=8 depth=1
100 3 LOCK b c
> op acquire b seq=4 ttl=13000 reserve=1 queue
> op renew c seq=2 ttl=13000 fence=8 reserve=1
110 2 WHY d
> 2 why
>   d state=held holder=peer age=20 broker=b session=3 end=denied
>   c state=held holder=peer age=40 broker=b session=2 end=holder

== another broker asks what is here
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=7 ttl=13s
> 1 OK fence=7 depth=1
30 1 @3 LOCK b
> op acquire b seq=2 ttl=13000 reserve=1 queue
40 < queued b ttl=5s
50 message about 1 c.0123456789abcdef.9 a
> op tell a client=c.0123456789abcdef.9 other=told fence=7 session=1 age=30 peer=peer waits=b tagged=1

== a chain of more than sixteen names; the broker stops
0 ready 2
10 1 WHY a
> op look a
20 < value a text=c.0123456789abcdef.7|33 ttl=5s
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
21 < done a
30 message told 1 fence=35 session=9 age=1200 waits=b a
> op look b
40 < value b text=c.0123456789abcdef.7|33 ttl=5s
> op tell b client=c.0123456789abcdef.7 other=about b.0000000000000000.2
41 < done b
50 message told 2 fence=35 session=9 age=1200 waits=c b
> op look c
60 < value c text=c.0123456789abcdef.7|33 ttl=5s
> op tell c client=c.0123456789abcdef.7 other=about b.0000000000000000.3
61 < done c
70 message told 3 fence=35 session=9 age=1200 waits=d c
> op look d
80 < value d text=c.0123456789abcdef.7|33 ttl=5s
> op tell d client=c.0123456789abcdef.7 other=about b.0000000000000000.4
81 < done d
90 message told 4 fence=35 session=9 age=1200 waits=e d
> op look e
100 < value e text=c.0123456789abcdef.7|33 ttl=5s
> op tell e client=c.0123456789abcdef.7 other=about b.0000000000000000.5
101 < done e
110 message told 5 fence=35 session=9 age=1200 waits=f e
> op look f
120 < value f text=c.0123456789abcdef.7|33 ttl=5s
> op tell f client=c.0123456789abcdef.7 other=about b.0000000000000000.6
121 < done f
130 message told 6 fence=35 session=9 age=1200 waits=g f
> op look g
140 < value g text=c.0123456789abcdef.7|33 ttl=5s
> op tell g client=c.0123456789abcdef.7 other=about b.0000000000000000.7
141 < done g
150 message told 7 fence=35 session=9 age=1200 waits=h g
> op look h
160 < value h text=c.0123456789abcdef.7|33 ttl=5s
> op tell h client=c.0123456789abcdef.7 other=about b.0000000000000000.8
161 < done h
170 message told 8 fence=35 session=9 age=1200 waits=i h
> op look i
180 < value i text=c.0123456789abcdef.7|33 ttl=5s
> op tell i client=c.0123456789abcdef.7 other=about b.0000000000000000.9
181 < done i
190 message told 9 fence=35 session=9 age=1200 waits=j i
> op look j
200 < value j text=c.0123456789abcdef.7|33 ttl=5s
> op tell j client=c.0123456789abcdef.7 other=about b.0000000000000000.10
201 < done j
210 message told 10 fence=35 session=9 age=1200 waits=k j
> op look k
220 < value k text=c.0123456789abcdef.7|33 ttl=5s
> op tell k client=c.0123456789abcdef.7 other=about b.0000000000000000.11
221 < done k
230 message told 11 fence=35 session=9 age=1200 waits=l k
> op look l
240 < value l text=c.0123456789abcdef.7|33 ttl=5s
> op tell l client=c.0123456789abcdef.7 other=about b.0000000000000000.12
241 < done l
250 message told 12 fence=35 session=9 age=1200 waits=m l
> op look m
260 < value m text=c.0123456789abcdef.7|33 ttl=5s
> op tell m client=c.0123456789abcdef.7 other=about b.0000000000000000.13
261 < done m
270 message told 13 fence=35 session=9 age=1200 waits=n m
> op look n
280 < value n text=c.0123456789abcdef.7|33 ttl=5s
> op tell n client=c.0123456789abcdef.7 other=about b.0000000000000000.14
281 < done n
290 message told 14 fence=35 session=9 age=1200 waits=o n
> op look o
300 < value o text=c.0123456789abcdef.7|33 ttl=5s
> op tell o client=c.0123456789abcdef.7 other=about b.0000000000000000.15
301 < done o
310 message told 15 fence=35 session=9 age=1200 waits=p o
> op look p
320 < value p text=c.0123456789abcdef.7|33 ttl=5s
> op tell p client=c.0123456789abcdef.7 other=about b.0000000000000000.16
321 < done p
330 message told 16 fence=35 session=9 age=1200 waits=q p
> 1 why
>   a state=held age=1200 broker=c session=9 end=denied
>   b state=held age=1200 broker=c session=9 end=denied
>   c state=held age=1200 broker=c session=9 end=denied
>   d state=held age=1200 broker=c session=9 end=denied
>   e state=held age=1200 broker=c session=9 end=denied
>   f state=held age=1200 broker=c session=9 end=denied
>   g state=held age=1200 broker=c session=9 end=denied
>   h state=held age=1200 broker=c session=9 end=denied
>   i state=held age=1200 broker=c session=9 end=denied
>   j state=held age=1200 broker=c session=9 end=denied
>   k state=held age=1200 broker=c session=9 end=denied
>   l state=held age=1200 broker=c session=9 end=denied
>   m state=held age=1200 broker=c session=9 end=denied
>   n state=held age=1200 broker=c session=9 end=denied
>   o state=held age=1200 broker=c session=9 end=denied
>   p state=held age=1200 broker=c session=9 end=unknown
600 1 WHY a
> op look a
610 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
620 1 WHY a
> 1 ERR shutdown the broker is stopping; try another one
