# Token holds that are counted: a token takes the name more than once.

== counted: taken, taken again, and given back as often
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
30 token 1 acquire a token=t px=30s either match=counted
> op token a seq=2 ttl=30000 client=t%x1 other=t%x1 how=ecr
40 < renewed a fence=100 ttl=30s text=t%x2 first=1
> 1 done 1 held own meant fence=100 left=30000 depth=2 token=t
50 token 1 release a token=t px=30s match=counted
> op token a seq=3 ttl=30000 client=t%x1 how=rcr
60 < renewed a fence=100 ttl=30s text=t%x1 first=1
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
70 token 1 release a token=t px=30s match=counted
> op token a seq=4 ttl=30000 client=t%x1 how=rcr
80 < ended a fence=100 text=t%x1 first=1 second=3
> 1 done 1 held own meant fence=100 token=t

== counted: a broker that doesn't know the hold asks twice
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < busy a fence=90 ttl=9s text=t%x4 first=1 second=3
> op token a seq=2 ttl=30000 client=t%x1 other=t%x1 how=ecr
30 < renewed a fence=90 ttl=30s text=t%x5 first=1
> 1 done 1 held own meant fence=90 left=30000 depth=5 token=t
40 token 1 query a
> op token a seq=3 how=qxr
50 < value a fence=90 ttl=29s text=t%x5 first=1 second=2
> 1 done 1 held own fence=90 left=29000 depth=5 token=t
60 token 1 extend a token=t px=60s match=counted
> op token a seq=4 ttl=60000 client=t%x1 how=ecr
70 < renewed a fence=90 ttl=60s text=t%x5 first=1
> 1 done 1 held own meant fence=90 left=60000 depth=5 token=t

== counted: it asks twice, too, while the poll queue asks for another token
0 ready 2
10 token 1 acquire a token=q:1 px=30s park=10s either match=counted program=1 audience=8
> op claim a seq=1 ttl=30000 client=q:1%x1 other=q:1%x1 how=ecr
20 token 2 acquire a token=t px=30s either match=counted
> op claim a seq=2 ttl=30000 client=t%x1 other=t%x1 how=ecr
30 < busy a fence=90 ttl=9s text=t%x4 first=1
> op claim a seq=3 ttl=500 client=%=q how=q--
> 1 busy 0 held listed fence=90 left=9000
40 < busy a fence=90 ttl=9s text=t%x4 first=1 second=3
> op token a seq=4 ttl=30000 client=t%x1 other=t%x1 how=ecr
50 < busy a fence=90 ttl=9s text=t%x4 first=1
60 < renewed a fence=90 ttl=30s text=t%x5 first=1
> 2 done 1 held own meant fence=90 left=30000 depth=5 token=t

== counted: another token has it
0 ready 2
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < busy a fence=90 ttl=9s text=u%x1 first=1 second=2
> 1 busy 0 held own fence=90 left=9000 depth=1 token=u
30 token 1 release a token=t px=30s match=counted
> op token a seq=2 ttl=30000 client=t%x1 how=rcr
40 < lost a fence=90 ttl=9s text=u%x1 first=1 second=2
> 1 others 0 held own fence=90 left=9000 depth=1 token=u

== counted: a hold that nobody was told of is not counted
0 ready 2
10 token 1 acquire a token=t px=30s park=80 either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < busy a fence=90 ttl=9s text=u%x1 first=1 second=2
> 1 busy 0 held own fence=90 left=9000 depth=1 token=u
30 token 1 acquire a token=t px=30s park=80 either match=counted
> op token a seq=2 ttl=30000 client=t%x1 other=t%x1 how=ecr
40 < lost a fence=90 ttl=9s text=u%x1 first=1 second=2
> op claim a seq=3 ttl=30000 client=t%x1 how=q--
130 until
> 120 1 busy 0 held own fence=90 left=9000 depth=1 token=u
# The stand's claim is under way, so a hold of this token may be its.
140 token 1 acquire a token=t px=30s park=80 either match=counted
> op claim a seq=4 ttl=30000 client=t%x1 other=t%x1 how=ecr
150 < granted a fence=100
> op token a seq=3 how=u--
160 < busy a fence=100 ttl=30s text=t%x1 first=1 second=3
> 1 busy 0 held own meant fence=100 left=30000 depth=1 token=t

