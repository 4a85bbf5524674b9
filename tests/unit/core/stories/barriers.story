# Barriers: parties that wait for each other, generation by generation.

== complete here
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
10 3 @1 BARRIER b limit=3
10 < waiting b first=1 second=1 fence=70
> op arrive b seq=3 fence=70 need=1 limit=3
10 < tripped b first=2 second=1 fence=70
> 1 @1 OK index=2 generation=70
> 2 @1 OK index=1 generation=70
> 3 @1 OK index=0 generation=70
> op leave b seq=3 limit=3 noted
10 < ended b
20010 until

== complete elsewhere
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 message barrier 0 b
> op party b seq=1 fence=70 limit=3
10 < tripped b fence=70
> 1 @1 OK index=2 generation=70
> op leave b seq=1 limit=3 noted
# The next to arrive says as much.
10 1 @2 BARRIER b limit=3
10 < unknown b
70 until
> 60 op arrive b seq=2 need=1 limit=3

== a place is kept and looked after
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
3343 until
> 3343 op party b seq=1 fence=70 limit=3
3343 < waiting b ttl=500 fence=70
# When the place of another party runs out, somebody must notice.
3845 until
> 3845 op party b seq=1 fence=70 limit=3
3845 < broken b fence=70
> 1 @1 ERR broken another party has left the barrier, or Redis has lost it
> op leave b seq=1 limit=3 noted

== it looks after the places that it has
# The data of Redis may go back to those that came before.
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
3300 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
3300 < unsent b
4000 until
> 3350 op party b seq=1 fence=70 limit=3
4000 < waiting b fence=70
> op arrive b seq=3 fence=70 need=1 limit=3
4010 < waiting b first=1 second=1 fence=70
7400 until
> 7343 op party b seq=3 fence=70 limit=3

== a time out breaks it
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3 wait=100
> op arrive b seq=2 fence=70 need=1 limit=3
10 < waiting b first=1 second=1 fence=70
110 until
> 110 op leave b seq=2 fence=70 limit=3
110 < ended b
> 1 @1 ERR broken another party has left the barrier, or Redis has lost it
> 2 @1 TIMEOUT

== too late to leave
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
10 < waiting b first=1 second=1 fence=70
10 cancel 2 1 2
> op leave b seq=2 fence=70 limit=3
10 < tripped b fence=70
> 1 @1 OK index=2 generation=70
> 2 @2 ERR not-found the barrier had tripped before
> 2 @1 OK index=1 generation=70
> op leave b seq=2 limit=3 noted

== it trips under another number
# Data went back, and the number may have been told before.
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
10 < waiting b first=1 second=1 fence=70
10 cancel 2 1 2
> op leave b seq=2 fence=70 limit=3
10 < tripped b fence=80
> 1 @1 OK index=2 generation=80
> 2 @2 ERR not-found the barrier had tripped before
> 2 @1 OK index=1 generation=80
> op leave b seq=2 limit=3 noted

== cancelled
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 cancel 1 1 2
> op leave b seq=1 fence=70 limit=3
10 < unknown b
70 until
> 60 op leave b seq=1 fence=70 limit=3
70 < gone b
> 1 @1 CANCELLED
> 1 @2 OK

== a drop breaks it
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
10 gone 2
10 < waiting b first=1 second=1 fence=70
> op leave b seq=2 fence=70 limit=3
10 < ended b
> 1 @1 ERR broken another party has left the barrier, or Redis has lost it

== a drop before it arrived
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
10 gone 2
10 < unsent b fence=70
70 until

== asked again under the same number
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 2 @1 BARRIER b limit=2
10 < unknown b
70 until
> 60 op arrive b seq=1 need=1 limit=2
70 < waiting b second=1 fence=70
> op arrive b seq=2 fence=70 need=1 limit=2
70 < tripped b first=1 second=1 fence=70
> 1 @1 OK index=1 generation=70
> 2 @1 OK index=0 generation=70
> op leave b seq=2 limit=2 noted

== forgotten before it was known
# Others may have gone on with a generation that had it.
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 < unknown b
10 guard pending p2
> log guard-pending node=0 cause=replica wait=13600
70 until
70 2 @1 BARRIER b limit=2
70 guard blessed
> log guard-ready node=0 after=60
> op arrive b seq=1 limit=2
70 < broken b
> 1 @1 ERR broken Redis has lost the barrier while this party arrived
> op arrive b seq=2 need=1 limit=2

== kept by another history
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=1
> op arrive b seq=1 need=1 limit=1
10 < unknown b
10 guard pending p2
> log guard-pending node=0 cause=replica wait=13600
10 guard blessed
> log guard-ready node=0
70 until
> 60 op arrive b seq=1 limit=1
70 < tripped b second=1 fence=70
> 1 @1 OK index=0 generation=70
> op leave b seq=1 limit=1 noted

== too long unknown
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 < unknown b
10 down
20010 until
20010 up
> op arrive b seq=1 limit=2
20010 < broken b
> 1 @1 ERR broken Redis has lost the barrier while this party arrived
> op leave b limit=2 noted

== the dead do not arrive
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 < unknown b
10 gone 1
# The broker only asks what became of it.
70 until
> 60 op arrive b seq=1 limit=2
70 < waiting b second=1 fence=70
> op leave b seq=1 fence=70 limit=2
70 < ended b

