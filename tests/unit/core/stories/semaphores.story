# Semaphores: permits that are taken, handed over, lost and given back.

== taken and given back
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 1 @2 RELEASE s
> op hold s seq=2 have=1 by=1000009908 limit=2
10 < kept s first=1 second=1
> 1 @2 OK permits=1
10 1 @3 RELEASE s n=2
> 1 @3 ERR not-held this session holds 1 permits of it
10 1 @4 RELEASE s
> op hold s seq=3 limit=2
10 < kept s second=2
> 1 @4 OK permits=0
10 1 @5 RELEASE s
> 1 @5 ERR not-held this session holds 0 permits of it
20010 until

== handed over without the store
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2
10 3 @1 ACQUIRE s limit=2
10 1 @2 RELEASE s n=2
> 1 @2 OK permits=0
> 2 @1 OK permits=1 free=1
> 3 @1 OK permits=1 free=0
10 1 @3 ACQUIRE s limit=2
10 gone 2
> 1 @3 OK permits=1 free=0

== a large request is not passed
config handovers=4 holds=8 waiters=8
0 ready 4
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2 n=2
10 3 @1 ACQUIRE s limit=2
10 4 @1 ACQUIRE s limit=2 wait=0
> 4 @1 BUSY
# One permit is not enough for it, and another broker might use it.
10 1 @2 RELEASE s
> op take s seq=2 have=1 need=2 want=2 limit=2 queue

== the queue of the store
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
10 < queued s ttl=4000
10 2 @1 ACQUIRE s limit=2 wait=0
> 2 @1 BUSY
# The broker looks when what another has runs out.
4020 until
> 4012 op take s seq=2 need=1 want=1 limit=2 queue
4020 < queued s
# A message is a hint, and no grant.
4020 message permit 0 s
> op take s seq=3 need=1 want=1 limit=2 queue
4020 < taken s first=1 second=1
> 1 @1 OK permits=1 free=1
4020 message permit 0 s
4020 message permit 0 other
4020 message permit 7 s

== a place that nobody needs
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2 wait=100
> op take s seq=1 need=1 want=1 limit=2 queue
10 < queued s
110 until
> 110 1 @1 TIMEOUT
> 110 op hold s seq=2 limit=2
110 < kept s

== turns
config handovers=4 holds=8 waiters=8
0 ready 6
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 message permit-wanted 0 s
10 2 @1 ACQUIRE s limit=2 n=2
10 gone 1
> 2 @1 OK permits=2 free=0
10 3 @1 ACQUIRE s limit=2 n=2
10 gone 2
> 3 @1 OK permits=2 free=0
10 4 @1 ACQUIRE s limit=2 n=2
10 gone 3
> 4 @1 OK permits=2 free=0
10 5 @1 ACQUIRE s limit=2 n=2
10 gone 4
> 5 @1 OK permits=2 free=0
# Four handovers were its turn.
10 6 @1 ACQUIRE s limit=2
10 gone 5
> op take s seq=2 need=1 want=1 limit=2 queue
10 < queued s waiting

== a message before the reply
config handovers=4 holds=8 waiters=8
0 ready 6
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 message permit-wanted 0 s
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2 n=2
10 gone 1
> 2 @1 OK permits=2 free=0
10 3 @1 ACQUIRE s limit=2 n=2
10 gone 2
> 3 @1 OK permits=2 free=0
10 4 @1 ACQUIRE s limit=2 n=2
10 gone 3
> 4 @1 OK permits=2 free=0
10 5 @1 ACQUIRE s limit=2 n=2
10 gone 4
> 5 @1 OK permits=2 free=0
10 6 @1 ACQUIRE s limit=2 n=2
10 gone 5
> op take s seq=2 need=2 want=2 limit=2 queue

== a turn is a lease at most
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 message permit-wanted 0 s
10 2 @1 ACQUIRE s limit=2
3343 until
> 2176 op hold s seq=2 have=2 by=1000009908 limit=2
3343 < kept s first=2 waiting
6676 until
> 5440 op hold s seq=3 have=2 by=1000012074 limit=2
6676 < kept s first=2 waiting
10009 until
> 8704 op hold s seq=4 have=2 by=1000015338 limit=2
10009 < kept s first=2 waiting
10010 until
10010 1 @2 RELEASE s n=2
> op take s seq=5 need=1 want=1 limit=2 queue
10010 < queued s waiting
> 1 @2 OK permits=0

