# LOCKS: UNLOCK-FORCE. Clients at the Unix socket are administrators here.
set locks.lease 2s

== it is for administrators
a| tcp
a> UNLOCK-FORCE force-a
a< ERR denied
a> @1 UNLOCK-FORCE force-a
a< @1 ERR denied

== nobody holds it
a> UNLOCK-FORCE force-none
a< ERR not-held

== the holder loses it and is told
a> LOCK force-held
a< OK fence=<F>
a> LOCK force-held
a< OK depth=2
b> UNLOCK-FORCE force-held
b< OK
a! LOST force-held fence=<F> reason=forced
c> TRYLOCK force-held
c< OK fence=<G>F>
a> UNLOCK force-held
a< ERR lost
a> UNLOCK force-held
a< ERR not-held
a.

== it may be one's own
a> LOCK force-own
a< OK fence=<F>
a> UNLOCK-FORCE force-own
a! LOST force-own fence=<F> reason=forced
a< OK
a> LOCK force-own
a< OK fence=<G>F> depth=1

== the next in line has it then
a> LOCK force-next
a< OK fence=<F>
b> @1 LOCK force-next
? STATUS force-next => OK waiters=1
c> UNLOCK-FORCE force-next
c< OK
a! LOST force-next fence=<F> reason=forced
b< @1 OK fence=<G>F>

== fence=: nobody but the hold that has it
a> SESSION label=cron
a< OK label=cron
a> LOCK force-fence
a< OK fence=<$F>
b> UNLOCK-FORCE force-fence fence=1
b< ERR mismatch ~(cron, for
b> UNLOCK-FORCE force-fence fence=0
b< ERR bad-option ~fence
b> UNLOCK-FORCE force-fence fence=<$F>
b< OK
a! LOST force-fence fence=<$F> reason=forced
b> UNLOCK-FORCE force-fence fence=<$F>
b< ERR not-held
a.

== who shares it, all of them
a> LOCK force-shared mode=shared
a< OK fence=<F>
b> LOCK force-shared mode=shared
b< OK fence=<F>
c> UNLOCK-FORCE force-shared
c< OK
a! LOST force-shared fence=<F> reason=forced
b! LOST force-shared fence=<F> reason=forced
c> TRYLOCK force-shared
c< OK fence=<G>F>

== keep and delay end with it
a> LOCK force-delay delay=10s keep=10s
a< OK fence=<F>
b> UNLOCK-FORCE force-delay
b< OK
a! LOST force-delay fence=<F> reason=forced
b> TRYLOCK force-delay
b< OK fence=<G>F>

== a tombstone ends
a> LOCK force-tomb keep=10s
a< OK fence=<F>
a> UNLOCK force-tomb
a< OK
b> TRYLOCK force-tomb
b< BUSY
b> UNLOCK-FORCE force-tomb
b< OK
b> TRYLOCK force-tomb
b< OK fence=<G>F>

== a tombstone that is just being made
a> LOCK force-making keep=10s
a< OK fence=<F>
a> @1 UNLOCK force-making
a> @2 UNLOCK-FORCE force-making
a< @1 OK
a< @2 OK
b> TRYLOCK force-making
b< OK fence=<G>F>

== watchers see it
a> LOCK force-seen
a< OK fence=<F>
b> WATCH force-seen
b< OK
b! HELD force-seen fence=<F>
c> UNLOCK-FORCE force-seen
c< OK
a! LOST force-seen fence=<F> reason=forced
b! FREE force-seen

== a session in its grace loses it, too
a> SESSION grace=4s
a< OK key=<$K>
a> LOCK force-grace
a< OK fence=<F>
a| close
b> UNLOCK-FORCE force-grace
b< OK
b> TRYLOCK force-grace
b< OK fence=<G>F>
c> RESUME key=<$K>
c< OK locks=0
c! LOST force-grace fence=<F> reason=forced
c> QUIT
c< OK
c| eof