== counted: an answer that was lost
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
30 token 1 release a token=t px=30s match=counted
> op token a seq=2 ttl=30000 client=t%x1 how=rcr
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op token a seq=1 client=t%x1 how=qa-

== counted: answers that were lost, to as many returns as it has levels
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < busy a fence=100 ttl=30s text=t%x1 first=1 second=3
> op token a seq=2 ttl=30000 client=t%x1 other=t%x1 how=ecr
25 < renewed a fence=100 ttl=30s text=t%x2
> 1 done 1 held own meant fence=100 left=30000 depth=2 token=t
30 token 1 release a token=t px=30s match=counted
> op token a seq=3 ttl=30000 client=t%x1 how=rcr
40 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op retain a seq=2 ttl=29985 fence=100 client=t%x2
50 token 1 release a token=t px=30s match=counted
> op token a seq=4 ttl=30000 client=t%x1 how=rcr
60 < unknown a
60 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again
> op token a seq=2 client=t%x2 how=qa-

== counted: taken once more, and told too late
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
30 token 1 acquire a token=t px=50 either match=counted
> op token a seq=2 ttl=50 client=t%x1 other=t%x1 how=ecr
100 < renewed a fence=100 ttl=50 text=t%x2
> op token a seq=2 how=u--
> 1 busy 0 free fence=100 left=50 token=t%x2
110 < ended a
# It is over, and not written again.
120 guard pending id:1
> log guard-pending node=0 cause=replica wait=13600 down=110

== counted: a level is given back under a latch
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < busy a fence=100 ttl=30s text=t%x1 first=1 second=3
> op token a seq=2 ttl=30000 client=t%x1 other=t%x1 how=ecr
25 < renewed a fence=100 ttl=30s text=t%x2
> 1 done 1 held own meant fence=100 left=30000 depth=2 token=t
30 token 1 release a token=t px=30s match=counted latch=c0ffee
> op token a seq=3 ttl=30000 client=t%x1%yc0ffee how=rcr
40 < renewed a fence=100 ttl=30s text=t%x1%yc0ffee
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
50 token 1 acquire a token=t px=30s either match=counted
> op token a seq=4 ttl=30000 client=t%x1 other=t%x1 how=ecr
60 < renewed a fence=100 ttl=30s text=t%x2%yc0ffee
> 1 done 1 held own meant fence=100 left=30000 depth=2 token=t

== counted: Redis is away, and surely nothing was done
0 ready 1
10 token 1 acquire a token=t px=30s either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < unsent a
20000 until
> 2010 1 ERR unavailable Redis did not answer in time; try again (undone)

== counted: handed over, if its depth is 1
0 ready 2
10 token 1 acquire a token=t px=30s park=80 either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
30 token 2 acquire a token=u px=30s park=5s either match=counted
> op claim a seq=2 ttl=30000 client=u%x1 other=u%x1 how=ecr
40 < busy a fence=100 ttl=30s text=t%x1 first=1 second=2
> 2 busy 0 held own fence=100 left=30000 depth=1 token=t
50 token 2 acquire a token=u px=30s park=5s either match=counted
> op token a seq=3 ttl=30000 client=u%x1 other=u%x1 how=ecr
60 < lost a fence=100 ttl=30s text=t%x1 first=1 second=2
> op claim a seq=4 ttl=30000 client=u%x1 how=q--
70 < busy a fence=100 ttl=30s text=t%x1 first=1 second=2
80 token 1 release a token=t px=30s match=counted
> op pass a seq=5 ttl=30000 client=t%x1 other=u%x1 stand=4
90 < granted a fence=110 first=100
> 1 done 1 held own meant listed fence=100 left=0 token=t
> 2 done 1 held own meant fence=110 left=30000 depth=1 token=u

