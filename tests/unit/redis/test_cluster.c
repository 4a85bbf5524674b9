/*
 * Tests of how the answers of a cluster are understood: redis/cluster_map,
 * slot and once.
 */
#include "config.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/cluster_map.h"
#include "redis/once.h"
#include "test_redis.h"

/* Everything that was told, one line for each range. */
struct told {
	char text[512];
};

static void
on_range(void *arg, const struct cluster_range *r)
{
	struct told *told = arg;
	size_t n = strlen(told->text);

	(void)snprintf(told->text + n, sizeof(told->text) - n,
	    "%u-%u %s %s:%u\n", r->first, r->last,
	    r->master ? "master" : "replica", r->host, r->port);
}

static bool
read_slots(const char *resp, const char *self, struct told *told)
{
	redisReader *reader = redisReaderCreate();
	void *reply;
	bool ok;

	told->text[0] = '\0';
	ck_assert_int_eq(redisReaderFeed(reader, resp, strlen(resp)), REDIS_OK);
	ck_assert_int_eq(redisReaderGetReply(reader, &reply), REDIS_OK);
	ck_assert_ptr_nonnull(reply);
	ok = cluster_slots_read(reply, self, on_range, told);
	freeReplyObject(reply);
	redisReaderFree(reader);
	return ok;
}

START_TEST(slots_are_read)
{
	struct told told;

	ck_assert(read_slots("*2\r\n"
			     "*4\r\n:0\r\n:99\r\n"
			     "*3\r\n$4\r\nhost\r\n:6379\r\n$1\r\nx\r\n"
			     "*3\r\n$2\r\n::\r\n:6380\r\n$1\r\ny\r\n"
			     "*3\r\n:100\r\n:16383\r\n"
			     "*2\r\n$0\r\n\r\n:6381\r\n",
	    "self", &told));
	ck_assert_str_eq(told.text, "0-99 master host:6379\n"
				    "0-99 replica :::6380\n"
				    "100-16383 master self:6381\n");
	ck_assert(read_slots("*0\r\n", "self", &told));
	ck_assert_str_eq(told.text, "");
}
END_TEST

START_TEST(nodes_without_an_address_are_left_out)
{
	struct told told;

	ck_assert(read_slots("*1\r\n*4\r\n:1\r\n:2\r\n"
			     "*2\r\n$1\r\n?\r\n:6379\r\n"
			     "*2\r\n$-1\r\n:6380\r\n",
	    NULL, &told));
	ck_assert_str_eq(told.text, "");
	ck_assert(read_slots(
	    "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n$-1\r\n:7\r\n", "self", &told));
	ck_assert_str_eq(told.text, "1-2 master self:7\n");
	ck_assert(read_slots(
	    "*1\r\n*3\r\n:1\r\n:2\r\n*2\r\n$1\r\na\r\n:0\r\n", "self", &told));
	ck_assert_str_eq(told.text, "");
}
END_TEST

START_TEST(other_answers_are_no_map)
{
	static const char *const others[] = { "-ERR no cluster\r\n", "+OK\r\n",
		"*1\r\n+OK\r\n", "*1\r\n*2\r\n:1\r\n:2\r\n",
		"*1\r\n*3\r\n:1\r\n:16384\r\n*0\r\n",
		"*1\r\n*3\r\n:-1\r\n:2\r\n*0\r\n",
		"*1\r\n*3\r\n$1\r\n1\r\n:2\r\n*0\r\n" };
	struct told told;
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(
		    !read_slots(others[i], "self", &told), "%s", others[i]);
}
END_TEST

/* An answer with so many ranges of so many nodes without a name. */
static bool
read_many(size_t ranges, size_t nodes)
{
	static const char node[] = "*2\r\n$1\r\n?\r\n:9\r\n";
	char *resp = malloc(32 + ranges * (32 + nodes * sizeof(node))), *end;
	struct told told;
	size_t i, k;
	bool ok;

	ck_assert_ptr_nonnull(resp);
	end = resp + sprintf(resp, "*%zu\r\n", ranges);
	for (i = 0; i < ranges; i++) {
		end += sprintf(end, "*%zu\r\n:1\r\n:2\r\n", 2 + nodes);
		for (k = 0; k < nodes; k++)
			end += sprintf(end, "%s", node);
	}
	ok = read_slots(resp, NULL, &told);
	free(resp);
	return ok;
}

/* No cluster is so large, and the broker would look at all of it in one go. */
START_TEST(an_endless_map_is_none)
{
	ck_assert(read_many(16384, 4));
	ck_assert(!read_many(16385, 1));
	ck_assert(!read_many(16384, 5));
}
END_TEST

