# UNLOCK-FORCE: here, elsewhere, and where it is not heeded.

== a forced release here
0 ready 3
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 2 LOCK a
> op renew a seq=1 ttl=13000 fence=100 reserve=1
40 < renewed a fence=110
50 3 UNLOCK-FORCE a
> log unlock-force name=a session=3 peer=peer holder=1 holder_peer=peer fence=100 held=30
> 1 !LOST a fence=100 reason=forced
> op end a seq=1
60 < ended a
> op acquire a seq=2 ttl=13000 reserve=1 queue
> 3 OK
70 < granted a fence=200
> 2 OK fence=200 depth=1

== of nothing
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < gone a
> 1 ERR not-held the lock is not held

== of a tombstone
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < ended a
> 1 OK

== elsewhere, and nobody heard it
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4
> 1 ERR unavailable the broker holding the lock is unreachable; its lease will expire

== of what this broker had before
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b.0000000000000000.7|4
> 1 ERR not-held the lock is not held

== of what this broker had for nobody, and a session here has since
0 ready 2
10 1 LOCK a
> op acquire a seq=1 ttl=13000 reserve=1 queue
20 2 UNLOCK-FORCE a
> log unlock-force name=a session=2 peer=peer
> op force a by=1000002020
30 < granted a fence=100
> 1 OK fence=100 depth=1
40 < value a text=b.0000000000000000.1|100
> 2 ERR not-held the lock was not held at that time; check STATUS
50 1 UNLOCK a
> op end a seq=1

== Redis does not answer
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < unknown a
> 1 ERR unavailable Redis did not answer in time; try again

== Redis refuses
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < refused a text=no
> 1 ERR unavailable no

== elsewhere, and it was heard
# A renewal that drew fences has not let it go.
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4 waiting
> log unlock-force-asked name=a broker=b2
500 until
> 30 op status a
510 < value a text=b2.0123456789abcdef.7|9 waiting
900 until
> 530 op status a
910 < value a text=b3.0123456789abcdef.1|10
> 1 OK

== elsewhere, and it is not heeded
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4 waiting
> log unlock-force-asked name=a broker=b2
600 until
> 30 op status a
610 < value a text=b2.0123456789abcdef.7|4 waiting
1200 until
> 630 op status a
1210 < value a text=b2.0123456789abcdef.7|4 waiting
1800 until
> 1250 op status a
1810 < value a text=b2.0123456789abcdef.7|4 waiting
2500 until
> 1890 op status a
> 2010 1 ERR unavailable the broker holding the lock did not release it in time; its lease will expire

== the key was a former master's when its broker was asked
# Whether the broker that has it at the new master had it before is not known.
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4 waiting
> log unlock-force-asked name=a broker=b2
30 until
> 30 op status a
40 guard blessed history=fedcba9876543210
50 < value a text=b3.0123456789abcdef.1|10
> 1 ERR unavailable Redis was restarted or replaced; check STATUS

== nobody has it at the new master
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4 waiting
> log unlock-force-asked name=a broker=b2
30 until
> 30 op status a
40 guard blessed history=fedcba9876543210
50 < value a text=
> 1 OK

== a server that was asked while it granted nothing has the same history
0 ready 1
5 guard pending p1 history=fedcba9876543210
> log guard-pending node=0 cause=replica wait=13600
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4 waiting
> log unlock-force-asked name=a broker=b2
30 until
> 30 op status a
40 guard blessed history=fedcba9876543210
> log guard-ready node=0 after=35
50 < value a text=b3.0123456789abcdef.1|10
> 1 OK

== a share that is forced while Redis may have forgotten another
# The key is ours, a tombstone, for Redis knew nobody else who shared the name.
0 ready 3
10 1 LOCK a mode=shared
> op acquire a seq=1 ttl=13000 reserve=1 shared queue
20 < granted a fence=100
> 1 OK fence=100 depth=1
30 guard pending p1 history=fedcba9876543210
> log guard-pending node=0 cause=replica wait=13600 down=20
> op renew a seq=1 ttl=13000 fence=100 by=1000009908 shared
35 < renewed a
40 3 UNLOCK-FORCE a
> log unlock-force name=a session=3 peer=peer holder=1 holder_peer=peer fence=100 held=20
> op force a by=1000002040
> 1 !LOST a fence=100 reason=forced
> op end a seq=1
50 < value a text=b.0000000000000000.1|100
> 3 ERR unavailable no new locks for 13.6 s: Redis has a new dataset (adding the first replica does that); locks that are held are kept
60 < ended a

== the last of several that shared the name has it alone
# The message to it was lost.
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=@shared|4,b3.0123456789abcdef.17,b2.0123456789abcdef.7 waiting
> log unlock-force-asked name=a broker=
30 until
> 30 op status a
40 < value a text=b2.0123456789abcdef.7|9
60 until
> 60 op status a
70 < value a text=b2.0123456789abcdef.77|9
> 1 OK

== elsewhere, where it may be kept for nobody: its broker is asked first
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < busy a text=b2.0123456789abcdef.7 waiting
> op recall a seq=1
30 < gone a
> op force a have=1 by=1000002010
40 < gone a
> 1 ERR not-held the lock is not held
50 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002050
60 < busy a text=b2.0123456789abcdef.7 waiting
> op force a have=1 by=1000002050

== a master that may have been replaced: what it has ended is not confirmed
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < unknown a alone
> 1 ERR unavailable too few replicas of Redis confirmed it; try again, or check STATUS

== a master that may have been replaced: that a name has passed on there proves nothing
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b2.0123456789abcdef.7|4 waiting
> log unlock-force-asked name=a broker=b2
30 until
> 30 op status a
40 < value a text= alone
60 until
> 60 op status a
70 < value a text=
> 1 OK

== a master that may have been replaced: that the name was this broker's says nothing of now
0 ready 1
10 1 UNLOCK-FORCE a
> log unlock-force name=a session=1 peer=peer
> op force a by=1000002010
20 < value a text=b.0000000000000000.7|4 alone
> 1 ERR unavailable too few replicas of Redis confirmed it; try again, or check STATUS