== counted: another broker has counted it meanwhile
0 ready 2
10 token 1 acquire a token=t px=30s park=80 either match=counted
> op claim a seq=1 ttl=30000 client=t%x1 other=t%x1 how=ecr
20 < granted a fence=100
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
30 token 2 acquire a token=u px=30s park=5s either match=counted
> op claim a seq=2 ttl=30000 client=u%x1 other=u%x1 how=ecr
40 < busy a fence=100 ttl=30s text=t%x1 first=1 second=2
> 2 busy 0 held own fence=100 left=30000 depth=1 token=t
50 token 2 acquire a token=u px=30s park=5s either match=counted
> op token a seq=3 ttl=30000 client=u%x1 other=u%x1 how=ecr
60 < lost a fence=100 ttl=30s text=t%x1 first=1 second=2
> op claim a seq=4 ttl=30000 client=u%x1 how=q--
70 < busy a fence=100 ttl=30s text=t%x1 first=1 second=2
80 token 1 release a token=t px=30s match=counted
> op pass a seq=5 ttl=30000 client=t%x1 other=u%x1 stand=4
90 < lost a fence=100 ttl=30s text=t%x2 first=1 second=2
> op token a seq=6 ttl=30000 client=t%x1 how=rcr
> op claim a seq=4 ttl=30000 client=u%x1 how=q--
100 < renewed a fence=100 ttl=30s text=t%x1 first=1
> 1 done 1 held own meant listed fence=100 left=30000 depth=1 token=t

== listening: its place is kept, and it is told when it has its turn
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
25 < busy a fence=100 ttl=5s text=x first=1
30 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
40 < lost a fence=100 ttl=5s text=x first=1
> 1 busy 0 held listed fence=100 left=5000
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
# Another program comes too early; then the thread that was told.
80 token 3 acquire a token=q:1 px=30s park=10s either match=counted program=1 audience=8
> 3 busy 0 held listed left=240
90 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=4 ttl=30000 client=%=p other=p:1%x1 how=exr
> op claim a seq=5 ttl=500 client=%=q how=q--
100 < renewed a fence=111 ttl=30s text=p:1%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:1
110 < busy a fence=111 ttl=30s text=p:1%x1 first=1 second=2
120 token 1 release a token=p:1 px=30s match=counted
> op pass a seq=6 ttl=500 client=p:1%x1 other=%=q stand=5
130 < granted a fence=120 first=111
> 1 done 1 held own meant listed fence=111 left=0 token=p:1
> 0 @8 done 1 held own meant fence=120 left=500 token=%=q

== listening: Redis does not answer, and it is told all the same
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < unknown a
> op token a seq=2 how=u--
40 < gone a
100 until
> 80 op claim a seq=3 ttl=500 client=%=p how=q--
110 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p

== listening: nobody comes, and the next one has its turn
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 3 acquire a token=q:1 px=30s park=10s either match=counted program=1 audience=8
> op token a seq=3 ttl=30000 client=q:1%x1 other=q:1%x1 how=ecr
50 < busy a fence=100 ttl=5s text=x first=1
> 3 busy 0 held listed fence=100 left=5000
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
600 until
> 320 op token a seq=2 how=u--
> 320 0 @9 absent 0 free
> 320 op claim a seq=4 ttl=500 client=%=q how=q--
610 < ended a
620 < granted a fence=120
> 0 @8 done 1 held own meant fence=120 left=500 token=%=q

