/*
 * How the answers to calls are understood.  Replies are built by hand.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/gather.h"
#include "store_rig.h"
#include "suite.h"
#include "test_store.h"

/*
 * Makes a reply of a text: [ ] is an array, a word or "TEXT" a string, :N an
 * integer, _ a nil, and -TEXT an error up to the end.
 */
static redisReply *
reply_parse(const char **at)
{
	redisReply *r = calloc(1, sizeof(*r));
	const char *s = *at;
	size_t n;

	s += strspn(s, " ");
	n = strcspn(s, " ]");
	if (*s == '[') {
		r->type = REDIS_REPLY_ARRAY;
		r->element = calloc(256, sizeof(redisReply *));
		s++;
		for (s += strspn(s, " "); *s != ']'; s += strspn(s, " "))
			r->element[r->elements++] = reply_parse(&s);
		*at = s + 1;
		return r;
	}
	r->type = *s == ':'   ? REDIS_REPLY_INTEGER
		  : *s == '_' ? REDIS_REPLY_NIL
		  : *s == '-' ? REDIS_REPLY_ERROR
			      : REDIS_REPLY_STRING;
	if (*s == '-')
		n = strlen(s);
	if (*s == ':')
		r->integer = atoll(s + 1);
	if (*s == '"')
		n = strcspn(s + 1, "\"") + 1;
	r->str = strndup(
	    strchr("-\"", *s) ? s + 1 : s, strchr("-\"", *s) ? n - 1 : n);
	n += *s == '"';
	r->len = strlen(r->str);
	*at = s + n;
	return r;
}

static void
reply_free(redisReply *r)
{
	size_t i;

	for (i = 0; i < r->elements; i++)
		reply_free(r->element[i]);
	free(r->element);
	free(r->str);
	free(r);
}

static enum call_verdict
answer(enum op_kind kind, unsigned n, const char *text)
{
	enum call_verdict verdict;
	redisReply *r;
	unsigned i;

	for (i = 0; i < n; i++)
		store_add(kind, 10 + i, "n");
	store_flush();
	ck_assert_uint_eq(store_seen.ncalls, 1);
	store_seen.calls[0]->sent_ms = 1234;
	r = reply_parse(&text);
	verdict = call_finish(
	    store, store_seen.calls[0], r, false, &store_handler, &store_seen);
	reply_free(r);
	ck_assert_uint_eq(store_seen.told, n);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(store_seen.ids[i], 10 + i);
	ck_assert_int_eq(store_seen.sent_ms, 1234);
	return verdict;
}

