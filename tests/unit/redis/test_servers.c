/*
 * Operations on a real redis-server, healthy and not.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis_rig.h"
#include "suite.h"
#include "test_redis.h"

static const char *const none[] = { NULL };
static struct rig rig;
static struct server server;

START_TEST(a_lease_is_taken_kept_and_ended)
{
	redisReply *r;
	uint64_t fence;

	rig_begin_ready(&rig, &server);
	rig_op(&rig, 1, OP_ACQUIRE, "a b\"c");
	rig_op(&rig, 2, OP_PEEK, "other");
	rig_turn(&rig);
	ck_status(&rig, 1, GRANTED);
	ck_status(&rig, 2, VALUE);
	ck_assert_str_eq(rig.ops[2].text, "");
	ck_assert_int_eq(rig.ops[2].outcome.ttl_ms, -2);
	fence = rig.ops[1].outcome.fence;
	ck_assert_uint_gt(fence, 0);
	ck_assert_int_gt(rig.ops[1].sent_ms, 0);

	r = server_do(&server, "GET %s", "lock:a b\"c");
	ck_assert_ptr_nonnull(r->str);
	ck_assert_ptr_nonnull(strstr(r->str, "b1.1122334455667788.1|"));
	ck_assert_uint_eq(strtoull(strchr(r->str, '|') + 1, NULL, 10), fence);
	freeReplyObject(r);

	rig_op(&rig, 3, OP_ACQUIRE, "a b\"c");
	rig_turn(&rig);
	ck_status(&rig, 3, BUSY);
	ck_assert_int_gt(rig.ops[3].outcome.ttl_ms, 12000);
	rig_op(&rig, 4, OP_RENEW, "a b\"c");
	rig_turn(&rig);
	ck_status(&rig, 4, AGAIN); /* another token */
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_plain_clients_key_is_foreign)
{
	rig_begin_ready(&rig, &server);
	server_ok(&server, "SET lock:n plain PX 60000");
	rig_op(&rig, 1, OP_ACQUIRE, "n");
	rig_op(&rig, 2, OP_PEEK, "n");
	rig_turn(&rig);
	ck_status(&rig, 1, FOREIGN);
	ck_assert_int_gt(rig.ops[1].outcome.ttl_ms, 50000);
	ck_status(&rig, 2, VALUE);
	ck_assert_str_eq(rig.ops[2].text, "plain");
	rig_end(&rig, &server);
}
END_TEST

/* A turn makes two calls a lane for each 64 operations. */
START_TEST(operations_of_a_turn_share_calls)
{
	struct redis_stats before, after;
	char name[16];
	long calls;
	unsigned i;

	rig_begin_ready(&rig, &server);
	redis_stats(rig.redis, &before);
	calls = server_info(&server, "commandstats", "cmdstat_evalsha:calls=");
	for (i = 0; i < 500; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		rig_op(&rig, i, i % 2 ? OP_ACQUIRE : OP_PEEK, name);
	}
	rig_turn(&rig);
	for (i = 0; i < 500; i++)
		ck_assert_uint_eq(rig.ops[i].times, 1);
	redis_stats(rig.redis, &after);
	ck_assert_uint_eq(after.ops - before.ops, 500);
	ck_assert_uint_le(after.calls - before.calls, 12);
	ck_assert_int_eq(
	    server_info(&server, "commandstats", "cmdstat_evalsha:calls=") -
		calls,
	    (long)(after.calls - before.calls));
	rig_end(&rig, &server);
}
END_TEST

/* With the token of operation `as`. */
static void
renew(uint64_t id, uint64_t as, const char *name)
{
	struct op op = { .id = id,
		.kind = OP_RENEW,
		.name = name,
		.name_len = strlen(name),
		.seq = as,
		.ttl_ms = 26000,
		.fence = rig.ops[as].outcome.fence,
		.timeout_ms = 2000 };

	rig.expected++;
	redis_submit(rig.redis, &op);
}

/* The server looks at renewals in a row together, and answers them one by
 * one. */