== listening: one thread uses the turn of another, which gets its place
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
50 < gone a
> 1 busy 0 free listed
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
80 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=4 ttl=30000 client=%=p other=p:2%x1 how=exr
> op claim a seq=5 ttl=290 client=%=p how=q--
90 < renewed a fence=111 ttl=30s text=p:2%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:2
100 < busy a fence=111 ttl=30s text=p:2%x1 first=1 second=2
110 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=6 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
120 < lost a fence=111 ttl=30s text=p:2%x1 first=1 second=2
> 1 busy 0 held own listed fence=111 left=30000 depth=1 token=p:2
130 token 1 release a token=p:2 px=30s match=counted
> op pass a seq=7 ttl=290 client=p:2%x1 other=%=p stand=5
140 < ended a fence=111 text=p:2%x1 first=1 second=3
> 1 done 1 held own meant listed fence=111 token=p:2
150 message given 5 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=5 ttl=290 client=%=p how=q--
160 < granted a fence=120
> 0 @9 done 1 held own meant fence=120 left=290 token=%=p
170 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=8 ttl=30000 client=%=p other=p:1%x1 how=exr
180 < renewed a fence=120 ttl=30s text=p:1%x1
> 1 done 1 held own meant fence=120 left=30000 depth=1 token=p:1

== listening: who goes on in the place of another is told for as long as it sleeps
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=20s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=20000
25 < busy a fence=100 ttl=20s text=x first=1
30 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
40 < lost a fence=100 ttl=20s text=x first=1
> 1 busy 0 held listed fence=100 left=20000
45 token 1 acquire a token=p:2 px=30s park=500ms either match=counted program=1 audience=9
> op token a seq=4 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
50 < lost a fence=100 ttl=20s text=x first=1
> 1 busy 0 held listed fence=100 left=20000
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
80 token 1 acquire a token=p:2 px=30s park=500ms either match=counted program=1 audience=9
> op token a seq=5 ttl=30000 client=%=p other=p:2%x1 how=exr
> op claim a seq=6 ttl=290 client=%=p how=q--
90 < renewed a fence=111 ttl=30s text=p:2%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:2
100 < busy a fence=111 ttl=30s text=p:2%x1 first=1 second=2
5000 token 1 release a token=p:2 px=30s match=counted
> op pass a seq=7 ttl=290 client=p:2%x1 other=%=p stand=6

== listening: a thread that has not waited does not use the turn of another
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
80 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> 1 busy 0 held listed left=240
100 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=%=p other=p:1%x1 how=exr
> op claim a seq=4 ttl=370 client=%=p how=q--
110 < renewed a fence=111 ttl=30s text=p:1%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:1
120 < busy a fence=111 ttl=30s text=p:1%x1 first=1 second=2
150 message given 4 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=4 ttl=370 client=%=p how=q--
160 < granted a fence=120
> 0 @9 done 1 held own meant fence=120 left=370 token=%=p

== listening: who is granted the name is told no more
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
50 < gone a
> op claim a seq=4 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
60 < granted a fence=111
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:1
> op token a seq=2 how=u--
70 < ended a
15s until
> 10060 op retain a seq=4 ttl=20000 fence=111 client=p:1%x1

== listening: nobody listens any more
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
50 < gone a
> 1 busy 0 free listed
# Of another audience nobody does any more; then of this one.
55 unheard a 8
60 unheard a 9
> op token a seq=2 how=u--
70 < ended a
15s until

== listening: nobody listens any more while the name is kept
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
40 unheard a 9
> op token a seq=2 how=u--
50 < ended a
60 token 3 acquire a token=q px=30s park=80
> op claim a seq=3 ttl=30000 client=q other=q how=e-r

== listening: while the name is kept, others are refused without asking Redis
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
# Those of other libraries, those that nobody tells, and one that comes back.
40 token 3 acquire a token=t px=30s
> 3 busy 0 held left=240
50 token 3 acquire a token=q:1 px=30s park=80 either match=counted program=1
> 3 busy 0 held left=230
60 token 3 acquire a token=u px=30s park=80
> 3 busy 0 held left=220
70 token 3 acquire a token=u px=30s park=80
# The last moment.
279 token 3 acquire a token=t px=30s
> 3 busy 0 free left=0
> 3 busy 0 held left=1
280 token 3 acquire b token=t px=30s
> op token a seq=2 how=u--
> 0 @9 absent 0 free
> op claim b seq=3 ttl=30000 client=t other=t how=e-r
290 < ended a
400 until