static const struct {
	enum op_kind kind;
	const char *reply;
	enum guard_state guard; /* UNKNOWN: the guard is not told */
	enum outcome_status status;
	uint64_t fence;
	int64_t ttl_ms;
	bool waiting;
	const char *text;
} answer_rows[] = {
	{ OP_ACQUIRE, "[[blessed _ :0 :9] [granted :8 :0 :1]]", GUARD_BLESSED,
	    OUTCOME_GRANTED, 8, 0, true, "" },
	{ OP_ACQUIRE, "[[blessed x] [queued :0 :4500]]", GUARD_BLESSED,
	    OUTCOME_QUEUED, 0, 4500, false, "" },
	{ OP_ACQUIRE, "[[blessed] [queued :0 :-1]]", GUARD_BLESSED,
	    OUTCOME_QUEUED, 0, -1, false, "" },
	{ OP_ACQUIRE, "[[blessed] [foreign :0 :7]]", GUARD_BLESSED,
	    OUTCOME_FOREIGN, 0, 7, false, "" },
	/* A plain client may give its key any time. */
	{ OP_ACQUIRE, "[[blessed] [foreign :0 :9000000000000000000]]",
	    GUARD_BLESSED, OUTCOME_FOREIGN, 0, INT64_C(1) << 53, false, "" },
	{ OP_ACQUIRE, "[[pending r:n :1 :0] [pending]]", GUARD_PENDING,
	    OUTCOME_PENDING, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [refused :0 :0 :0 WRONGTYPE]]", GUARD_BLESSED,
	    OUTCOME_REFUSED, 0, 0, false, "Redis refuses: WRONGTYPE" },
	/* It speaks for all other names if it lacks a right. */
	{ OP_ACQUIRE,
	    "[[blessed] [refused :0 :0 :0 \"The user executing the script can't"
	    " run x\"]]",
	    GUARD_REFUSED, OUTCOME_REFUSED, 0, 0, false,
	    REFUSAL_NOPERM " (The user executing the script can't run x)" },
	{ OP_END,
	    "[[blessed] [refused :0 :0 :0 \"The user executing the script can't"
	    " run x\"]]",
	    GUARD_BLESSED, OUTCOME_REFUSED, 0, 0, false,
	    REFUSAL_NOPERM " (The user executing the script can't run x)" },
	{ OP_RENEW, "[[blessed x :0 4503599627370495] [renewed 17]]",
	    GUARD_BLESSED, OUTCOME_RENEWED, 17, 0, false, "" },
	{ OP_RENEW, "[[blessed] [lost]]", GUARD_BLESSED, OUTCOME_LOST, 0, 0,
	    false, "" },
	{ OP_CONFIRM, "[[blessed] [granted :5]]", GUARD_BLESSED,
	    OUTCOME_GRANTED, 5, 0, false, "" },
	{ OP_CONVERT, "[[blessed] [busy :0 :99 :1]]", GUARD_BLESSED,
	    OUTCOME_BUSY, 0, 99, true, "" },
	{ OP_END, "[[blessed] [ended]]", GUARD_BLESSED, OUTCOME_ENDED, 0, 0,
	    false, "" },
	/* Without a report. */
	{ OP_END, "[_ :1]", GUARD_UNKNOWN, OUTCOME_ENDED, 0, 0, false, "" },
	{ OP_ACQUIRE, "[_ [granted :5]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0,
	    false, "" },
	{ OP_END, "[[pending r:n] [gone]]", GUARD_PENDING, OUTCOME_GONE, 0, 0,
	    false, "" },
	{ OP_PEEK, "[[blessed] [value :0 :-2 :0 abc]]", GUARD_BLESSED,
	    OUTCOME_VALUE, 0, -2, false, "abc" },
	{ OP_BLESS, "[[blessed] [done]]", GUARD_BLESSED, OUTCOME_DONE, 0, 0,
	    false, "" },
	/* The guard refused before any operation. */
	{ OP_ACQUIRE, "[[readonly _]]", GUARD_READONLY, OUTCOME_REFUSED, 0, 0,
	    false, "Redis is a read-only replica" },
	{ OP_RENEW, "[[clock 99999]]", GUARD_CLOCK, OUTCOME_REFUSED, 0, 0,
	    false, "the clock of Redis is too far ahead for fences" },
	{ OP_ACQUIRE, "[[config v1,lease=5000,replicas=0]]", GUARD_CONFIG,
	    OUTCOME_REFUSED, 0, 0, false,
	    "other brokers on this Redis use v1,lease=5000,replicas=0, this"
	    " one v1,lease=10000,replicas=2" },
	/* These are not answers of our script. */
	{ OP_ACQUIRE, "[]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "OK", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0,
	    false, "" },
	{ OP_ACQUIRE, "[[unknown] [granted :5]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted :5] [granted :6]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN,
	    0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted :-5]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted 5x]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [granted 99007199254740993]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [renewed :5]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	/* Numbers that can't be fences, and kinds of keys that are none. */
	{ OP_ACQUIRE, "[[blessed] [granted 4503599627370496]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [grants 9007199254740990 :1 :1]]",
	    GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_RENEW, "[[blessed _ :0 9007199254740990] [lost]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_TOKEN, "[[blessed] [renewed :0 :5 :0 t]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_TOKEN, "[[blessed] [value :5 :5 :0 t :4]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_DISOWN, "[[blessed] [renewed :0]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN,
	    0, 0, false, "" },
	{ OP_ARRIVE, "[[blessed] [waiting :0]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN,
	    0, 0, false, "" },
	/* A guard that is pending says since when; its clock has a bound. */
	{ OP_END, "[[pending] [ended]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0,
	    false, "" },
	{ OP_END, "[[blessed _ :0 :5 :9007199254741] [ended]]", GUARD_UNKNOWN,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [unsent]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0,
	    0, false, "" },
	{ OP_ACQUIRE, "[[blessed] [busy [:5]]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN,
	    0, 0, false, "" },
	{ OP_ACQUIRE, "[[blessed] granted]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0,
	    0, false, "" },
	{ OP_ACQUIRE, "[[refused no]]", GUARD_UNKNOWN, OUTCOME_UNKNOWN, 0, 0,
	    false, "" },
	/* Errors of Redis itself. */
	{ OP_ACQUIRE, "-BUSY Redis is busy", GUARD_REFUSED, OUTCOME_REFUSED, 0,
	    0, false,
	    "Redis is busy with a script: SCRIPT KILL ends it (BUSY Redis is"
	    " busy)" },
	{ OP_ACQUIRE, "-READONLY You cannot write", GUARD_READONLY,
	    OUTCOME_REFUSED, 0, 0, false,
	    "Redis is a read-only replica: redis.nodes must name the master, "
	    "or its Sentinels (READONLY You cannot write)" },
	{ OP_ACQUIRE, "-ERR max number of clients reached", GUARD_REFUSED,
	    OUTCOME_REFUSED, 0, 0, false,
	    "Redis has too many connections: raise its maxclients (ERR max"
	    " number of clients reached)" },
	{ OP_ACQUIRE, "-BUSYKEY Target key", GUARD_REFUSED, OUTCOME_UNKNOWN, 0,
	    0, false, "" },
	{ OP_ACQUIRE, "-ERR user_script:12: attempt", GUARD_REFUSED,
	    OUTCOME_UNKNOWN, 0, 0, false, "" },
	{ OP_ACQUIRE, "-", GUARD_REFUSED, OUTCOME_UNKNOWN, 0, 0, false, "" },
};

START_TEST(answers_are_taken_apart)
{
	const struct outcome *o = &store_seen.outcomes[0];

	store_begin_plain();
	answer(answer_rows[_i].kind, 1, answer_rows[_i].reply);
	ck_assert_int_eq(o->status, answer_rows[_i].status);
	ck_assert_uint_eq(
	    store_seen.guards, answer_rows[_i].guard == GUARD_UNKNOWN ? 0 : 1);
	ck_assert_int_eq(store_seen.guard.state, answer_rows[_i].guard);
	ck_assert_uint_eq(o->fence, answer_rows[_i].fence);
	ck_assert_int_eq(o->ttl_ms, answer_rows[_i].ttl_ms);
	ck_assert_int_eq(o->waiting, answer_rows[_i].waiting);
	ck_assert_str_eq(store_seen.text[0], answer_rows[_i].text);
	gather_free(store);
}
END_TEST

#define SHA "0123456789abcdef0123456789abcdef01234567"

/* What versions say, what of it people are told, and what it means: it may have
 * arisen when a part was done. */
static const struct {
	const char *error;
	const char *words;
	const char *event; /* NULL: not known */
	bool inside;
} error_rows[] = {
	{ "OOM command not allowed when used memory > 'maxmemory'.",
	    "OOM command not allowed when used memory > 'maxmemory'.",
	    "redis-oom", false },
	{ "ERR Error running script (call to f_" SHA "): @user_script:98:"
	  " @user_script: 98: OOM command not allowed when used memory >"
	  " 'maxmemory'. ",
	    "OOM command not allowed when used memory > 'maxmemory'. ",
	    "redis-oom", true },
	{ "WRONGTYPE Operation against a key holding the wrong kind of value"
	  " script: " SHA ", on @user_script:57.",
	    "WRONGTYPE Operation against a key holding the wrong kind of value",
	    NULL, true },
	{ "ERR The user executing the script can't run this command or"
	  " subcommand script: " SHA ", on @us",
	    "The user executing the script can't run this command or"
	    " subcommand",
	    "redis-noperm", true },
	{ "ERR The user executing the script can't access at least one of the"
	  " keys mentioned in the command arguments",
	    "The user executing the script can't access at least one of the"
	    " keys mentioned in the command arguments",
	    "redis-noperm", false },
	{ "ERR ACL failure in script: User app has no permissions to run the"
	  " 'time' command script: " SHA ", on @user_script:57.",
	    "ACL failure in script: User app has no permissions to run the"
	    " 'time' command",
	    "redis-noperm", true },
	{ "ERR ACL failure in script: No permissions to access a key",
	    "ACL failure in script: No permissions to access a key",
	    "redis-noperm", false },
	{ "ERR Unknown Redis command called from script script: " SHA ", on",
	    "Unknown Redis command called from script", "redis-command", true },
	{ "ERR unknown command 'SCRIPT', with args beginning with: 'LOAD'"
	  " '#!lua flags=allow-oom",
	    "ERR unknown command 'SCRIPT'", "redis-command", false },
	{ "ERR unknown command `AUTH`, with args beginning with: `secret`, ",
	    "ERR unknown command `AUTH`", "redis-command", false },
	{ "ERR Error compiling script (new function): user_script:1: unexpected"
	  " symbol near '#'",
	    "unexpected symbol near '#'", NULL, true },
	{ "ERR a\r\nb", "a??b", NULL, false },
};

START_TEST(errors_are_told_without_what_was_sent)
{
	const char *error = error_rows[_i].error;
	const struct outcome *o = &store_seen.outcomes[0];
	struct refused r;
	char reply[512];

	refusal_read(&r, error, strlen(error));
	ck_assert_str_eq(r.words, error_rows[_i].words);
	ck_assert_int_eq(r.inside, error_rows[_i].inside);
	ck_assert_int_eq(r.refusal != NULL, error_rows[_i].event != NULL);
	if (r.refusal != NULL)
		ck_assert_str_eq(r.refusal->event, error_rows[_i].event);
	if (strpbrk(error, "\r[]") != NULL)
		return;
	store_begin_plain();
	snprintf(reply, sizeof(reply), "-%s", error);
	answer(OP_ACQUIRE, 1, reply);
	ck_assert_int_eq(store_seen.guard.state, GUARD_REFUSED);
	ck_assert(store_seen.guard.takes);
	ck_assert_int_eq(o->status,
	    r.refusal != NULL && !r.inside ? OUTCOME_REFUSED : OUTCOME_UNKNOWN);
	gather_free(store);
}
END_TEST

static const struct {
	enum op_kind kind;
	const char *reply;
	enum outcome_status status;
	uint64_t first, second;
} number_rows[] = {
	{ OP_TAKE, "[[blessed] [taken :0 :-1 :1 _ :3 :2]]", OUTCOME_TAKEN, 3,
	    2 },
	{ OP_TAKE, "[[blessed] [queued :0 :90 :0 _ :1]]", OUTCOME_QUEUED, 1,
	    0 },
	{ OP_HOLD, "[[pending r:n] [kept :0 :-1 :0 _ :3 9007199254740991]]",
	    OUTCOME_KEPT, 3, UINT64_C(9007199254740991) },
	{ OP_HOLD, "[[blessed] [taken :0 :-1 :0 _ :3 :2]]", OUTCOME_UNKNOWN, 0,
	    0 },
	{ OP_LATCH, "[[blessed] [made]]", OUTCOME_MADE, 0, 0 },
	{ OP_LATCH, "[[blessed] [exists]]", OUTCOME_EXISTS, 0, 0 },
	{ OP_COUNTDOWN, "[[blessed] [counted :0 :0 :0 _ :3 :2]]",
	    OUTCOME_COUNTED, 3, 2 },
	{ OP_COUNTDOWN, "[[blessed] [counted :0 :0 :0 _ :-3 :2]]",
	    OUTCOME_UNKNOWN, 0, 0 },
	{ OP_AWAIT, "[[blessed] [gone]]", OUTCOME_GONE, 0, 0 },
	{ OP_ARRIVE, "[[blessed] [tripped :70 :-1 :0 _ :2 :1]]",
	    OUTCOME_TRIPPED, 2, 1 },
	{ OP_PARTY, "[[pending r:n] [broken :70]]", OUTCOME_BROKEN, 0, 0 },
	{ OP_PARTY, "[[blessed] [mismatch]]", OUTCOME_UNKNOWN, 0, 0 },
	{ OP_LEAVE, "[[blessed] [ended]]", OUTCOME_ENDED, 0, 0 },
};

START_TEST(answers_have_two_numbers)
{
	const struct outcome *o = &store_seen.outcomes[0];

	store_begin_plain();
	answer(number_rows[_i].kind, 1, number_rows[_i].reply);
	ck_assert_int_eq(o->status, number_rows[_i].status);
	ck_assert_uint_eq(o->first, number_rows[_i].first);
	ck_assert_uint_eq(o->second, number_rows[_i].second);
	gather_free(store);
}
END_TEST

/* The fence that the next call passes. */
static uint64_t
seen(void)
{
	uint64_t fence;

	store_add(OP_HEARTBEAT, 1, NULL);
	store_flush();
	fence = store_seen.calls[0]->seen;
	gather_drop(store, store_seen.calls[0]);
	return fence;
}

START_TEST(one_bad_result_spoils_the_call)
{
	store_begin_plain();
	ck_assert_int_eq(answer(OP_ACQUIRE, 3,
			     "[[blessed] [granted :5] [busy :0 :1] [what]]"),
	    CALL_MALFORMED);
	ck_assert_int_eq(store_seen.outcomes[0].status, OUTCOME_UNKNOWN);
	ck_assert_uint_eq(store_seen.outcomes[0].fence, 0);
	ck_assert_uint_eq(seen(), 0);
	gather_free(store);
}
END_TEST

START_TEST(no_answer_is_an_answer)
{
	store_begin_plain();
	store_add(OP_ACQUIRE, 1, "a");
	store_add(OP_ACQUIRE, 2, "b");
	store_flush();
	ck_assert_int_eq(call_finish(store, store_seen.calls[0], NULL, false,
			     &store_handler, &store_seen),
	    CALL_LOST);
	ck_assert_uint_eq(store_seen.told, 2);
	ck_assert_int_eq(store_seen.outcomes[1].status, OUTCOME_UNKNOWN);
	store_add(OP_ACQUIRE, 3, "c");
	store_flush();
	ck_assert_int_eq(call_finish(store, store_seen.calls[0], NULL, true,
			     &store_handler, &store_seen),
	    CALL_UNSENT);
	ck_assert_int_eq(store_seen.outcomes[2].status, OUTCOME_UNSENT);
	ck_assert_uint_eq(store_seen.guards, 0);
	gather_free(store);
}
END_TEST

START_TEST(the_highest_fence_is_passed_on)
{
	store_begin_plain();
	answer(OP_ACQUIRE, 1,
	    "[[blessed _ :0 :41 :1763692800123 0123456789abcdef] [granted :40]]");
	ck_assert_int_eq(store_seen.guard.server_ms, 1763692800123);
	ck_assert_mem_eq(store_seen.guard.history, "0123456789abcdef", 16);
	ck_assert_uint_eq(seen(), 41);
	store_seen.told = 0;
	answer(OP_RENEW, 1, "[[blessed _ :0 :7] [renewed :52]]");
	ck_assert_uint_eq(seen(), 52);
	gather_saw(store, 0, 60);
	gather_saw(store, 0, 3);
	store_add(OP_HEARTBEAT, 1, NULL);
	store_flush();
	ck_assert_str_eq(store_words(store_seen.calls[0]),
	    "EVALSHA  2 lock:@guard lock:@fence " COMMON(
		"60", "5") " heartbeat  2 - 10000 - 0 7");
	gather_drop(store, store_seen.calls[0]);
	gather_free(store);
}
END_TEST

struct doubt {
	enum op_kind kind;
	const char *answer;
	enum outcome_status status;
};

static const struct doubt doubts[] = {
	{ OP_ACQUIRE, "[[blessed] [granted :5]]", OUTCOME_UNKNOWN },
	{ OP_RENEW, "[[blessed] [renewed :5]]", OUTCOME_UNKNOWN },
	{ OP_TAKE, "[[blessed] [taken :5]]", OUTCOME_UNKNOWN },
	{ OP_HOLD, "[[blessed] [kept :5]]", OUTCOME_UNKNOWN },
	{ OP_LATCH, "[[blessed] [made :5]]", OUTCOME_UNKNOWN },
	{ OP_COUNTDOWN, "[[blessed] [counted :5]]", OUTCOME_UNKNOWN },
	{ OP_ARRIVE, "[[blessed] [waiting :5]]", OUTCOME_UNKNOWN },
	{ OP_PARTY, "[[blessed] [tripped :5]]", OUTCOME_UNKNOWN },
	{ OP_RENEW, "[[blessed] [lost :5]]", OUTCOME_LOST },
	{ OP_ACQUIRE, "[[blessed] [queued :5]]", OUTCOME_QUEUED },
	{ OP_TAKE, "[[blessed] [busy :5]]", OUTCOME_BUSY },
	{ OP_END, "[[blessed] [ended :5]]", OUTCOME_ENDED },
	{ OP_END, "[[blessed] [gone :5]]", OUTCOME_GONE },
	{ OP_AWAIT, "[[blessed] [gone :5]]", OUTCOME_UNKNOWN },
	{ OP_COUNTDOWN, "[[blessed] [gone :5]]", OUTCOME_UNKNOWN },
	{ OP_FORCE, "[[blessed] [ended :5]]", OUTCOME_UNKNOWN },
	{ OP_FORCE, "[[blessed] [gone :5]]", OUTCOME_UNKNOWN },
	{ OP_FORCE, "[[blessed] [lost :5]]", OUTCOME_UNKNOWN },
	{ OP_FORCE, "[[blessed] [value :5 :9 :0 b.7|33]]", OUTCOME_VALUE },
};

START_TEST(too_few_replicas_make_a_grant_unknown)
{
	const char *text = doubts[_i].answer;
	redisReply *r = reply_parse(&text);

	store_begin_plain();
	store_add(doubts[_i].kind, 1, "a");
	store_flush();
	ck_assert_int_eq(
	    call_decode(store_seen.calls[0], r, false), CALL_ANSWERED);
	reply_free(r);
	call_doubt(store_seen.calls[0]);
	call_deliver(store, store_seen.calls[0], &store_handler, &store_seen);
	ck_assert_int_eq(store_seen.outcomes[0].status, doubts[_i].status);
	ck_assert(store_seen.outcomes[0].alone);
	ck_assert_uint_eq(store_seen.guards, 1);
	ck_assert_uint_ge(seen(), 5);
	gather_free(store);
}
END_TEST

START_TEST(calls_are_used_again)
{
	struct call *first;

	store_begin_plain();
	answer(OP_ACQUIRE, 1, "[[blessed] [granted :5]]");
	first = store_seen.calls[0];
	store_seen.told = 0;
	answer(OP_END, 1, "[[blessed] [ended]]");
	ck_assert_ptr_eq(store_seen.calls[0], first);
	ck_assert_uint_eq(first->nops, 1);
	gather_free(store);
}
END_TEST

TCase *
answers_cases(void)
{
	TCase *tc = tcase_create("answers");

	tcase_add_loop_test(tc, answers_are_taken_apart, 0, COUNT(answer_rows));
	tcase_add_loop_test(
	    tc, answers_have_two_numbers, 0, COUNT(number_rows));
	tcase_add_loop_test(
	    tc, errors_are_told_without_what_was_sent, 0, COUNT(error_rows));
	tcase_add_test(tc, one_bad_result_spoils_the_call);
	tcase_add_test(tc, no_answer_is_an_answer);
	tcase_add_test(tc, the_highest_fence_is_passed_on);
	tcase_add_loop_test(
	    tc, too_few_replicas_make_a_grant_unknown, 0, (int)COUNT(doubts));
	tcase_add_test(tc, calls_are_used_again);
	return tc;
}
