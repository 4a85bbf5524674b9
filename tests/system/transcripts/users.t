# There are no users yet, so nobody can be one of them.

== users
a> AUTH user password
a< ERR auth

== the connection goes on, tags and all
a> @5 AUTH user password
a< @5 ERR auth
a> PING
a< OK

== WHOAMI: nobody in particular
a> WHOAMI
a< OK user=-
a> @7 WHOAMI
a< @7 OK user=-
a> WHOAMI me
a< ERR bad-request
