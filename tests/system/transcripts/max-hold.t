# LOCKS, and locks.max_hold: a missing, larger or zero hold becomes it.
set locks.max_hold 1s

== a missing one
time T
a> LOCK max-missing
a< OK fence=<F> depth=1
a! LOST max-missing fence=<F> reason=hold
since T 999..1500

== a larger one
time T
a> LOCK max-larger hold=1h
a< OK fence=<F> depth=1
a! LOST max-larger fence=<F> reason=hold
since T 999..1500

== a zero one
time T
a> TRYLOCK max-zero hold=0
a< OK fence=<F> depth=1
a! LOST max-zero fence=<F> reason=hold
since T 999..1500

== a smaller one stays
time T
a> LOCK max-smaller hold=100ms
a< OK fence=<F> depth=1
a! LOST max-smaller fence=<F> reason=hold
since T 99..700

== EXTEND can't pass it
a> LOCK max-extend
a< OK fence=<F> depth=1
time T
a> EXTEND max-extend hold=1h
a< OK
a! LOST max-extend fence=<F> reason=hold
since T 999..1500
a> LOCK max-extend
a< OK fence=<G>F> depth=1
time T
a> EXTEND max-extend hold=0
a< OK
a! LOST max-extend fence=<G> reason=hold
since T 999..1500
