# LOCKS: STATUS, NAMES, QUEUE; SESSIONS: LIST.

== STATUS of a free name
a> STATUS intro-free
a< OK state=free waiters=0 no:session no:fence no:label

== STATUS of a held name
a> SESSION label=cron
a< OK id=<A> label=cron
a> LOCK intro-held
a< OK fence=<F> depth=1
b> STATUS intro-held
b< OK state=held waiters=0 broker=b1 session=<A> label=cron fence=<F> ttl=<1..13000>ms
a> STATUS intro-held
a< OK state=held broker=b1 session=<A> fence=<F>

== STATUS tells since when, and until when with a hold=
a> LOCK intro-age hold=1h
a< OK fence=<F> depth=1
pause 30
b> STATUS intro-age
b< OK state=held age=<30..5000>ms until=<3500000..3599970>ms
b> LOCK intro-ageless
b< OK
a> STATUS intro-ageless
a< OK state=held age=<0..5000>ms no:until

== STATUS: what is left of a keep or delay window, without a session
a> LOCK intro-keep keep=1h
a< OK
a> UNLOCK intro-keep
a< OK depth=0
b> STATUS intro-keep
b< OK state=held until=<3500000..3600000>ms no:session no:age
b> QUEUE intro-keep
b< OK lines=1 waiters=0
b: holder broker=b1 until=<3500000..3600000>ms

== STATUS kind=: semaphores, latches and barriers, as far as there are any
a> STATUS intro-kinds kind=semaphore
a< ERR not-found ~semaphore
a> STATUS intro-kinds kind=latch
a< ERR not-found ~latch
a> STATUS intro-kinds kind=barrier
a< ERR not-found ~barrier
a> STATUS intro-kinds kind=lock
a< OK state=free waiters=0 no:other
a> STATUS intro-kinds kind=door
a< ERR bad-option ~kind
b> ACQUIRE intro-kinds limit=5 permits=2
b< OK permits=2
a> STATUS intro-kinds kind=semaphore
a< OK kind=semaphore limit=5 free=3 waiters=0
c> ACQUIRE intro-kinds limit=5 permits=4
? STATUS intro-kinds kind=semaphore => OK waiters=1
d> LATCH intro-kinds count=7
d< OK count=7
d> COUNTDOWN intro-kinds by=2
d< OK count=5
a> STATUS intro-kinds kind=latch
a< OK kind=latch count=5
d> BARRIER intro-kinds parties=3
? STATUS intro-kinds kind=barrier => OK kind=barrier parties=3 arrived=1
e> @1 BARRIER intro-kinds parties=3
? STATUS intro-kinds kind=barrier => OK kind=barrier parties=3 arrived=2
a> STATUS intro-kinds
a< OK state=free other=semaphore,latch,barrier
a> LOCK intro-kinds
a< OK
a> STATUS intro-kinds
a< OK state=held other=semaphore,latch,barrier session=<A> broker=b1
a> STATUS intro-kinds kind=lock
a< OK state=held no:other session=<A>
e> BARRIER intro-kinds parties=3
d< OK index=2
e< @1 OK index=1
e< OK index=0
b> RELEASE intro-kinds permits=2
b< OK permits=0
c< OK permits=4
c> RELEASE intro-kinds permits=4
c< OK permits=0
? STATUS intro-kinds kind=semaphore => ERR not-found
? STATUS intro-kinds kind=barrier => ERR not-found
a> STATUS intro-kinds
a< OK state=held other=latch

== READY, with no right at all
a> READY
a< OK
a> ready now
a< ERR bad-request

== QUEUE: a session that waits to be resumed has been away
a> SESSION grace=2s label=gone
a< OK id=<A>
a> LOCK intro-away
a< OK fence=<F> depth=1
a| close
? QUEUE intro-away => OK lines=1 waiters=0
b> QUEUE intro-away
b< OK lines=1 waiters=0
b: holder session=<A> label=gone away=<0..2000>ms mode=exclusive fence=<F> no:peer

== STATUS counts who waits through this broker
a> LOCK intro-count
a< OK fence=<F> depth=1
b> @1 LOCK intro-count
b> @2 LOCK intro-count
? STATUS intro-count => OK state=held waiters=2

== QUEUE of a free name
a> QUEUE intro-nobody
a< OK lines=0 waiters=0

== QUEUE: who holds it and who waits, in order
a> SESSION label=cron
a< OK id=<A>
a> LOCK intro-queue
a< OK fence=<F> depth=1
b> SESSION
b< OK id=<B> no:label
b> LOCK intro-queue
? STATUS intro-queue => OK waiters=1
c| tcp
c> SESSION label=late
c< OK id=<C>
c> LOCK intro-queue
? STATUS intro-queue => OK waiters=2
d> QUEUE intro-queue
d< OK lines=3 waiters=2
d: holder session=<A> label=cron peer=pid:<*> mode=exclusive fence=<F> age=<0..5000>ms
d: waiter session=<B> peer=pid:<*> mode=exclusive age=<0..5000>ms no:label
d: waiter session=<C> label=late peer=127.0.0.1:<*> mode=exclusive age=<0..5000>ms
d> QUEUE intro-queue limit=2
d< OK lines=2 waiters=2
d: holder session=<A> label=cron
d: waiter session=<B>
d> @q QUEUE intro-queue limit=1
d< @q OK lines=1 waiters=2
d: holder session=<A> label=cron

