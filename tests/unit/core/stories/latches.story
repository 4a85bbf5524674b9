# Latches: made once, counted down by anybody, opened for all.

== made counted and opened
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 LATCH l n=3 ttl=1000
> op latch l seq=1 ttl=1000 need=3
10 < made l first=3
> 1 @1 OK count=3
10 2 @1 AWAIT l
> op await l seq=2
10 < shut l first=3
10 1 @2 COUNTDOWN l
> op countdown l seq=3 need=1
10 < counted l first=3 second=2
> 1 @2 OK count=2
10 message open 0 l
> op await l
10 < open l
> 2 @1 OK

== opened by this broker
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 AWAIT l
> op await l seq=1
10 < shut l first=1
10 2 @1 COUNTDOWN l n=5
> op countdown l seq=2 need=5
10 < counted l first=1
> 2 @1 OK count=0
> 1 @1 OK

== a batch is counted together
config handovers=4 holds=8 waiters=8
0 ready 4
10 1 @1 COUNTDOWN l
> op countdown l seq=1 need=1
10 2 @1 COUNTDOWN l n=2
10 3 @1 COUNTDOWN l n=3
10 4 @1 AWAIT l
10 < counted l first=10 second=9
> 1 @1 OK count=9
> op countdown l seq=2 need=5
# Another broker has counted 2 meanwhile.
10 < counted l first=7 second=2
> 2 @1 OK count=5
> 3 @1 OK count=2
> op await l seq=3
10 < shut l first=2

== sent again as it was
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 COUNTDOWN l n=2
> op countdown l seq=1 need=2
10 2 @1 COUNTDOWN l n=3
10 < unknown l
70 until
> 60 op countdown l seq=1 need=2
# The same, though it is certain that it was not carried out this time.
70 < unsent l
130 until
> 120 op countdown l seq=1 need=2
130 < counted l first=9 second=7
> 1 @1 OK count=7
> op countdown l seq=2 need=3
# It was never carried out, so it may go with others.
130 < unsent l
130 1 @2 COUNTDOWN l
190 until
> 180 op countdown l seq=3 need=4

== unavailable
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 COUNTDOWN l n=2
> op countdown l seq=1 need=2
2010 until
2010 2 @1 COUNTDOWN l n=2
# It may have been counted: that is worth as long again.
4010 until
> 4010 1 @1 ERR unavailable Redis did not answer in time; it may have been carried out
> 4010 2 @1 ERR unavailable Redis did not answer in time; try again
4010 < unknown l
14010 until

== not found
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 AWAIT l
> op await l seq=1
10 < gone l
> 1 @1 ERR not-found the latch does not exist; create it with LATCH
10 1 @2 COUNTDOWN l
> op countdown l seq=2 need=1
10 < gone l
> 1 @2 ERR not-found the latch does not exist; create it with LATCH
10 1 @3 LATCH l n=1 ttl=1000
> op latch l seq=3 ttl=1000 need=1
10 < exists l
> 1 @3 ERR exists a latch of this name already exists

== lost while some wait
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 AWAIT l
> op await l seq=1
10 < shut l first=1
# The broker looks once a lease.
10010 until
> 10010 op await l
10010 < gone l
> 1 @1 ERR not-found the latch does not exist; create it with LATCH

== who does not wait
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 AWAIT l wait=0
> op await l seq=1
10 2 @1 AWAIT l wait=300
10 3 @1 AWAIT l
10 drain 3
10 < shut l first=1
> 1 @1 TIMEOUT
> op await l seq=2
10 < shut l first=1
> 3 @1 CANCELLED
310 until
> 310 2 @1 TIMEOUT

== while redis is away
config handovers=4 holds=8 waiters=8
0 ready 4
10 down
10 1 @1 AWAIT l wait=100
10 2 @1 COUNTDOWN l
10 3 @1 AWAIT l
10 4 @1 AWAIT l
10 drain 4
> 4 @1 CANCELLED
2010 until
> 110 1 @1 ERR unavailable Redis cannot be used
> 2010 2 @1 ERR unavailable Redis cannot be used
2010 up
> op await l seq=1
2010 < open l
> 3 @1 OK
