/*
 * What happens in the core is measured: each number is moved by a story, and
 * read back.
 */
#include "config.h"

#include <check.h>
#include <string.h>

#include "core/dump.h"
#include "core/measure/measure.h"
#include "core/token/token.h"
#include "session_rig.h"
#include "suite.h"

static struct rig r;

static void
set_up(void)
{
	rig_init(&r, 4);
}

static void
tear_down(void)
{
	rig_fini(&r);
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

static void
ask(uint64_t session, enum verb_id verb, const char *name, int64_t wait_ms)
{
	struct core_name one = { name, strlen(name) };
	struct core_request rq = { .verb = verb,
		.ref = 7,
		.names = &one,
		.nnames = 1,
		.wait_ms = wait_ms,
		.queue_limit = UINT64_MAX };
	struct core_event ev = { .kind = CORE_REQUEST };

	ev.u.request.session = session;
	ev.u.request.request = &rq;
	rig_step(&r, &ev);
	rig_tick(&r, CORE_FLUSH);
}

static void
flush(void)
{
	rig_tick(&r, CORE_FLUSH);
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
	rig_pass(&r, 300);
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
	rig_pass(&r, 50);
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

/* Nothing here is given to whoever waits. */
START_TEST(waits_that_are_given_up)
{
	struct core_event cancel = { .kind = CORE_CANCEL };

	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	ask(2, VERB_LOCK, "a", 200);
	ask(3, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	rig_pass(&r, 200);
	expect(MEASURE_OF_WAIT, "timeout", 1, 200);
	rig_gone(&r, 3, false, false);
	expect(MEASURE_OF_WAIT, "cancelled", 1, 200);
	ask(4, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	rig_pass(&r, 30);
	cancel.u.cancel.session = 4;
	cancel.u.cancel.ref = 7;
	cancel.u.cancel.by = 8;
	rig_step(&r, &cancel);
	expect(MEASURE_OF_WAIT, "cancelled", 2, 230);
	expect(MEASURE_OF_WAIT, "granted", 1, 0);
	ask(4, VERB_TRYLOCK, "a", 0);
	ck_assert_uint_eq(number(MEASURE_OF_BUSY, NULL), 1);
	expect(MEASURE_OF_WAIT, "cancelled", 2, 230);
}
END_TEST

START_TEST(waits_that_are_refused)
{
	struct core_event link = { .kind = CORE_LINK };

	link.u.link.why = "gone";
	rig_step(&r, &link);
	ask(1, VERB_LOCK, "a", 200);
	rig_pass(&r, 200);
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
	rig_pass(&r, 10);
	ask(1, VERB_UNLOCK, "a", 0);
	rig_pass(&r, 1000);
	ask(2, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	expect(MEASURE_OF_HANDOVER, "here", 0, 0);
}
END_TEST

START_TEST(a_session_that_ends_drops_what_it_has)
{
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	rig_pass(&r, 20);
	rig_gone(&r, 1, _i == 0, _i == 0);
	ck_assert_str_eq(latest("a").end, "dropped");
	expect(MEASURE_OF_HOLD, NULL, 1, 20);
	ck_assert_uint_eq(number(MEASURE_OF_HELD, NULL), 0);
}
END_TEST

/* The rig answers renewals at once: all of the lease is left but a third. */
START_TEST(renewals_tell_what_was_left)
{
	const struct measure_histogram *h;

	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	rig_pass(&r, LEASE_MS);
	h = row(MEASURE_OF_MARGIN, "other", NULL).histogram;
	ck_assert_uint_ge(h->count, 2);
	ck_assert_uint_ge(h->sum_ms, h->count * LEASE_MS / 2);
	ck_assert_uint_le(h->sum_ms, h->count * LEASE_MS * 3 / 4);
}
END_TEST

START_TEST(losses_by_reason)
{
	const void *place = NULL;
	struct measure_hold h;

	rig_ask_quietly(&r, 1, VERB_LOCK, "a", 100);
	flush();
	rig_pass(&r, 100);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "hold"), 1);
	ck_assert_str_eq(latest("a").end, "hold");
	expect(MEASURE_OF_HOLD, NULL, 1, 100);
	r.hold_back[OP_RENEW] = true;
	ask(1, VERB_LOCK, "b", CORE_WAIT_FOREVER);
	rig_pass(&r, LEASE_MS);
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
	ask(1, VERB_LOCK, "a", CORE_WAIT_FOREVER);
	rig_user(&r, 1, "deploy");
	ask(2, VERB_UNLOCK_FORCE, "a", 0);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "forced"), 1);
	ck_assert_str_eq(latest("a").end, "forced");
	ck_assert_str_eq(latest("a").user, "deploy");
	ck_assert_ptr_nonnull(strstr(latest("a").by, "session=2"));
}
END_TEST

/* A lease that ran out before the FLUSH: nobody has had it. */
START_TEST(what_was_not_told_has_not_been)
{
	rig_ask_quietly(&r, 1, VERB_LOCK, "a", 0);
	r.hold_back[OP_RENEW] = true;
	rig_pass(&r, LEASE_MS);
	expect(MEASURE_OF_HOLD, NULL, 0, 0);
	ck_assert_ptr_null(latest("a").name);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), LEASE_MS);
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
	rig_step(&r, &ev);
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
	rig_pass(&r, 300);
	tokens_are(OUTCOME_ENDED);
	token(1, TOKEN_RELEASE, 0, 0);
	token_ended("released", 1, 300);
	ck_assert_uint_eq(latest("a").session, 1);
	ck_assert_str_eq(latest("a").peer, "peer");
	take_token(1000);
	rig_pass(&r, 1000);
	token_ended("hold", 2, 1300);
	take_token(0);
	tokens_are(OUTCOME_LOST);
	rig_pass(&r, LEASE_MS);
	token_ended("taken", 3, 1300 + LEASE_MS);
	/* None of these was taken from its client. */
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "hold"), 0);
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "taken"), 0);
}
END_TEST