== listening: a thread that has come since has the turn when it waits
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
40 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> 1 busy 0 held listed left=240
50 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> 1 busy 0 held listed left=230
# It has heard the message that was for the other one.
60 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=%=p other=p:2%x1 how=exr
> op claim a seq=4 ttl=370 client=%=p how=q--
70 < renewed a fence=111 ttl=30s text=p:2%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:2
80 < busy a fence=111 ttl=30s text=p:2%x1 first=1 second=2
90 token 1 release a token=p:2 px=30s match=counted
> op pass a seq=5 ttl=370 client=p:2%x1 other=%=p stand=4
100 < granted a fence=120 first=111
> 1 done 1 held own meant listed fence=111 left=0 token=p:2
> 0 @9 done 1 held own meant fence=120 left=370 token=%=p

== listening: a thread that was passed is passed by none that was not
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
25 < busy a fence=100 ttl=5s text=x first=1
30 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
40 < busy a fence=100 ttl=5s text=x first=1
> 1 busy 0 held listed fence=100 left=5000
50 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
60 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
70 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=4 ttl=30000 client=%=p other=p:2%x1 how=exr
> op claim a seq=5 ttl=290 client=%=p how=q--
80 < renewed a fence=111 ttl=30s text=p:2%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:2
90 < busy a fence=111 ttl=30s text=p:2%x1 first=1 second=2
100 token 3 acquire a token=p:3 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=6 ttl=30000 client=p:3%x1 other=p:3%x1 how=ecr
110 < busy a fence=111 ttl=30s text=p:2%x1 first=1 second=2
> 3 busy 0 held own listed fence=111 left=30000 depth=1 token=p:2
120 token 1 release a token=p:2 px=30s match=counted
> op pass a seq=7 ttl=290 client=p:2%x1 other=%=p stand=5
130 < granted a fence=120 first=111
> 1 done 1 held own meant listed fence=111 left=0 token=p:2
> 0 @9 done 1 held own meant fence=120 left=290 token=%=p
140 token 3 acquire a token=p:3 px=30s park=10s either match=counted program=1 audience=9
> 0 @9 absent 0 free
> 3 busy 0 held listed left=30
150 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=8 ttl=30000 client=%=p other=p:1%x1 how=exr
> op claim a seq=9 ttl=330 client=%=p how=q--
160 < renewed a fence=120 ttl=30s text=p:1%x1
> 1 done 1 held own meant fence=120 left=30000 depth=1 token=p:1

== listening: a name is kept for four times the last answer
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
40 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=%=p other=p:1%x1 how=exr
50 < renewed a fence=111 ttl=30s text=p:1%x1
> 1 done 1 held own meant fence=111 left=30000 depth=1 token=p:1
60 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=4 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
70 < lost a fence=111 ttl=30s text=p:1%x1 first=1 second=2
> op claim a seq=5 ttl=290 client=%=p how=q--
> 1 busy 0 held own listed fence=111 left=30000 depth=1 token=p:1
80 < busy a fence=111 ttl=30s text=p:1%x1 first=1 second=2
90 token 1 release a token=p:1 px=30s match=counted
> op pass a seq=6 ttl=290 client=p:1%x1 other=%=p stand=5
100 < granted a fence=120 first=111
> 1 done 1 held own meant listed fence=111 left=0 token=p:1
> 0 @9 done 1 held own meant fence=120 left=290 token=%=p
# It comes at once, so the next time it is 20 ms.
101 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=7 ttl=30000 client=%=p other=p:2%x1 how=exr
110 < renewed a fence=120 ttl=30s text=p:2%x1
> 1 done 1 held own meant fence=120 left=30000 depth=1 token=p:2
120 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=8 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
130 < lost a fence=120 ttl=30s text=p:2%x1 first=1 second=2
> op claim a seq=9 ttl=270 client=%=p how=q--
> 1 busy 0 held own listed fence=120 left=30000 depth=1 token=p:2
140 < busy a fence=120 ttl=30s text=p:2%x1 first=1 second=2
150 token 1 release a token=p:2 px=30s match=counted
> op pass a seq=10 ttl=270 client=p:2%x1 other=%=p stand=9
160 < granted a fence=130 first=120
> 1 done 1 held own meant listed fence=120 left=0 token=p:2
> 0 @9 done 1 held own meant fence=130 left=270 token=%=p
# It does not come, and then has all of the time.
179 until
200 until
> 180 op token a seq=10 how=u--
> 180 0 @9 absent 0 free
210 < ended a
220 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=11 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
230 < lost a fence=140 ttl=5s text=x first=1
> op claim a seq=12 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=140 left=5000
240 < busy a fence=140 ttl=5s text=x first=1

