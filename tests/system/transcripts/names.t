# Names, numbers and durations; options; REPLIES: ERR and its codes.

== 1 to 255 bytes
a> LOCK n
a< OK fence=<F> depth=1
a>> 'LOCK ' + 'n' * 255 + '\n'
a< OK fence=<*> depth=1
a>> 'UNLOCK ' + 'n' * 255 + '\n'
a< OK depth=0
a>> 'LOCK ' + 'n' * 256 + '\n'
a< ERR bad-name
a>> 'STATUS ' + 'n' * 256 + '\n'
a< ERR bad-name

== bytes count, not characters
a>> 'LOCK ' + 'ü' * 127 + 'n\n'
a< OK fence=<*> depth=1
a>> 'LOCK ' + 'ü' * 128 + '\n'
a< ERR bad-name

== UTF-8, and signs of all sorts
a> LOCK schlüssel/日本語/🔒
a< OK fence=<*> depth=1
a> LOCK {a}:b*c?[d]$("e")';--\n%s%n|&<>~`^+,.#-_
a< OK fence=<*> depth=1
a> STATUS {a}:b*c?[d]$("e")';--\n%s%n|&<>~`^+,.#-_
a< OK state=held
b> STATUS {a}:b
b< OK state=free
a> LOCK a@b!c
a< OK fence=<*> depth=1

== not valid UTF-8
a>> b'LOCK names\xff\n'
a< ERR bad-name
a>> b'LOCK \x80\n'
a< ERR bad-name
a>> b'LOCK names\xc3\n'
a< ERR bad-name
a>> b'LOCK \xc0\xaf\n'
a< ERR bad-name
a>> b'LOCK \xed\xa0\x80\n'
a< ERR bad-name
a>> b'LOCK \xf4\x90\x80\x80\n'
a< ERR bad-name
a>> b'LOCK \xe2\x82\n'
a< ERR bad-name

== not beginning with @ or !
a> LOCK @fence
a< ERR bad-name
a> LOCK !x
a< ERR bad-name
a> TRYLOCK @guard
a< ERR bad-name
a> UNLOCK @x
a< ERR bad-name
a> STATUS @x
a< ERR bad-name
a> QUEUE @x
a< ERR bad-name
a> EXTEND @x hold=1s
a< ERR bad-name

== a word with = is no name
a> LOCK a=b
a< ERR bad-option|bad-request|bad-name
a> STATUS a=b
a< ERR bad-option|bad-request|bad-name

== durations with their units
a> LOCK names-d wait=5000ms hold=10000ms
a< OK fence=<F> depth=1
a> LOCK names-d wait=1s hold=30s
a< OK fence=<F> depth=2
a> LOCK names-d wait=1m hold=5m
a< OK fence=<F> depth=3
a> LOCK names-d wait=1h hold=2h
a< OK fence=<F> depth=4
a> LOCK names-d wait=1d hold=365d
a< OK fence=<F> depth=5
a> LOCK names-d wait=8760h hold=525600m
a< OK fence=<F> depth=6
a> LOCK names-d wait=0 hold=0
a< OK fence=<F> depth=7
a> LOCK names-d wait=0s hold=0ms
a< OK fence=<F> depth=8
a> LOCK names-d wait=forever
a< OK fence=<F> depth=9

== a bare number lacks its unit, and the answer says so
a> LOCK names-e wait=5
a< ERR bad-option ~wait ~unit
a> LOCK names-e hold=30
a< ERR bad-option ~hold ~unit
a> LOCK names-e keep=1
a< ERR bad-option ~keep ~unit
a> LOCK names-e delay=100
a< ERR bad-option ~delay ~unit

