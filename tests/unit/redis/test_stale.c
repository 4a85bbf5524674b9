/*
 * Connections that were lost are killed before anything takes their place.
 * The links do what the test says (instead of link.c).
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/pool_state.h"
#include "suite.h"

#define LANES 3
#define IDS 64
#define KILLS 64

/* As in link.h; `id` is that of the present connection. */
struct link {
	bool up;
	uint64_t id;
	struct info info;
};

/* A CLIENT KILL that was sent and has not been answered yet. */
struct kill {
	const struct link *by;
	uint64_t by_id; /* the connection that carries it */
	uint64_t id;
	link_reply *done;
	void *arg;
};

static struct link links[LANES];
static struct lane lanes[LANES];
static struct pool pool;
static struct kill kills[KILLS];
static unsigned nkills;
static uint64_t next_id;
static bool killed[IDS];
static unsigned refused; /* links given up, because Redis would not kill */

bool
link_is_up(const struct link *l)
{
	return l->up;
}

const struct info *
link_info(const struct link *l)
{
	return &l->info;
}

uint64_t
link_client_id(const struct link *l)
{
	return l->id;
}

void
link_refuse(struct link *l, const char *why, const char *advice)
{
	ck_assert(strncmp(why, "CLIENT KILL: NOPERM", 19) == 0 && advice);
	l->up = false;
	refused++;
}

bool
link_sendf(struct link *l, int64_t timeout_ms, link_reply *done, void *arg,
    const char *fmt, ...)
{
	va_list ap;

	(void)timeout_ms;
	ck_assert_str_eq(fmt, "CLIENT KILL ID %llu");
	ck_assert(l->up && nkills < KILLS);
	va_start(ap, fmt);
	kills[nkills++] = (struct kill){ l, l->id,
		va_arg(ap, unsigned long long), done, arg };
	va_end(ap);
	return true;
}

static void
begin(void)
{
	unsigned i;

	pool.lanes = lanes;
	pool.nlanes = LANES;
	for (i = 0; i < LANES; i++) {
		links[i].up = true;
		links[i].id = ++next_id;
		strcpy(links[i].info.run_id, "run");
		lanes[i].pool = &pool;
		lanes[i].index = i;
		lanes[i].killer = NO_LANE;
		lanes[i].link = &links[i];
	}
}

/* Answers the first KILL on this connection; false: there is none. */
static bool
answer(uint64_t by_id, const redisReply *reply)
{
	struct kill kill;
	unsigned i;

	for (i = 0; i < nkills && kills[i].by_id != by_id; i++)
		;
	if (i == nkills)
		return false;
	kill = kills[i];
	memmove(&kills[i], &kills[i + 1], (--nkills - i) * sizeof(*kills));
	if (reply && reply->type == REDIS_REPLY_INTEGER)
		killed[kill.id] = true;
	kill.done(kill.arg, reply);
	return true;
}

static void
answer_all(uint64_t by_id)
{
	static const redisReply one = { .type = REDIS_REPLY_INTEGER,
		.integer = 1 };

	while (answer(by_id, &one))
		;
}

/* As pool.c and link_io.c do it: down first, then the answers. */
static void
cut(unsigned i)
{
	uint64_t id = links[i].id;

	links[i].up = false;
	pool_note_stale(&lanes[i], &links[i]);
	pool_kill_stale(&pool);
	while (answer(id, NULL))
		;
}

static void
back(unsigned i)
{
	links[i].up = true;
	links[i].id = ++next_id;
	pool_kill_stale(&pool);
}

/* Checks that the KILLs of all connections that lane i has lost precede what is
 * sent next. */
static void
check_order(unsigned i)
{
	const struct lane *by = pool_route(&pool, i);
	bool before;
	unsigned k, n;

	for (n = 0; by && n < lanes[i].nstale; n++) {
		before = killed[lanes[i].stale[n]];
		for (k = 0; k < nkills; k++)
			before |= kills[k].id == lanes[i].stale[n] &&
				  kills[k].by_id == by->link->id;
		ck_assert_msg(before, "lane %u: not before it: %ju", i,
		    (uintmax_t)lanes[i].stale[n]);
	}
}

