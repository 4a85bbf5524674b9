/*
 * The core measures what happens in it: a story moves each number, and then it
 * is read back.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dump.h"
#include "core/kernel/lock/hold.h"
#include "core/parts/observe/measure.h"
#include "core/parts/token/token.h"
#include "suite.h"
#include "work_rig.h"

static struct work_rig r;

static void
set_up(void)
{
	work_init(&r, 4);
}

static void
tear_down(void)
{
	core_check(r.core);
	work_fini(&r);
}

/* One row: of a family, the class `other` and a second label, or NULL. */
struct wanted {
	enum measure_id id;
	const char *class, *value;
	struct measure_row found;
};

static void
look_at(void *arg, const struct measure_row *row)
{
	struct wanted *w = arg;

	if (row->family->id == w->id && strcmp(row->class, w->class) == 0 &&
	    (w->value == NULL ||
		(row->value != NULL && strcmp(row->value, w->value) == 0)))
		w->found = *row;
}

static struct measure_row
row(enum measure_id id, const char *class, const char *value)
{
	struct wanted w = { .id = id, .class = class, .value = value };

	measure_each(core_measure(r.core), r.now_ms, look_at, &w);
	ck_assert_ptr_nonnull(w.found.family);
	return w.found;
}

static uint64_t
number(enum measure_id id, const char *value)
{
	return row(id, "other", value).number;
}

static void
expect(enum measure_id id, const char *value, uint64_t count, uint64_t sum_ms)
{
	const struct measure_histogram *h = row(id, "other", value).histogram;

	ck_assert_uint_eq(h->count, count);
	ck_assert_uint_eq(h->sum_ms, sum_ms);
}

/* Returns the ref of the request. */
static uint64_t
ask(uint64_t session, enum verb_id verb, const char *name, int64_t wait_ms)
{
	struct core_request rq = work_request(verb);

	rq.wait_ms = wait_ms;
	work_ask(&r, session, &rq, name);
	work_settle(&r);
	return rq.ref;
}

static void
gone(uint64_t session, bool quit)
{
	work_gone(&r, session, quit);
	work_settle(&r);
}

static struct measure_hold
latest(const char *name)
{
	struct measure_hold h = { .name = NULL };
	const void *place = NULL;

	(void)measure_past_of(
	    core_measure(r.core), name, strlen(name), &place, &h);
	return h;
}

START_TEST(a_wait_that_is_granted)
{
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	expect(MEASURE_OF_WAIT, "granted", 1, 0);
	ask(2, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	work_pass(&r, 300);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), 300);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 1);
	ask(1, VERB_UNLOCK, "a", 0);
	expect(MEASURE_OF_WAIT, "granted", 2, 300);
	expect(MEASURE_OF_HOLD, NULL, 1, 300);
	expect(MEASURE_OF_HANDOVER, "here", 1, 0);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 0);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), 0);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 1);
	work_pass(&r, 50);
	ask(2, VERB_UNLOCK, "a", 0);
	expect(MEASURE_OF_HOLD, NULL, 2, 350);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 0);
	ck_assert_int_eq(latest("a").waited_ms, 300);
	ck_assert_int_eq(latest("a").ended_ms, r.now_ms);
	ck_assert_int_eq(latest("a").granted_ms, r.now_ms - 50);
	ck_assert_uint_eq(latest("a").session, 2);
	ck_assert_str_eq(latest("a").peer, "peer");
	ck_assert_str_eq(latest("a").end, "released");
}
END_TEST

START_TEST(waits_of_any_length)
{
	static const int64_t waits_ms[] = { 0, 1, 3600 * 1000, 48 * 3600 * 1000,
		INT64_C(365) * 24 * 3600 * 1000 };
	struct hold h;

	memset(&h, 0, sizeof(h));
	hold_set_waited(&h, waits_ms[_i]);
	ck_assert_int_eq(hold_waited_ms(&h), waits_ms[_i]);
	free(h.rare);
}
END_TEST

