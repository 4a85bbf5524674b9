# LOCKS: LOCK, TRYLOCK, UNLOCK, fences, the queue.

== an exchange (EXAMPLES)
b> LOCK nightly-report/part-2
b< OK fence=<*> depth=1
a> LOCK nightly-report
a< OK fence=<F> depth=1
a> TRYLOCK nightly-report/part-2 hold=10m
a< BUSY
a> UNLOCK nightly-report
a< OK depth=0

== mode=exclusive is the default, and may be said
a> LOCK locks-mode mode=exclusive
a< OK fence=<F> depth=1
b> TRYLOCK locks-mode mode=exclusive
b< BUSY

== TRYLOCK, and wait=0, answer BUSY and do not queue
a> TRYLOCK locks-try
a< OK fence=<F> depth=1
b> TRYLOCK locks-try
b< BUSY
b> LOCK locks-try wait=0
b< BUSY
b> LOCK locks-try wait=0ms
b< BUSY
b> STATUS locks-try
b< OK state=held waiters=0 fence=<F>
a> UNLOCK locks-try
a< OK depth=0
b.
b> TRYLOCK locks-try
b< OK fence=<G>F> depth=1

== wait=D ends in TIMEOUT
a> LOCK locks-timeout
a< OK fence=<F> depth=1
time T
b> LOCK locks-timeout wait=300ms
b< TIMEOUT
since T 299..800
? STATUS locks-timeout => OK waiters=0
a> UNLOCK locks-timeout
a< OK depth=0
b.

== each waits its own time
a> LOCK locks-times
a< OK fence=<F> depth=1
time T
b> @1 LOCK locks-times wait=500ms
b> @2 LOCK locks-times wait=100ms
b< @2 TIMEOUT
since T 99..480
b< @1 TIMEOUT
since T 499..1000

== re-entry counts up, UNLOCK counts down, at 0 it is free
a> LOCK locks-depth
a< OK fence=<F> depth=1
a> LOCK locks-depth
a< OK fence=<F> depth=2
a> TRYLOCK locks-depth
a< OK fence=<F> depth=3
a> LOCK locks-depth wait=0
a< OK fence=<F> depth=4
a> UNLOCK locks-depth
a< OK depth=3
a> UNLOCK locks-depth
a< OK depth=2
a> UNLOCK locks-depth
a< OK depth=1
b> TRYLOCK locks-depth
b< BUSY
a> UNLOCK locks-depth
a< OK depth=0
b> TRYLOCK locks-depth
b< OK fence=<G>F> depth=1
a> UNLOCK locks-depth
a< ERR not-held

== re-entry passes those who wait
a> LOCK locks-reenter
a< OK fence=<F> depth=1
b> LOCK locks-reenter
? STATUS locks-reenter => OK waiters=1
a> LOCK locks-reenter
a< OK fence=<F> depth=2
b.

== UNLOCK of what the session does not hold
a> UNLOCK locks-none
a< ERR not-held
b> LOCK locks-none
b< OK fence=<F> depth=1
a> UNLOCK locks-none
a< ERR not-held
b> LIST
b< OK lines=1
b: lock locks-none depth=1 fence=<F>

== each grant has a higher fence, whoever gets it
a> LOCK locks-fence
a< OK fence=<F1> depth=1
a> UNLOCK locks-fence
a< OK depth=0
a> LOCK locks-fence
a< OK fence=<F2>F1> depth=1
a> UNLOCK locks-fence
a< OK depth=0
b> LOCK locks-fence
b< OK fence=<F3>F2> depth=1
b> UNLOCK locks-fence
b< OK depth=0
a> LOCK locks-fence
a< OK fence=<F4>F3> depth=1
a| close
b> LOCK locks-fence
b< OK fence=<F5>F4> depth=1

== a fence fits in 53 bits
a> LOCK locks-bits
a< OK fence=<1..9007199254740991> depth=1

