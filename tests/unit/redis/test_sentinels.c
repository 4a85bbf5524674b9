/*
 * How the answers of Sentinels are understood, and those of a server that only
 * listens in the place of a Sentinel.
 */
#include "config.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_redis.h"
#include "redis/sentinels.h"
#include "redis_rig.h"
#include "suite.h"
#include "test_redis.h"

static bool
read_answer(const char *resp, size_t len, struct sentinel_answer *out)
{
	redisReader *reader = redisReaderCreate();
	void *reply;
	bool ok;

	ck_assert_int_eq(redisReaderFeed(reader, resp, len), REDIS_OK);
	ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
	ck_assert_ptr_nonnull(reply);
	ok = sentinel_answer_read(reply, out);
	freeReplyObject(reply);
	redisReaderFree(reader);
	return ok;
}

START_TEST(a_master_is_read)
{
	static const struct {
		const char *resp, *host;
		unsigned port;
	} rows[] = {
		{ "*2\r\n$8\r\n10.0.0.1\r\n$4\r\n6379\r\n", "10.0.0.1", 6379 },
		{ "*2\r\n$3\r\n::1\r\n$5\r\n65535\r\n", "::1", 65535 },
		{ "*2\r\n$7\r\nr1.home\r\n$1\r\n1\r\n", "r1.home", 1 },
	};
	struct sentinel_answer a;

	ck_assert(read_answer(rows[_i].resp, strlen(rows[_i].resp), &a));
	ck_assert_str_eq(a.host, rows[_i].host);
	ck_assert_uint_eq(a.port, rows[_i].port);
}
END_TEST

/* The length is given, because one text has a NUL. */
#define ROW(text)                      \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct {
	const char *resp;
	size_t len;
} odd[] = {
	ROW("+OK\r\n"),
	ROW(":6379\r\n"),
	ROW("$4\r\n6379\r\n"),
	ROW("*0\r\n"),
	ROW("*1\r\n$8\r\n10.0.0.1\r\n"),
	ROW("*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n1\r\n"),
	ROW("*2\r\n$8\r\n10.0.0.1\r\n:6379\r\n"),
	ROW("*2\r\n:1\r\n:2\r\n"),
	ROW("*2\r\n$-1\r\n$-1\r\n"),
	ROW("*2\r\n*0\r\n*0\r\n"),
	ROW("*2\r\n-ERR\r\n-ERR\r\n"),
	ROW("*2\r\n$0\r\n\r\n$4\r\n6379\r\n"),
	ROW("*2\r\n$3\r\na b\r\n$4\r\n6379\r\n"),
	ROW("*2\r\n$3\r\na\0b\r\n$4\r\n6379\r\n"),
	ROW("*2\r\n$3\r\na\nb\r\n$4\r\n6379\r\n"),
	ROW("*2\r\n$2\r\n\xc3\xa4\r\n$4\r\n6379\r\n"),
	ROW("*2\r\n$1\r\na\r\n$0\r\n\r\n"),
	ROW("*2\r\n$1\r\na\r\n$1\r\n0\r\n"),
	ROW("*2\r\n$1\r\na\r\n$2\r\n-1\r\n"),
	ROW("*2\r\n$1\r\na\r\n$5\r\n65536\r\n"),
	ROW("*2\r\n$1\r\na\r\n$6\r\n+10000\r\n"),
	ROW("*2\r\n$1\r\na\r\n$5\r\n 6379\r\n"),
	ROW("*2\r\n$1\r\na\r\n$5\r\n6379x\r\n"),
	ROW("*2\r\n$1\r\na\r\n$20\r\n18446744073709551617\r\n"),
	ROW("*2\r\n$1\r\na\r\n$30\r\n999999999999999999999999999999\r\n"),
};

START_TEST(anything_else_is_none)
{
	struct sentinel_answer a = { "same", 7 };

	ck_assert(!read_answer(odd[_i].resp, odd[_i].len, &a));
	ck_assert_str_eq(a.host, "same");
	ck_assert_uint_eq(a.port, 7);
}
END_TEST

START_TEST(a_host_has_its_limit)
{
	struct sentinel_answer a;
	char resp[400], host[300];
	int i, len;

	for (i = 254; i < 258; i++) {
		memset(host, 'h', (size_t)i);
		host[i] = '\0';
		len = snprintf(resp, sizeof(resp),
		    "*2\r\n$%d\r\n%s\r\n$1\r\n7\r\n", i, host);
		ck_assert(read_answer(resp, (size_t)len, &a) ==
			  (i < SENTINEL_HOST_SIZE));
		if (i < SENTINEL_HOST_SIZE)
			ck_assert_str_eq(a.host, host);
	}
}
END_TEST

/* A broker that asks a Sentinel. */

static const char *const none[] = { NULL };
static struct rig rig;
static struct fake fake;

static void
begin(const char *answer)
{
	fake_start(&fake, NULL, answer);
	rig_config(&rig, fake.path);
	rig.config.redis.mode = CONFIG_MODE_SENTINEL;
	free(rig.config.redis.master);
	rig.config.redis.master = strdup("m");
	rig_open(&rig);
	redis_start(rig.redis);
}

static void
end(void)
{
	rig_close(&rig);
	fake_stop(&fake);
}

START_TEST(a_master_is_followed)
{
	struct server server;
	char answer[80], port[8];

	server_start(&server, none);
	(void)snprintf(port, sizeof(port), "%d", server_listen(&server));
	(void)snprintf(answer, sizeof(answer),
	    "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n", strlen(port), port);
	begin(answer);
	rig_until(&rig, rig_is_up, "the master");
	end();
	server_stop(&server);
}
END_TEST

/* Whatever the Sentinel answers, the broker asks it again and again, and
 * follows it nowhere. */
START_TEST(nonsense_leads_nowhere)
{
	begin(odd[_i].resp);
	rig_for(&rig, 150);
	ck_assert_uint_eq(rig.ups, 0);
	ck_assert_uint_eq(rig.fatals, 0);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, UNSENT);
	end();
}
END_TEST

TCase *
sentinel_cases(void)
{
	TCase *tc = tcase_create("sentinels");

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, a_master_is_read, 0, 3);
	tcase_add_loop_test(tc, anything_else_is_none, 0, COUNT(odd));
	tcase_add_test(tc, a_host_has_its_limit);
	tcase_add_test(tc, a_master_is_followed);
	tcase_add_loop_test(tc, nonsense_leads_nowhere, 0, COUNT(odd));
	return tc;
}
