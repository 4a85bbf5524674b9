# End of stream.

== complete lines are still handled, replies flushed, holds released, the connection closed
a>> 'LOCK eof-pipe\nSTATUS eof-pipe\n'
a| shut
a< OK fence=<F> depth=1
a< OK state=held fence=<F>
a| eof
? STATUS eof-pipe => OK state=free

== the same over TCP
a| tcp
a>> 'LOCK eof-tcp\r\nSTATUS eof-tcp\r\nUNLOCK eof-tcp\r\nSTATUS eof-tcp\r\n'
a| shut
a< OK fence=<F> depth=1
a< OK state=held fence=<F>
a< OK depth=0
a< OK state=free
a| eof

== nothing was said
a| shut
a| eof

== a last line without an end was never said
a>> 'PING\nLOCK eof-partial'
a| shut
a< OK
a| eof
b> STATUS eof-partial
b< OK state=free

== a request that waits is cancelled, and then the next line is handled
a> LOCK eof-wait
a< OK fence=<F> depth=1
b>> 'LOCK eof-wait\nSTATUS eof-wait\nLOCK eof-wait wait=1m\nPING\n'
b| shut
b< CANCELLED
b< OK state=held waiters=0
b< CANCELLED
b< OK
b| eof
a> UNLOCK eof-wait
a< OK depth=0

== the same where it waited before the end came
a> LOCK eof-wait-2
a< OK fence=<F> depth=1
b>> 'LOCK eof-wait-2\nVERSION\n'
? STATUS eof-wait-2 => OK waiters=1
b| shut
b< CANCELLED
b< OK version=<*>
b| eof
? STATUS eof-wait-2 => OK waiters=0

== a waiting tagged request is cancelled too
a> LOCK eof-tagged
a< OK fence=<F> depth=1
b>> '@1 LOCK eof-tagged\n@2 PING\n'
b| shut
b< @2 OK
b< @1 CANCELLED
b| eof
? STATUS eof-tagged => OK waiters=0

== what the session holds outlives the lines already received, not more
a>> 'LOCK eof-holds\nLOCK eof-holds\nLIST\n'
a| shut
a< OK fence=<F> depth=1
a< OK fence=<F> depth=2
a< OK lines=1
a: lock eof-holds mode=exclusive depth=2 fence=<F>
a| eof
b> LOCK eof-holds wait=2s
b< OK fence=<G>F> depth=1

== closing releases at once, and the next waiter is granted
a> LOCK eof-close
a< OK fence=<F> depth=1
b> LOCK eof-close
? STATUS eof-close => OK waiters=1
a| close
b< OK fence=<G>F> depth=1

== a reset releases at once
a| tcp
a> LOCK eof-reset
a< OK fence=<F> depth=1
b> LOCK eof-reset
? STATUS eof-reset => OK waiters=1
a| reset
b< OK fence=<G>F> depth=1

== a waiting request whose client closes leaves its queue at once
a> LOCK eof-gone
a< OK fence=<F> depth=1
b> LOCK eof-gone
? STATUS eof-gone => OK waiters=1
b| close
? STATUS eof-gone => OK waiters=0

== a waiting request whose client resets leaves its queue at once
b| tcp
a> LOCK eof-gone-2
a< OK fence=<F> depth=1
b> LOCK eof-gone-2
? STATUS eof-gone-2 => OK waiters=1
b| reset
? STATUS eof-gone-2 => OK waiters=0

== and even with unread bytes before the end
b| tcp
a> LOCK eof-unread
a< OK fence=<F> depth=1
b>> 'LOCK eof-unread\n' + 'LOCK eof-unread\n' * 1000
? STATUS eof-unread => OK waiters=1
b| close
? STATUS eof-unread => OK waiters=0
c>> 'LOCK eof-unread\n' + 'LOCK eof-unread\n' * 1000
? STATUS eof-unread => OK waiters=1
c| close
? STATUS eof-unread => OK waiters=0

== and with unread bytes that no line end ends
a> LOCK eof-unread-2
a< OK fence=<F> depth=1
b>> 'LOCK eof-unread-2\nLOCK eof-un'
? STATUS eof-unread-2 => OK waiters=1
b| close
? STATUS eof-unread-2 => OK waiters=0

== QUIT is answered, releases, and closes
a> LOCK eof-quit
a< OK fence=<F> depth=1
b> LOCK eof-quit
? STATUS eof-quit => OK waiters=1
a> QUIT
a< OK
a| eof
b< OK fence=<G>F> depth=1

== QUIT cancels what waits
a> LOCK eof-quit-2
a< OK fence=<F> depth=1
b> @1 LOCK eof-quit-2
? STATUS eof-quit-2 => OK waiters=1
b> QUIT
b< OK
b< @1 CANCELLED
b| eof
? STATUS eof-quit-2 => OK waiters=0
