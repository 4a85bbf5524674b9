/*
 * Servers that answer nonsense or nothing, or have no room for us.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "fake_redis.h"
#include "redis/link.h"
#include "redis_rig.h"
#include "suite.h"
#include "test_redis.h"

static const char *const none[] = { NULL };
static struct rig rig;
static struct server server;

static uint64_t
count_calls(void)
{
	struct redis_stats stats;

	redis_stats(rig.redis, &stats);
	return stats.calls;
}

static bool
was_cut(struct rig *r)
{
	struct redis_stats stats;

	redis_stats(r->redis, &stats);
	return stats.reconnects > 0;
}

static const char *const answers[] = {
	"+OK\r\n",
	"$-1\r\n",
	"*0\r\n",
	"*2\r\n*1\r\n$7\r\nblessed\r\n*1\r\n$4\r\nwhat\r\n",
	"*2\r\n*1\r\n$7\r\nblessed\r\n*1\r\n$7\r\ngranted\r\n",
	"%1\r\n+a\r\n+b\r\n",
	"garbage\r\n",
};

START_TEST(a_malformed_answer_cuts_the_link)
{
	struct fake fake;

	fake_start(&fake, NULL, answers[_i]);
	rig_config(&rig, fake.path);
	rig.config.redis.connections = 1;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, UNKNOWN);
	rig_until(&rig, was_cut, "the cut");
	rig_until(&rig, rig_is_up, "the link again");
	ck_assert_uint_eq(rig.guards, 0);
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

/* The link is given up long before the reply would be overdue. */
START_TEST(an_endless_answer_cuts_the_link)
{
	static const char announced[] = "$2147483647\r\n";
	const size_t n = (size_t)8 << 20;
	char *answer = malloc(n);
	struct fake fake;

	ck_assert_ptr_nonnull(answer);
	memset(answer, 'x', n);
	memcpy(answer, announced, sizeof(announced) - 1);
	answer[n - 1] = '\0';
	fake_start(&fake, NULL, answer);
	rig_config(&rig, fake.path);
	rig.config.redis.connections = 1;
	rig.config.redis.reply_timeout_ms = 30000;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	redis_flush(rig.redis);
	rig_until(&rig, rig_answered, "the cut");
	ck_status(&rig, 1, UNKNOWN);
	ck_assert_msg(strstr(rig.why, "too long"), "%s", rig.why);
	rig_close(&rig);
	fake_stop(&fake);
	free(answer);
}
END_TEST

/* hiredis would abort. */
START_TEST(an_answer_nobody_asked_for_cuts_the_link)
{
	struct fake fake;

	fake_start(&fake, "+SURPRISE\r\n", "+OK\r\n");
	rig_config(&rig, fake.path);
	rig.config.redis.connections = 1;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, was_cut, "the cut");
	ck_assert_ptr_nonnull(strstr(rig.why, "unexpected reply"));
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

