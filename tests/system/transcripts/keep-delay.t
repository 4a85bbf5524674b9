# LOCKS: keep= and delay=.

== keep: however early it is released, nobody else is granted it until D after the grant
time T
a> LOCK keep-d keep=1500ms
a< OK fence=<F> depth=1
a> UNLOCK keep-d
a< OK depth=0
b> TRYLOCK keep-d
b< BUSY
b> STATUS keep-d
b< OK state=held no:session
b> LOCK keep-d wait=50ms
b< TIMEOUT
b> LOCK keep-d
b< OK fence=<G>F> depth=1
since T 1499..2200

== keep: the session that had it may lock it again
a> LOCK keep-again keep=5s
a< OK fence=<F> depth=1
a> UNLOCK keep-again
a< OK depth=0
a> TRYLOCK keep-again
a< OK fence=<G> depth=1
b> TRYLOCK keep-again
b< BUSY
a> UNLOCK keep-again
a< OK depth=0
b> TRYLOCK keep-again
b< BUSY

== keep outlives the session, whether it quits or closes
time T
a> LOCK keep-quit keep=1s
a< OK fence=<F> depth=1
a> QUIT
a< OK
a| eof
b> TRYLOCK keep-quit
b< BUSY
b> LOCK keep-quit
b< OK fence=<G>F> depth=1
since T 999..1700

== keep: who waits is granted it when the time is over
time T
a> LOCK keep-wait keep=500ms
a< OK fence=<F> depth=1
b> LOCK keep-wait
? STATUS keep-wait => OK waiters=1
a| close
b< OK fence=<G>F> depth=1
since T 499..1200

== keep that is over before the release costs nothing
a> LOCK keep-over keep=100ms
a< OK fence=<F> depth=1
pause 200
a> UNLOCK keep-over
a< OK depth=0
b> TRYLOCK keep-over
b< OK fence=<G>F> depth=1

== on re-entry keep only ever lengthens
time T
a> LOCK keep-re keep=600ms
a< OK fence=<F> depth=1
a> LOCK keep-re keep=1ms
a< OK fence=<F> depth=2
a> UNLOCK keep-re
a< OK depth=1
a> UNLOCK keep-re
a< OK depth=0
b> LOCK keep-re
b< OK fence=<G>F> depth=1
since T 599..1300

== delay: an UNLOCK passes it on at once
a> LOCK delay-unlock delay=1m
a< OK fence=<F> depth=1
a> UNLOCK delay-unlock
a< OK depth=0
b> TRYLOCK delay-unlock
b< OK fence=<G>F> depth=1

== delay: a QUIT too
a> LOCK delay-quit delay=1m
a< OK fence=<F> depth=1
a> QUIT
a< OK
a| eof
b> LOCK delay-quit wait=2s
b< OK fence=<G>F> depth=1

== delay: after a close nobody else is granted it for D
a> LOCK delay-close delay=1s
a< OK fence=<F> depth=1
b> LOCK delay-close
? STATUS delay-close => OK waiters=1
time T
a| close
c> TRYLOCK delay-close
c< BUSY
? STATUS delay-close => OK state=held no:session
b< OK fence=<G>F> depth=1
since T 990..1700

== delay: after a reset too
a| tcp
a> LOCK delay-reset delay=500ms
a< OK fence=<F> depth=1
b> LOCK delay-reset
? STATUS delay-reset => OK waiters=1
time T
a| reset
b< OK fence=<G>F> depth=1
since T 490..1200

== delay: after a bound too
time T
a> LOCK delay-hold hold=1s delay=1s
a< OK fence=<F> depth=1
b> LOCK delay-hold
? STATUS delay-hold => OK waiters=1
a! LOST delay-hold fence=<F> reason=hold
b.
b< OK fence=<G>F> depth=1
since T 1990..2700

== on re-entry delay only ever lengthens
a> LOCK delay-re delay=500ms
a< OK fence=<F> depth=1
a> LOCK delay-re delay=1ms
a< OK fence=<F> depth=2
time T
a| close
b> LOCK delay-re
b< OK fence=<G>F> depth=1
since T 490..1200
