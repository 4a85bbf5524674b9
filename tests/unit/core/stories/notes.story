# What a client says of its hold for others to see: value=, SETVALUE.

== STATUS, QUEUE and watchers here tell the value at once
0 ready 3
10 1 WATCH a
> op status a
20 < value a
> 1 OK
> 1 !FREE a
30 2 LOCK a value=db1:5432
> op acquire a seq=1 ttl=13000 reserve=1 queue
40 < granted a fence=100
> 1 !HELD a fence=100 broker=b value=db1:5432
> 2 OK fence=100 depth=1
50 3 STATUS a kind=lock
> 3 OK state=held waiters=0 broker=b session=2 peer=peer value=db1:5432 fence=100 ttl=9878 age=10
60 3 QUEUE a
> 3 queue a
70 2 SETVALUE a value=db2:5432/?x=1
> 2 OK
> 1 !HELD a fence=100 broker=b value=db2:5432/?x=1
80 3 STATUS a kind=lock
> 3 OK state=held waiters=0 broker=b session=2 peer=peer value=db2:5432/?x=1 fence=100 ttl=9848 age=40
90 2 SETVALUE a value=db2:5432/?x=1
> 2 OK
100 2 UNLOCK a
> op end a seq=1
110 < ended a
> 2 OK depth=0
> 1 !FREE a
120 2 LOCK a
> op acquire a seq=2 ttl=13000 reserve=1 queue
130 < granted a fence=200
> 1 !HELD a fence=200 broker=b
> 2 OK fence=200 depth=1
140 3 STATUS a kind=lock
> 3 OK state=held waiters=0 broker=b session=2 peer=peer fence=200 ttl=9878 age=10

== a re-entry replaces the value when its client is told; one without leaves it
0 ready 2
10 1 WATCH a
> op status a
20 < value a
> 1 OK
> 1 !FREE a
30 2 LOCK a value=x
> op acquire a seq=1 ttl=13000 reserve=1 queue
40 < granted a fence=100
> 1 !HELD a fence=100 broker=b value=x
> 2 OK fence=100 depth=1
50 2 LOCK a
> 2 OK fence=100 depth=2
60 2 LOCK a value=y ...
60 1 STATUS a kind=lock
> 1 OK state=held waiters=0 broker=b session=2 peer=peer value=x fence=100 ttl=9868 age=20
> 2 OK fence=100 depth=3
> 1 !HELD a fence=100 broker=b value=y
70 flush
80 2 UNLOCK a
> 2 OK depth=2
90 1 STATUS a kind=lock
> 1 OK state=held waiters=0 broker=b session=2 peer=peer value=y fence=100 ttl=9838 age=50

== the value of who waits is not that of who has the name; it comes with the grant
0 ready 3
10 1 LOCK a value=first
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a value=second
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 3 STATUS a kind=lock
> 3 OK state=held waiters=1 broker=b session=1 peer=peer value=first fence=100 ttl=9868 age=20
50 1 UNLOCK a
> 1 OK depth=0
60 3 STATUS a kind=lock
> op look a
70 2 UNLOCK a
> 2 ERR not-held this session does not hold a

== who waits and goes leaves nothing behind
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 @1 LOCK a value=x
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 cancel 2 1
> 2 @1 CANCELLED
> 2 OK
50 2 @2 LOCK a value=x
60 gone 2
70 1 UNLOCK a

== a value is for one exclusive name, and for its holder
0 ready 3
10 1 LOCK a b value=x
> 1 ERR bad-option value= is for one exclusive name
20 1 LOCK a mode=shared value=x
> 1 ERR bad-option value= is for one exclusive name
30 1 SETVALUE a value=x
> 1 ERR not-held this session does not hold a
40 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
50 < granted a fence=100
> 1 OK fence=100 depth=1
60 1 SETVALUE a value=x
> 1 ERR bad-request this session shares a: a value is for one exclusive holder
70 2 SETVALUE a value=x
> 2 ERR not-held this session does not hold a
80 1 LOCK a value=up
> op convert a seq=1 ttl=13000 reserve=1
90 < granted a fence=200
> 1 OK fence=200 depth=2
100 2 STATUS a kind=lock
> 2 OK state=held waiters=0 broker=b session=1 peer=peer value=up fence=200 ttl=9878 age=50