== ours alone and one was answered
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=2 wait=1000
> op arrive b seq=1 need=1 limit=2
10 2 @1 BARRIER b limit=2
10 < unsent b fence=70
70 until
> 60 op arrive b seq=2 need=2 limit=2
70 < unknown b
3070 until
> 120 op arrive b seq=2 need=2 limit=2
> 3010 1 @1 TIMEOUT
3070 < tripped b second=2 fence=70
> 2 @1 ERR broken another party has left the barrier, or Redis has lost it
> op leave b seq=2 limit=2 noted
# The same once more, in the next generation.
3070 1 @2 BARRIER b limit=2 wait=1000
3070 2 @2 BARRIER b limit=2
3070 < unsent b fence=70
3130 until
> 3120 op arrive b seq=3 need=2 limit=2
3130 < unknown b
6130 until
> 3180 op arrive b seq=3 need=2 limit=2
> 6070 1 @2 TIMEOUT
6130 < tripped b second=2 fence=70
> 2 @2 ERR broken another party has left the barrier, or Redis has lost it
> op leave b seq=3 limit=2 noted
# A client that is gone was not answered.
6130 1 @3 BARRIER b limit=2
6130 2 @3 BARRIER b limit=2
6130 < unsent b fence=70
6190 until
> 6180 op arrive b seq=4 need=2 limit=2
6190 gone 1
6190 < tripped b second=2 fence=70
> 2 @3 OK index=0 generation=70
> op leave b seq=4 limit=2 noted

== others may have been told
# The third, at another broker, may have been told that it is complete.
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3 wait=1000
> op arrive b seq=1 need=1 limit=3
10 2 @1 BARRIER b limit=3
10 < unsent b fence=70
70 until
> 60 op arrive b seq=2 need=2 limit=3
70 < unknown b
3070 until
> 120 op arrive b seq=2 need=2 limit=3
> 3010 1 @1 TIMEOUT
3070 < tripped b second=2 fence=70
> 2 @1 OK index=1 generation=70
> op leave b seq=2 limit=3 noted

== ours alone and all are here
# The one that was answered had no place in it.
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=2
> op arrive b seq=2 fence=70 need=1 limit=2
10 3 @1 BARRIER b limit=2 wait=1000
10 < unsent b fence=70
70 until
> 60 op arrive b seq=3 fence=70 need=2 limit=2
3070 until
> 3010 3 @1 TIMEOUT
3070 < tripped b first=1 second=1 fence=70
> 1 @1 OK index=1 generation=70
> 2 @1 OK index=0 generation=70
> op leave b seq=3 limit=2 noted

== one is cancelled while another arrives
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=2
> op arrive b seq=2 fence=70 need=1 limit=2
10 < unknown b
10 down
10 cancel 1 1 2
> 1 @1 CANCELLED
> 1 @2 OK
70 until
70 up
> op arrive b seq=2 fence=70 limit=2
# It must not complete what the other has left.
70 < tripped b first=1 second=1 fence=70
> 2 @1 ERR broken another party has left the barrier, or Redis has lost it
> op leave b seq=2 limit=2 noted

== one has left what another did not reach
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
10 < unknown b
10 down
10 gone 1
70 until
70 up
> op arrive b seq=2 fence=70 limit=3
70 < waiting b fence=70
> op leave b seq=1 fence=70 limit=3
70 < ended b
> op arrive b seq=3 need=1 limit=3

== more than there is room for
config handovers=4 holds=8 waiters=8
0 ready 4
10 1 @1 BARRIER b limit=2
> op arrive b seq=1 need=1 limit=2
10 2 @1 BARRIER b limit=2
10 3 @1 BARRIER b limit=2
10 4 @1 BARRIER b limit=2
10 < waiting b second=1 fence=70
> op arrive b seq=2 fence=70 need=2 limit=2
10 < tripped b first=1 second=1 fence=70
> 1 @1 OK index=1 generation=70
> 2 @1 OK index=0 generation=70
> op arrive b seq=3 need=2 limit=2
10 < tripped b second=2 fence=71
> 3 @1 OK index=1 generation=71
> 4 @1 OK index=0 generation=71
> op leave b seq=3 limit=2 noted

== over before the next could join
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=3
> op arrive b seq=2 fence=70 need=1 limit=3
# It took no place: that generation was over.
10 < broken b fence=70
> 1 @1 ERR broken another party has left the barrier, or Redis has lost it
> op arrive b seq=3 need=1 limit=3

== mismatches
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 2 @1 BARRIER b limit=2
> 2 @1 ERR mismatch others wait at this barrier with parties=3
10 2 @2 BARRIER c limit=2
> op arrive c seq=2 need=1 limit=2
10 < mismatch c first=3
> 2 @2 ERR mismatch others wait at this barrier with another parties=

== who does not wait
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=2 wait=0
> op arrive b seq=1 need=1 limit=2
10 < waiting b second=1 fence=70
> op leave b seq=1 fence=70 limit=2
10 < ended b
> 1 @1 TIMEOUT
10 2 @1 BARRIER b limit=2
> op arrive b seq=2 need=1 limit=2
10 drain 2
10 < waiting b second=1 fence=70
> op leave b seq=2 fence=70 limit=2
10 < ended b
> 2 @1 CANCELLED

== while redis is away
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 down
10 2 @1 BARRIER b limit=3 wait=100
110 until
> 110 2 @1 ERR unavailable Redis cannot be used
110 cancel 1 1 2
> 1 @1 CANCELLED
> 1 @2 OK
110 up
> op leave b seq=1 fence=70 limit=3

== nothing is owed for ever
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b second=1 fence=70
10 down
10 gone 1
20010 until
20010 up

== places that can't be: no answer
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 BARRIER b limit=3
> op arrive b seq=1 need=1 limit=3
10 < waiting b first=3 second=1 fence=70
70 until
> 60 op arrive b seq=1 need=1 limit=3
70 < tripped b second=2 fence=70