== malformed durations
a> LOCK names-e wait=
a< ERR bad-option ~wait
a> LOCK names-e wait=s
a< ERR bad-option ~wait
a> LOCK names-e wait=-1s
a< ERR bad-option ~wait
a> LOCK names-e wait=+1s
a< ERR bad-option ~wait
a> LOCK names-e wait=1.5s
a< ERR bad-option ~wait
a> LOCK names-e wait=01s
a< ERR bad-option ~wait
a> LOCK names-e wait=00
a< ERR bad-option ~wait
a> LOCK names-e wait=0x10s
a< ERR bad-option ~wait
a> LOCK names-e wait=1e3s
a< ERR bad-option ~wait
a> LOCK names-e wait=5sec
a< ERR bad-option ~wait
a> LOCK names-e wait=1w
a< ERR bad-option ~wait
a> LOCK names-e wait=1s1s
a< ERR bad-option ~wait
a> LOCK names-e wait=never
a< ERR bad-option ~wait
a> LOCK names-e hold=forever
a< ERR bad-option ~hold

== the largest duration is 365d
a> LOCK names-e wait=366d
a< ERR bad-option ~wait
a> LOCK names-e wait=8761h
a< ERR bad-option ~wait
a> LOCK names-e hold=31536000001ms
a< ERR bad-option ~hold
a> LOCK names-e wait=99999999999999999999s
a< ERR bad-option ~wait
a> LOCK names-e wait=18446744073709551617ms
a< ERR bad-option ~wait
a> LOCK names-e hold=213503982335d
a< ERR bad-option ~hold

== numbers
a> LOCK names-n wait=1s queue=0
a< OK fence=<F> depth=1
a> LOCK names-n queue=100
a< OK fence=<F> depth=2
a> LOCK names-n queue=
a< ERR bad-option ~queue
a> LOCK names-n queue=01
a< ERR bad-option ~queue
a> LOCK names-n queue=-1
a< ERR bad-option ~queue
a> LOCK names-n queue=+1
a< ERR bad-option ~queue
a> LOCK names-n queue=1.0
a< ERR bad-option ~queue
a> LOCK names-n queue=1s
a< ERR bad-option ~queue
a> LOCK names-n queue=x
a< ERR bad-option ~queue
a> LOCK names-n queue=99999999999999999999
a< ERR bad-option ~queue
a> LOCK names-n queue=18446744073709551617
a< ERR bad-option ~queue
a> NAMES limit=x
a< ERR bad-option ~limit
a> LIST
a< OK lines=1
a: lock names-n depth=2

== an option that the verb does not take
a> LOCK names-o foo=1
a< ERR bad-option ~foo
a> LOCK names-o waits=1s
a< ERR bad-option ~waits
a> LOCK names-o =1
a< ERR bad-option|bad-request|bad-name
a> TRYLOCK names-o wait=1s
a< ERR bad-option ~wait
a> TRYLOCK names-o queue=1
a< ERR bad-option ~queue
a> UNLOCK names-o wait=0
a< ERR bad-option ~wait
a> STATUS names-o wait=0
a< ERR bad-option ~wait
a> QUEUE names-o wait=1s
a< ERR bad-option ~wait
a> QUEUE names-o limit=0
a< ERR bad-option ~limit
a> EXTEND names-o hold=1s wait=1s
a< ERR bad-option ~wait
a> PING x=1
a< ERR bad-option ~x
a> VERSION hold=1s
a< ERR bad-option ~hold
a> STATUS names-o
a< OK state=free

== an option given twice
a> LOCK names-o wait=0 wait=0
a< ERR bad-option ~wait
a> LOCK names-o hold=1s HOLD=2s
a< ERR bad-option ~hold
a> STATUS names-o
a< OK state=free

== a mode that does not exist
a> LOCK names-o mode=foo
a< ERR bad-option ~mode
a> LOCK names-o mode=
a< ERR bad-option ~mode

== an ERR changes nothing that the session holds
a> LOCK names-k
a< OK fence=<F> depth=1
a> LOCK names-k wait=5
a< ERR bad-option
a> UNLOCK names-k wait=5
a< ERR bad-option
a> UNLOCK names-other
a< ERR not-held
a> FROBNICATE names-k
a< ERR unknown-command
a> LIST
a< OK lines=1
a: lock names-k mode=exclusive depth=1 fence=<F>
