# tests/unit: pure tests, in a folder for each library. A program links only
# the layer it tests and what is below it, so that a layer that uses more than
# it may does not link. To add one, add it to UNIT_TESTS (the name must be unique
# in the tree), and:
#
#	tests_unit_test_foo_SOURCES = tests/unit/foo/test_foo.c $(UNIT_SUITE)
#	tests_unit_test_foo_CPPFLAGS = $(UNIT_CPPFLAGS)
#	tests_unit_test_foo_LDADD = $(LIB_BASE) $(CHECK_LIBS)
UNIT_SUITE = tests/unit/suite.c tests/unit/suite.h
UNIT_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) -I$(top_srcdir)/tests/unit
if HAVE_CHECK
UNIT_TESTS = \
	tests/unit/test_auth \
	tests/unit/test_base \
	tests/unit/test_cli \
	tests/unit/test_config \
	tests/unit/test_core \
	tests/unit/test_front \
	tests/unit/test_guard \
	tests/unit/test_http \
	tests/unit/test_kernel \
	tests/unit/test_keys \
	tests/unit/test_lease \
	tests/unit/test_listing \
	tests/unit/test_logins \
	tests/unit/test_loop \
	tests/unit/test_measure \
	tests/unit/test_measured \
	tests/unit/test_nonsense \
	tests/unit/test_pace \
	tests/unit/test_quorum \
	tests/unit/test_redis \
	tests/unit/test_relay \
	tests/unit/test_reload \
	tests/unit/test_resolve \
	tests/unit/test_stale \
	tests/unit/test_store \
	tests/unit/test_wire \
	tests/unit/test_work
check_PROGRAMS += $(UNIT_TESTS)
TESTS += $(UNIT_TESTS)

tests_unit_test_base_SOURCES = $(UNIT_SUITE) \
	tests/unit/base/test_address.c \
	tests/unit/base/test_base.c \
	tests/unit/base/test_base.h \
	tests/unit/base/test_buf.c \
	tests/unit/base/test_crc16.c \
	tests/unit/base/test_cursor.c \
	tests/unit/base/test_exec.c \
	tests/unit/base/test_freelist.c \
	tests/unit/base/test_handed.c \
	tests/unit/base/test_hash.c \
	tests/unit/base/test_heap.c \
	tests/unit/base/test_json.c \
	tests/unit/base/test_log.c \
	tests/unit/base/test_parse.c \
	tests/unit/base/test_proxy_header.c \
	tests/unit/base/test_syslog_out.c \
	tests/unit/base/test_table.c \
	tests/unit/base/test_times.c \
	tests/unit/base/test_xmalloc.c
tests_unit_test_base_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_base_LDADD = $(LIB_BASE) $(CHECK_LIBS)

tests_unit_test_wire_SOURCES = $(UNIT_SUITE) \
	tests/unit/wire/test_reply.c \
	tests/unit/wire/test_request.c \
	tests/unit/wire/test_request_table.c \
	tests/unit/wire/test_resp.c \
	tests/unit/wire/test_text.c \
	tests/unit/wire/test_verbs.c \
	tests/unit/wire/test_wire.c \
	tests/unit/wire/test_wire.h
tests_unit_test_wire_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_wire_LDADD = $(LIB_WIRE) $(LIB_BASE) $(CHECK_LIBS)

tests_unit_test_keys_SOURCES = tests/unit/resp/test_keys.c $(UNIT_SUITE)
tests_unit_test_keys_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_keys_LDADD = $(LIB_RESP) $(LIB_WIRE) $(LIB_BASE) \
	$(AUTH_LIBS) $(CHECK_LIBS)

tests_unit_test_auth_SOURCES = $(UNIT_SUITE) \
	tests/unit/auth/test_auth.c \
	tests/unit/auth/test_auth.h \
	tests/unit/auth/test_hasher.c \
	tests/unit/auth/test_pattern.c \
	tests/unit/auth/test_secret.c \
	tests/unit/auth/test_users.c