/* None of these names is given to a waiter. */
START_TEST(waits_that_are_given_up)
{
	struct core_event cancel = { .kind = CORE_CANCEL };

	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	ask(2, VERB_LOCK, "a", 200);
	ask(3, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	work_pass(&r, 200);
	expect(MEASURE_OF_WAIT, "timeout", 1, 200);
	gone(3, false);
	expect(MEASURE_OF_WAIT, "cancelled", 1, 200);
	cancel.u.cancel.session = 4;
	cancel.u.cancel.ref = ask(4, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	cancel.u.cancel.by = cancel.u.cancel.ref + 1;
	work_pass(&r, 30);
	work_step(&r, &cancel);
	expect(MEASURE_OF_WAIT, "cancelled", 2, 230);
	expect(MEASURE_OF_WAIT, "granted", 1, 0);
	ask(4, VERB_TRYLOCK, "a", 0);
	ck_assert_uint_eq(number(MEASURE_OF_BUSY, NULL), 1);
	expect(MEASURE_OF_WAIT, "cancelled", 2, 230);
}
END_TEST

START_TEST(waits_that_are_refused)
{
	work_link(&r, false);
	ask(1, VERB_LOCK, "a", 200);
	work_pass(&r, 200);
	expect(MEASURE_OF_WAIT, "refused", 1, 200);
	expect(MEASURE_OF_WAIT, "timeout", 0, 0);
}
END_TEST

START_TEST(a_reentry_is_no_wait)
{
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	expect(MEASURE_OF_WAIT, "granted", 1, 0);
	ask(1, VERB_UNLOCK, "a", 0);
	expect(MEASURE_OF_HOLD, NULL, 0, 0);
	ask(1, VERB_UNLOCK, "a", 0);
	expect(MEASURE_OF_HOLD, NULL, 1, 0);
}
END_TEST

START_TEST(a_name_that_nobody_waited_for_is_not_handed_over)
{
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	ask(2, VERB_LOCK, "a", 10);
	work_pass(&r, 10);
	ask(1, VERB_UNLOCK, "a", 0);
	work_pass(&r, 1000);
	ask(2, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	expect(MEASURE_OF_HANDOVER, "here", 0, 0);
}
END_TEST

START_TEST(a_session_that_ends_drops_what_it_has)
{
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	work_pass(&r, 20);
	gone(1, _i == 0);
	ck_assert_str_eq(latest("a").end, "dropped");
	expect(MEASURE_OF_HOLD, NULL, 1, 20);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 0);
}
END_TEST

/* The rig answers renewals at once, so a lease never has less than two thirds
 * left. */
START_TEST(renewals_tell_what_was_left)
{
	const struct measure_histogram *h;

	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	work_pass(&r, WORK_LEASE_MS);
	h = row(MEASURE_OF_MARGIN, "other", NULL).histogram;
	ck_assert_uint_ge(h->count, 2);
	ck_assert_uint_ge(h->sum_ms, h->count * WORK_LEASE_MS / 2);
	ck_assert_uint_le(h->sum_ms, h->count * WORK_LEASE_MS * 3 / 4);
}
END_TEST

START_TEST(losses_by_reason)
{
	struct core_request rq = work_request(VERB_LOCK);
	const void *place = NULL;
	struct measure_hold h;

	rq.has_hold = true;
	rq.hold_ms = 100;
	work_ask(&r, 1, &rq, "a");
	work_settle(&r);
	work_pass(&r, 100);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "hold"), 1);
	ck_assert_str_eq(latest("a").end, "hold");
	expect(MEASURE_OF_HOLD, NULL, 1, 100);
	r.silent[OP_RENEW] = true;
	ask(1, VERB_LOCK, "b", CORE_WAIT_FOREVER);
	work_pass(&r, WORK_LEASE_MS);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "unreachable"), 1);
	ck_assert(measure_losses(core_measure(r.core), &place, &h));
	ck_assert_str_eq(h.end, "unreachable");
	ck_assert_ptr_null(h.by);
	ck_assert(measure_losses(core_measure(r.core), &place, &h));
	ck_assert_mem_eq(h.name, "a", 1);
	ck_assert(!measure_losses(core_measure(r.core), &place, &h));
}
END_TEST

