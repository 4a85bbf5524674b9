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
> op retain a seq=1 ttl=29980 fence=100 client=t%x1

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
> 1 done 1 held own meant fence=100 left=0 token=t
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
> 1 done 1 held own meant fence=100 left=30000 depth=1 token=t
