# tests/system: the real programs against a real redis-server. They are found
# in $top_builddir; list every file in EXTRA_DIST.
TESTS += tests/system/run

# To be preloaded into the servers, so neither a program nor position-bound.
check_PROGRAMS += tests/system/clockshim.so
tests_system_clockshim_so_SOURCES = tests/system/clockshim.c
tests_system_clockshim_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(WERROR) -fPIC
tests_system_clockshim_so_LDFLAGS = -shared

check_PROGRAMS += tests/system/sendshim.so
tests_system_sendshim_so_SOURCES = tests/system/sendshim.c
tests_system_sendshim_so_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(WERROR) -fPIC
tests_system_sendshim_so_LDFLAGS = -shared

EXTRA_DIST += \
	tests/system/draw_top \
	tests/system/README.md \
	tests/system/alerts_test.yaml \
	tests/system/lib/__init__.py \
	tests/system/lib/broker.py \
	tests/system/lib/case.py \
	tests/system/lib/certificates.py \
	tests/system/lib/chromium.py \
	tests/system/lib/client.py \
	tests/system/lib/clock.py \
	tests/system/lib/cluster.py \
	tests/system/lib/fairness.py \
	tests/system/lib/fake.py \
	tests/system/lib/golang.py \
	tests/system/lib/history.py \
	tests/system/lib/hostile_tls.py \
	tests/system/lib/http.py \
	tests/system/lib/lossy.py \
	tests/system/lib/liblockbroker.py \
	tests/system/lib/manual.py \
	tests/system/lib/net.py \
	tests/system/lib/npm.py \
	tests/system/lib/ports.py \
	tests/system/lib/proc.py \
	tests/system/lib/proxy.py \
	tests/system/lib/redisd.py \
	tests/system/lib/redisson.py \
	tests/system/lib/redisson_scripts.py \
	tests/system/lib/resp.py \
	tests/system/lib/sends.py \
	tests/system/lib/sentinel.py \
	tests/system/lib/stress.py \
	tests/system/lib/transcript.py \
	tests/system/lib/tls_client.py \
	tests/system/lib/wait.py \
	tests/system/long \
	tests/system/run \
	tests/system/test_audit.py \
	tests/system/test_brokers.py \
	tests/system/test_children.py \
	tests/system/test_cli.py \
	tests/system/c/driver.c \
	tests/system/test_client_aio.py \
	tests/system/test_client_cells.py \
	tests/system/test_client_c.py \
	tests/system/test_client_node.py \
	tests/system/test_client_node_faults.py \
	tests/system/test_client_python.py \
	tests/system/test_client_python_faults.py \
	tests/system/test_client_storms.py \
	tests/system/test_clients.py \
	tests/system/test_conformance.py \
	tests/system/test_clocks.py \
	tests/system/test_cluster.py \
	tests/system/test_completion.py \
	tests/system/test_embedded_data.py \
	tests/system/test_embedded_full.py \
	tests/system/test_embedded_tokens.py \
	tests/system/test_examples.py \
	tests/system/test_fleet.py \
	tests/system/test_floods.py \
	tests/system/test_frozen.py \
	tests/system/test_graces.py \
	tests/system/test_handover.py \
	tests/system/test_idle_brokers.py \
	tests/system/test_harness.py \
	tests/system/test_health.py \
	tests/system/test_http.py \
	tests/system/test_leases.py \
	tests/system/test_leaving.py \
	tests/system/test_lifecycle.py \
	tests/system/test_losses.py \
	tests/system/test_lossy.py \
	tests/system/test_many.py \
	tests/system/test_measures.py \
	tests/system/test_lost_replies.py \
	tests/system/test_operators.py \
	tests/system/test_options.py \
	tests/system/test_page.py \
	tests/system/test_partitions.py \
	tests/system/test_probe.py \
	tests/system/test_queue.py \
	tests/system/test_quorum.py \
	tests/system/test_rare_faults.py \
	tests/system/test_recipes.py \
	tests/system/test_reference_client.py \
	tests/system/test_redis_errors.py \
	tests/system/test_replace.py \
	tests/system/test_replace_away.py \
	tests/system/test_replace_embedded.py \
	tests/system/test_replace_load.py \
	tests/system/test_replace_systemd.py \
	tests/system/test_replace_views.py \
	tests/system/releases.json \
	tests/system/test_resp.py \
	tests/system/test_resp_failover.py \
	tests/system/test_resp_fair.py \
	tests/system/test_resp_libraries.py \
	tests/system/test_resp_releases.py \
	tests/system/test_resp_replays.py \
	tests/system/test_resp_meanings.py \
	tests/system/test_resp_mixed.py \
	tests/system/test_resp_numbers.py \
	tests/system/test_resp_redisson.py \
	tests/system/test_resp_redisson_replays.py \
	tests/system/test_resp_redisson_walks.py \
	tests/system/test_resp_script_numbers.py \
	tests/system/test_resp_scripts.py \
	tests/system/test_resp_tokens.py \
	tests/system/test_resp_turns.py \
	tests/system/test_redis_restarts.py \
	tests/system/test_sync.py \
	tests/system/test_sentinel.py \
	tests/system/test_runs.py \
	tests/system/test_sessions.py \
	tests/system/test_shared.py \
	tests/system/test_starts.py \
	tests/system/test_stopping.py \
	tests/system/test_strangers.py \
	tests/system/test_stress.py \
	tests/system/test_systemd.py \
	tests/system/test_tls.py \
	tests/system/test_tls_clients.py \
	tests/system/test_tls_hostile.py \
	tests/system/test_tls_manual.py \
	tests/system/test_token_brokers.py \
	tests/system/test_tls_protocol.py \
	tests/system/test_top.py \
	tests/system/test_transcripts.py \
	tests/system/test_two_servers.py \
	tests/system/test_users.py \
	tests/system/test_versions.py \
	tests/system/test_voters.py \
	tests/system/test_waiting.py \
	tests/system/test_warm.py \
	tests/system/test_words.py \
	tests/system/transcripts/barriers.t \
	tests/system/transcripts/deadlock.t \
	tests/system/transcripts/default-hold.t \
	tests/system/transcripts/end-of-stream.t \
	tests/system/transcripts/force.t \
	tests/system/transcripts/framing.t \
	tests/system/transcripts/grace.t \
	tests/system/transcripts/history.t \
	tests/system/transcripts/holds.t \
	tests/system/transcripts/introspection.t \
	tests/system/transcripts/keep-delay.t \
	tests/system/transcripts/latches.t \
	tests/system/transcripts/limits.t \
	tests/system/transcripts/locks.t \
	tests/system/transcripts/long-line.t \
	tests/system/transcripts/max-hold.t \
	tests/system/transcripts/names.t \
	tests/system/transcripts/semaphores.t \
	tests/system/transcripts/session.t \
	tests/system/transcripts/several-names.t \
	tests/system/transcripts/shared.t \
	tests/system/transcripts/tags.t \
	tests/system/transcripts/unowned.t \
	tests/system/transcripts/users.t \
	tests/system/transcripts/watch.t