== unknown outcomes change nothing
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
10 < unknown s
70 until
> 60 op take s seq=2 need=1 want=1 limit=2 queue
70 < taken s first=1 second=1
> 1 @1 OK permits=1 free=1
70 1 @2 RELEASE s
> op hold s seq=3 limit=2
70 < unknown s
> 1 @2 OK permits=0 deferred=1
130 until
> 120 op hold s seq=4 limit=2
130 < kept s

== unknown and given up
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2 wait=100
> op take s seq=1 need=1 want=1 limit=2 queue
10 < unknown s
10 gone 1
70 until
> 60 op hold s seq=2 limit=2
70 < kept s

== at risk and safe again
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
3343 until
> 2176 op hold s seq=2 have=2 by=1000009908 limit=2
5010 until
> 5010 1 !ATRISK s kind=semaphore permits=2 left=4898
5010 < unknown s
5070 until
> 5060 op hold s seq=3 have=2 by=1000009908 limit=2
5070 < kept s first=2
> 1 !SAFE s kind=semaphore permits=2

== lost when nothing is confirmed
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 down
10 2 @1 ACQUIRE s limit=2
9908 until
> 5010 1 !ATRISK s kind=semaphore permits=2 left=4898
> 9908 1 !LOST s kind=semaphore permits=2 reason=unreachable
9908 1 @2 RELEASE s n=2
> 1 @2 ERR not-held this session holds 0 permits of it
9908 up
> op take s seq=2 need=1 want=1 limit=2 queue

== what too few replicas have keeps no permits
# BUSY is told all the same; but polling must not keep what another master may
# have given away.
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
10 < taken s first=1
> 1 @1 OK permits=1 free=0
2000 2 @1 ACQUIRE s limit=2 wait=0
> op take s seq=2 have=1 need=1 want=1 limit=2
2000 < busy s first=1 alone
> 2 @1 BUSY
2209 until
> 2176 op hold s seq=3 have=1 by=1000009908 limit=2
2209 < unknown s
9908 until
> 2259 op hold s seq=4 have=1 by=1000009908 limit=2
> 5010 1 !ATRISK s kind=semaphore permits=1 left=4898
> 9908 1 !LOST s kind=semaphore permits=1 reason=unreachable

== a release that too few replicas have is deferred
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2 n=2
10 1 @2 RELEASE s
> op take s seq=2 have=1 need=2 want=2 limit=2 queue
10 < queued s first=1 alone
> 1 @2 OK permits=1 deferred=1

== lost in the store
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
3343 until
> 2176 op hold s seq=2 have=2 by=1000009908 limit=2
3343 < lost s
> 1 !LOST s kind=semaphore permits=2 reason=taken
> op hold s seq=3 limit=2

== written again on another history
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2
10 guard pending r:1
> log guard-pending node=0 cause=replica wait=13600
> op hold s seq=2 have=2 by=1000009908 limit=2
10 < kept s first=2
10 3 @1 ACQUIRE t limit=2 wait=0
> 3 @1 ERR unavailable no new locks for 13.6 s: Redis has a new dataset (adding the first replica does that); locks that are held are kept
10 1 @2 RELEASE s n=2
> op hold s seq=3 have=1 by=1000009908 limit=2
> 2 @1 OK permits=1 free=1
10 guard pending r:2
> log guard-pending node=0 cause=replica wait=13600
10 < lost s
> 2 !LOST s kind=semaphore permits=1 reason=failover
> 1 @2 OK permits=0
> op hold s seq=4 limit=2

== a late grant is none
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
10010 until
10010 < taken s first=1 second=1
> op take s seq=2 need=1 want=1 limit=2 queue
10010 < taken s first=1 second=1
> 1 @1 OK permits=1 free=1

== bounds
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE s limit=2 hold=500
> op take s seq=1 need=1 want=1 limit=2 queue
10 < taken s first=1 second=1
> 1 @1 OK permits=1 free=1
10 ping 1
> valid 499
10 1 @2 ACQUIRE s limit=2 hold=700
> op take s seq=2 have=1 need=1 want=1 limit=2 queue
10 < taken s first=2
> 1 @2 OK permits=2 free=0
10 ping 1
> valid 699
710 until
> 710 1 !LOST s kind=semaphore permits=2 reason=hold
> 710 op hold s seq=3 limit=2

== mismatches
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=3
> 2 @1 ERR mismatch this semaphore is in use with limit=2
10 2 @2 ACQUIRE t limit=3
> op take t seq=2 need=1 want=1 limit=3 queue
10 3 @1 ACQUIRE t limit=3 wait=0
10 < mismatch t
> 2 @2 ERR mismatch this semaphore is in use with another limit=
> op take t seq=3 need=1 want=1 limit=3
10 < busy t
> 3 @1 BUSY

