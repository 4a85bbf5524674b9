# OTHER SYNCHRONIZERS: WATCH and UNWATCH; EVENTS: !HELD and !FREE.
set locks.lease 2s
set limits.holds 4

== the present state comes behind the OK, then what changes
a> WATCH watch-a
a< OK
a! FREE watch-a no:fence no:broker
b> LOCK watch-a
b< OK fence=<F>
a! HELD watch-a fence=<F> broker=b1
b> LOCK watch-a
b< OK depth=2
b> UNLOCK watch-a
b< OK depth=1
b> UNLOCK watch-a
b< OK depth=0
a! FREE watch-a
a.

== a watcher that comes late
b> LOCK watch-late
b< OK fence=<F>
a> WATCH watch-late
a< OK
a! HELD watch-late fence=<F> broker=b1
a> WATCH watch-late
a< OK
a! HELD watch-late fence=<F> broker=b1
b> UNLOCK watch-late
b< OK
a! FREE watch-late
a.

== a handover is told as one change
b> LOCK watch-hand
b< OK fence=<F>
a> WATCH watch-hand
a< OK
a! HELD watch-hand fence=<F>
c> @1 LOCK watch-hand
? STATUS watch-hand => OK waiters=1
b> UNLOCK watch-hand
b< OK
c< @1 OK fence=<G>F>
a! HELD watch-hand fence=<G>
c> UNLOCK watch-hand
c< OK
a! FREE watch-hand
a.

== UNWATCH
a> UNWATCH watch-un
a< ERR not-found
a> WATCH watch-un
a< OK
a! FREE watch-un
a> UNWATCH watch-un
a< OK
b> LOCK watch-un
b< OK
a.
a> UNWATCH watch-un
a< ERR not-found

== the holder itself may watch; its own end is told to others
a> WATCH watch-own
a< OK
a! FREE watch-own
a> LOCK watch-own hold=200ms
a< OK fence=<F>
a! HELD watch-own fence=<F>
a! LOST watch-own fence=<F> reason=hold
a! FREE watch-own

== a window of keep is held, without a fence that is new
a> WATCH watch-keep
a< OK
a! FREE watch-keep
time T
b> LOCK watch-keep keep=1500ms
b< OK fence=<F>
a! HELD watch-keep fence=<F>
b> UNLOCK watch-keep
b< OK
c> WATCH watch-keep
c< OK
c! HELD watch-keep broker=b1
a! FREE watch-keep
since T 1499..2500
c! FREE watch-keep
a.

== watches count against limits.holds, and end with the session
a> WATCH watch-1
a< OK
a! FREE watch-1
a> WATCH watch-2
a< OK
a! FREE watch-2
a> LOCK watch-3
a< OK
a> WATCH watch-4
a< OK
a! FREE watch-4
a> WATCH watch-5
a< ERR limit
a> UNWATCH watch-2
a< OK
a> WATCH watch-5
a< OK
a! FREE watch-5
a> QUIT
a< OK
a| eof
b> LOCK watch-1
b< OK

== a tagged WATCH; two at once
# Names that go by one connection to Redis: the answers are in this order.
a> @1 WATCH watch-tag
a> @2 WATCH watch-tag-3
a< @1 OK
a< @2 OK
a! FREE watch-tag
a! FREE watch-tag-3

== a watch survives with grace, and changes meanwhile are merged
a> SESSION grace=4s
a< OK key=<$K>
a> WATCH watch-grace
a< OK
a! FREE watch-grace
a> PING
a< OK
a| close
b> LOCK watch-grace
b< OK fence=<F>
b> UNLOCK watch-grace
b< OK
b> LOCK watch-grace
b< OK fence=<G>F>
c> RESUME key=<$K>
c< OK locks=0
c! HELD watch-grace fence=<G>
b> UNLOCK watch-grace
b< OK
c! FREE watch-grace
c> QUIT
c< OK
c| eof
