# LOCKS: HISTORY.

== HISTORY of a name that nobody has had
a> HISTORY history-nobody
a< OK lines=0

== HISTORY: who had it and who has it, the newest first
a> SESSION label=cron
a< OK id=<A> label=cron
a> LOCK history-a
a< OK fence=<F> depth=1
b> SESSION
b< OK id=<B>
b> @1 LOCK history-a
? STATUS history-a => OK state=held waiters=1
pause 30
a> UNLOCK history-a
a< OK depth=0
b< @1 OK fence=<G> depth=1
a> HISTORY history-a
a< OK lines=2
a: hold session=<B> mode=exclusive fence=<G> waited=<30..30000>ms held=<0..30000>ms end=held ago=0ms no:label
a: hold session=<A> label=cron mode=exclusive fence=<F> waited=<0..30000>ms held=<30..30000>ms end=released ago=<0..30000>ms no:by

== HISTORY: the session ended
a> SESSION label=gone
a< OK id=<A>
a> LOCK history-drop mode=shared
a< OK fence=<F> depth=1
a| close
? STATUS history-drop => OK state=free
b> HISTORY history-drop
b< OK lines=1
b: hold session=<A> label=gone mode=shared fence=<F> end=dropped

== HISTORY: lost, as its hold= was over
a> LOCK history-hold hold=30ms
a< OK fence=<F> depth=1
a! LOST history-hold fence=<F> reason=hold
a> HISTORY history-hold
a< OK lines=1
a: hold mode=exclusive fence=<F> held=<30..30000>ms end=hold

== HISTORY: a re-entry is the same hold
a> LOCK history-twice
a< OK fence=<F> depth=1
a> LOCK history-twice
a< OK fence=<F> depth=2
a> UNLOCK history-twice
a< OK depth=1
a> HISTORY history-twice
a< OK lines=1
a: hold fence=<F> end=held
a> UNLOCK history-twice
a< OK depth=0
a> HISTORY history-twice
a< OK lines=1
a: hold fence=<F> end=released

== HISTORY: as many as are asked for
a> TRYLOCK history-many
a< OK
a> UNLOCK history-many
a< OK
a> TRYLOCK history-many
a< OK
a> UNLOCK history-many
a< OK
a> TRYLOCK history-many
a< OK
a> HISTORY history-many
a< OK lines=3
a: hold end=held
a: hold end=released
a: hold end=released
a> @h HISTORY history-many limit=2
a< @h OK lines=2
a: hold end=held
a: hold end=released
a> HISTORY history-many limit=0
a< ERR bad-option ~limit
a> HISTORY history-many limit=x
a< ERR bad-option ~limit
a> HISTORY
a< ERR bad-request
a> HISTORY one two
a< ERR bad-request

== HISTORY: forced, and by whom
a> SESSION label=mine
a< OK id=<A> label=mine
a> LOCK history-force
a< OK fence=<F> depth=1
b> SESSION
b< OK id=<B>
b> UNLOCK-FORCE history-force
b< OK
a! LOST history-force fence=<F> reason=forced
a> HISTORY history-force
a< OK lines=1
a: hold session=<A> label=mine fence=<F> end=forced by=<*>session=<B>,broker=b1
