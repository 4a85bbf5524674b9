/*
 * Whatever a server or a proxy says, on whichever connection and whenever: it
 * cuts that connection and never ends the broker.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "fake_redis.h"
#include "redis_rig.h"
#include "suite.h"

#define DONE "*2\r\n*1\r\n$7\r\nblessed\r\n*1\r\n$4\r\ndone\r\n"
#define SUBSCRIBED "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n"

static const char *const nonsense[] = {
	"\r\n",
	"garbage\r\n",
	"+OK\r\n",
	"-ERR max number of clients reached\r\n",
	"-\r\n",
	":1\r\n",
	":99999999999999999999\r\n",
	"$-1\r\n",
	"$-2\r\n",
	"$0\r\n\r\n",
	"*-1\r\n",
	"*0\r\n",
	"*1\r\n*0\r\n",
	"*1\r\n$7\r\nmessage\r\n",
	"*2\r\n$7\r\nmessage\r\n$1\r\nc\r\n",
	"*3\r\n$-1\r\n$-1\r\n$-1\r\n",
	"*3\r\n:1\r\n:2\r\n:3\r\n",
	"*3\r\n*0\r\n*0\r\n*0\r\n",
	"*3\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n",
	"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n:1\r\n",
	"*3\r\n$7\r\nmessage\r\n$8\r\nstranger\r\n$2\r\nhi\r\n",
	"*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n$1\r\nx\r\n",
	"*3\r\n$11\r\nunsubscribe\r\n$1\r\nx\r\n$1\r\nx\r\n",
	"*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n",
	"*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$1\r\nc\r\n$1\r\nx\r\n",
	"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*0\r\n",
	"*2147483647\r\n:1\r\n",
	"*9223372036854775807\r\n",
	">2\r\n$10\r\ninvalidate\r\n$-1\r\n",
	">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n",
	">1\r\n:1\r\n",
	"%1\r\n+a\r\n+b\r\n",
	"~1\r\n:1\r\n",
	",inf\r\n",
	"#t\r\n",
	"_\r\n",
	"(12345678901234567890\r\n",
	"=7\r\ntxt:abc\r\n",
};

static struct rig rig;
static struct fake fake;

static void
configure(const struct fake_words *words)
{
	fake_start_words(&fake, words);
	rig_config(&rig, fake.path);
	rig.config.redis.connections = 1;
	rig.config.redis.connect_timeout_ms = 200;
}

static void
begin(const struct fake_words *words)
{
	configure(words);
	rig_open(&rig);
	redis_start(rig.redis);
}

static void
end(void)
{
	rig_close(&rig);
	fake_stop(&fake);
}

static bool
has_subscribed_again(struct rig *r)
{
	(void)r;
	return *(volatile unsigned *)fake.subscribed >= 3;
}

static bool
is_told_why(struct rig *r)
{
	return r->why[0] != '\0';
}

static bool
is_up_again(struct rig *r)
{
	return r->ups >= 2 && r->up;
}

/* The link is cut and comes back, and the outcome of the operation is
 * unknown. */
START_TEST(in_an_answer)
{
	const struct fake_words words = { .answer = nonsense[_i] };

	begin(&words);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_assert_int_ne(rig.ops[1].outcome.status, OUTCOME_GRANTED);
	end();
}
END_TEST

/* Also if the nonsense comes in the same read, and can't be seen beforehand. */
START_TEST(behind_an_answer)
{
	char answer[200];
	const struct fake_words words = { .answer = answer };

	(void)snprintf(answer, sizeof(answer), DONE "%s", nonsense[_i]);
	begin(&words);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_status(&rig, 1, DONE);
	rig_until(&rig, is_up_again, "the cut, and the link again");
	end();
}
END_TEST

START_TEST(unasked)
{
	const struct fake_words words = { .hello = nonsense[_i],
		.answer = DONE };

	begin(&words);
	rig_until(&rig, is_up_again, "the cut, and the link again");
	end();
}
END_TEST

START_TEST(in_a_greeting)
{
	const struct fake_words words = { .greeting = nonsense[_i],
		.answer = DONE };

	begin(&words);
	rig_until(&rig, is_told_why, "the reason");
	ck_assert_uint_eq(rig.ups, 0);
	end();
}
END_TEST

/* Commands continue meanwhile; the broker subscribes again and again. */
static void
subscriber_meets(const char *subscribed, const char *news)
{
	const struct fake_words words = {
		.answer = DONE, .subscribed = subscribed, .news = news
	};

	begin(&words);
	rig_until(&rig, has_subscribed_again, "another subscription");
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_status(&rig, 1, DONE);
	ck_assert_uint_eq(rig.downs, 0);
	ck_assert_uint_eq(rig.messages, 0);
	end();
}

START_TEST(in_the_answer_to_a_subscription)
{
	subscriber_meets(nonsense[_i], NULL);
}
END_TEST

START_TEST(behind_the_answer_to_a_subscription)
{
	char both[200];

	(void)snprintf(both, sizeof(both), SUBSCRIBED "%s", nonsense[_i]);
	subscriber_meets(both, NULL);
}
END_TEST

START_TEST(to_a_subscriber)
{
	subscriber_meets(SUBSCRIBED, nonsense[_i]);
}
END_TEST

static const char *const arrays[] = {
	"*65537\r\n",
	"*2\r\n:1\r\n*65537\r\n",
};

/* A reply may announce 16 GB; the link is cut long before it would be
 * overdue. */
START_TEST(an_array_has_a_bound)
{
	const struct fake_words words = { .answer = arrays[_i] };

	configure(&words);
	rig.config.redis.reply_timeout_ms = 120000;
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_status(&rig, 1, UNKNOWN);
	end();
}
END_TEST

static TCase *
nonsense_cases(void)
{
	TCase *tc = tcase_create("nonsense");
	const int n = COUNT(nonsense);

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, in_an_answer, 0, n);
	tcase_add_loop_test(tc, behind_an_answer, 0, n);
	tcase_add_loop_test(tc, unasked, 0, n);
	tcase_add_loop_test(tc, in_a_greeting, 0, n);
	tcase_add_loop_test(tc, in_the_answer_to_a_subscription, 0, n);
	tcase_add_loop_test(tc, behind_the_answer_to_a_subscription, 0, n);
	tcase_add_loop_test(tc, to_a_subscriber, 0, n);
	tcase_add_loop_test(tc, an_array_has_a_bound, 0, COUNT(arrays));
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { nonsense_cases };

	return suite_run("nonsense", cases, COUNT(cases));
}
