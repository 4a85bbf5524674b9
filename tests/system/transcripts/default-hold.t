# locks.default_hold: the hold= of a request that gives none; 0 is none.
set locks.default_hold 300ms

== a request that gives none
time T
a> LOCK default-none
a< OK fence=<F> depth=1
a! LOST default-none fence=<F> reason=hold
since T 299..800

== a request that gives one
time T
a> LOCK default-given hold=600ms
a< OK fence=<F> depth=1
a! LOST default-given fence=<F> reason=hold
since T 599..1100

== a request that wants no bound
a> LOCK default-zero hold=0
a< OK fence=<F> depth=1
pause 500
a.
a> UNLOCK default-zero
a< OK depth=0
