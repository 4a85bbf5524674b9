# keep=, delay= and ttl=: bounds on what is kept for nobody.
set locks.max_keep 1m
set locks.max_delay 10s
set locks.max_ttl 2s
set limits.unowned 2

== keep= above locks.max_keep
a> LOCK unowned-1 keep=61s
a< ERR limit
a> TRYLOCK unowned-1 keep=61s
a< ERR limit
a> LOCK unowned-1 unowned-2 keep=61s
a< ERR limit
a> LIST
a< OK lines=0
a> LOCK unowned-1
a< OK fence=<*> depth=1
a> LOCK unowned-1 keep=61s
a< ERR limit
a> UNLOCK unowned-1
a< OK depth=0
b> TRYLOCK unowned-1
b< OK fence=<*> depth=1

== delay= above locks.max_delay
a> LOCK unowned-1 delay=10001ms
a< ERR limit
a> LOCK unowned-1 delay=10s
a< OK fence=<*> depth=1
a> UNLOCK unowned-1
a< OK depth=0

== the ttl= of a latch above locks.max_ttl; without one it is cut to that
a> LATCH unowned-3 count=1 ttl=2001ms
a< ERR limit
a> LATCH unowned-3 count=1
a< OK count=1
a> LATCH unowned-4 count=1 ttl=100ms
a< OK count=1
a> LATCH unowned-5 count=1 ttl=100ms
a< ERR limit
a> LOCK unowned-5 keep=1s
a< ERR limit
b> LOCK unowned-6
b< OK fence=<*> depth=1
a> LOCK unowned-6 wait=2100ms
a< TIMEOUT
a> COUNTDOWN unowned-3
a< ERR not-found

== limits.unowned: names that are kept for nobody
a> LOCK unowned-6 keep=300ms
a< OK fence=<*> depth=1
a> UNLOCK unowned-6
a< OK depth=0
a> LOCK unowned-7 delay=300ms
a< OK fence=<*> depth=1
b> LOCK unowned-8 keep=1ms
b< ERR limit
b> LOCK unowned-8 delay=1ms
b< ERR limit
b> LATCH unowned-8 count=1
b< ERR limit
b> LOCK unowned-8
b< OK fence=<*> depth=1
a> UNLOCK unowned-7
a< OK depth=0
b> LOCK unowned-9 keep=100ms
b< OK fence=<*> depth=1
