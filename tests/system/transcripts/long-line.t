# Framing: the length of a line is what limits.line says.
set limits.line 64

== 64 bytes
a>> 'LOCK ' + 'x' * 59 + '\r\n'
a< OK fence=<F> depth=1

== 65 bytes
a>> 'LOCK ' + 'x' * 60 + '\r\n'
a< ERR too-long
a| eof

== 65 bytes, without an end
a>> 'LOCK ' + 'x' * 70
a< ERR too-long
a| eof

== a tag counts
a>> '@12345 LOCK ' + 'x' * 53 + '\n'
a< ERR too-long
a| eof
