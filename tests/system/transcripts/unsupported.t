# What the protocol has and this version has not yet. To be dropped, story by story, as it comes.

== users
a> AUTH user password
a< ERR unsupported

== the connection goes on, tags and all
a> @5 AUTH user password
a< @5 ERR unsupported
a> PING
a< OK