tests_unit_test_auth_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_auth_LDADD = $(LIB_AUTH) $(LIB_BASE) $(LIBEVENT_LIBS) \
	$(AUTH_LIBS) $(CHECK_LIBS)

tests_unit_test_relay_SOURCES = tests/unit/relay/test_relay.c $(UNIT_SUITE)
tests_unit_test_relay_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_relay_LDADD = $(LIB_RELAY) $(LIB_BASE) $(CHECK_LIBS)

tests_unit_test_config_SOURCES = $(UNIT_SUITE) \
	tests/unit/config/config_cases.h \
	tests/unit/config/config_rig.c \
	tests/unit/config/config_rig.h \
	tests/unit/config/test_changes.c \
	tests/unit/config/test_config.c \
	tests/unit/config/test_config.h \
	tests/unit/config/test_hostile.c
tests_unit_test_config_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_config_LDADD = $(LIB_CONFIG) $(LIB_AUTH) $(LIB_BASE) \
	$(YAML_LIBS) $(AUTH_LIBS) \
	$(CHECK_LIBS)

tests_unit_test_cli_SOURCES = tests/unit/cli/test_cli.c $(UNIT_SUITE)
tests_unit_test_cli_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_cli_LDADD = $(LIB_CLI) $(LIB_BASE) $(CHECK_LIBS)
# The front's tests have clients and sockets, and a handler of their own.
tests_unit_test_front_SOURCES = $(UNIT_SUITE) \
	tests/unit/front/front_rig.c \
	tests/unit/front/front_rig.h \
	tests/unit/front/test_bounds.c \
	tests/unit/front/test_ends.c \
	tests/unit/front/test_front.c \
	tests/unit/front/test_front.h \
	tests/unit/front/test_heartbeat.c \
	tests/unit/front/test_lines.c \
	tests/unit/front/test_listen.c \
	tests/unit/front/test_proxied.c \
	tests/unit/front/test_turns.c
tests_unit_test_front_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_front_LDADD = $(LIB_FRONT) $(LIB_WIRE) $(LIB_BASE) \
	$(LIBEVENT_LIBS) $(CHECK_LIBS)
tests_unit_test_http_SOURCES = $(UNIT_SUITE) \
	tests/unit/http/test_exposition.c \
	tests/unit/http/test_http.c \
	tests/unit/http/test_http.h \
	tests/unit/http/test_parts.c
tests_unit_test_http_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_http_LDADD = $(LIB_HTTP) $(LIB_BASE) $(LIBEVENT_LIBS) \
	$(CHECK_LIBS)
# What goes from one broker to the next.
# What is between the configuration and those who use it.
tests_unit_test_reload_SOURCES = $(UNIT_SUITE) tests/unit/daemon/test_reload.c
tests_unit_test_reload_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_reload_LDADD = $(lockbrokerd_LDADD) $(CHECK_LIBS)

tests_unit_test_loop_SOURCES = $(UNIT_SUITE) tests/unit/daemon/test_loop.c
tests_unit_test_loop_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_loop_LDADD = $(lockbrokerd_LDADD) $(CHECK_LIBS)

tests_unit_test_logins_SOURCES = $(UNIT_SUITE) tests/unit/daemon/test_logins.c
tests_unit_test_logins_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_logins_LDADD = $(lockbrokerd_LDADD) $(CHECK_LIBS)
# The real redis-server is needed for test_redis.
tests_unit_test_store_SOURCES = $(UNIT_SUITE) \
	tests/unit/store/store_rig.c \
	tests/unit/store/store_rig.h \
	tests/unit/store/test_answers.c \
	tests/unit/store/test_growth.c \
	tests/unit/store/test_rows.c \
	tests/unit/store/test_store.c \
	tests/unit/store/test_store.h
tests_unit_test_store_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_store_LDADD = $(LIB_STORE) $(LIB_BASE) $(CHECK_LIBS)

