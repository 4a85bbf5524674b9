# SESSIONS: SESSION label=, PING, VERSION, HELP; STATISTICS: STATS.

== SESSION reports; its key is a secret of its own
a> SESSION
a< OK id=<A> key=<*> no:label
a> SESSION label=nightly
a< OK id=<A> key=<*> label=nightly
a> SESSION
a< OK id=<A> key=<*> label=nightly
a> SESSION label=other
a< OK id=<A> label=other
b> SESSION
b< OK id=<B> no:label

== a label has 1 to 64 bytes, as a name
a>> 'SESSION label=' + 'l' * 64 + '\n'
a< OK id=<A> label=<*>
a>> 'SESSION label=' + 'l' * 65 + '\n'
a< ERR bad-option ~label
a> SESSION label=
a< ERR bad-option ~label
a> SESSION label=@x
a< ERR bad-option ~label
a> SESSION label=!x
a< ERR bad-option ~label
a> SESSION label=a=b
a< ERR bad-option ~label
a>> b'SESSION label=\xff\n'
a< ERR bad-option ~label
a> SESSION label=schlüssel
a< OK id=<A> label=schlüssel

== PING says valid= only while something is held
a> PING
a< OK no:valid
a> LOCK session-ping
a< OK fence=<F> depth=1
a> PING
a< OK valid=<1..10000>ms
a> UNLOCK session-ping
a< OK depth=0
a> PING
a< OK no:valid

== valid= is bounded by hold=, the least over everything held
a> LOCK session-long
a< OK fence=<*> depth=1
a> LOCK session-short hold=2s
a< OK fence=<*> depth=1
a> PING
a< OK valid=<1..2000>ms
a> EXTEND session-short hold=1h
a< OK
a> PING
a< OK valid=<2001..10000>ms

== VERSION
a> VERSION
a< OK version=<*> protocol=1

== HELP has a line for each verb
a> HELP
a< OK lines=<*>
a: ...

== STATS
a> STATS
a< OK lines=<*>
a: ...

== why=yes: a refusal says who has the name
a> SESSION label=nightly
a< OK id=<A> label=nightly
b> SESSION why=yes
b< OK id=<B> why=yes
a> LOCK session-why
a< OK fence=<*> depth=1
b> TRYLOCK session-why
b< BUSY name=session-why holder=nightly broker=<*> age=<*> before=0
c> TRYLOCK session-why
c< BUSY no:name no:holder
b> @1 LOCK session-free session-why wait=300ms
b< @1 TIMEOUT name=session-why holder=nightly broker=<*> age=<*> before=0
a> UNLOCK session-why
a< OK depth=0
a> LOCK session-why keep=1m
a< OK fence=<*> depth=1
a> UNLOCK session-why
a< OK depth=0
b> TRYLOCK session-why
b< BUSY name=session-why no:holder kept=<1..60000>ms
b> SESSION why=no
b< OK id=<B> no:why
b> TRYLOCK session-why
b< BUSY no:name
b> SESSION why=perhaps
b< ERR bad-option ~why