static void
end(void)
{
	unsigned i;

	for (i = 0; i < LANES; i++)
		free(lanes[i].stale);
}

START_TEST(a_lost_connection_is_killed)
{
	begin();
	cut(0);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[1]);
	check_order(0);
	back(0);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[1]);
	answer_all(links[1].id);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[0]);
	ck_assert(killed[1]);
	end();
}
END_TEST

/* A link that is refused is given up; another has to kill. */
START_TEST(a_kill_that_is_refused_is_not_done)
{
	static char text[] = "NOPERM this user has no permissions";
	static const redisReply error = { .type = REDIS_REPLY_ERROR,
		.str = text };

	begin();
	cut(0);
	ck_assert(answer(links[1].id, &error));
	ck_assert_uint_eq(refused, 1);
	ck_assert_uint_eq(lanes[0].nstale, 1);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[2]);
	check_order(0);
	ck_assert(answer(links[2].id, &error));
	ck_assert_uint_eq(refused, 2);
	ck_assert_ptr_null(pool_route(&pool, 0));
	back(0);
	answer_all(links[0].id);
	ck_assert(killed[1]);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[0]);
	end();
}
END_TEST

START_TEST(another_takes_over_from_a_killer_that_is_lost)
{
	begin();
	cut(0);
	cut(1);
	check_order(0);
	check_order(1);
	answer_all(links[2].id);
	ck_assert(killed[1] && killed[2]);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[2]);
	end();
}
END_TEST

/*
 * Lane 0 is lost, and again while the first killer is slow; the link that was
 * to kill the second connection is lost, too.
 */
START_TEST(a_slow_killer_does_not_answer_for_another)
{
	begin();
	cut(1);
	cut(0);
	back(0);
	back(1);
	cut(0); /* connections 1 and 4 */
	check_order(0);
	cut(1);
	check_order(0);
	back(1);
	check_order(0);
	answer_all(links[2].id);
	check_order(0);
	back(0);
	answer_all(links[1].id);
	answer_all(links[2].id);
	answer_all(links[0].id);
	ck_assert(killed[1] && killed[4]);
	ck_assert(killed[2] && killed[5]);
	ck_assert_ptr_eq(pool_route(&pool, 0), &lanes[0]);
	ck_assert_ptr_eq(pool_route(&pool, 1), &lanes[1]);
	end();
}
END_TEST

/* In any order of events, nothing is sent before the KILLs that it must
 * follow. */
START_TEST(whatever_happens)
{
	unsigned i;
	uint64_t ids;

	begin();
	srand((unsigned)_i);
	while (next_id < IDS - 1 - LANES && nkills < KILLS / 2) {
		i = (unsigned)rand() % LANES;
		if (rand() % 3 == 0)
			answer_all(links[i].id);
		else if (links[i].up)
			cut(i);
		else
			back(i);
		for (i = 0; i < LANES; i++)
			check_order(i);
	}
	for (i = 0; i < LANES; i++)
		if (!links[i].up)
			back(i);
	while (nkills > 0)
		answer_all(kills[0].by_id);
	for (ids = 1; ids <= next_id; ids++)
		ck_assert_msg(killed[ids] || ids == links[0].id ||
				  ids == links[1].id || ids == links[2].id,
		    "connection %ju was never killed", (uintmax_t)ids);
	end();
}
END_TEST

static TCase *
stale_cases(void)
{
	TCase *tc = tcase_create("stale");

	tcase_add_test(tc, a_lost_connection_is_killed);
	tcase_add_test(tc, a_kill_that_is_refused_is_not_done);
	tcase_add_test(tc, another_takes_over_from_a_killer_that_is_lost);
	tcase_add_test(tc, a_slow_killer_does_not_answer_for_another);
	tcase_add_loop_test(tc, whatever_happens, 0, 200);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { stale_cases };

	return suite_run("stale", cases, COUNT(cases));
}
