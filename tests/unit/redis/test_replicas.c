/*
 * Servers with replicas, which may be away; and WAIT.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_rig.h"
#include "suite.h"
#include "test_redis.h"

static const char *const none[] = { NULL };
static struct rig rig;
static struct server server;

START_TEST(a_replica_is_told_apart)
{
	rig_begin_ready(&rig, &server);
	server_ok(&server, "REPLICAOF 127.0.0.1 1");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_assert(rig.ops[1].outcome.status == OUTCOME_REFUSED);
	ck_assert_ptr_nonnull(strstr(rig.ops[1].text, "replica"));
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_grant_without_its_replicas_does_not_count)
{
	rig_begin(&rig, &server, NULL);
	rig.config.redis.replicas = 1;
	rig.config.locks.lease_ms = 1000; /* WAIT ends after a tenth */
	rig_open(&rig);
	rig_ready(&rig);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_op(&rig, 2, OP_PEEK, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, UNKNOWN);
	ck_status(&rig, 2, VALUE);
	rig_end(&rig, &server);
}
END_TEST

/* A long lease makes a long WAIT, which is not given up before its end. */
START_TEST(replicas_that_are_away_cut_no_connection)
{
	rig_begin(&rig, &server, NULL);
	rig.config.redis.replicas = 1;
	rig.config.redis.connections = 1;
	rig.config.redis.reply_timeout_ms = 400;
	rig.config.locks.lease_ms = 20000;
	rig_open(&rig);
	rig_ready(&rig);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, UNKNOWN);
	rig_op(&rig, 2, OP_PEEK, "a");
	rig_turn(&rig);
	ck_status(&rig, 2, VALUE);
	ck_assert_uint_eq(rig.downs, 0);
	rig_end(&rig, &server);
}
END_TEST

#define TURNS 20

static long
count_waits(void)
{
	return server_info(&server, "commandstats", "cmdstat_wait:calls=");
}

/*
 * Makes TURNS turns whose answers nobody awaits, and one that renews; returns
 * how many WAITs they took.
 */
static long
hurry(uint64_t first)
{
	long waits = count_waits();
	char name[16];
	uint64_t id;

	for (id = first; id <= first + TURNS; id++) {
		(void)snprintf(name, sizeof(name), "n%u", (unsigned)id);
		rig_op(
		    &rig, id, id < first + TURNS ? OP_ACQUIRE : OP_RENEW, name);
		redis_flush(rig.redis);
		event_base_loop(rig.base, EVLOOP_NONBLOCK);
	}
	rig_turn(&rig);
	return count_waits() - waits;
}

static void
replica_start(struct server *replica)
{
	server_start(replica, none);
	server_ok(replica, "REPLICAOF 127.0.0.1 %d", server_listen(&server));
	server_ok(&server, "WAIT 1 20000");
}

/*
 * Each WAIT may block the connection for its time: calls behind several of
 * them would be late.
 */
START_TEST(a_replica_that_is_away_is_waited_for_once)
{
	static const char *const at_once[] = { "--repl-diskless-sync-delay",
		"0", NULL };
	struct server replica;
	uint64_t id;

	rig_begin(&rig, &server, at_once);
	replica_start(&replica);
	rig.config.redis.replicas = 1;
	rig.config.redis.connections = 1;
	rig.config.locks.lease_ms = 4000; /* WAIT ends after a tenth */
	rig_open(&rig);
	rig_ready(&rig);
	(void)hurry(100);
	for (id = 100; id < 100 + TURNS; id++)
		ck_status(&rig, id, GRANTED);

	kill(replica.pid, SIGSTOP);
	/* One after the first turn, one after the others, and one after those
	 * that had waited to share a call. */
	ck_assert_int_le(hurry(200), 3);
	ck_assert_int_le(hurry(300), 3);
	for (id = 200; id < 200 + TURNS; id++) {
		ck_status(&rig, id, UNKNOWN);
		ck_status(&rig, id + 100, UNKNOWN);
		ck_assert_int_gt(rig.ops[id].sent_ms, 0);
	}
	ck_assert_int_lt(
	    rig.ops[200 + TURNS].sent_ms - rig.ops[200].sent_ms, 300);
	/* These calls stood in line, and their leases count from when they
	 * left. */
	ck_assert_int_ge(rig.ops[301].sent_ms - rig.ops[300].sent_ms, 300);
	ck_assert_int_lt(
	    rig.ops[300 + TURNS].sent_ms - rig.ops[300].sent_ms, 300);
	ck_assert_uint_eq(rig.downs, 0);

	kill(replica.pid, SIGCONT);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, GRANTED);
	server_stop(&replica);
	rig_end(&rig, &server);
}
END_TEST

TCase *
replica_cases(void)
{
	TCase *tc = tcase_create("replicas");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_replica_is_told_apart);
	tcase_add_test(tc, a_grant_without_its_replicas_does_not_count);
	tcase_add_test(tc, replicas_that_are_away_cut_no_connection);
	tcase_add_test(tc, a_replica_that_is_away_is_waited_for_once);
	return tc;
}
