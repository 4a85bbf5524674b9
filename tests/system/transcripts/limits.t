# REPLIES: the code limit, and limits.*: each bound that is passed is an answer.
set limits.holds 3
set limits.requests 2
set limits.waiters 2

== limits.holds: things one session may hold
a> LOCK limits-1
a< OK fence=<*> depth=1
a> LOCK limits-2
a< OK fence=<*> depth=1
a> LOCK limits-3
a< OK fence=<*> depth=1
a> LOCK limits-4
a< ERR limit
a> LOCK limits-3
a< OK fence=<*> depth=2
b> LOCK limits-4
b< OK fence=<*> depth=1
a> UNLOCK limits-1
a< OK depth=0
a> LOCK limits-1
a< OK fence=<*> depth=1

== limits.requests: tagged requests one connection may have waiting
a> LOCK limits-5
a< OK fence=<*> depth=1
a> LOCK limits-6
a< OK fence=<*> depth=1
a> LOCK limits-7
a< OK fence=<*> depth=1
b> @1 LOCK limits-5
b> @2 LOCK limits-6
b> @3 LOCK limits-7
b< @3 ERR limit
b> PING
b< OK
b> CANCEL 1
b< OK
b< @1 CANCELLED
b> @3 LOCK limits-7
? STATUS limits-7 => OK waiters=1

== limits.waiters: requests waiting for one name
a> LOCK limits-8
a< OK fence=<*> depth=1
b> LOCK limits-8
? STATUS limits-8 => OK waiters=1
c> LOCK limits-8
? STATUS limits-8 => OK waiters=2
d> LOCK limits-8
d< ERR limit
d> TRYLOCK limits-8
d< BUSY
