# Protocol section 5: STATUS, NAMES, QUEUE; section 4: LIST.

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

== STATUS counts who waits through this broker
a> LOCK intro-count
a< OK fence=<F> depth=1
b> @1 LOCK intro-count
b> @2 LOCK intro-count
? STATUS intro-count => OK state=held waiters=2

== QUEUE of a free name
a> QUEUE intro-nobody
a< OK lines=0

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
d< OK lines=3
d: holder session=<A> label=cron peer=pid:<*> mode=exclusive fence=<F> age=<0..5000>ms
d: waiter session=<B> peer=pid:<*> mode=exclusive age=<0..5000>ms no:label
d: waiter session=<C> label=late peer=127.0.0.1:<*> mode=exclusive age=<0..5000>ms

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
