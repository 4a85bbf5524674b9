# LOCKS: hold= and EXTEND.

== after hold= it is lost, and the client is told
time T
a> LOCK holds-d hold=1s
a< OK fence=<F> depth=1
b> LOCK holds-d
? STATUS holds-d => OK waiters=1
a! LOST holds-d fence=<F> reason=hold
since T 999..1500
b< OK fence=<G>F> depth=1
since T 999..1600

== UNLOCK of a lost one is ERR lost once, then not-held
a> LOCK holds-lost hold=100ms
a< OK fence=<F> depth=1
a! LOST holds-lost fence=<F> reason=hold
a> LIST
a< OK lines=0
a> UNLOCK holds-lost
a< ERR lost
a> UNLOCK holds-lost
a< ERR not-held

== a lost one can be locked again
a> LOCK holds-again hold=100ms
a< OK fence=<F> depth=1
a! LOST holds-again fence=<F> reason=hold
a> LOCK holds-again
a< OK fence=<G>F> depth=1
a> UNLOCK holds-again
a< OK depth=0

== the bound ends every depth
a> LOCK holds-depth
a< OK fence=<F> depth=1
a> LOCK holds-depth hold=200ms
a< OK fence=<F> depth=2
a! LOST holds-depth fence=<F> reason=hold
a> UNLOCK holds-depth
a< ERR lost
b> TRYLOCK holds-depth
b< OK fence=<G>F> depth=1

== on re-entry hold= replaces the bound if given
time T
a> LOCK holds-re hold=1s
a< OK fence=<F> depth=1
a> LOCK holds-re hold=1500ms
a< OK fence=<F> depth=2
a! LOST holds-re fence=<F> reason=hold
since T 1499..2100

== on re-entry without hold= the bound stays
time T
a> LOCK holds-re-2 hold=1s
a< OK fence=<F> depth=1
a> LOCK holds-re-2
a< OK fence=<F> depth=2
a! LOST holds-re-2 fence=<F> reason=hold
since T 999..1500

== on re-entry hold=0 removes it
a> LOCK holds-re-3 hold=1s
a< OK fence=<F> depth=1
a> LOCK holds-re-3 hold=0
a< OK fence=<F> depth=2
pause 1200
a.
a> UNLOCK holds-re-3
a< OK depth=1

== the time spent waiting does not count
a> LOCK holds-wait
a< OK fence=<F> depth=1
b> LOCK holds-wait hold=400ms
? STATUS holds-wait => OK waiters=1
pause 500
time T
a> UNLOCK holds-wait
a< OK depth=0
b< OK fence=<G>F> depth=1
b! LOST holds-wait fence=<G> reason=hold
since T 399..900

== EXTEND moves the bound to D from now
time T
a> LOCK holds-ext hold=1s
a< OK fence=<F> depth=1
a> EXTEND holds-ext hold=1500ms
a< OK
a! LOST holds-ext fence=<F> reason=hold
since T 1499..2100

== EXTEND can shorten
time T
a> LOCK holds-short hold=1h
a< OK fence=<F> depth=1
a> EXTEND holds-short hold=200ms
a< OK
a! LOST holds-short fence=<F> reason=hold
since T 199..700

== EXTEND can bound what had no bound, and hold=0 removes the bound
a> LOCK holds-zero
a< OK fence=<F> depth=1
a> EXTEND holds-zero hold=1s
a< OK
a> EXTEND holds-zero hold=0
a< OK
pause 1200
a.
a> UNLOCK holds-zero
a< OK depth=0

== EXTEND of what the session does not hold
a> EXTEND holds-none hold=1s
a< ERR not-held
b> LOCK holds-none
b< OK fence=<F> depth=1
a> EXTEND holds-none hold=1s
a< ERR not-held
a> LOCK holds-gone hold=100ms
a< OK fence=<G> depth=1
a! LOST holds-gone fence=<G> reason=hold
a> EXTEND holds-gone hold=1s
a< ERR lost|not-held

== UNLOCK in time, and nothing is lost later
a> LOCK holds-intime hold=1s
a< OK fence=<F> depth=1
a> UNLOCK holds-intime
a< OK depth=0
a> LOCK holds-intime
a< OK fence=<G>F> depth=1
pause 1200
a.