START_TEST(who_forced_it_is_known)
{
	struct core_event ev = { .kind = CORE_USER };

	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	ev.u.user.session = 1;
	ev.u.user.name = "deploy";
	work_step(&r, &ev);
	ask(2, VERB_UNLOCK_FORCE, "a", 0);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "forced"), 1);
	ck_assert_str_eq(latest("a").end, "forced");
	ck_assert_str_eq(latest("a").user, "deploy");
	ck_assert_ptr_nonnull(strstr(latest("a").by, "session=2"));
}
END_TEST

/* The lease ran out before the FLUSH: nobody has had the name. */
START_TEST(what_was_not_told_has_not_been)
{
	work_lock(&r, 1, "a");
	work_answer(&r);
	r.silent[OP_RENEW] = true;
	r.now_ms += WORK_LEASE_MS;
	work_catch_up(&r);
	expect(MEASURE_OF_HOLD, NULL, 0, 0);
	ck_assert_ptr_null(latest("a").name);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), WORK_LEASE_MS);
}
END_TEST

/* What Redis answers to the next operations on token holds. */
static void
tokens_are(enum outcome_status status)
{
	r.token = (struct outcome){
		.status = status, .text = "", .fence = 7, .ttl_ms = 10
	};
}

static void
token(uint64_t session, enum token_op op, int64_t ttl_ms, int64_t park_ms)
{
	struct core_name one = { "a", 1 };
	struct token_request rq = { .op = op,
		.names = &one,
		.nnames = 1,
		.token = "t",
		.token_len = 1,
		.ttl_ms = ttl_ms,
		.park_ms = park_ms };
	struct core_event ev = { .kind = CORE_TOKEN };

	ev.u.token.session = session;
	ev.u.token.request = &rq;
	work_step(&r, &ev);
	work_settle(&r);
	core_check(r.core);
}

static void
take_token(int64_t ttl_ms)
{
	tokens_are(OUTCOME_GRANTED);
	token(1, TOKEN_ACQUIRE, ttl_ms, 0);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 1);
}

static void
token_ended(const char *end, uint64_t count, uint64_t sum_ms)
{
	core_check(r.core);
	ck_assert_str_eq(latest("a").end, end);
	expect(MEASURE_OF_HOLD, NULL, count, sum_ms);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 0);
}

START_TEST(token_holds_by_their_end)
{
	take_token(1000);
	work_pass(&r, 300);
	tokens_are(OUTCOME_ENDED);
	token(1, TOKEN_RELEASE, 0, 0);
	token_ended("released", 1, 300);
	ck_assert_uint_eq(latest("a").session, 1);
	ck_assert_str_eq(latest("a").peer, "peer");
	take_token(1000);
	work_pass(&r, 1001);
	token_ended("hold", 2, 1301);
	take_token(0);
	tokens_are(OUTCOME_LOST);
	work_pass(&r, WORK_LEASE_MS);
	token_ended("taken", 3, 1301 + WORK_LEASE_MS);
	/* None of these holds was taken from its client. */
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "hold"), 0);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "taken"), 0);
}
END_TEST

/* The values of `lock-ended`. */
static char audited[512];

static bool
is_end(const struct effect *e)
{
	return e->kind == EFFECT_LOG && e->notice == NOTICE_LOCK_ENDED;
}

static void
note_audit(const struct work_rig *w, const struct effect *e)
{
	const struct field *f = w->fx.fields + e->field;
	const char *text = buf_data(&w->fx.text);
	size_t i, n = 0;

	for (i = 0; is_end(e) && i < e->nfields; i++, f++)
		n += (size_t)(f->len > 0
				  ? snprintf(audited + n, sizeof(audited) - n,
					" %.*s", (int)f->len, text + f->str)
				  : snprintf(audited + n, sizeof(audited) - n,
					" %" PRIu64, f->num));
}