tests_unit_test_redis_SOURCES = $(UNIT_SUITE) \
	tests/unit/redis/fake_redis.c \
	tests/unit/redis/fake_redis.h \
	tests/unit/redis/redis_rig.c \
	tests/unit/redis/redis_rig.h \
	tests/unit/redis/test_cluster.c \
	tests/unit/redis/test_embedded.c \
	tests/unit/redis/test_misbehaved.c \
	tests/unit/redis/test_redis.c \
	tests/unit/redis/test_redis.h \
	tests/unit/redis/test_replicas.c \
	tests/unit/redis/test_sentinels.c \
	tests/unit/redis/test_servers.c
tests_unit_test_redis_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_redis_LDADD = $(LIB_REDIS) $(LIB_RELAY) $(LIB_STORE) \
	$(LIB_LUA) $(LIB_CONFIG) $(LIB_AUTH) $(LIB_BASE) $(AUTH_LIBS) \
	$(HIREDIS_LIBS) $(LIBEVENT_LIBS) $(YAML_LIBS) $(CHECK_LIBS)

tests_unit_test_nonsense_SOURCES = $(UNIT_SUITE) \
	tests/unit/redis/fake_redis.c \
	tests/unit/redis/fake_redis.h \
	tests/unit/redis/redis_rig.c \
	tests/unit/redis/redis_rig.h \
	tests/unit/redis/test_nonsense.c
tests_unit_test_nonsense_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_nonsense_LDADD = $(tests_unit_test_redis_LDADD)

# Links of its own instead of those of the library.
tests_unit_test_stale_SOURCES = $(UNIT_SUITE) tests/unit/redis/test_stale.c
tests_unit_test_stale_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_stale_LDADD = $(LIB_REDIS) $(LIB_BASE) $(CHECK_LIBS)
tests_unit_test_resolve_SOURCES = $(UNIT_SUITE) tests/unit/redis/test_resolve.c
tests_unit_test_resolve_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_resolve_LDADD = $(LIB_REDIS) $(LIB_BASE) $(LIBEVENT_LIBS) \
	$(CHECK_LIBS)
# The core by itself: stories of what it is told and what it says.
tests_unit_test_work_SOURCES = $(UNIT_SUITE) \
	tests/unit/core/test_claims.c \
	tests/unit/core/test_crowds.c \
	tests/unit/core/test_requests.c \
	tests/unit/core/test_work.c \
	tests/unit/core/test_work.h \
	tests/unit/core/work_rig.c \
	tests/unit/core/work_rig.h
tests_unit_test_work_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_work_LDADD = $(LIB_CORE) $(LIB_BASE) $(CHECK_LIBS)

tests_unit_test_listing_SOURCES = $(UNIT_SUITE) \
	tests/unit/core/test_listing.c \
	tests/unit/core/work_rig.c \
	tests/unit/core/work_rig.h
tests_unit_test_listing_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_listing_LDADD = $(LIB_CORE) $(LIB_BASE) $(CHECK_LIBS)

tests_unit_test_measured_SOURCES = $(UNIT_SUITE) \
	tests/unit/core/test_measured.c \
	tests/unit/core/work_rig.c \
	tests/unit/core/work_rig.h
tests_unit_test_measured_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_measured_LDADD = $(LIB_CORE) $(LIB_BASE) $(CHECK_LIBS)

# The lease without locks and queues, whose place an owner of a few lines takes.
tests_unit_test_lease_SOURCES = $(UNIT_SUITE) tests/unit/core/test_lease.c
tests_unit_test_lease_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_lease_LDADD = $(LIB_LEASE) $(LIB_BASE) $(CHECK_LIBS)

# Measurements without anything that is measured.
tests_unit_test_measure_SOURCES = $(UNIT_SUITE) tests/unit/core/test_measure.c
tests_unit_test_measure_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_measure_LDADD = $(LIB_MEASURE) $(LIB_BASE) $(CHECK_LIBS)

# The guard without anything that it guards.
tests_unit_test_guard_SOURCES = $(UNIT_SUITE) tests/unit/core/test_guard.c
tests_unit_test_guard_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_guard_LDADD = $(LIB_GUARD) $(LIB_BASE) $(CHECK_LIBS)