/* Operations wait for an answer that takes long only because of the way. */
START_TEST(a_distant_server_has_many_calls)
{
	struct fake fake;
	char name[8];
	uint64_t id;

	fake_start(&fake, NULL, "-ERR no\r\n");
	rig_config(&rig, fake.path);
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	kill(fake.pid, SIGSTOP);
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	redis_flush(rig.redis);
	rig_for(&rig, 50);
	kill(fake.pid, SIGCONT);
	rig_turn(&rig);
	kill(fake.pid, SIGSTOP);
	for (id = 2; id <= 12; id++) {
		(void)snprintf(name, sizeof(name), "%u", (unsigned)id);
		rig_op(&rig, id, OP_ACQUIRE, name);
		redis_flush(rig.redis);
		ck_assert_uint_eq(count_calls(), id);
	}
	kill(fake.pid, SIGCONT);
	rig_turn(&rig);
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

static bool
was_sent_again(struct rig *r)
{
	struct redis_stats stats;

	redis_stats(r->redis, &stats);
	return stats.reloads > 0;
}

/* The time until the answer that the script is missing counts. */
START_TEST(a_call_that_is_sent_again_has_the_rest_of_its_time)
{
	const struct fake_words words = { .answer = "-NOSCRIPT none\r\n",
		.answers = 1 };
	const int64_t timeout_ms = 2000; /* of what rig_op() submits */
	struct fake fake;
	int64_t start_ms;

	fake_start_words(&fake, &words);
	rig_config(&rig, fake.path);
	rig.config.redis.reply_timeout_ms = 10 * timeout_ms;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	kill(fake.pid, SIGSTOP);
	start_ms = now_ms();
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	redis_flush(rig.redis);
	rig_for(&rig, timeout_ms * 7 / 10);
	kill(fake.pid, SIGCONT);
	rig_until(&rig, was_sent_again, "the answer");
	kill(fake.pid, SIGSTOP);
	rig_until(&rig, rig_answered, "the outcome");
	ck_status(&rig, 1, UNKNOWN);
	ck_assert_int_lt(now_ms() - start_ms, timeout_ms * 14 / 10);
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

/* The server leaves connections in its backlog, or accepts them and never
 * greets. */
START_TEST(a_silent_server_is_given_up)
{
	struct fake fake;

	fake_start_silent(&fake);
	rig_config(&rig, fake.path);
	rig.config.redis.connect_timeout_ms = 50;
	rig_open(&rig);
	redis_start(rig.redis);
	if (_i == 0)
		kill(fake.pid, SIGSTOP);
	rig_for(&rig, 300);
	ck_assert_uint_eq(rig.ups, 0);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, UNSENT);
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

static bool
is_told_why(struct rig *r)
{
	return r->why[0] != '\0';
}

/* A short time for replies does not shorten the times to connect and to
 * greet. */
START_TEST(connecting_has_its_own_time)
{
	struct fake fake;

	fake_start_silent(&fake);
	rig_config(&rig, fake.path);
	rig.config.redis.connect_timeout_ms = 300;
	rig.config.redis.reply_timeout_ms = 20;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, is_told_why, "the end of the attempt");
	ck_assert_str_eq(rig.why, LINK_SILENT);
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

START_TEST(with_too_few_connections_one_will_do)
{
	char name[16];
	unsigned i;

	rig_begin(&rig, &server, NULL);
	server_ok(&server, "CONFIG SET maxclients 2");
	rig.config.redis.connections = 4;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "a link");
	rig_for(&rig, 200);
	ck_assert_uint_eq(rig.downs, 0);
	for (i = 0; i < 64; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		rig_op(&rig, i, OP_ACQUIRE, name);
	}
	rig_turn(&rig);
	for (i = 0; i < 64; i++)
		ck_status(&rig, i, PENDING);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(with_its_replicas_a_grant_counts)
{
	static const char *const tcp[] = { "--repl-diskless-sync-delay", "0",
		NULL };
	struct server replica;
	int port;
	int64_t until_ms;

	rig_begin(&rig, &server, tcp);
	port = server_listen(&server);
	server_start(&replica, none);
	server_ok(&replica, "REPLICAOF 127.0.0.1 %d", port);
	until_ms = now_ms() + 30000;
	while (server_info(&server, "replication", "connected_slaves:") < 1 ||
	       server_info(
		   &replica, "replication", "master_sync_in_progress:") != 0 ||
	       server_info(&server, "replication", "lag=") > 1)
		ck_assert_int_lt(now_ms(), until_ms);
	rig.config.redis.replicas = 1;
	rig_open(&rig);
	rig_ready(&rig);
	/* The first WAIT may have to wait until the replica is online. */
	do {
		memset(&rig.ops[1], 0, sizeof(rig.ops[1]));
		rig_op(&rig, 1, OP_ACQUIRE, "a");
		rig_turn(&rig);
	} while (rig.ops[1].outcome.status == OUTCOME_UNKNOWN &&
		 now_ms() < until_ms);
	ck_status(&rig, 1, GRANTED);
	server_ok(&server, "SCRIPT FLUSH");
	rig_op(&rig, 2, OP_RENEW, "b");
	rig_op(&rig, 3, OP_ACQUIRE, "c");
	rig_turn(&rig);
	ck_status(&rig, 2, AGAIN);
	ck_status(&rig, 3, GRANTED);
	server_stop(&replica);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(an_old_server_gets_scripts_it_understands)
{
	struct fake fake;

	fake_start_old(
	    &fake, "*2\r\n*1\r\n$7\r\nblessed\r\n*1\r\n$4\r\ndone\r\n");
	rig_config(&rig, fake.path);
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_status(&rig, 1, DONE);
	rig_close(&rig);
	fake_stop(&fake);
}
END_TEST

TCase *
misbehaviour_cases(void)
{
	TCase *tc = tcase_create("misbehaviour");

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(
	    tc, a_malformed_answer_cuts_the_link, 0, COUNT(answers));
	tcase_add_test(tc, an_endless_answer_cuts_the_link);
	tcase_add_test(tc, an_answer_nobody_asked_for_cuts_the_link);
	tcase_add_test(tc, a_distant_server_has_many_calls);
	tcase_add_test(tc, a_call_that_is_sent_again_has_the_rest_of_its_time);
	tcase_add_test(tc, an_old_server_gets_scripts_it_understands);
	tcase_add_loop_test(tc, a_silent_server_is_given_up, 0, 2);
	tcase_add_test(tc, connecting_has_its_own_time);
	tcase_add_test(tc, with_too_few_connections_one_will_do);
	tcase_add_test(tc, with_its_replicas_a_grant_counts);
	return tc;
}
