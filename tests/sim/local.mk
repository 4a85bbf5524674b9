# tests/sim: the simulator, which runs the real core and the real scripts
# under virtual time (README), the checker of histories, and the comparison of
# the model of Redis with the real one.
EXTRA_DIST += tests/sim/README tests/sim/ledger tests/sim/run.sh \
	tests/sim/soak.sh

SIM_HISTORY = tests/sim/history.c tests/sim/history.h \
	tests/sim/history_check.c

check_PROGRAMS += tests/sim/checkhistory
tests_sim_checkhistory_SOURCES = tests/sim/checkhistory.c $(SIM_HISTORY)
tests_sim_checkhistory_LDADD = $(LIB_BASE)

if HAVE_CHECK
check_PROGRAMS += tests/sim/test_history
TESTS += tests/sim/test_history
tests_sim_test_history_SOURCES = tests/sim/test_history.c $(SIM_HISTORY)
tests_sim_test_history_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
tests_sim_test_history_LDADD = $(LIB_BASE) $(CHECK_LIBS)
endif

if HAVE_LUA
SIM_REDIS = tests/sim/answer.c \
	tests/sim/answer.h \
	tests/sim/lua_arena.c \
	tests/sim/lua_arena.h \
	tests/sim/lua_host.c \
	tests/sim/lua_host.h \
	tests/sim/prng.h \
	tests/sim/redis_cmd_key.c \
	tests/sim/redis_cmd_list.c \
	tests/sim/redis_cmd_zset.c \
	tests/sim/redis_db.c \
	tests/sim/redis_db.h

check_PROGRAMS += tests/sim/difftest
TESTS += tests/sim/difftest
tests_sim_difftest_SOURCES = $(SIM_REDIS) tests/sim/difftest.c
tests_sim_difftest_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)
tests_sim_difftest_LDADD = $(LIB_STORE) $(LIB_LUA) $(LIB_BASE) \
	$(HIREDIS_LIBS) $(LUA_LIBS)

check_PROGRAMS += tests/sim/sim
TESTS += tests/sim/run.sh
tests_sim_sim_SOURCES = $(SIM_REDIS) $(SIM_HISTORY) \
	tests/sim/ablate.c \
	tests/sim/ablate.h \
	tests/sim/alone.c \
	tests/sim/alone.h \
	tests/sim/beats.c \
	tests/sim/beats.h \
	tests/sim/pollers.c \
	tests/sim/pollers_check.c \
	tests/sim/pollers_orphan.c \
	tests/sim/threads.c \
	tests/sim/pollers.h \
	tests/sim/bond.c \
	tests/sim/bond.h \
	tests/sim/broker.c \
	tests/sim/broker.h \
	tests/sim/broker_store.c \
	tests/sim/broker_talk.c \
	tests/sim/checker.c \
	tests/sim/checker.h \
	tests/sim/checker_asks.c \
	tests/sim/checker_ends.c \
	tests/sim/checker_events.c \
	tests/sim/checker_barrier.c \
	tests/sim/checker_drill.c \
	tests/sim/checker_group.c \
	tests/sim/checker_latch.c \
	tests/sim/checker_permits.c \
	tests/sim/checker_quiet.c \
	tests/sim/checker_session.c \
	tests/sim/checker_share.c \
	tests/sim/checker_taken.c \
	tests/sim/checker_state.h \
	tests/sim/checker_time.c \
	tests/sim/checker_watch.c \
	tests/sim/client.c \
	tests/sim/client.h \
	tests/sim/clocks.c \
	tests/sim/clocks.h \
	tests/sim/crowd.c \
	tests/sim/crowd.h \
	tests/sim/cluster.c \
	tests/sim/cluster.h \
	tests/sim/client_drill.c \
	tests/sim/client_parts.h \
	tests/sim/client_permits.c \
	tests/sim/client_session.c \
	tests/sim/client_sync.c \
	tests/sim/client_watch.c \
	tests/sim/events.c \
	tests/sim/events.h \
	tests/sim/faults.c \
	tests/sim/faults_expect.c \
	tests/sim/faults_back.c \
	tests/sim/faults_echo.c \
	tests/sim/faults.h \
	tests/sim/faults_partition.c \
	tests/sim/faults_parts.h \
	tests/sim/faults_plain.c \
	tests/sim/faults_spoil.c \
	tests/sim/leaving.c \
	tests/sim/leaving.h \
	tests/sim/main.c \
	tests/sim/net.h \
	tests/sim/net_io.c \
	tests/sim/net_link.c \
	tests/sim/electorate.c \
	tests/sim/electorate.h \
	tests/sim/embedded.c \
	tests/sim/quorum.c \
	tests/sim/resumes.c \
	tests/sim/resumes.h \
	tests/sim/replica.c \
	tests/sim/replica.h \
	tests/sim/sentinel.c \
	tests/sim/sentinel.h \
	tests/sim/server.c \
	tests/sim/server.h \
	tests/sim/server_commands.c \
	tests/sim/server_parts.h \
	tests/sim/takeover.c \
	tests/sim/topology.c \
	tests/sim/topology.h \
	tests/sim/trace.c \
	tests/sim/trace.h \
	tests/sim/uses.c \
	tests/sim/uses.h \
	tests/sim/warmth.c \
	tests/sim/warmth.h \
	tests/sim/words.c \
	tests/sim/words.h \
	tests/sim/world.c \
	tests/sim/world.h
tests_sim_sim_CPPFLAGS = $(AM_CPPFLAGS) $(LUA_CFLAGS)
tests_sim_sim_LDADD = $(LIB_CORE) $(LIB_REDIS) $(LIB_STORE) $(LIB_LUA) $(LIB_BASE) \
	$(LUA_LIBS)
endif

# The long run, which goes on where it stopped (README).
soak: all $(check_PROGRAMS)
	LOCKBROKER_BUILD=. $(srcdir)/tests/sim/soak.sh
.PHONY: soak