== NAMES: those this broker has to do with, busiest first
a> LOCK intro-names-1
a< OK fence=<F1> depth=1
a> LOCK intro-names-2
a< OK fence=<F2> depth=1
b> @1 LOCK intro-names-2
b> @2 LOCK intro-names-2
? STATUS intro-names-2 => OK waiters=2
c> NAMES limit=1
c< OK lines=1
c: intro-names-2 state=held waiters=2 handovers=0 oldest=<0..5000>ms
c> NAMES
c< OK lines=<*>
c: intro-names-2 state=held waiters=2
c: ...

== NAMES: by a pattern, with the holder, and of each kind
a> SESSION label=lister
a< OK id=<*> label=lister
a> LOCK intro-like-1
a< OK fence=<F1> depth=1
b> LOCK intro-like-2
b< OK fence=<F2> depth=1
a> ACQUIRE intro-like-1 limit=2
a< OK permits=1 free=1
c> NAMES intro-like-* limit=2
c< OK lines=2 total=3
c: intro-like-1 state=held holder=lister age=<0..5000>ms waiters=0 handovers=0
c: intro-like-1 kind=semaphore state=held holder=lister age=<0..5000>ms waiters=0
c> NAMES intro-like-2
c< OK lines=1 total=1
c: intro-like-2 state=held holder=<*> age=<0..5000>ms waiters=0
c> NAMES intro-like
c< OK lines=0 total=0

== QUEUE kind=: who has permits, and who waits for how many
a> SESSION label=first
a< OK id=<*> label=first
a> ACQUIRE intro-queue limit=3 permits=2
a< OK permits=2 free=1
b> ACQUIRE intro-queue limit=3
b< OK permits=1 free=0
c> @1 ACQUIRE intro-queue limit=3 permits=2
d> @1 ACQUIRE intro-queue limit=3
? STATUS intro-queue kind=semaphore => OK waiters=2
a> QUEUE intro-queue kind=semaphore
a< OK lines=4 waiters=2
a: holder session=<*> label=first peer=<*> permits=2 age=<0..5000>ms
a: holder session=<*> peer=<*> permits=1 age=<0..5000>ms
a: waiter session=<*> peer=<*> permits=2 age=<0..5000>ms
a: waiter session=<*> peer=<*> permits=1 age=<0..5000>ms
a> QUEUE intro-queue kind=semaphore limit=1
a< OK lines=1 waiters=2
a: holder permits=2
a> QUEUE intro-queue
a< OK lines=0 waiters=0
a> QUEUE intro-queue kind=latch
a< OK lines=0 waiters=0
a> QUEUE intro-queue kind=door
a< ERR bad-option ~kind
a> LATCH intro-queue count=1
a< OK count=1
d> @2 AWAIT intro-queue
d> @3 BARRIER intro-queue parties=2
? STATUS intro-queue kind=barrier => OK arrived=1
a> QUEUE intro-queue kind=latch
a< OK lines=1 waiters=1
a: waiter session=<*> peer=<*> age=<0..5000>ms
a> QUEUE intro-queue kind=barrier
a< OK lines=1 waiters=1
a: waiter session=<*> peer=<*> age=<0..5000>ms

== NAMES counts handovers
a> LOCK intro-hand
a< OK fence=<F> depth=1
b> LOCK intro-hand
? STATUS intro-hand => OK waiters=1
c> LOCK intro-hand
? STATUS intro-hand => OK waiters=2
a> UNLOCK intro-hand
a< OK depth=0
b< OK fence=<G>F> depth=1
d> NAMES limit=1
d< OK lines=1
d: intro-hand state=held waiters=1 handovers=1 oldest=<0..5000>ms

== LIST: each thing held
a> LIST
a< OK lines=0
a> LOCK intro-list-1
a< OK fence=<F1> depth=1
a> LOCK intro-list-1
a< OK fence=<F1> depth=2
a> LIST
a< OK lines=1
a: lock intro-list-1 mode=exclusive depth=2 fence=<F1> age=<0..5000>ms
b> LIST
b< OK lines=0
a> LOCK intro-list-2
a< OK fence=<F2> depth=1
a> LIST
a< OK lines=2
a: lock <*> mode=exclusive depth=<*> fence=<*> age=<0..5000>ms
a: lock <*> mode=exclusive depth=<*> fence=<*> age=<0..5000>ms
a> UNLOCK intro-list-2
a< OK depth=0
a> LIST
a< OK lines=1
a: lock intro-list-1 depth=2