START_TEST(epochs_are_read)
{
	static const char info[] =
	    "cluster_state:ok\r\ncluster_current_epoch:17\r\nx:1\r\n";

	ck_assert_uint_eq(cluster_epoch_read(info, strlen(info)), 17);
	ck_assert_uint_eq(cluster_epoch_read("", 0), 0);
	ck_assert_uint_eq(cluster_epoch_read("cluster_state:ok\r\n", 18), 0);
}
END_TEST

START_TEST(redirections_are_read)
{
	struct redirect r;

	ck_assert(redirect_read(&r, "MOVED 3999 10.0.0.1:6381", "self"));
	ck_assert_int_eq(r.kind, REDIRECT_MOVED);
	ck_assert_uint_eq(r.slot, 3999);
	ck_assert_str_eq(r.host, "10.0.0.1");
	ck_assert_uint_eq(r.port, 6381);
	ck_assert(redirect_read(&r, "ASK 0 fe80::1:6381", "self"));
	ck_assert_int_eq(r.kind, REDIRECT_ASK);
	ck_assert_str_eq(r.host, "fe80::1");
	ck_assert(redirect_read(&r, "MOVED 1 :6381", "self"));
	ck_assert_str_eq(r.host, "self");
	ck_assert(redirect_read(&r, "MOVED 1 :6381", NULL));
	ck_assert_str_eq(r.host, "");
	ck_assert(redirect_read(&r, "MOVED 1 ?:6381", "self"));
	ck_assert_str_eq(r.host, "");
	ck_assert(redirect_read(&r, "TRYAGAIN Multiple keys", "self"));
	ck_assert_int_eq(r.kind, REDIRECT_TRYAGAIN);
	ck_assert(redirect_read(&r, "CLUSTERDOWN", "self"));
	ck_assert_int_eq(r.kind, REDIRECT_DOWN);
}
END_TEST

START_TEST(other_errors_are_no_redirections)
{
	static const char *const others[] = { "", "ERR MOVED 1 a:1", "MOVED",
		"MOVED ", "MOVED 1", "MOVED 1 ", "MOVED x a:1",
		"MOVED 16384 a:1", "MOVED 1 a", "MOVED 1 a:", "MOVED 1 a:65536",
		"MOVED 1 a:-1", "MOVEDX 1 a:1", "ASK", "ASK:1 2", "READONLY" };
	struct redirect r;
	char text[600];
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ck_assert_msg(
		    !redirect_read(&r, others[i], "self"), "%s", others[i]);
	(void)snprintf(text, sizeof(text), "MOVED 1 %0500d:1", 1);
	ck_assert(!redirect_read(&r, text, "self"));
}
END_TEST

START_TEST(buckets_have_the_slots_of_redis)
{
	/* As CLUSTER KEYSLOT answers for lock:{N}:x. */
	ck_assert_uint_eq(cluster_slot(0), 13907);
	ck_assert_uint_eq(cluster_slot(197), 2860);
	ck_assert_uint_eq(cluster_slot(255), 14163);
}
END_TEST

START_TEST(messages_come_through_once)
{
	struct once once = { .next = 0 };
	int a = 0, b = 0, i;
	char text[16];

	ck_assert(once_accept(&once, &a, "grant 1 x", 9, 1000));
	ck_assert(!once_accept(&once, &b, "grant 1 x", 9, 1001));
	ck_assert(once_accept(&once, &a, "grant 1 x", 9, 1002));
	ck_assert(!once_accept(&once, &b, "grant 1 x", 9, 1003));
	ck_assert(once_accept(&once, &b, "grant 2 x", 9, 1004));
	ck_assert(!once_accept(&once, &a, "grant 2 x", 9, 1005));
	ck_assert(once_accept(&once, &b, "grant 1 x", 9, 9000));
	/* The connection that brought it first has gone. */
	once_forget(&once, &b);
	ck_assert(once_accept(&once, &a, "grant 1 x", 9, 9001));
	for (i = 0; i < 2 * ONCE_MAX; i++) {
		(void)snprintf(text, sizeof(text), "look %d x", i);
		ck_assert(once_accept(&once, &a, text, strlen(text), 9000));
		ck_assert(!once_accept(&once, &b, text, strlen(text), 9000));
	}
}
END_TEST

TCase *
cluster_cases(void)
{
	TCase *tc = tcase_create("cluster");

	tcase_add_test(tc, slots_are_read);
	tcase_add_test(tc, nodes_without_an_address_are_left_out);
	tcase_add_test(tc, other_answers_are_no_map);
	tcase_add_test(tc, an_endless_map_is_none);
	tcase_add_test(tc, epochs_are_read);
	tcase_add_test(tc, redirections_are_read);
	tcase_add_test(tc, other_errors_are_no_redirections);
	tcase_add_test(tc, buckets_have_the_slots_of_redis);
	tcase_add_test(tc, messages_come_through_once);
	return tc;
}