== the queue is served in the order of arrival
a> LOCK locks-fifo
a< OK fence=<F> depth=1
b> LOCK locks-fifo
? STATUS locks-fifo => OK waiters=1
c> LOCK locks-fifo wait=1m
? STATUS locks-fifo => OK waiters=2
d> @9 LOCK locks-fifo
? STATUS locks-fifo => OK waiters=3
a> UNLOCK locks-fifo
a< OK depth=0
b< OK fence=<G>F> depth=1
c.
d.
b> UNLOCK locks-fifo
b< OK depth=0
c< OK fence=<H>G> depth=1
d.
c> UNLOCK locks-fifo
c< OK depth=0
d< @9 OK fence=<I>H> depth=1

== who comes while others wait does not pass them
a> LOCK locks-barge
a< OK fence=<F> depth=1
b> LOCK locks-barge
? STATUS locks-barge => OK waiters=1
a>> 'UNLOCK locks-barge\nTRYLOCK locks-barge\nLOCK locks-barge\n'
a< OK depth=0
a< BUSY
b< OK fence=<G>F> depth=1
a.
b> UNLOCK locks-barge
b< OK depth=0
a< OK fence=<H>G> depth=1

== a session that is granted a name: its other waiting requests for it re-enter at once
a> LOCK locks-others
a< OK fence=<F> depth=1
b> @1 LOCK locks-others
? STATUS locks-others => OK waiters=1
c> LOCK locks-others
? STATUS locks-others => OK waiters=2
b> @2 LOCK locks-others
? STATUS locks-others => OK waiters=3
a> UNLOCK locks-others
a< OK depth=0
b< @1 OK fence=<G>F> depth=1
b< @2 OK fence=<G> depth=2
c.
b> UNLOCK locks-others
b< OK depth=1
c.
b> UNLOCK locks-others
b< OK depth=0
c< OK fence=<H>G> depth=1

== queue=N: BUSY at once where that many wait already
a> LOCK locks-queue queue=0
a< OK fence=<F> depth=1
b> LOCK locks-queue queue=0
b< BUSY
b> LOCK locks-queue queue=1
? STATUS locks-queue => OK waiters=1
c> LOCK locks-queue queue=1
c< BUSY
c> LOCK locks-queue wait=1m queue=1
c< BUSY
c> LOCK locks-queue queue=2
? STATUS locks-queue => OK waiters=2
a> LOCK locks-queue queue=0
a< OK fence=<F> depth=2

== names are independent
a> LOCK locks-ind-1
a< OK fence=<F1> depth=1
b> LOCK locks-ind-2
b< OK fence=<F2> depth=1
a> LOCK locks-ind-2 wait=0
a< BUSY
b> LOCK locks-ind-1 wait=0
b< BUSY

== a session may wait for one and hold another
a> LOCK locks-two-1
a< OK fence=<F1> depth=1
b> LOCK locks-two-2
b< OK fence=<F2> depth=1
a> @1 LOCK locks-two-2
? STATUS locks-two-2 => OK waiters=1
b| close
a< @1 OK fence=<G2>F2> depth=1
a> LIST
a< OK lines=2
a: ...

== sessions are connections: two from one host exclude each other
a| tcp
b| tcp
a> LOCK locks-tcp
a< OK fence=<F> depth=1
b> TRYLOCK locks-tcp
b< BUSY
c> TRYLOCK locks-tcp
c< BUSY

== UNLOCK behind LOCK in one write
a>> 'LOCK locks-pipe\nUNLOCK locks-pipe\n' * 5
a< OK fence=<F1> depth=1
a< OK depth=0
a< OK fence=<F2>F1> depth=1
a< OK depth=0
a< OK fence=<F3>F2> depth=1
a< OK depth=0
a< OK fence=<F4>F3> depth=1
a< OK depth=0
a< OK fence=<F5>F4> depth=1
a< OK depth=0
? STATUS locks-pipe => OK state=free
