# LOCKS: several names are all or nothing.

== granted together, in the order named
a> LOCK several-2 several-1
a< OK fence=<F2>,<F1> depth=1,1
a> LIST
a< OK lines=2
a: ...
a> UNLOCK several-1 several-2
a< OK depth=0,0
a> LIST
a< OK lines=0

== TRYLOCK takes all or none
a> LOCK several-3
a< OK fence=<F> depth=1
b> TRYLOCK several-4 several-3
b< BUSY
c> TRYLOCK several-4
c< OK fence=<G> depth=1

== re-entry counts each
a> LOCK several-5
a< OK fence=<F> depth=1
a> LOCK several-5 several-6
a< OK fence=<F>,<G> depth=2,1
a> UNLOCK several-6 several-5
a< OK depth=0,1

== the same name twice
a> LOCK several-7 several-7
a< ERR bad-request
a> STATUS several-7
a< OK state=free

== UNLOCK checks all first
a> LOCK several-8
a< OK fence=<F> depth=1
a> UNLOCK several-8 several-9
a< ERR not-held
a> LIST
a< OK lines=1
a: lock several-8 depth=1

== while it waits it holds none of them
a> LOCK several-10
a< OK fence=<F> depth=1
b> LOCK several-11 several-10
? STATUS several-10 => OK waiters=1
c> TRYLOCK several-11
c< OK fence=<G> depth=1
c> UNLOCK several-11
c< OK depth=0
a> UNLOCK several-10
a< OK depth=0
b< OK fence=<H>G>,<I>F> depth=1,1

== it ends in TIMEOUT, and leaves nothing behind
a> LOCK several-12
a< OK fence=<F> depth=1
b> LOCK several-13 several-12 wait=100ms
b< TIMEOUT
c> TRYLOCK several-13
c< OK fence=<G> depth=1

== against each other in whatever order
a> @1 LOCK several-14 several-15
a< @1 OK fence=<F>,<G> depth=1,1
b> @1 LOCK several-15 several-14
c> @1 LOCK several-14 several-15
? STATUS several-14 => OK waiters=2
a> UNLOCK several-14 several-15
a< OK depth=0,0
b< @1 OK fence=<H>G>,<I>F> depth=1,1
b| close
c< @1 OK fence=<J>I>,<K>H> depth=1,1

== one bad name spoils all
a> LOCK several-16 @x
a< ERR bad-name
a> STATUS several-16
a< OK state=free
