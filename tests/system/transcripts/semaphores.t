# OTHER SYNCHRONIZERS: ACQUIRE and RELEASE.
set limits.holds 3
set limits.waiters 2

== permits are counted for each session, and free ones are told
a> ACQUIRE sem-1 limit=3 permits=2
a< OK permits=2 free=1
b> ACQUIRE sem-1 limit=3
b< OK permits=1 free=0
a> LIST
a< OK lines=1
a: semaphore sem-1 permits=2 age=<N>ms
a> PING
a< OK valid=<*>
a> RELEASE sem-1
a< OK permits=1
b> ACQUIRE sem-1 limit=3
b< OK permits=2 free=0
b> RELEASE sem-1 permits=2
b< OK permits=0
b> LIST
b< OK lines=0
b> PING
b< OK no:valid

== wait=0 answers BUSY and does not queue; wait=D ends in TIMEOUT
a> ACQUIRE sem-2 limit=1
a< OK permits=1 free=0
b> ACQUIRE sem-2 limit=1 wait=0
b< BUSY
time T
b> ACQUIRE sem-2 limit=1 wait=300ms
b< TIMEOUT
since T 299..800
a> ACQUIRE sem-2 limit=1 wait=0
a< BUSY
a> RELEASE sem-2
a< OK permits=0
b.
b> ACQUIRE sem-2 limit=1 wait=0
b< OK permits=1 free=0

== in order of arrival: small requests do not pass a large one
a> ACQUIRE sem-3 limit=3 permits=2
a< OK permits=2 free=1
b> @large ACQUIRE sem-3 limit=3 permits=3
b> PING
b< OK
c> ACQUIRE sem-3 limit=3 wait=0
c< BUSY
c> @small ACQUIRE sem-3 limit=3
c> PING
c< OK no:valid
a> RELEASE sem-3
a< OK permits=1
b.
c.
a> RELEASE sem-3
a< OK permits=0
b< @large OK permits=3 free=0
c.
b> RELEASE sem-3 permits=3
b< OK permits=0
c< @small OK permits=1 free=2

== a large request that is given up makes room for those behind it
a> ACQUIRE sem-4 limit=2
a< OK permits=1 free=1
b> @large ACQUIRE sem-4 limit=2 permits=2
b> PING
b< OK
c> @small ACQUIRE sem-4 limit=2
c> PING
c< OK
c.
b> CANCEL large
b< @large CANCELLED
b< OK
c< @small OK permits=1 free=0

== every user passes the same limit
a> ACQUIRE sem-5 limit=2
a< OK permits=1 free=1
b> ACQUIRE sem-5 limit=3
b< ERR mismatch ~2
b> ACQUIRE sem-5 limit=3 wait=0
b< ERR mismatch
a> RELEASE sem-5
a< OK permits=0
b> ACQUIRE sem-5 limit=3
b< OK permits=1 free=2
a> ACQUIRE sem-5 limit=2 permits=3
a< ERR bad-option
a> ACQUIRE sem-5 limit=2 permits=0
a< ERR bad-option
a> ACQUIRE sem-5
a< ERR bad-request

== no more can be released than is held
a> RELEASE sem-6
a< ERR not-held
a> ACQUIRE sem-6 limit=5 permits=2
a< OK permits=2 free=3
a> RELEASE sem-6 permits=3
a< ERR not-held ~2
b> RELEASE sem-6
b< ERR not-held
a> RELEASE sem-6 permits=2
a< OK permits=0
a> RELEASE sem-6
a< ERR not-held

== hold=D bounds it, from the latest grant that says so
a> ACQUIRE sem-7 limit=2 hold=10s
a< OK permits=1 free=1
time T
a> ACQUIRE sem-7 limit=2 hold=300ms
a< OK permits=2 free=0
b> ACQUIRE sem-7 limit=2 permits=2
a! LOST sem-7 kind=semaphore permits=2 reason=hold
b< OK permits=2 free=0
since T 299..800
a> RELEASE sem-7
a< ERR not-held

== PING is bounded by hold=
a> ACQUIRE sem-8 limit=2 hold=1s
a< OK permits=1 free=1
a> PING
a< OK valid=<N>ms
a> RELEASE sem-8
a< OK permits=0

== a session gives everything back when it ends
a> ACQUIRE sem-9 limit=3 permits=2
a< OK permits=2 free=1
a> ACQUIRE sem-9b limit=1
a< OK permits=1 free=0
b> ACQUIRE sem-9 limit=3 permits=3
? STATS => OK lines=<*>
a| close
b< OK permits=3 free=0
b> ACQUIRE sem-9b limit=1
b< OK permits=1 free=0

== half-closed: what would have to wait is cancelled, the rest is answered
a> ACQUIRE sem-10 limit=1
a< OK permits=1 free=0
b> ACQUIRE sem-10 limit=1
b> ACQUIRE sem-10b limit=1
b> RELEASE sem-10b
b| shut
b< CANCELLED
b< OK permits=1 free=0
b< OK permits=0
b| eof

== semaphores and locks of one name have nothing to do with each other
a> ACQUIRE sem-11 limit=1
a< OK permits=1 free=0
b> TRYLOCK sem-11
b< OK fence=<*> depth=1
b> STATUS sem-11
b< OK state=held
a> UNLOCK sem-11
a< ERR not-held
b> RELEASE sem-11
b< ERR not-held

== limits.holds counts names, held or waited for; limits.waiters a queue
a> ACQUIRE sem-12 limit=9 permits=9
a< OK permits=9 free=0
a> LOCK sem-12
a< OK fence=<*> depth=1
a> @1 ACQUIRE sem-12 limit=9
a> ACQUIRE sem-12b limit=9
a< ERR limit
a> LOCK sem-12b
a< ERR limit
b> @1 ACQUIRE sem-12 limit=9
b> PING
b< OK
c> ACQUIRE sem-12 limit=9
c< ERR limit
