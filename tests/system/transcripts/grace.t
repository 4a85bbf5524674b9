# SESSIONS: SESSION grace= and heartbeat=, RESUME; what an end of stream is.
set locks.max_grace 30s

== SESSION tells grace and heartbeat, and keeps its key
a> SESSION grace=4s label=worker
a< OK id=<A> key=<$K> label=worker grace=4000ms no:heartbeat
a> SESSION heartbeat=1m
a< OK id=<A> key=<$K> label=worker grace=4000ms heartbeat=60000ms
a> SESSION grace=0 heartbeat=0
a< OK id=<A> key=<$K> no:grace no:heartbeat

== grace is cut to locks.max_grace
a> SESSION grace=2h
a< OK id=<*> grace=30000ms

== a session is resumed after its connection was reset
a| tcp
a> SESSION grace=4s label=worker
a< OK id=<A> key=<$K>
a> LOCK grace-reset
a< OK fence=<F> depth=1
a> LOCK grace-reset
a< OK fence=<F> depth=2
a> LOCK grace-other
a< OK fence=<G> depth=1
a| reset
b> TRYLOCK grace-reset
b< BUSY
b> STATUS grace-reset
b< OK state=held session=<A> label=worker fence=<F>
c> RESUME key=<$K>
c< OK id=<A> locks=2
c> LIST
c< OK lines=2
c: lock grace-reset mode=exclusive depth=2 fence=<F> age=<*>
c: lock grace-other mode=exclusive depth=1 fence=<G> age=<*>
c> SESSION
c< OK id=<A> key=<$K> label=worker grace=4000ms
c> UNLOCK grace-reset
c< OK depth=1
c> UNLOCK grace-reset
c< OK depth=0
c> UNLOCK grace-other
c< OK depth=0
c.

== a closed connection is a dropped one, too; QUIT is not
a> SESSION grace=4s
a< OK id=<A> key=<$K>
a> LOCK grace-close
a< OK fence=<F> depth=1
a| close
b> TRYLOCK grace-close
b< BUSY
b> RESUME key=<$K>
b< OK id=<A> locks=1
b> QUIT
b< OK
b| eof
c> RESUME key=<$K>
c< ERR not-found
c> LOCK grace-close wait=2s
c< OK fence=<G>F> depth=1

== a live connection is taken over, and closed without releasing
a> SESSION
a< OK id=<A> key=<$K>
a> LOCK grace-live
a< OK fence=<F> depth=1
b> RESUME key=<$K>
b< OK id=<A> locks=1
a| eof
c> TRYLOCK grace-live
c< BUSY
b> LOCK grace-live
b< OK fence=<F> depth=2
b| close
c> LOCK grace-live wait=2s
c< OK fence=<G>F> depth=1

== unknown keys
a> RESUME key=0123456789abcdef0123456789abcdef
a< ERR not-found
a> RESUME key=x
a< ERR not-found
a> RESUME
a< ERR bad-request|bad-option
a> RESUME key=
a< ERR bad-option|not-found
a> LEAVING 0123456789abcdef
a< ERR not-found
a> LEAVING
a< ERR bad-request
a> LEAVING a b
a< ERR bad-request
b> SESSION
b< OK key=<$K>
b| close
? STATUS grace-none => OK state=free
a> RESUME key=<$K>
a< ERR not-found

== the session that takes over must hold nothing
a> SESSION grace=5s
a< OK key=<$K>
a| close
b> LOCK grace-own
b< OK fence=<*> depth=1
b> RESUME key=<$K>
b< ERR bad-request
b> UNLOCK grace-own
b< OK depth=0
b> RESUME key=<$K>
b< OK id=<*> locks=0

== a session may name its own key
a> SESSION
a< OK id=<A> key=<$K>
a> LOCK grace-self
a< OK depth=1
a> RESUME key=<$K>
a< OK id=<A> locks=1

== waiting requests are cancelled when the connection drops
a> LOCK grace-wait
a< OK depth=1
b> SESSION grace=4s
b< OK id=<B> key=<$K>
b> @1 LOCK grace-wait
b> @2 STATUS grace-wait
b< @2 OK waiters=1
b| reset
? STATUS grace-wait => OK state=held waiters=0
a> UNLOCK grace-wait
a< OK depth=0
c> RESUME key=<$K>
c< OK id=<B> locks=0
c> @1 LOCK grace-wait
c< @1 OK depth=1

== grace runs out: everything is released, and its delay begins
a> SESSION grace=300ms
a< OK key=<$K>
a> LOCK grace-over
a< OK depth=1
a> LOCK grace-delay delay=600ms
a< OK depth=1
time T
a| close
b> LOCK grace-over wait=3s
b< OK depth=1
since T 299..900
b> LOCK grace-delay wait=3s
b< OK depth=1
since T 899..1800
b> RESUME key=<$K>
b< ERR not-found

== events are told after RESUME
a> SESSION grace=4s
a< OK id=<A> key=<$K>
a> LOCK grace-event hold=1s
a< OK fence=<F>
a> LOCK grace-stays
a< OK
a| close
? STATUS grace-event => OK state=free
b> RESUME key=<$K>
b< OK id=<A> locks=1
b! LOST grace-event fence=<F> reason=hold
b> UNLOCK grace-event
b< ERR lost
b.

== heartbeat: who is silent is dropped, and grace begins
a> SESSION heartbeat=1s grace=9s
a< OK id=<A> key=<$K>
time T
a> LOCK grace-beat
a< OK depth=1
a| eof
since T 999..2500
b> TRYLOCK grace-beat
b< BUSY
time T
b> RESUME key=<$K>
b< OK id=<A> locks=1
b| eof
since T 999..2500

== heartbeat: the clock stands still while an untagged request waits
a> LOCK grace-still
a< OK depth=1
b> SESSION heartbeat=1s
b< OK
b> LOCK grace-still wait=1500ms
b< TIMEOUT
b> PING
b< OK
b> SESSION heartbeat=0
b< OK no:heartbeat
pause 1300
b> PING
b< OK

== RESUME and its end of stream in one write
a> SESSION grace=4s
a< OK id=<A> key=<$K>
a> LOCK grace-nc
a< OK fence=<F>
a| close
b> RESUME key=<$K>
b> UNLOCK grace-nc
b| shut
b< OK id=<A> locks=1
b< OK depth=0
b| eof

== what is resumed by a client that has shut down does not wait
a> SESSION grace=4s
a< OK id=<A> key=<$K>
a| close
b> LOCK grace-shut
b< OK
c> RESUME key=<$K>
c> LOCK grace-shut
c> PING
c| shut
c< OK id=<A>
c< CANCELLED
c< OK
c| eof
d> RESUME key=<$K>
d< OK id=<A>
d> QUIT
d< OK
d| eof

== permits survive, and a place at a barrier does not
a> SESSION grace=4s
a< OK id=<A> key=<$K>
a> ACQUIRE grace-sem limit=2
a< OK permits=1
a> @1 BARRIER grace-bar parties=2
b> @1 BARRIER grace-bar parties=3
b< @1 ERR mismatch
a| close
b> ACQUIRE grace-sem limit=2 permits=2 wait=0
b< BUSY
c> RESUME key=<$K>
c< OK id=<A> locks=0
c> LIST
c< OK lines=1
c: semaphore grace-sem permits=1 age=<*>
c> RELEASE grace-sem
c< OK permits=0
c> QUIT
c< OK
c| eof
