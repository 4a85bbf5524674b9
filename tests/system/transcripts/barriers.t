# OTHER SYNCHRONIZERS: BARRIER.

== all are told when the last arrives: index N-1 is the first, 0 the last
a> BARRIER bar-1 parties=3
? STATS => OK lines=<*>
b> @1 BARRIER bar-1 parties=3
b> PING
b< OK
a.
c> BARRIER bar-1 parties=3
c< OK index=0 generation=<G>
a< OK index=2|1 generation=<G>
b< @1 OK index=1|2 generation=<G>

== it is cyclic, and the next generation has a number of its own
a> @1 BARRIER bar-2 parties=2
a> PING
a< OK
b> BARRIER bar-2 parties=2
a< @1 OK index=1 generation=<G>
b< OK index=0 generation=<G>
b> @1 BARRIER bar-2 parties=2
b> PING
b< OK
a> BARRIER bar-2 parties=2
b< @1 OK index=1 generation=<H>G>
a< OK index=0 generation=<H>

== one session may be several parties; a barrier of one never waits
a> BARRIER bar-3 parties=1
a< OK index=0 generation=<*>
a> @1 BARRIER bar-3b parties=2
a> @2 BARRIER bar-3b parties=2
a< @1 OK index=1 generation=<G>
a< @2 OK index=0 generation=<G>

== a place is listed
a> @1 BARRIER bar-4 parties=2
b> BARRIER bar-4 parties=2 wait=5s
a< @1 OK index=1|0 generation=<G>
b< OK index=0|1 generation=<G>
a> @1 BARRIER bar-4 parties=2
settle
a> LIST
a< OK lines=1
a: barrier bar-4 age=<N>ms
a> CANCEL 1
a< @1 CANCELLED
a< OK
a> LIST
a< OK lines=0

== a time-out breaks it for the others, and the next generation starts clean
a> @1 BARRIER bar-5 parties=3
a> PING
a< OK
time T
b> BARRIER bar-5 parties=3 wait=300ms
b< TIMEOUT
since T 299..800
a< @1 ERR broken
a> @1 BARRIER bar-5 parties=2
b> @1 BARRIER bar-5 parties=2
a< @1 OK index=<0..1> generation=<G>
b< @1 OK index=<0..1> generation=<G>

== a CANCEL breaks it
a> @1 BARRIER bar-6 parties=3
b> @1 BARRIER bar-6 parties=3
settle
b> CANCEL 1
b< @1 CANCELLED
b< OK
a< @1 ERR broken

== a drop breaks it; so does a half-close
a> @1 BARRIER bar-7 parties=3
b> BARRIER bar-7 parties=3
settle
b| close
a< @1 ERR broken
a> @1 BARRIER bar-7 parties=3
settle
c> BARRIER bar-7 parties=3
c| shut
c< CANCELLED
c| eof
a< @1 ERR broken

== wait=0 is a party that leaves at once, where it is not the last
a> BARRIER bar-8 parties=2 wait=0
a< TIMEOUT
a> @1 BARRIER bar-8 parties=2
settle
b> BARRIER bar-8 parties=2 wait=0
b< OK index=0 generation=<G>
a< @1 OK index=1 generation=<G>

== all must say the same number
a> @1 BARRIER bar-9 parties=2
settle
b> BARRIER bar-9 parties=3
b< ERR mismatch ~2
b> BARRIER bar-9 parties=2
a< @1 OK index=1 generation=<G>
b< OK index=0 generation=<G>
b> BARRIER bar-9 parties=1
b< OK index=0 generation=<*>
a> BARRIER bar-9
a< ERR bad-request
a> BARRIER bar-9 parties=0
a< ERR bad-option

== more than a generation at once
a> @1 BARRIER bar-10 parties=2
a> @2 BARRIER bar-10 parties=2
a> @3 BARRIER bar-10 parties=2
a> @4 BARRIER bar-10 parties=2
a< @1 OK index=1 generation=<G>
a< @2 OK index=0 generation=<G>
a< @3 OK index=1 generation=<H>G>
a< @4 OK index=0 generation=<H>
