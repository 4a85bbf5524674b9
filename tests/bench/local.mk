# tests/bench: the load driver and the table of ratios. `make bench` makes the
# table (tests/bench/README.md); `make check` only sees that the driver works.
check_PROGRAMS += tests/bench/loadgen tests/bench/hop
tests_bench_hop_SOURCES = tests/bench/hop.c
tests_bench_loadgen_SOURCES = \
	tests/bench/line.c \
	tests/bench/line.h \
	tests/bench/load.c \
	tests/bench/load.h \
	tests/bench/loadgen.c \
	tests/bench/measure.c \
	tests/bench/measure.h \
	tests/bench/mode_broker.c \
	tests/bench/mode_direct.c \
	tests/bench/mode_kinds.c \
	tests/bench/mode_waiters.c \
	tests/bench/peer.c \
	tests/bench/peer.h \
	tests/bench/resp.c \
	tests/bench/resp.h \
	tests/bench/secure.c \
	tests/bench/secure.h \
	tests/bench/shake.c
tests_bench_loadgen_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tests/bench
tests_bench_loadgen_CFLAGS = $(AM_CFLAGS) $(OPENSSL_CFLAGS)
tests_bench_loadgen_LDADD = $(LIB_STORE) $(LIB_LUA) $(LIB_BASE) \
	$(OPENSSL_LIBS)

TESTS += tests/bench/smoke.sh
EXTRA_DIST += \
	tests/bench/README.md \
	tests/bench/clients.py \
	tests/bench/libraries.py \
	tests/bench/more.py \
	tests/bench/pair.go \
	tests/bench/pair.js \
	tests/bench/pair.py \
	tests/bench/pairs.py \
	tests/bench/peerlocks.py \
	tests/bench/peers.py \
	tests/bench/points.py \
	tests/bench/growth.py \
	tests/bench/growth-brokers.svg \
	tests/bench/growth-clients.svg \
	tests/bench/growth-held.svg \
	tests/bench/growth-waiters.svg \
	tests/bench/redispy.py \
	tests/bench/redlock.js \
	tests/bench/run \
	tests/bench/Pair.java \
	tests/bench/redisson.py \
	tests/bench/sizing.py \
	tests/bench/replace.py \
	tests/bench/warm.py \
	tests/bench/workers.py \
	tests/bench/smoke.sh

bench: all $(check_PROGRAMS)
	$(srcdir)/tests/bench/run $(BENCHFLAGS) $(abs_top_builddir)
.PHONY: bench