START_TEST(renewals_in_a_row_are_told_apart)
{
	redisReply *r;

	rig_begin(&rig, &server, NULL);
	rig.config.redis.connections = 1;
	rig_open(&rig);
	rig_ready(&rig);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_op(&rig, 2, OP_ACQUIRE, "b");
	rig_op(&rig, 3, OP_ACQUIRE, "c");
	rig_turn(&rig);
	renew(4, 1, "a");
	renew(5, 1, "b"); /* which is not theirs */
	renew(6, 3, "c");
	renew(7, 1, "gone");
	rig_turn(&rig);
	ck_status(&rig, 4, RENEWED);
	ck_status(&rig, 5, AGAIN);
	ck_status(&rig, 6, RENEWED);
	ck_status(&rig, 7, AGAIN);
	r = server_do(&server, "PTTL lock:c");
	ck_assert_int_gt(r->integer, 20000);
	freeReplyObject(r);
	r = server_do(&server, "PTTL lock:b");
	ck_assert_int_lt(r->integer, 20000);
	freeReplyObject(r);

	server_ok(&server, "SET lock:c another");
	freeReplyObject(server_do(&server, "RPUSH lock:@queue:a x"));
	renew(8, 1, "a");
	renew(9, 2, "b");
	renew(10, 3, "c");
	rig_turn(&rig);
	ck_status(&rig, 8, RENEWED);
	ck_status(&rig, 9, RENEWED);
	ck_status(&rig, 10, AGAIN);
	ck_assert(rig.ops[8].outcome.waiting);
	ck_assert(!rig.ops[9].outcome.waiting);

	/* A single renewal is looked at in another way. */
	renew(11, 3, "c");
	rig_turn(&rig);
	ck_status(&rig, 11, AGAIN);
	renew(12, 2, "b");
	rig_turn(&rig);
	ck_status(&rig, 12, RENEWED);
	rig_end(&rig, &server);
}
END_TEST

#define FLOOD 2000

static unsigned answered_before_renewal;

static void
note_renewal(struct rig *r, uint64_t id)
{
	if (id == FLOOD + 1)
		answered_before_renewal = r->answered;
}

/* The server counts: on one connection, calls are answered in the order in
 * which they were sent. */
