# LOCKS: a LOCK that could never be granted is answered, not queued.

== two sessions
a> LOCK dead-1
a< OK fence=<F> depth=1
b> LOCK dead-2
b< OK fence=<G> depth=1
a> LOCK dead-2
? STATUS dead-2 => OK waiters=1
b> LOCK dead-1
b< ERR deadlock
b> UNLOCK dead-2
b< OK depth=0
a< OK fence=<H>G> depth=1

== three sessions
a> LOCK dead-3
a< OK fence=<F> depth=1
b> LOCK dead-4
b< OK fence=<G> depth=1
c> LOCK dead-5
c< OK fence=<H> depth=1
a> LOCK dead-4 wait=1m
? STATUS dead-4 => OK waiters=1
b> LOCK dead-5
? STATUS dead-5 => OK waiters=1
c> LOCK dead-3
c< ERR deadlock
c> LIST
c< OK lines=1
c: lock dead-5 depth=1

== a session that waits under a tag can still let go: no deadlock
a> LOCK dead-6
a< OK fence=<F> depth=1
b> LOCK dead-7
b< OK fence=<G> depth=1
a> @1 LOCK dead-7
? STATUS dead-7 => OK waiters=1
b> LOCK dead-6
? STATUS dead-6 => OK waiters=1
b.
a> UNLOCK dead-6
a< OK depth=0
b< OK fence=<H>F> depth=1