TESTS += tests/unit/core/test_layers.sh

tests_unit_test_pace_SOURCES = $(UNIT_SUITE) tests/unit/core/test_pace.c
tests_unit_test_pace_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_pace_LDADD = $(LIB_CORE) $(LIB_BASE) $(CHECK_LIBS)
endif

# Stories of leases, queues and guards; data, one file for each subject.
STORIES = tests/unit/core/stories/about.story \
	tests/unit/core/stories/chain.story \
	tests/unit/core/stories/barriers.story \
	tests/unit/core/stories/brokers.story \
	tests/unit/core/stories/counted.story \
	tests/unit/core/stories/deadlock.story \
	tests/unit/core/stories/drill.story \
	tests/unit/core/stories/force.story \
	tests/unit/core/stories/given.story \
	tests/unit/core/stories/groups.story \
	tests/unit/core/stories/guard.story \
	tests/unit/core/stories/idle.story \
	tests/unit/core/stories/keep.story \
	tests/unit/core/stories/latches.story \
	tests/unit/core/stories/lease.story \
	tests/unit/core/stories/notes.story \
	tests/unit/core/stories/notices.story \
	tests/unit/core/stories/queue.story \
	tests/unit/core/stories/outside.story \
	tests/unit/core/stories/quorum.story \
	tests/unit/core/stories/places.story \
	tests/unit/core/stories/resume.story \
	tests/unit/core/stories/semaphores.story \
	tests/unit/core/stories/sessions.story \
	tests/unit/core/stories/shared.story \
	tests/unit/core/stories/stop.story \
	tests/unit/core/stories/leave.story \
	tests/unit/core/stories/time.story \
	tests/unit/core/stories/tokens.story \
	tests/unit/core/stories/turns.story \
	tests/unit/core/stories/unowned.story \
	tests/unit/core/stories/voters.story \
	tests/unit/core/stories/unknown.story \
	tests/unit/core/stories/recall.story \
	tests/unit/core/stories/warm.story \
	tests/unit/core/stories/watch.story \
	tests/unit/core/stories/why.story
# Not among those that only a machine with Check packs.
EXTRA_DIST += $(STORIES) tests/unit/core/test_layers.sh
if HAVE_CHECK
tests_unit_test_core_SOURCES = $(UNIT_SUITE) \
	tests/unit/core/story.c \
	tests/unit/core/story.h \
	tests/unit/core/story_config.c \
	tests/unit/core/story_file.c \
	tests/unit/core/story_said.c \
	tests/unit/core/story_session.c \
	tests/unit/core/story_state.h \
	tests/unit/core/story_token.c \
	tests/unit/core/test_core.c
tests_unit_test_core_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_core_LDADD = $(LIB_CORE) $(LIB_BASE) $(CHECK_LIBS)

# The kernel, without any part.
tests_unit_test_kernel_SOURCES = $(UNIT_SUITE) \
	tests/unit/core/kernel_alone.c \
	tests/unit/core/kernel_alone.h \
	tests/unit/core/kernel_part.c \
	tests/unit/core/story.c \
	tests/unit/core/story.h \
	tests/unit/core/story_config.c \
	tests/unit/core/story_file.c \
	tests/unit/core/story_said.c \
	tests/unit/core/story_session.c \
	tests/unit/core/story_state.h \
	tests/unit/core/story_token.c \
	tests/unit/core/test_kernel.c
tests_unit_test_kernel_CPPFLAGS = $(UNIT_CPPFLAGS)
tests_unit_test_kernel_LDADD = $(LIB_KERNEL) $(LIB_BASE) $(CHECK_LIBS)

# The same with the one part by which several servers decide together.
tests_unit_test_quorum_SOURCES = $(tests_unit_test_kernel_SOURCES)
tests_unit_test_quorum_CPPFLAGS = $(UNIT_CPPFLAGS) -DWITH_QUORUM
tests_unit_test_quorum_LDADD = src/core/parts/libparts.a $(LIB_KERNEL) \
	$(LIB_BASE) $(CHECK_LIBS)
endif