== listening: who does not come loses the turns of all its threads, and no place
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
25 < busy a fence=100 ttl=5s text=x first=1
30 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
40 < busy a fence=100 ttl=5s text=x first=1
> 1 busy 0 held listed fence=100 left=5000
50 token 3 acquire a token=q:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=4 ttl=30000 client=q:1%x1 other=q:1%x1 how=ecr
60 < busy a fence=100 ttl=5s text=x first=1
> 3 busy 0 held listed fence=100 left=5000
65 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
330 until
> 320 op token a seq=2 how=u--
> 320 0 @9 absent 0 free
> 320 op claim a seq=5 ttl=500 client=%=q how=q--
340 < ended a
350 < granted a fence=120
> 0 @9 done 1 held own meant fence=120 left=500 token=%=q
# It comes too late, and is before the other one all the same.
360 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=1 audience=9
> 1 busy 0 held listed left=240
370 token 3 acquire a token=q:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=6 ttl=30000 client=%=q other=q:1%x1 how=exr
> op claim a seq=7 ttl=500 client=%=p how=q--
380 < renewed a fence=120 ttl=30s text=q:1%x1
> 3 done 1 held own meant fence=120 left=30000 depth=1 token=q:1
390 < busy a fence=120 ttl=30s text=q:1%x1 first=1
400 token 3 acquire a token=q:2 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=8 ttl=30000 client=q:2%x1 other=q:2%x1 how=ecr
410 < busy a fence=120 ttl=30s text=q:1%x1 first=1
> 3 busy 0 held listed fence=120 left=30000
420 token 3 release a token=q:1 px=30s match=counted
> op pass a seq=9 ttl=500 client=q:1%x1 other=%=p stand=7
430 < granted a fence=130 first=120
> 3 done 1 held own meant listed fence=120 left=0 token=q:1
> 0 @9 done 1 held own meant fence=130 left=500 token=%=p

== listening: a thread gives up
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=3 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p:1 how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 1 acquire a token=p:2 px=30s park=10s either match=counted program=3 audience=8
> op token a seq=3 ttl=30000 client=p:2%x1 other=p:2%x1 how=ecr
50 < busy a fence=100 ttl=5s text=x first=1
> 1 busy 0 held listed fence=100 left=5000
# The second one keeps its place.
60 token 3 @5 acquire a token=p:1 awaits match=counted
> 3 @5 busy 0 native
70 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p:2 how=q--
80 < granted a fence=111
> 0 @8 done 1 held own meant fence=111 left=500 token=%=p:2
# It has its turn, and wants it no more.
90 token 3 @6 acquire a token=p:2 awaits match=counted
> op token a seq=2 how=u--
> 3 @6 busy 0 native
100 < ended a
15s until

== listening: nobody listens for one of two names any more
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 1 acquire b token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim b seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
50 < busy b fence=100 ttl=5s text=x first=1
> op claim b seq=4 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
60 < busy b fence=100 ttl=5s text=x first=1
70 unheard a 9
> op token a seq=2 how=u--
80 < ended a
100 message given 4 110 1000000 60000 0123456789abcdef 0 b
> op claim b seq=4 ttl=500 client=%=p how=q--
110 < granted b fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p

