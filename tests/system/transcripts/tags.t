# Order and tags.

== the reply carries the tag
a> @7 PING
a< @7 OK
a> @a.Z_0-9 VERSION
a< @a.Z_0-9 OK version=<*> protocol=1
a> @8 FROBNICATE
a< @8 ERR unknown-command
a> @8 LOCK tags-bad wait=5
a< @8 ERR bad-option

== up to 16 characters
a> @0123456789abcdef PING
a< @0123456789abcdef OK

== a malformed tag is answered without one
a> @0123456789abcdefg PING
a< ERR bad-request
a> @ PING
a< ERR bad-request
a> @a!b PING
a< ERR bad-request
a> @a:b PING
a< ERR bad-request
a> @ü PING
a< ERR bad-request
a> PING
a< OK

== a tag alone lacks a verb
a> @x
a< @x ERR bad-request

== untagged requests are answered in order, and lines behind one that waits stay unread
a> LOCK tags-order
a< OK fence=<F> depth=1
b>> 'LOCK tags-order\nVERSION\nFROBNICATE\nPING\n'
? STATUS tags-order => OK waiters=1
b.
a> UNLOCK tags-order
a< OK depth=0
b< OK fence=<G>F> depth=1
b< OK version=<*> protocol=1
b< ERR unknown-command
b< OK valid=<*>

== a tagged line behind an untagged one that waits is not read either
a> LOCK tags-behind
a< OK fence=<F> depth=1
b>> 'LOCK tags-behind\n@1 PING\n'
? STATUS tags-behind => OK waiters=1
b.
a> UNLOCK tags-behind
a< OK depth=0
b< OK fence=<G>F> depth=1
b< @1 OK valid=<*>

== a tagged request never delays the next line
a> LOCK tags-nodelay
a< OK fence=<F> depth=1
b>> '@7 LOCK tags-nodelay wait=1m\nPING\n@8 PING\nVERSION\n'
b< OK
b< @8 OK
b< OK version=<*>
? STATUS tags-nodelay => OK waiters=1
a> UNLOCK tags-nodelay
a< OK depth=0
b< @7 OK fence=<G>F> depth=1

== tagged replies come in any order
a> LOCK tags-any-1
a< OK fence=<F1> depth=1
a> LOCK tags-any-2
a< OK fence=<F2> depth=1
b>> '@1 LOCK tags-any-1\n@2 LOCK tags-any-2\n'
? STATUS tags-any-2 => OK waiters=1
a> UNLOCK tags-any-2
a< OK depth=0
b< @2 OK fence=<G2>F2> depth=1
b.
a> UNLOCK tags-any-1
a< OK depth=0
b< @1 OK fence=<G1>F1> depth=1

== a tag in use, and free again
a> LOCK tags-inuse
a< OK fence=<F> depth=1
b> @1 LOCK tags-inuse
? STATUS tags-inuse => OK waiters=1
b> @1 PING
b< @1 ERR bad-request
b> @1 LOCK tags-inuse
b< @1 ERR bad-request
b> @2 PING
b< @2 OK
? STATUS tags-inuse => OK waiters=1
a> UNLOCK tags-inuse
a< OK depth=0
b< @1 OK fence=<G>F> depth=1
b> @1 UNLOCK tags-inuse
b< @1 OK depth=0

== a tag belongs to its connection
a> LOCK tags-own
a< OK fence=<F> depth=1
b> @1 LOCK tags-own
? STATUS tags-own => OK waiters=1
c> @1 PING
c< @1 OK
c> CANCEL 1
c< ERR not-found

== CANCEL
a> LOCK tags-cancel
a< OK fence=<F> depth=1
b> @1 LOCK tags-cancel
? STATUS tags-cancel => OK waiters=1
b> CANCEL 1
b< @1 CANCELLED
b< OK
? STATUS tags-cancel => OK waiters=0
b> @1 PING
b< @1 OK
a> UNLOCK tags-cancel
a< OK depth=0
b.

== CANCEL may be tagged
a> LOCK tags-cancel-2
a< OK fence=<F> depth=1
b> @1 LOCK tags-cancel-2
b> @2 CANCEL 1
b< @1 CANCELLED
b< @2 OK

== CANCEL of what does not wait
a> CANCEL 1
a< ERR not-found
a> @1 LOCK tags-granted
a< @1 OK fence=<F> depth=1
a> CANCEL 1
a< ERR not-found
a> LIST
a< OK lines=1
a: lock tags-granted depth=1

== CANCEL leaves the others in their order
a> LOCK tags-middle
a< OK fence=<F> depth=1
b> @1 LOCK tags-middle
? STATUS tags-middle => OK waiters=1
c> @1 LOCK tags-middle
? STATUS tags-middle => OK waiters=2
d> @1 LOCK tags-middle
? STATUS tags-middle => OK waiters=3
c> CANCEL 1
c< OK
c< @1 CANCELLED
a> UNLOCK tags-middle
a< OK depth=0
b< @1 OK fence=<G>F> depth=1
d.
b> UNLOCK tags-middle
b< OK depth=0
d< @1 OK fence=<H>G> depth=1

== many requests in one write
a>> 'PING\n' * 12 + '@z PING\n' + 'VERSION\n'
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK
a< OK version=<*>
a< @z OK
