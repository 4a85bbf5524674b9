# Framing: bytes, lines, words.

== no greeting: the client speaks first
a.
a> PING
a< OK

== a request ends with LF or with CRLF, and may come in pieces or with others
a>> 'PING\n'
a< OK
a>> 'PING\r\n'
a< OK
a>> 'PI'
a.
a>> 'NG\r'
a.
a>> '\n'
a< OK
a>> 'PING\nVERSION\r\nPING\n'
a< OK
a< OK version=<*> protocol=1
a< OK

== empty lines are ignored
a>> '\n\r\n\n\nPING\n\r\n'
a< OK
a.

== words may be separated by many spaces
a> LOCK   framing-spaces    wait=0     hold=1m
a< OK fence=<F> depth=1
a> UNLOCK    framing-spaces
a< OK depth=0

== verbs and option keys in any case
a> lock framing-case WAIT=0 Hold=1m
a< OK fence=<F> depth=1
a> uNlOcK framing-case
a< OK depth=0
a> ping
a< OK

== names keep their case
a> LOCK Framing-Case
a< OK fence=<F> depth=1
b> TRYLOCK framing-case
b< OK fence=<G> depth=1
b> TRYLOCK Framing-Case
b< BUSY

== values keep their case
a> LOCK framing-values wait=FOREVER
a< ERR bad-option ~wait
a> LOCK framing-values hold=5S
a< ERR bad-option ~hold
a> LOCK framing-values mode=EXCLUSIVE
a< ERR bad-option ~mode

== positional words come before options
a> LOCK wait=0 framing-position
a< ERR bad-request
a> STATUS framing-position
a< OK state=free

== a NUL or another control character is bad-request, and the connection goes on
a>> 'PING\x00\n'
a< ERR bad-request
a>> 'LOCK framing\x00nul\n'
a< ERR bad-request
a>> 'LOCK\tframing-tab\n'
a< ERR bad-request
a>> 'LOCK framing-tab\twait=0\n'
a< ERR bad-request
a>> '\x01PING\n'
a< ERR bad-request
a>> 'LOCK framing\x1besc\n'
a< ERR bad-request
a>> 'LOCK framing\x7fdel\n'
a< ERR bad-request
a>> 'PING \rPING\n'
a< ERR bad-request
a> PING
a< OK

== a line as long as may be: only the name is at fault
a>> 'LOCK ' + 'x' * 4091 + '\n'
a< ERR bad-name
a>> 'LOCK ' + 'x' * 4091 + '\r\n'
a< ERR bad-name
a> PING
a< OK

== a longer line is answered, and the connection closed
a>> 'LOCK ' + 'x' * 4092 + '\n'
a< ERR too-long
a| eof

== a longer line is refused before its end has come
a>> 'x' * 4200
a< ERR too-long
a| eof

== what comes before a long line is done, what comes after it is not
a>> 'PING\n' + 'x' * 5000 + '\nLOCK framing-after\n'
a< OK
a< ERR too-long
a| eof
b> STATUS framing-after
b< OK state=free

== a long line releases what the session held
a> LOCK framing-long
a< OK fence=<F> depth=1
a>> 'x' * 5000 + '\n'
a< ERR too-long
a| eof
b> LOCK framing-long wait=2s
b< OK fence=<G>F> depth=1

== an unknown verb
a> FROBNICATE x
a< ERR unknown-command
a> LOC x
a< ERR unknown-command
a> LOCKS x
a< ERR unknown-command
a> get x
a< ERR unknown-command
a> PING
a< OK

== a missing or surplus word
a> LOCK
a< ERR bad-request
a> TRYLOCK
a< ERR bad-request
a> UNLOCK
a< ERR bad-request
a> EXTEND
a< ERR bad-request
a> EXTEND framing-words
a< ERR bad-request
a> STATUS
a< ERR bad-request
a> STATUS framing-words two
a< ERR bad-request
a> QUEUE
a< ERR bad-request
a> QUEUE framing-words two
a< ERR bad-request
a> NAMES framing-words two
a< ERR bad-request
a> PING surplus
a< ERR bad-request
a> VERSION surplus
a< ERR bad-request
a> LIST surplus
a< ERR bad-request
a> SESSION surplus
a< ERR bad-request
a> CANCEL
a< ERR bad-request
a> CANCEL 1 2
a< ERR bad-request
a> QUIT surplus
a< ERR bad-request
a> PING
a< OK

# A web page must not be able to speak to the broker.

== GET closes without an answer
a>> 'GET / HTTP/1.1\r\nHost: localhost:5625\r\n\r\nLOCK framing-web\r\n'
a| eof

== POST closes without an answer, and its body is not read
a>> 'POST /LOCK HTTP/1.1\r\nContent-Length: 18\r\n\r\nLOCK framing-web\r\n'
a| eof
b> STATUS framing-web
b< OK state=free

== PUT
a> PUT / HTTP/1.1
a| eof

== HEAD
a> HEAD / HTTP/1.1
a| eof

== DELETE
a> DELETE / HTTP/1.1
a| eof

== OPTIONS
a> OPTIONS * HTTP/1.1
a| eof

== PATCH
a> PATCH / HTTP/1.1
a| eof

== TRACE
a> TRACE / HTTP/1.1
a| eof

== CONNECT
a> CONNECT example.org:443 HTTP/1.1
a| eof

== a line that begins with Host:
a> Host: localhost:5625
a| eof

== a line that begins with Host:, after others
a> PING
a< OK
a> Host:localhost
a| eof

== an HTTP method later on closes too, and releases
a> LOCK framing-late
a< OK fence=<F> depth=1
a> GET / HTTP/1.1
a| eof
b> LOCK framing-late wait=2s
b< OK fence=<G>F> depth=1