START_TEST(a_token_hold_that_is_forced)
{
	struct lock_limits locks = { .handovers = 3 };
	struct client_limits limits = {
		.holds = 4, .waiters = 4, .unowned = 4
	};
	struct metrics_settings metrics = { NULL, 0 };

	core_reconfigure(r.core, &locks, &limits, &metrics, true, false);
	take_token(0);
	work_pass(&r, 20);
	r.look = note_audit;
	ask(2, VERB_UNLOCK_FORCE, "a", 0);
	token_ended("forced", 1, 20);
	ck_assert_ptr_nonnull(strstr(latest("a").by, "session=2"));
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "forced"), 1);
	/* In the log, too. */
	ck_assert_ptr_nonnull(
	    strstr(audited, " a 1 peer exclusive 7 0 20 forced "));
}
END_TEST

/* Rows of QUEUE and HISTORY: word, session and the fields of interest. */
struct told {
	enum field_id id;
	unsigned n;
	uint64_t session, num;
	char word[16];
};

static void
on_told(void *arg, const struct core_row *row)
{
	struct told *t = arg;
	size_t i;

	t->n++;
	strcpy(t->word, row->word);
	for (i = 0; i < row->nfields; i++) {
		if (row->fields[i].id == FIELD_SESSION)
			t->session = row->fields[i].num;
		if (row->fields[i].id == t->id)
			t->num = row->fields[i].num;
	}
}

/* The only row. */
static struct told
told(struct listing *g, enum field_id id, uint64_t waiters)
{
	struct told t = { .id = id };

	while (core_listing_part(r.core, g, r.now_ms, on_told, &t))
		;
	ck_assert_uint_eq(core_listing_waiters(r.core, g), waiters);
	core_listing_end(g);
	ck_assert_uint_eq(t.n, 1);
	return t;
}

START_TEST(a_token_that_waits)
{
	struct core_gauges gauges;
	struct told t;

	tokens_are(OUTCOME_BUSY);
	r.token.ttl_ms = -1;
	token(2, TOKEN_ACQUIRE, 1000, 80);
	ck_assert_uint_eq(number(MEASURE_OF_BUSY, NULL), 1);
	token(2, TOKEN_ACQUIRE, 1000, 80);
	work_pass(&r, 50);
	core_gauges(r.core, r.now_ms, &gauges);
	ck_assert_uint_eq(gauges.parked, 1);
	ck_assert_uint_eq(gauges.waiters, 1);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), 50);
	t = told(core_queue_begin(r.core, "a", 1, 100), FIELD_AGE, 1);
	ck_assert_str_eq(t.word, "waiter");
	ck_assert_uint_eq(t.session, 2);
	ck_assert_uint_eq(t.num, 50);
	work_pass(&r, 30);
	ck_assert_uint_eq(number(MEASURE_OF_BUSY, NULL), 1);
	r.token.ttl_ms = 10;
	work_pass(&r, 1000); /* so that the broker asks Redis again */
	/* It is away, and has its place: it waits all the time. */
	expect(MEASURE_OF_WAIT, "timeout", 0, 0);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), 1080);
	token(2, TOKEN_ACQUIRE, 1000, 80);
	tokens_are(OUTCOME_GRANTED);
	work_pass(&r, 40);
	expect(MEASURE_OF_WAIT, "granted", 1, 1110);
	t = told(core_history_begin(r.core, "a", 1, 100), FIELD_WAITED, 0);
	ck_assert_uint_eq(t.session, 2);
	ck_assert_uint_eq(t.num, 1110);
	core_gauges(r.core, r.now_ms, &gauges);
	ck_assert_uint_eq(gauges.parked, 0);
	ck_assert_uint_eq(gauges.locks_held, 1);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 1);
}
END_TEST

