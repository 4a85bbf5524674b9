# OTHER SYNCHRONIZERS: LATCH, COUNTDOWN and AWAIT.

== who waits is told when the count is 0, who comes later too
a> LATCH latch-1 count=3
a< OK count=3
b> AWAIT latch-1
c> @1 AWAIT latch-1
a> COUNTDOWN latch-1
a< OK count=2
a> COUNTDOWN latch-1 by=1
a< OK count=1
b.
c.
a> COUNTDOWN latch-1
a< OK count=0
b< OK
c< @1 OK
c> AWAIT latch-1 wait=0
c< OK
d> AWAIT latch-1
d< OK

== never below 0
a> LATCH latch-2 count=2
a< OK count=2
a> COUNTDOWN latch-2 by=5
a< OK count=0
a> COUNTDOWN latch-2
a< OK count=0

== a latch is made once, and may be open from the start
a> LATCH latch-3 count=2
a< OK count=2
b> LATCH latch-3 count=2
b< ERR exists
a> LATCH latch-3 count=5
a< ERR exists
a> LATCH latch-3b count=0
a< OK count=0
b> AWAIT latch-3b
b< OK

== what was never made is not found
a> AWAIT latch-4
a< ERR not-found
a> COUNTDOWN latch-4
a< ERR not-found
a> LATCH latch-4
a< ERR bad-request
a> COUNTDOWN latch-4 by=0
a< ERR bad-option

== wait=D ends in TIMEOUT, wait=0 too
a> LATCH latch-5 count=1
a< OK count=1
a> AWAIT latch-5 wait=0
a< TIMEOUT
time T
a> AWAIT latch-5 wait=300ms
a< TIMEOUT
since T 299..800

== CANCEL, and a half-close
a> LATCH latch-6 count=1
a< OK count=1
a> @1 AWAIT latch-6
a> CANCEL 1
a< @1 CANCELLED
a< OK
b> AWAIT latch-6
b> COUNTDOWN latch-6
b| shut
b< CANCELLED
b< OK count=0
b| eof

== it is owned by no session
a> LATCH latch-7 count=2
a< OK count=2
a> LIST
a< OK lines=0
a> COUNTDOWN latch-7
a< OK count=1
a| close
b> COUNTDOWN latch-7
b< OK count=0

== it goes away ttl= after its last use
a> LATCH latch-8 count=2 ttl=2s
a< OK count=2
pause 1100
a> COUNTDOWN latch-8
a< OK count=1
pause 1100
a> COUNTDOWN latch-8
a< OK count=0
pause 2500
a> AWAIT latch-8
a< ERR not-found
a> LATCH latch-8 count=1
a< OK count=1

== count-downs of many at once
a> LATCH latch-9 count=6
a< OK count=6
a> @1 COUNTDOWN latch-9
a> @2 COUNTDOWN latch-9 by=2
a> @3 COUNTDOWN latch-9
a> @4 AWAIT latch-9
a< @1 OK count=5
a< @2 OK count=3
a< @3 OK count=2
a.
a> COUNTDOWN latch-9 by=2
a< OK count=0
a< @4 OK