== who does not wait for redis
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
10 < refused s text=refused
10 2 @1 ACQUIRE s limit=2 wait=0
> 2 @1 ERR unavailable refused
10 drain 1
> 1 @1 CANCELLED
1010 until
> 687 op hold s seq=2 limit=2
1010 < kept s
1010 2 @2 ACQUIRE s limit=2 wait=0
> op take s seq=3 need=1 want=1 limit=2
1010 down
1010 < unsent s
3010 until
> 3010 2 @2 ERR unavailable Redis cannot be used

== cancelled
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2
10 cancel 2 1 2
> 2 @1 CANCELLED
> 2 @2 OK
10 cancel 2 1 3
> 2 @3 ERR not-found no request with that tag is waiting

== stopping
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2 n=2
> op take s seq=1 need=2 want=2 limit=2 queue
10 < taken s first=2
> 1 @1 OK permits=2 free=0
10 2 @1 ACQUIRE s limit=2
10 stop
> 1 !SHUTDOWN
> 2 !SHUTDOWN
> 2 @1 ERR shutdown the broker is stopping; try another one
> op hold s seq=2 limit=2
10 stopped?
> no
10 2 @2 ACQUIRE s limit=2
> 2 @2 ERR shutdown the broker is stopping; try another one
10 < kept s
> op idle

== a clock gains, and a client that is not there counts on its valid=: they stay
config handovers=4 holds=8 waiters=8
0 ready 1
0 open 2 tcp
10 2 @1 ACQUIRE s limit=3 n=2
> op take s seq=1 need=2 want=2 limit=3 queue
10 < taken s first=2
> 2 @1 OK permits=2 free=0
500 ping 2
> valid 9407
600 gone 2
1000 guard blessed
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 2 !LOST s kind=semaphore permits=2 reason=unreachable
> op hold s seq=2 have=2 by=1003612908 limit=3
1020 < kept s first=2
1100 1 @1 ACQUIRE s limit=4
> 1 @1 ERR mismatch this semaphore is in use with limit=3
1100 1 @2 ACQUIRE s limit=3
> op take s seq=3 have=2 need=1 want=1 limit=3 queue
1110 < taken s first=3
> 1 @2 OK permits=1 free=0
1120 1 @3 ACQUIRE s limit=3
1120 1 @4 ACQUIRE s limit=3 wait=0
> 1 @4 BUSY
4500 until
> 4352 op hold s seq=4 have=3 by=1003610998 limit=3
4500 < kept s first=3
4600 1 @5 RELEASE s
> 1 @5 OK permits=0
> 1 @3 OK permits=1 free=0
4700 1 @6 ACQUIRE s limit=3 n=2
7700 until
> 7616 op hold s seq=5 have=3 by=1003614250 limit=3
7700 < kept s first=3
12907 until
> 10880 op hold s seq=6 have=3 by=1003617514 limit=3
> 12616 1 !ATRISK s kind=semaphore permits=1 left=4898
# The operation in flight said that they stay.
12910 cancel 1 6
> 1 @6 CANCELLED
12920 < kept s first=3
> 1 !SAFE s kind=semaphore permits=1
> op hold s seq=7 have=1 by=1003620778 limit=3
12925 < kept s first=1 second=2
12930 1 @7 ACQUIRE s limit=3 n=2
> op take s seq=8 have=1 need=2 want=2 limit=3 queue
12930 < taken s first=3
> 1 @7 OK permits=3 free=0

== the same, while an operation is in flight
config handovers=4 holds=8 waiters=8
0 ready 1
0 open 2 tcp
10 2 @1 ACQUIRE s limit=5 n=2
> op take s seq=1 need=2 want=2 limit=5 queue
10 < taken s first=2
> 2 @1 OK permits=2 free=0
20 1 @1 ACQUIRE s limit=5
> op take s seq=2 have=2 need=1 want=1 limit=5 queue
20 < taken s first=3
> 1 @1 OK permits=1 free=0
500 ping 2
> valid 9417
600 gone 2
1000 guard blessed
1005 1 @2 ACQUIRE s limit=5
> op take s seq=3 have=3 need=1 want=1 limit=5 queue
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 2 !LOST s kind=semaphore permits=2 reason=unreachable
> 1 !LOST s kind=semaphore permits=1 reason=unreachable
1030 < taken s first=4
> op take s seq=4 have=2 need=1 want=1 limit=5 queue
1040 < taken s first=3
> 1 @2 OK permits=1 free=0
1050 1 @3 RELEASE s
> op hold s seq=5 have=2 by=1003612918 limit=5
1060 < kept s first=2
> 1 @3 OK permits=0
1070 until

