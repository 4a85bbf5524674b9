# What the protocol has and this version has not yet. To be dropped, story by story, as it comes.

== sessions that live on
a> SESSION grace=10s
a< ERR unsupported
a> SESSION heartbeat=10s
a< ERR unsupported
a> RESUME key=0123456789abcdef0123456789abcdef
a< ERR unsupported
a> AUTH user password
a< ERR unsupported

== other synchronizers
a> ACQUIRE later-s limit=2
a< ERR unsupported
a> RELEASE later-s
a< ERR unsupported
a> LATCH later-l count=3
a< ERR unsupported
a> COUNTDOWN later-l
a< ERR unsupported
a> AWAIT later-l
a< ERR unsupported
a> BARRIER later-b parties=2
a< ERR unsupported
a> WATCH later-w
a< ERR unsupported
a> UNWATCH later-w
a< ERR unsupported

== administrators
a> UNLOCK-FORCE later-f
a< ERR unsupported

== the connection goes on, tags and all
a> @5 ACQUIRE later-s limit=2
a< @5 ERR unsupported
a> PING
a< OK