== a value ends with the hold, however that ends; its loss is said
config lease=10000
0 ready 2
10 1 LOCK a hold=1s value=x
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
1025 1 SETVALUE a value=y
> 1 !LOST a fence=100 reason=hold
> op end a seq=1
> 1 ERR lost this session held a and lost it
1030 2 STATUS a kind=lock
> op look a
1040 < ended a
1050 2 STATUS a kind=lock
> op look a
1060 < value a
> 2 OK state=free waiters=0

== another broker is asked for the value when the key is read
0 ready 1
10 1 WATCH a
> op status a
20 < value a text=c.0123456789abcdef.7|33
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
> 1 OK
> 1 !HELD a fence=33 broker=c
30 < done a
40 message told 1 fence=35 session=9 value=10.0.0.7:80 a
> 1 !HELD a fence=33 broker=c value=10.0.0.7:80
9500 time
> op status a
9600 < value a text=c.0123456789abcdef.7|33
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
9610 < done a
9620 message told 2 fence=35 session=9 value=10.0.0.8:80 a
> 1 !HELD a fence=33 broker=c value=10.0.0.8:80

== a value of a lease that is over is told no more; who does not answer changes nothing
0 ready 1
10 1 WATCH a
> op status a
20 < value a text=c.0123456789abcdef.7|33
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
> 1 OK
> 1 !HELD a fence=33 broker=c
30 < done a
40 message told 1 fence=35 value=x a
> 1 !HELD a fence=33 broker=c value=x
9500 time
> op status a
9600 < value a text=c.0123456789abcdef.7|33
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.2
9610 < done a
9800 time
19500 time
> op status a
19600 < value a text=c.0123456789abcdef.8|50
> op tell a client=c.0123456789abcdef.8 other=about b.0000000000000000.3
> 1 !HELD a fence=50 broker=c
19700 message told 3 fence=50 a

== a value that is none is no answer; one that comes late is too late
0 ready 1
10 1 WATCH a
> op status a
20 < value a text=c.0123456789abcdef.7|33
> op tell a client=c.0123456789abcdef.7 other=about b.0000000000000000.1
> 1 OK
> 1 !HELD a fence=33 broker=c
30 message told 1 value= a
240 time
250 message told 1 value=x a

== other brokers hear the value
0 ready 1
10 1 LOCK a value=x=y
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 message about 1 c.0123456789abcdef.7 a
> op tell a client=c.0123456789abcdef.7 other=told fence=100 session=1 age=10 peer=peer value=x=y

== a trace is told with the hold, to who is refused, and in the log
config debug
0 ready 3
10 session 2 why
> 2 OK id=2 key=K why=yes
20 1 LOCK a trace=T1
> op acquire a seq=1 ttl=13000 reserve=1 queue
30 < granted a fence=100
> log lock-granted name=a fence=100 session=1 peer=peer trace=T1 waited=10
> 1 OK fence=100 depth=1
40 2 TRYLOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
> 2 BUSY name=a holder=peer broker=b age=10 trace=T1 before=0
50 2 LOCK a trace=T2
60 1 UNLOCK a
> log lock-released name=a fence=100 session=1 peer=peer trace=T1 held=30
> 1 OK depth=0
70 2 UNLOCK a
> 2 ERR not-held this session does not hold a
80 < ended a

== of several names, each has the trace; those who share have their own
0 ready 2
10 1 LOCK a b mode=shared trace=T1
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
> op acquire b seq=2 ttl=13000 reserve=1 shared
20 < granted a fence=100
30 < granted b fence=200
> 1 OK fence=100,200 depth=1,1
40 2 LOCK a mode=shared trace=T2
> 2 OK fence=100 depth=1
50 1 UNLOCK a b
> op end b seq=2
