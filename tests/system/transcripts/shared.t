# LOCKS: mode=shared.

== shared holders are together, and carry one fence
a> LOCK shared-1 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-1 mode=shared wait=0
b< OK fence=<F> depth=1
c> TRYLOCK shared-1 mode=shared
c< OK fence=<F> depth=1
d> TRYLOCK shared-1
d< BUSY
d> STATUS shared-1
d< OK state=shared waiters=0 holders=3

== a shared fence is above the exclusive before, and below the exclusive after
a> LOCK shared-2
a< OK fence=<F> depth=1
a> UNLOCK shared-2
a< OK depth=0
a> LOCK shared-2 mode=shared
a< OK fence=<G>F> depth=1
b> LOCK shared-2 mode=shared
b< OK fence=<G> depth=1
a> UNLOCK shared-2
a< OK depth=0
a> LOCK shared-2 mode=shared
a< OK fence=<G> depth=1
b> UNLOCK shared-2
b< OK depth=0
a> UNLOCK shared-2
a< OK depth=0
b> LOCK shared-2
b< OK fence=<H>G> depth=1

== exclusive waits for the last shared holder
a> LOCK shared-3 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-3 mode=shared
b< OK fence=<F> depth=1
c> LOCK shared-3
? STATUS shared-3 => OK waiters=1
a> UNLOCK shared-3
a< OK depth=0
c.
b| close
c< OK fence=<G>F> depth=1

== a shared request behind a waiting exclusive one waits
a> LOCK shared-4 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-4
? STATUS shared-4 => OK waiters=1
c> TRYLOCK shared-4 mode=shared
c< BUSY
c> LOCK shared-4 mode=shared
? STATUS shared-4 => OK waiters=2
c.
a> UNLOCK shared-4
a< OK depth=0
b< OK fence=<G>F> depth=1
c.
b> UNLOCK shared-4
b< OK depth=0
c< OK fence=<H>G> depth=1

== shared requests next to each other are granted together
a> LOCK shared-5
a< OK fence=<F> depth=1
b> LOCK shared-5 mode=shared
? STATUS shared-5 => OK waiters=1
c> LOCK shared-5 mode=shared
? STATUS shared-5 => OK waiters=2
d> LOCK shared-5
? STATUS shared-5 => OK waiters=3
e> LOCK shared-5 mode=shared
? STATUS shared-5 => OK waiters=4
a> UNLOCK shared-5
a< OK depth=0
b< OK fence=<G>F> depth=1
c< OK fence=<G> depth=1
d.
e.
b> UNLOCK shared-5
b< OK depth=0
c> UNLOCK shared-5
c< OK depth=0
d< OK fence=<H>G> depth=1
e.
d> UNLOCK shared-5
d< OK depth=0
e< OK fence=<I>H> depth=1

== the end of a waiting exclusive lets the shared ones behind it in
a> LOCK shared-6 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-6
? STATUS shared-6 => OK waiters=1
c> LOCK shared-6 mode=shared
? STATUS shared-6 => OK waiters=2
b| close
c< OK fence=<F> depth=1

== re-entry
a> LOCK shared-7 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-7
? STATUS shared-7 => OK waiters=1
a> LOCK shared-7 mode=shared
a< OK fence=<F> depth=2
a> UNLOCK shared-7
a< OK depth=1
b.
a> UNLOCK shared-7
a< OK depth=0
b< OK fence=<G>F> depth=1

== an exclusive holder asking for shared re-enters exclusively
a> LOCK shared-8
a< OK fence=<F> depth=1
a> LOCK shared-8 mode=shared
a< OK fence=<F> depth=2
b> TRYLOCK shared-8 mode=shared
b< BUSY
a> LIST
a< OK lines=1
a: lock shared-8 mode=exclusive depth=2 fence=<F>

== the only shared holder is upgraded, and gets a new fence
a> LOCK shared-9 mode=shared
a< OK fence=<F> depth=1
a> LOCK shared-9 mode=exclusive
a< OK fence=<G>F> depth=2
b> TRYLOCK shared-9 mode=shared
b< BUSY
a> LIST
a< OK lines=1
a: lock shared-9 mode=exclusive depth=2 fence=<G>

== a shared holder among others can't be upgraded
a> LOCK shared-10 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-10 mode=shared
b< OK fence=<F> depth=1
a> LOCK shared-10
a< ERR deadlock
a> LIST
a< OK lines=1
a: lock shared-10 mode=shared depth=1 fence=<F>

== QUEUE shows modes
a> LOCK shared-11 mode=shared
a< OK fence=<F> depth=1
b> LOCK shared-11 mode=shared
b< OK fence=<F> depth=1
c> LOCK shared-11
? STATUS shared-11 => OK state=shared waiters=1
d> LOCK shared-11 mode=shared
? STATUS shared-11 => OK waiters=2
e> QUEUE shared-11
e< OK lines=4
e: holder mode=shared fence=<F>
e: holder mode=shared fence=<F>
e: waiter mode=exclusive
e: waiter mode=shared