START_TEST(a_token_hold_that_is_forced)
{
	struct lock_limits locks = { .handovers = 3 };
	struct client_limits limits = {
		.holds = 4, .waiters = 4, .unowned = 4
	};
	struct metrics_settings metrics = { NULL, 0 };

	core_reconfigure(r.core, &locks, &limits, &metrics, true, false);
	take_token(0);
	rig_pass(&r, 20);
	r.status = (struct outcome){ .status = OUTCOME_ENDED, .text = "" };
	ask(2, VERB_UNLOCK_FORCE, "a", 0);
	token_ended("forced", 1, 20);
	ck_assert_ptr_nonnull(strstr(latest("a").by, "session=2"));
	ck_assert_uint_eq(number(MEASURE_OF_LOST, "forced"), 1);
	/* In the audit file, too. */
	buf_add(&r.said, "", 1);
	ck_assert_ptr_nonnull(strstr(buf_data(&r.said),
	    "=a session=1 peer=peer mode=exclusive fence=7 waited=0"
	    " held=20 end=forced by="));
}
END_TEST

/* Rows of QUEUE and HISTORY: word, session and what is looked at. */
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
	ck_assert_uint_eq(core_listing_waiters(g), waiters);
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
	rig_pass(&r, 50);
	core_gauges(r.core, r.now_ms, &gauges);
	ck_assert_uint_eq(gauges.parked, 1);
	ck_assert_uint_eq(gauges.waiters, 1);
	ck_assert_uint_eq(number(MEASURE_OF_WAITERS, NULL), 1);
	ck_assert_uint_eq(number(MEASURE_OF_OLDEST, NULL), 50);
	t = told(core_queue_begin(r.core, "a", 1, 100), FIELD_AGE, 1);
	ck_assert_str_eq(t.word, "waiter");
	ck_assert_uint_eq(t.session, 2);
	ck_assert_uint_eq(t.num, 50);
	rig_pass(&r, 30);
	expect(MEASURE_OF_WAIT, "timeout", 1, 80);
	ck_assert_uint_eq(number(MEASURE_OF_BUSY, NULL), 1);
	r.token.ttl_ms = 10;
	rig_pass(&r, 1000); /* so that Redis is asked again */
	token(2, TOKEN_ACQUIRE, 1000, 80);
	tokens_are(OUTCOME_GRANTED);
	rig_pass(&r, 40);
	expect(MEASURE_OF_WAIT, "granted", 1, 30);
	t = told(core_history_begin(r.core, "a", 1, 100), FIELD_WAITED, 0);
	ck_assert_uint_eq(t.session, 2);
	ck_assert_uint_eq(t.num, 30);
	core_gauges(r.core, r.now_ms, &gauges);
	ck_assert_uint_eq(gauges.parked, 0);
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
	rig_pass(&r, 10);
	ask(1, VERB_UNLOCK, "a1", 0);
	core_check(r.core);
	ck_assert_uint_eq(row(MEASURE_OF_HELD, "first", NULL).number, 1);
	ck_assert_uint_eq(
	    row(MEASURE_OF_HOLD, "first", NULL).histogram->count, 1);
	/* It came when there was no such class. */
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
	tcase_add_test(tc, a_reload_changes_classes_of_names_that_are_held);
	return tc;
}

int
main(void)
{
	const suite_case cases[] = { measured_case };

	return suite_run("measured", cases, COUNT(cases));
}