/* Its wait ended with its last try, though the broker knows that only later. */
START_TEST(a_token_that_gives_up)
{
	struct core_gauges gauges;

	tokens_are(OUTCOME_BUSY);
	r.token.ttl_ms = -1;
	token(2, TOKEN_ACQUIRE, 1000, 80);
	token(2, TOKEN_ACQUIRE, 1000, 80);
	work_pass(&r, 80);
	expect(MEASURE_OF_WAIT, "timeout", 0, 0);
	work_pass(&r, 3000);
	expect(MEASURE_OF_WAIT, "timeout", 1, 80);
	core_gauges(r.core, r.now_ms, &gauges);
	ck_assert_uint_eq(gauges.waiters, 0);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 0);
}
END_TEST

/* Whoever tries once does not wait; whoever is granted at once has waited for
 * no time. */
START_TEST(a_token_that_comes_once)
{
	struct core_gauges gauges;

	tokens_are(OUTCOME_BUSY);
	r.token.ttl_ms = -1;
	token(2, TOKEN_ACQUIRE, 1000, 80);
	core_gauges(r.core, r.now_ms, &gauges);
	ck_assert_uint_eq(gauges.waiters, 0);
	work_pass(&r, 3000);
	expect(MEASURE_OF_WAIT, "timeout", 0, 0);
	tokens_are(OUTCOME_GRANTED);
	token(2, TOKEN_ACQUIRE, 1000, 80);
	expect(MEASURE_OF_WAIT, "granted", 1, 0);
}
END_TEST

START_TEST(a_reload_changes_classes_of_names_that_are_held)
{
	static char name[] = "first", pattern[] = "a*";
	static char *names[] = { pattern };
	struct metrics_class class = { name, names, 1 };
	struct metrics_settings metrics = { &class, 1 };
	struct lock_limits locks = { .max_grace_ms = 1000, .handovers = 3 };
	struct client_limits limits = { .holds = 4, .waiters = 4 };

	ask(1, VERB_LOCK, "a1", CORE_WAIT_FOREVER);
	ask(2, VERB_LOCK, "a1", CORE_WAIT_FOREVER);
	core_reconfigure(r.core, &locks, &limits, &metrics, false, false);
	core_check(r.core);
	work_pass(&r, 10);
	ask(1, VERB_UNLOCK, "a1", 0);
	core_check(r.core);
	ck_assert_uint_eq(row(MEASURE_OF_HELD, "first", NULL).number, 1);
	ck_assert_uint_eq(
	    row(MEASURE_OF_HOLD, "first", NULL).histogram->count, 1);
	/* The hold began before there was such a class. */
	expect(MEASURE_OF_WAIT, "granted", 2, 10);
	ask(1, VERB_LOCK, "a2", CORE_WAIT_FOREVER);
	ck_assert_uint_eq(
	    row(MEASURE_OF_WAIT, "first", "granted").histogram->count, 1);
}
END_TEST

static TCase *
measured_case(void)
{
	TCase *tc = tcase_create("measured");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a_wait_that_is_granted);
	tcase_add_loop_test(tc, waits_of_any_length, 0, 5);
	tcase_add_test(tc, waits_that_are_given_up);
	tcase_add_test(tc, waits_that_are_refused);
	tcase_add_test(tc, a_reentry_is_no_wait);
	tcase_add_test(tc, a_name_that_nobody_waited_for_is_not_handed_over);
	tcase_add_loop_test(tc, a_session_that_ends_drops_what_it_has, 0, 2);
	tcase_add_test(tc, renewals_tell_what_was_left);
	tcase_add_test(tc, losses_by_reason);
	tcase_add_test(tc, who_forced_it_is_known);
	tcase_add_test(tc, what_was_not_told_has_not_been);
	tcase_add_test(tc, token_holds_by_their_end);
	tcase_add_test(tc, a_token_hold_that_is_forced);
	tcase_add_test(tc, a_token_that_waits);
	tcase_add_test(tc, a_token_that_gives_up);
	tcase_add_test(tc, a_token_that_comes_once);
	tcase_add_test(tc, a_reload_changes_classes_of_names_that_are_held);
	return tc;
}

int
main(void)
{
	const suite_case cases[] = { measured_case };

	return suite_run("measured", cases, COUNT(cases));
}