== listening: one that listens no more, as another one does, takes nothing with it
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=8
> op token a seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
50 < lost a fence=100 ttl=5s text=x first=1
> 1 busy 0 held listed fence=100 left=5000
70 unheard a 9
80 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
90 < granted a fence=111
> 0 @8 done 1 held own meant fence=111 left=500 token=%=p

== listening: a thread that does not come back loses its place
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=60s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=60000
30 < busy a fence=100 ttl=60s text=x first=1
9s until
9000 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
9010 < lost a fence=100 ttl=51s text=x first=1 second=2
> 1 busy 0 held own listed fence=100 left=51000 token=x
10100 until
> 10030 op claim a seq=2 ttl=500 client=%=p how=q--
10110 < busy a fence=100 ttl=50s text=x first=1
22s until
> 20110 op claim a seq=2 ttl=500 client=%=p how=q--

== listening: the thread takes its turn at another broker, which keeps nothing
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=80 either match=counted program=1
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=900 text=%=p first=1 second=2
> op token a seq=2 ttl=30000 client=%=p other=p:1%x1 how=exr
30 < renewed a fence=100 ttl=30s text=p:1%x1
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=p:1

== listening: two threads take one turn at another broker, and one gets it
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=80 either match=counted program=1
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=900 text=%=p first=1 second=2
> op token a seq=2 ttl=30000 client=%=p other=p:1%x1 how=exr
30 < lost a fence=100 ttl=30s text=p:2%x1 first=1 second=2
> 1 busy 0 held own fence=100 left=30000 depth=1 token=p:2

== listening: another broker has let a thread take its turn, and the next one is due
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
40 token 3 acquire a token=q:1 px=30s park=10s either match=counted program=1 audience=8
> op token a seq=3 ttl=30000 client=q:1%x1 other=q:1%x1 how=ecr
50 < lost a fence=100 ttl=5s text=x first=1
> 3 busy 0 held listed fence=100 left=5000
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
80 message took 2 a
> op claim a seq=4 ttl=500 client=%=q how=q--
90 < busy a fence=111 ttl=30s text=p:1%x1 first=1 second=2
# Nobody is told that no thread has come.
3s until

== listening: a thread that comes too late has its place yet
0 ready 3
10 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op claim a seq=1 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
20 < busy a fence=100 ttl=5s text=x first=1
> op claim a seq=2 ttl=500 client=%=p how=q--
> 1 busy 0 held listed fence=100 left=5000
30 < busy a fence=100 ttl=5s text=x first=1
60 message given 2 110 1000000 60000 0123456789abcdef 0 a
> op claim a seq=2 ttl=500 client=%=p how=q--
70 < granted a fence=111
> 0 @9 done 1 held own meant fence=111 left=500 token=%=p
600 until
> 320 op token a seq=2 how=u--
> 320 0 @9 absent 0 free
610 < ended a
620 token 1 acquire a token=p:1 px=30s park=10s either match=counted program=1 audience=9
> op token a seq=3 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
630 < gone a
> op claim a seq=4 ttl=30000 client=p:1%x1 other=p:1%x1 how=ecr
640 < granted a fence=120
> 1 done 1 held own meant fence=120 left=30000 depth=1 token=p:1

== whoever asks is told that a name that is only kept is free
0 ready 1
10 token 1 query a token=t1
> op token a seq=1 client=t1 how=qxr
20 < value a fence=100 ttl=900 text=%=p first=1 second=2
> 1 done 0 free
30 token 1 query a token=t1
> op token a seq=2 client=t1 how=qxr
40 < value a fence=100 ttl=900 text=%|eve first=1
> 1 done 0 free
50 token 1 query a b
> op token a seq=3 how=qxr
> op token b seq=4 how=qxr
60 < value a fence=100 ttl=900 text=% first=1
60 < value b fence=100 ttl=900 text=t2 first=1 second=2
> 1 done 1 free left=900
# It is not, if that is for a keep= or delay=.
70 token 1 query a token=t1
> op token a seq=5 client=t1 how=qxr
80 < value a fence=100 ttl=900 text=%|% first=1
> 1 done 1 held fence=100 left=900