== the same, and the store no longer has them
config handovers=4 holds=8 waiters=8
0 ready 1
0 open 2 tcp
10 2 @1 ACQUIRE s limit=3 n=2
> op take s seq=1 need=2 want=2 limit=3 queue
10 < taken s first=2
> 2 @1 OK permits=2 free=0
500 ping 2
> valid 9407
600 gone 2
1000 guard blessed
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 2 !LOST s kind=semaphore permits=2 reason=unreachable
> op hold s seq=2 have=2 by=1003612908 limit=3
1020 < lost s
> op hold s seq=3 limit=3
1030 < kept s
1100 1 @1 ACQUIRE s limit=3 n=3
> op take s seq=4 need=3 want=3 limit=3 queue
1110 < taken s first=3
> 1 @1 OK permits=3 free=0

== a client that is there counts on nothing once it was told of the loss
config handovers=4 holds=8 waiters=8
0 ready 1
0 open 2 tcp
10 2 @1 ACQUIRE s limit=3 n=2
> op take s seq=1 need=2 want=2 limit=3 queue
10 < taken s first=2
> 2 @1 OK permits=2 free=0
500 ping 2
> valid 9407
1000 guard blessed
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 2 !LOST s kind=semaphore permits=2 reason=unreachable
> op hold s seq=2 limit=3

== what was left is given back, even if the operation that says so is not sent
config handovers=4 holds=8 waiters=8
0 ready 1
0 open 2 tcp
10 2 @1 ACQUIRE s limit=3 n=2
> op take s seq=1 need=2 want=2 limit=3 queue
10 < taken s first=2
> 2 @1 OK permits=2 free=0
500 ping 2
> valid 9407
600 gone 2
1000 guard blessed
1010 clock 3600000
1020 guard blessed
> log clock-gained node=0
> 2 !LOST s kind=semaphore permits=2 reason=unreachable
> op hold s seq=2 have=2 by=1003612908 limit=3
1030 < kept s first=2
12900 1 @1 ACQUIRE s limit=3
> op take s seq=3 have=2 need=1 want=1 limit=3 queue
12905 cancel 1 1
> 1 @1 CANCELLED
12910 < unsent s
13200 until
> 12960 op hold s seq=4 limit=3

== more permits than there are: no answer
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE s limit=2
> op take s seq=1 need=1 want=1 limit=2 queue
10 < taken s first=3

== slots are handed on
config handovers=4 holds=8 waiters=8
0 ready 4
10 1 @1 ACQUIRE g limit=3 slot
> op take g seq=1 other=1: need=1 want=1 limit=3 queue
10 < taken g first=1 second=2 text=0
> 1 @1 OK permits=1 free=2 slot=0
10 2 @1 ACQUIRE g limit=3 slot
> op take g seq=2 have=1 other=1:0, need=1 want=1 limit=3 queue
10 < taken g first=2 second=1 text=0,1
> 2 @1 OK permits=1 free=1 slot=1
10 1 @2 ACQUIRE g limit=3 slot
> 1 @2 ERR exists this session has a slot of it already
10 3 @1 ACQUIRE g limit=3 slot n=2
> 3 @1 ERR bad-option slot=yes takes one permit
10 3 @2 ACQUIRE h limit=1025 slot
> 3 @2 ERR bad-option slot=yes takes a limit= of at most 512
10 3 @3 ACQUIRE g limit=3
> op take g seq=3 have=2 other=0:0,1, need=1 want=1 limit=3 queue
10 < taken g first=3 text=0,1
> 3 @3 OK permits=1 free=0
10 4 @1 ACQUIRE g limit=3 slot
# The slot of the one that gives back is the next one's.
10 1 @3 RELEASE g
> 1 @3 OK permits=0
> 4 @1 OK permits=1 free=0 slot=0
# A permit without a slot is no help to who wants one.
10 1 @4 ACQUIRE g limit=3 slot
10 3 @4 RELEASE g
> op take g seq=4 have=2 other=1:0,1, need=1 want=1 limit=3 queue
10 < taken g first=3 text=0,1,2
> 3 @4 OK permits=0
> 1 @4 OK permits=1 free=0 slot=2
# A slot that nobody here can use goes back with the permit.
10 2 @2 RELEASE g
> op hold g seq=5 have=2 by=1000009908 other=0:0,2, limit=3
10 < kept g first=2 second=1 text=0,2
> 2 @2 OK permits=0