START_TEST(a_flood_does_not_delay_a_renewal)
{
	char name[16];
	uint64_t id;

	rig_begin(&rig, &server, NULL);
	rig.config.redis.connections = 1;
	rig_open(&rig);
	rig_ready(&rig);
	rig.on_outcome = note_renewal;
	for (id = 1; id <= FLOOD; id++) {
		(void)snprintf(name, sizeof(name), "flood/%u", (unsigned)id);
		rig_op(&rig, id, _i == 0 ? OP_ACQUIRE : OP_END, name);
	}
	redis_flush(rig.redis);
	rig_op(&rig, FLOOD + 1, OP_RENEW, "held");
	rig_turn(&rig);
	ck_status(&rig, FLOOD + 1, AGAIN);
	ck_assert_uint_lt(answered_before_renewal, 1200);
	for (id = 1; id <= FLOOD; id++)
		ck_assert_uint_eq(rig.ops[id].times, 1);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(what_stands_in_line_when_the_server_dies_was_not_sent)
{
	unsigned n[OUTCOME_MAX] = { 0 };
	char name[16];
	uint64_t id;

	rig_begin(&rig, &server, NULL);
	rig.config.redis.connections = 1;
	rig_open(&rig);
	rig_ready(&rig);
	server_ok(&server, "CLIENT PAUSE 5000");
	for (id = 1; id <= FLOOD; id++) {
		(void)snprintf(name, sizeof(name), "flood/%u", (unsigned)id);
		rig_op(&rig, id, OP_ACQUIRE, name);
	}
	redis_flush(rig.redis);
	server_kill(&server);
	rig_until(&rig, rig_answered, "outcomes");
	for (id = 1; id <= FLOOD; id++) {
		ck_assert_uint_eq(rig.ops[id].times, 1);
		n[rig.ops[id].outcome.status]++;
	}
	ck_assert_uint_gt(n[OUTCOME_UNSENT], 0);
	ck_assert_uint_gt(n[OUTCOME_UNKNOWN], 0);
	ck_assert_uint_eq(n[OUTCOME_UNSENT] + n[OUTCOME_UNKNOWN], FLOOD);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(scripts_that_were_flushed_are_loaded_again)
{
	struct redis_stats stats;
	char name[16];
	unsigned i;

	rig_begin_ready(&rig, &server);
	server_ok(&server, "SCRIPT FLUSH");
	for (i = 0; i < 300; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		rig_op(&rig, i, OP_ACQUIRE, name);
	}
	rig_turn(&rig);
	for (i = 0; i < 300; i++)
		ck_status(&rig, i, GRANTED);
	redis_stats(rig.redis, &stats);
	ck_assert_uint_ge(stats.reloads, 5);
	ck_assert_int_le(
	    server_info(&server, "commandstats", "cmdstat_script|load:calls="),
	    4 + 2);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_server_that_dies_makes_outcomes_unknown)
{
	rig_begin(&rig, &server, NULL);
	rig.config.redis.connections = 1;
	rig_open(&rig);
	rig_ready(&rig);
	kill(server.pid, SIGSTOP);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_op(&rig, 2, OP_ACQUIRE, "b");
	redis_flush(rig.redis);
	server_kill(&server);
	rig_until(&rig, rig_answered, "outcomes");
	ck_status(&rig, 1, UNKNOWN);
	ck_status(&rig, 2, UNKNOWN);
	ck_assert_uint_eq(rig.downs, 1);
	ck_assert_uint_eq(rig.answered_at_down, rig.expected - 2);

	rig_op(&rig, 3, OP_ACQUIRE, "c");
	ck_assert_uint_eq(rig.ops[3].times, 0);
	redis_flush(rig.redis);
	ck_status(&rig, 3, UNSENT);
	ck_assert_int_eq(rig.ops[3].sent_ms, 0);

	server_again(&server, none);
	rig_until(&rig, rig_is_up, "the link again");
	rig_op(&rig, 4, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_assert_int_eq(rig.guard.state, GUARD_PENDING);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_server_that_freezes_is_given_up_in_time)
{
	int64_t sent_ms;

	rig_begin(&rig, &server, NULL);
	rig.config.redis.reply_timeout_ms = 150;
	rig_open(&rig);
	rig_ready(&rig);
	kill(server.pid, SIGSTOP);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	redis_flush(rig.redis);
	rig_until(&rig, rig_answered, "the outcome");
	ck_status(&rig, 1, UNKNOWN);
	sent_ms = rig.ops[1].sent_ms;
	ck_assert_int_gt(sent_ms, 0);
	kill(server.pid, SIGCONT);
	rig_until(&rig, rig_is_up, "the link again");
	rig_op(&rig, 2, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_status(&rig, 2, DONE);
	rig_end(&rig, &server);
}
END_TEST

/* How many of our connections run scripts; *id is one of them. */
static unsigned
working_links(long *id)
{
	redisReply *r = server_do(&server, "CLIENT LIST TYPE normal");
	char *line, *save;
	unsigned n = 0;

	for (line = strtok_r(r->str, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strstr(line, "name=lockbroker-b1") ||
		    !strstr(line, "cmd=evalsha"))
			continue;
		*id = atol(line + strlen("id="));
		n++;
	}
	freeReplyObject(r);
	return n;
}

static void
use_many_names(enum op_kind kind)
{
	char name[16];
	unsigned i;

	for (i = 0; i < 64; i++) {
		memset(&rig.ops[i], 0, sizeof(rig.ops[i]));
		(void)snprintf(name, sizeof(name), "n%u", i);
		rig_op(&rig, i, kind, name);
	}
	rig_until(&rig, rig_answered_in_turns, "outcomes");
}

/* The answer is there; that we read it late is no reason to drop it. */
START_TEST(a_broker_that_was_frozen_reads_its_answers)
{
	rig_begin(&rig, &server, NULL);
	rig.config.redis.reply_timeout_ms = 400;
	rig_open(&rig);
	rig_ready(&rig);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	redis_flush(rig.redis);
	usleep(800000);
	rig_until(&rig, rig_answered, "the outcome");
	ck_status(&rig, 1, GRANTED);
	rig_end(&rig, &server);
}
END_TEST

/* While one link is down, the other replaces it, and kills its connection. */
START_TEST(a_cut_link_is_killed_before_it_is_replaced)
{
	struct redis_stats stats;
	long kills, id = 0;

	rig_begin_ready(&rig, &server);
	kills =
	    server_info(&server, "commandstats", "cmdstat_client|kill:calls=");
	do
		use_many_names(OP_PEEK);
	while (working_links(&id) < 2);
	server_ok(&server, "CLIENT KILL ID %ld", id);
	use_many_names(OP_ACQUIRE);
	/* Our own CLIENT KILL, after that of the test. */
	rig_op(&rig, 100, OP_HEARTBEAT, NULL);
	redis_flush(rig.redis);
	rig_until(&rig, rig_answered, "the outcome");
	ck_assert_int_eq(
	    server_info(&server, "commandstats", "cmdstat_client|kill:calls=") -
		kills,
	    2);
	ck_assert_uint_eq(rig.downs, 0);
	redis_stats(rig.redis, &stats);
	ck_assert_uint_eq(stats.reconnects, 1);
	ck_assert_uint_eq(stats.up, 1);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(without_its_password_it_stays_down)
{
	static const char *const locked[] = { "--requirepass", "s3cret", NULL };
	redisReply *r;
	redisContext *c;

	rig_begin(&rig, &server, NULL);
	server_kill(&server);
	server.pid = 0;
	server_again(&server, locked);
	rig.config.redis.password[0] = '\0';
	rig_open(&rig);
	redis_start(rig.redis);
	rig_for(&rig, 200);
	ck_assert_uint_eq(rig.ups, 0);
	c = redisConnectUnix(server.path);
	r = redisCommand(c, "AUTH s3cret");
	freeReplyObject(r);
	r = redisCommand(c, "CONFIG SET requirepass %s", "");
	ck_assert_str_eq(r->str, "OK");
	freeReplyObject(r);
	redisFree(c);
	rig_until(&rig, rig_is_up, "the link");
	rig_end(&rig, &server);
}
END_TEST

START_TEST(it_uses_its_password_and_database)
{
	static const char *const locked[] = { "--requirepass", "s3cret", NULL };
	redisReply *r;
	redisContext *c;

	rig_begin(&rig, &server, locked);
	free(rig.config.redis.password);
	rig.config.redis.password = strdup("s3cret");
	rig.config.redis.database = 3;
	rig_open(&rig);
	rig_ready(&rig);
	rig_op(&rig, 1, OP_ACQUIRE, "n");
	rig_turn(&rig);
	ck_status(&rig, 1, GRANTED);
	c = redisConnectUnix(server.path);
	freeReplyObject(redisCommand(c, "AUTH s3cret"));
	freeReplyObject(redisCommand(c, "SELECT 3"));
	r = redisCommand(c, "EXISTS lock:n");
	ck_assert_int_eq(r->integer, 1);
	freeReplyObject(r);
	redisFree(c);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_server_that_may_evict_is_refused)
{
	static const char *const evicting[] = { "--maxmemory", "100mb",
		"--maxmemory-policy", "volatile-lru", NULL };

	rig_begin(&rig, &server, evicting);
	rig_open(&rig);
	redis_start(rig.redis);
	rig_for(&rig, 200);
	ck_assert_uint_eq(rig.ups, 0);
	server_ok(&server, "CONFIG SET maxmemory-policy noeviction");
	rig_until(&rig, rig_is_up, "the link");
	rig_end(&rig, &server);
}
END_TEST

START_TEST(without_a_limit_any_policy_will_do)
{
	static const char *const harmless[] = { "--maxmemory-policy",
		"allkeys-lru", NULL };

	rig_begin(&rig, &server, harmless);
	rig_open(&rig);
	rig_ready(&rig);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(when_memory_is_full_locks_are_kept_but_not_taken)
{
	rig_begin_ready(&rig, &server);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, GRANTED);
	server_ok(&server, "CONFIG SET maxmemory 1");
	rig_op(&rig, 2, OP_ACQUIRE, "b");
	rig_op(&rig, 3, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_status(&rig, 2, REFUSED);
	ck_assert_ptr_nonnull(strstr(rig.ops[2].text, "out of memory"));
	ck_status(&rig, 3, DONE);
	ck_assert_uint_eq(rig.downs, 0);
	rig_end(&rig, &server);
}
END_TEST

static bool
got_message(struct rig *r)
{
	return r->messages > 0;
}

static bool
is_subscribed(struct rig *r)
{
	return r->resubscribed > 0;
}

static bool
is_resubscribed(struct rig *r)
{
	return r->resubscribed > 1;
}

static bool
was_probed(struct rig *r)
{
	(void)r;
	return server_info(&server, "commandstats", "cmdstat_publish:calls=") >
	       1;
}

START_TEST(messages_arrive_and_survive_a_cut)
{
	rig_begin_ready(&rig, &server);
	rig_until(&rig, is_subscribed, "the subscription");
	server_ok(&server, "PUBLISH lock:@b1.1122334455667788 %s",
	    "grant 7 some name");
	rig_until(&rig, got_message, "the message");
	ck_assert_str_eq(rig.message, "grant 7 some name");
	ck_assert_uint_eq(strlen(rig.history), HISTORY_BYTES);
	ck_assert(server_says(&server, "replication", rig.history));
	server_ok(&server, "CLIENT KILL TYPE pubsub");
	rig_until(&rig, is_resubscribed, "the next subscription");
	ck_assert_uint_eq(rig.downs, 0);
	/* Probes are for the listener only. */
	rig_until(&rig, was_probed, "a probe");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_assert_uint_eq(rig.messages, 1);
	ck_assert_uint_eq(rig.resubscribed, 2);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_busy_server_is_said_to_be_busy)
{
	redisContext *c;
	int done = 0;

	rig_begin_ready(&rig, &server);
	server_ok(&server, "CONFIG SET busy-reply-threshold 20");
	c = redisConnectUnix(server.path);
	redisAppendCommand(c, "EVAL %s 0", "while true do end");
	while (!done)
		ck_assert_int_eq(redisBufferWrite(c, &done), REDIS_OK);
	rig_for(&rig, 100);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, REFUSED);
	ck_assert_ptr_nonnull(strstr(rig.ops[1].text, "busy"));
	server_ok(&server, "SCRIPT KILL");
	redisFree(c);
	do {
		memset(&rig.ops[2], 0, sizeof(rig.ops[2]));
		rig_op(&rig, 2, OP_ACQUIRE, "a");
		rig_turn(&rig);
	} while (rig.ops[2].outcome.status == OUTCOME_REFUSED);
	ck_status(&rig, 2, GRANTED);
	rig_end(&rig, &server);
}
END_TEST

static bool
first_is_answered(struct rig *r)
{
	return r->ops[1].times > 0;
}

static void
submit_again(struct rig *r, uint64_t id)
{
	if (id < 10)
		rig_op(r, id + 1, OP_ACQUIRE, "a");
}

/* Flushes once a turn, as an owner does, while the loop turns. */
static bool
all_are_answered(struct rig *r)
{
	redis_flush(r->redis);
	return rig_answered(r);
}

START_TEST(a_handler_may_submit)
{
	rig_begin_ready(&rig, &server);
	rig.on_outcome = submit_again;
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	redis_flush(rig.redis);
	rig_until(&rig, first_is_answered, "the outcome");
	ck_status(&rig, 1, GRANTED);
	/* There was no flush, so nothing may happen. */
	server_kill(&server);
	rig_until(&rig, rig_is_down, "the cut");
	rig_until(&rig, all_are_answered, "all of them");
	ck_status(&rig, 2, UNSENT);
	ck_status(&rig, 10, UNSENT);
	rig_end(&rig, &server);
}
END_TEST

/* By name, over TCP. */
START_TEST(names_are_resolved)
{
	int port;

	rig_begin(&rig, &server, NULL);
	port = server_listen(&server);
	free(rig.config.redis.nodes.v[0].path);
	rig.config.redis.nodes.v[0].path = NULL;
	rig.config.redis.nodes.v[0].host = strdup("localhost");
	rig.config.redis.nodes.v[0].port = (uint16_t)port;
	rig_open(&rig);
	rig_ready(&rig);
	rig_end(&rig, &server);
}
END_TEST

START_TEST(a_name_that_nobody_knows_does_no_harm)
{
	rig_begin(&rig, &server, NULL);
	free(rig.config.redis.nodes.v[0].path);
	rig.config.redis.nodes.v[0].path = NULL;
	rig.config.redis.nodes.v[0].host = strdup("no-such-host.invalid");
	rig.config.redis.nodes.v[0].port = 6379;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_for(&rig, 200);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, UNSENT);
	rig_end(&rig, &server);
}
END_TEST

TCase *
redis_cases(void)
{
	TCase *tc = tcase_create("redis");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_lease_is_taken_kept_and_ended);
	tcase_add_test(tc, a_plain_clients_key_is_foreign);
	tcase_add_test(tc, operations_of_a_turn_share_calls);
	tcase_add_test(tc, renewals_in_a_row_are_told_apart);
	tcase_add_loop_test(tc, a_flood_does_not_delay_a_renewal, 0, 2);
	tcase_add_test(
	    tc, what_stands_in_line_when_the_server_dies_was_not_sent);
	tcase_add_test(tc, scripts_that_were_flushed_are_loaded_again);
	tcase_add_test(tc, a_server_that_dies_makes_outcomes_unknown);
	tcase_add_test(tc, a_server_that_freezes_is_given_up_in_time);
	tcase_add_test(tc, a_broker_that_was_frozen_reads_its_answers);
	tcase_add_test(tc, a_cut_link_is_killed_before_it_is_replaced);
	tcase_add_test(tc, without_its_password_it_stays_down);
	tcase_add_test(tc, it_uses_its_password_and_database);
	tcase_add_test(tc, a_server_that_may_evict_is_refused);
	tcase_add_test(tc, without_a_limit_any_policy_will_do);
	tcase_add_test(tc, when_memory_is_full_locks_are_kept_but_not_taken);
	tcase_add_test(tc, messages_arrive_and_survive_a_cut);
	tcase_add_test(tc, a_busy_server_is_said_to_be_busy);
	tcase_add_test(tc, a_handler_may_submit);
	tcase_add_test(tc, names_are_resolved);
	tcase_add_test(tc, a_name_that_nobody_knows_does_no_harm);
	return tc;
}
