# BROKERS: who uses the same Redis.

== each is listed by name, and one that was not seen for two leases is missing
0 ready 1
10 1 BROKERS
> op brokers
20 < value @guard text=z.00000000000000aa,3,z:1,2.0,10000,http://z/;a.00000000000000aa,20000,-,-;b.0000000000000000,0,-,2.0,10000,-;m.00000000000000aa,20001,m:1
> 1 brokers
>   a version=- lease=10000 seen=20000
>   b version=2.0 lease=10000 seen=0 self=1
>   m version=- lease=10000 seen=20001 address=m:1 missing=1
>   z version=2.0 lease=10000 seen=3 address=z:1 http=http://z/

== one that was started again is listed once, two of one name twice
0 ready 1
10 1 BROKERS
> op brokers
20 < value @guard text=a.00000000000000aa,90000,-,1;a.00000000000000bb,5,-,2;a.00000000000000cc,6,-,3
> 1 brokers
>   a version=2 lease=10000 seen=5
>   a version=3 lease=10000 seen=6
30 1 BROKERS
> op brokers
40 < value @guard text=a.00000000000000aa,90000,-,1;a.00000000000000bb,80000,-,2
> 1 brokers
>   a version=2 lease=10000 seen=80000 missing=1

== those of our own name have their instance
0 ready 1
10 1 BROKERS
> op brokers
20 < value @guard text=b.0000000000000000,0,-,2;b.00000000000000bb,5,-,1,10000,-,leaving
> 1 brokers
>   b version=2 lease=10000 seen=0 self=1
>   b version=1 lease=10000 seen=5 leaving=1 instance=00000000000000bb

== those who ask meanwhile are told, too
0 ready 2
10 1 BROKERS
> op brokers
11 2 @7 BROKERS
20 < value @guard text=b.0000000000000000,0
> 1 brokers
>   b version=- lease=10000 seen=0 self=1
> 2 brokers
>   b version=- lease=10000 seen=0 self=1

== Redis is away, refuses, or does not answer
0 ready 1
10 1 BROKERS
> op brokers
20 < refused @guard text=no
> 1 ERR unavailable no
30 1 BROKERS
> op brokers
40 < unknown @guard
> 1 ERR unavailable Redis did not answer in time; try again
50 down
60 1 BROKERS
> 1 ERR unavailable Redis cannot be used

== quorum: each server that can be reached is asked, and the latest word counts
config quorum=3
0 ready 1
5 down on=1
10 1 BROKERS
> op brokers on=0
> op brokers on=2
20 < value @guard text=a.00000000000000aa,50000,-,1;b.0000000000000000,0,-,1 on=0
30 < value @guard text=a.00000000000000aa,7,a:1,1;c.00000000000000aa,7,-,1 on=2
> 1 brokers
>   a version=1 lease=10000 seen=7 address=a:1
>   b version=1 lease=10000 seen=0 self=1
>   c version=1 lease=10000 seen=7
40 1 BROKERS
> op brokers on=0
> op brokers on=2
50 < unknown @guard on=0
60 < value @guard text=c.00000000000000aa,8,-,1 on=2
> 1 brokers
>   c version=1 lease=10000 seen=8

== a client that is gone hears nothing, and the next one asks anew
0 ready 2
10 1 BROKERS
> op brokers
11 gone 1
20 < value @guard text=a.00000000000000aa,1,-,1
> 1 brokers
>   a version=1 lease=10000 seen=1
30 2 BROKERS
> op brokers
40 < value @guard text=a.00000000000000aa,1,-,1
> 2 brokers
>   a version=1 lease=10000 seen=1

== what was told last is told again when Redis is away, or does not answer
0 ready 1
10 1 BROKERS
> op brokers
20 < value @guard text=b.0000000000000000,0,-,1
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
30 1 BROKERS
> op brokers
40 < unknown @guard
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
50 down
60 1 BROKERS
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1

== the broker asks by itself, and knows when Redis is away
config fleet=1s
0 ready 1
5 < value @guard text=a.00000000000000aa,1,a:1,1;b.0000000000000000,0,-,1
10 down
20 1 BROKERS
> 1 brokers
>   a version=1 lease=10000 seen=1 address=a:1
>   b version=1 lease=10000 seen=0 self=1
30 up
60004 time
60005 time
> op brokers
60010 < value @guard text=b.0000000000000000,0,-,1
60020 1 BROKERS
> op brokers
60025 < unknown @guard
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
120019 time
120025 time
> op brokers

== two have one name at once: each was seen long after the other was known
config fleet=1s address=x:1
0 ready 1
5 < value @guard text=b.0000000000000000,0,-,1;b.00000000000000aa,1,-,1;c.00000000000000aa,1,-,1;c.00000000000000bb,1,-,1
> op heartbeat
1000 1 BROKERS
> op brokers
1005 < value @guard text=b.0000000000000000,0,-,1;b.00000000000000aa,1,-,1
> op heartbeat
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
>   b version=1 lease=10000 seen=1 instance=00000000000000aa
80000 1 BROKERS
> op heartbeat
> op brokers
80005 < value @guard text=b.0000000000000000,0,-,1;b.00000000000000aa,1,-,1;d.00000000000000aa,1,-,1;d.00000000000000bb,1,-,1
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
>   b version=1 lease=10000 seen=1 instance=00000000000000aa
>   d version=1 lease=10000 seen=1
>   d version=1 lease=10000 seen=1
80010 1 BROKERS
> op brokers
80015 < value @guard text=b.0000000000000000,0,-,1;b.00000000000000aa,1,-,1;d.00000000000000aa,1,-,1;d.00000000000000bb,1,-,1
> log broker-same-name name=b advice=give each broker its own broker.name
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1 twice=1
>   b version=1 lease=10000 seen=1 instance=00000000000000aa twice=1
>   d version=1 lease=10000 seen=1
>   d version=1 lease=10000 seen=1
80020 1 BROKERS
> op brokers
80025 < value @guard text=b.0000000000000000,0,-,1
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
80030 1 BROKERS
> op brokers
80035 < value @guard text=b.0000000000000000,0,-,1;b.00000000000000aa,1,-,1
> 1 brokers
>   b version=1 lease=10000 seen=0 self=1
>   b version=1 lease=10000 seen=1 instance=00000000000000aa

== one name, and no fault: one that has died, or leaves
config fleet=1s
0 ready 1
5 < value @guard text=a.00000000000000aa,0,-,1;b.0000000000000000,0,-,1;b.00000000000000aa,0,-,1,10000,-,leaving
90000 1 BROKERS
> op brokers
90005 < value @guard text=a.00000000000000aa,15000,-,1;a.00000000000000bb,0,-,1;b.0000000000000000,0,-,1;b.00000000000000aa,0,-,1,10000,-,leaving
> 1 brokers
>   a version=1 lease=10000 seen=0
>   a version=1 lease=10000 seen=15000
>   b version=1 lease=10000 seen=0 self=1
>   b version=1 lease=10000 seen=0 leaving=1 instance=00000000000000aa
94000 1 BROKERS
> op brokers
94005 < value @guard text=a.00000000000000aa,19000,-,1;a.00000000000000bb,0,-,1;b.0000000000000000,0,-,1;b.00000000000000aa,0,-,1,10000,-,leaving
> 1 brokers
>   a version=1 lease=10000 seen=0
>   a version=1 lease=10000 seen=19000
>   b version=1 lease=10000 seen=0 self=1
>   b version=1 lease=10000 seen=0 leaving=1 instance=00000000000000aa