== slots of a session that has other permits, too
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE g limit=3 n=2
> op take g seq=1 need=2 want=2 limit=3 queue
10 < taken g first=2 second=1
> 1 @1 OK permits=2 free=1
10 1 @2 ACQUIRE g limit=3 slot
> op take g seq=2 have=2 other=1: need=1 want=1 limit=3 queue
10 < taken g first=3 text=2
> 1 @2 OK permits=3 free=0 slot=2
# It is given back last.
10 1 @3 RELEASE g n=2
> op hold g seq=3 have=1 by=1000009908 other=0:2, limit=3
10 < kept g first=1 second=2 text=2
> 1 @3 OK permits=1
10 1 @4 RELEASE g
> op hold g seq=4 other=0: limit=3
10 < kept g second=3
> 1 @4 OK permits=0

== two requests of one session for a slot
config handovers=4 holds=8 waiters=8
0 ready 1
10 1 @1 ACQUIRE g limit=3 slot
> op take g seq=1 other=1: need=1 want=1 limit=3 queue
10 1 @2 ACQUIRE g limit=3 slot
10 < taken g first=1 second=2 text=0
> op take g seq=2 have=1 other=1:0, need=1 want=1 limit=3 queue
> 1 @1 OK permits=1 free=2 slot=0
10 < taken g first=2 second=1 text=0,1
> 1 @2 ERR exists this session has a slot of it already
> op hold g seq=3 have=1 by=1000009908 other=0:0, limit=3
10 < kept g first=1 second=2 text=0

== a slot that another broker has said it has
config handovers=4 holds=8 waiters=8
0 ready 3
10 1 @1 ACQUIRE g limit=3 slot
> op take g seq=1 other=1: need=1 want=1 limit=3 queue
10 2 @1 ACQUIRE g limit=3 slot
10 < taken g first=1 second=2 text=0
> op take g seq=2 have=1 other=1:0, need=1 want=1 limit=3 queue
> 1 @1 OK permits=1 free=2 slot=0
10 < taken g first=2 second=1 text=0,1
> 2 @1 OK permits=1 free=1 slot=1
10 2 @2 ACQUIRE g limit=3
> op take g seq=3 have=2 other=0:0,1, need=1 want=1 limit=3 queue
10 < taken g first=3 second=0 text=0,1
> 2 @2 OK permits=2 free=0
10 guard pending r:1
> log guard-pending node=0 cause=replica wait=13600
> op hold g seq=4 have=3 by=1000009908 other=0:0,1, limit=3
10 < kept g first=3 text=
> 1 !LOST g kind=semaphore permits=1 slot=0 reason=taken
> 2 !LOST g kind=semaphore permits=1 slot=1 reason=taken
> op hold g seq=5 have=1 by=1000009908 other=0: limit=3
10 3 @1 ACQUIRE g limit=3 wait=0

== a slot that is taken before its grant is told
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE g limit=3 slot
> op take g seq=1 other=1: need=1 want=1 limit=3 queue
# Nothing that an answer must have brought is missing from it.
10 < taken g first=1 second=2
1000 until
> 60 op take g seq=2 other=1: need=1 want=1 limit=3 queue
1000 < taken g first=1 second=2 text=7
2000 until
> 1050 op take g seq=3 other=1: need=1 want=1 limit=3 queue
2000 < taken g first=1 second=2 text=junk,2,
> 1 @1 OK permits=1 free=2 slot=2
2000 gone 1
> op hold g seq=4 other=0: limit=3

== a slot that somebody may count on
config handovers=4 holds=8 waiters=8
0 ready 2
10 1 @1 ACQUIRE g limit=3 slot
> op take g seq=1 other=1: need=1 want=1 limit=3 queue
10 < taken g first=1 second=2 text=0
> 1 @1 OK permits=1 free=2 slot=0
10 ping 1
> valid 9897
10 2 @1 ACQUIRE g limit=3 slot
> op take g seq=2 have=1 other=1:0, need=1 want=1 limit=3 queue
10 < taken g first=2 second=1 text=0,1
> 2 @1 OK permits=1 free=1 slot=1
10 gone 1
> op hold g seq=3 have=1 by=1000009908 other=0:1, limit=3
