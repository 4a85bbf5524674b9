/*
 * What a broker hears from clients and tells them: the driver's counterpart of
 * daemon/bridge/broker.c and of the handlers.  A client's connection is a "sitting";
 * it has a session, which may have begun on another connection.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/dump.h"

#include "bond.h"
#include "resumes.h"
#include "world.h"

#define DRILL_REF UINT64_MAX /* of an UNLOCK that no client has sent */

/* One number for each name: the field occurs once for each of them. */
static void
take_nums(const struct effects *fx, const struct effect *e, enum field_id id,
    uint64_t nums[CLIENT_NAMES_MAX])
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < e->nfields && n < CLIENT_NAMES_MAX; i++)
		if (fx->fields[e->field + i].id == id)
			nums[n++] = fx->fields[e->field + i].num;
}

/* 0 if the reply has no such field. */
static uint64_t
first_num(const struct effects *fx, const struct effect *e, enum field_id id)
{
	uint64_t nums[CLIENT_NAMES_MAX] = { 0 };

	take_nums(fx, e, id, nums);
	return nums[0];
}

/* -1 if the reply has no such field. */
static int64_t
number_of(const struct effects *fx, const struct effect *e, enum field_id id)
{
	uint32_t i;

	for (i = 0; i < e->nfields; i++)
		if (fx->fields[e->field + i].id == id)
			return (int64_t)fx->fields[e->field + i].num;
	return -1;
}

/* A client that sends no more has all its answers: its connection ends. */
static void
broker_drained(struct broker *b, uint64_t sitting)
{
	struct input *in;

	if (b->w->failed || !checker_drained(b->w, sitting))
		return;
	in = input_new(INPUT_GONE, sitting);
	in->orderly = true;
	broker_input(b, in);
	client_hung_up(b->w, sitting);
}

/* The text of a field; "" if the reply has no such field. */
static void
take_text(const struct effects *fx, const struct effect *e, enum field_id id,
    char *out, size_t size)
{
	const struct field *f;
	uint32_t i;

	for (i = 0; i < e->nfields; i++) {
		f = &fx->fields[e->field + i];
		if (f->id == id)
			snprintf(out, size, "%.*s", (int)f->len,
			    buf_data(&fx->text) + f->str);
	}
}

static void
make_answer(struct answer *a, const struct effects *fx, const struct effect *e)
{
	char word[16] = "";

	memset(a, 0, sizeof(*a));
	a->session = e->session;
	a->sitting = e->conn;
	a->ref = e->ref;
	a->status = e->status;
	a->code = e->code;
	a->event = e->event;
	take_nums(fx, e, FIELD_FENCE, a->fences);
	take_nums(fx, e, FIELD_DEPTH, a->depths);
	take_text(fx, e, FIELD_KEY, a->key, sizeof(a->key));
	a->permits = first_num(fx, e, FIELD_PERMITS);
	a->slot = number_of(fx, e, FIELD_SLOT);
	a->took_ms = number_of(fx, e, FIELD_TOOK);
	a->count = first_num(fx, e, FIELD_COUNT);
	a->index = first_num(fx, e, FIELD_INDEX);
	a->generation = first_num(fx, e, FIELD_GENERATION);
	a->fence = a->fences[0];
	a->depth = a->depths[0];
	take_text(fx, e, FIELD_REASON, word, sizeof(word));
	a->forced = strcmp(word, "forced") == 0;
	a->drilled = strcmp(word, "drill") == 0;
	word[0] = '\0';
	take_text(fx, e, FIELD_TOOK_MAX, word, sizeof(word));
	a->took_max = strcmp(word, "max") == 0;
	word[0] = '\0';
	take_text(fx, e, FIELD_STATE, word, sizeof(word));
	a->taken = strcmp(word, "held") == 0 || strcmp(word, "shared") == 0;
	word[0] = '\0';
	take_text(fx, e, FIELD_BROKER, word, sizeof(word));
	a->broker = word[0] == 'b' ? atoi(word + 1) : -1;
	a->is_event = e->kind == EFFECT_EVENT;
	a->valid_ms = e->heartbeat_ms;
	if (a->is_event)
		snprintf(a->name, sizeof(a->name), "%.*s", (int)e->name_len,
		    buf_data(&fx->text) + e->name);
}

/* Returns true if the holder is not to hear of it.  Otherwise the hold may end at
 * once, as if the holder had let go. */
static bool
drill_ablated(struct broker *b, const struct answer *a)
{
	struct input *in;

	if (!world_ablated(b->w, ABLATE_DRILL_GRANTS) || a->sitting == 0)
		return world_ablated(b->w, ABLATE_DRILL_TOLD);
	in = input_new(INPUT_REQUEST, a->sitting);
	in->broker = b;
	in->ref = DRILL_REF;
	snprintf(in->texts[0], sizeof(in->texts[0]), "%.7s", a->name);
	in->names[0].p = in->texts[0];
	in->names[0].n = strlen(in->texts[0]);
	in->request.verb = VERB_UNLOCK;
	in->request.ref = DRILL_REF;
	in->request.names = in->names;
	in->request.nnames = 1;
	broker_input(b, in);
	return false;
}

static void
tell_one(struct broker *b, struct answer *a)
{
	/* What was for the former connection of a session is told again behind
	 * the answer to RESUME, if that must be. */
	if (a->sitting != 0 && checker_sitting_resumed(b->w, a->sitting))
		return;
	if (a->sitting != 0 && checker_sitting_gone(b->w, a->sitting))
		a->sitting = 0;
	if (a->drilled && drill_ablated(b, a))
		return;
	/* A session may outlive its connection; then nobody reads what it is
	 * told. */
	if (a->sitting == 0 &&
	    !(a->is_event && checker_is_away(b->w, a->session))) {
		if (a->drilled)
			checker_drill_told(b->w, b, a);
		return;
	}
	if (!a->is_event && a->ref == DRILL_REF)
		return;
	/* A request that came over another connection has nobody waiting for
	 * it. */
	if (!a->is_event && checker_ask(b->w, a->ref)->sitting != a->sitting)
		return;
	if (a->is_event && a->event == EVENT_FREE &&
	    world_ablated(b->w, ABLATE_WATCH))
		return;
	if (!a->is_event)
		beats_answered(b, a->sitting, a->ref);
	client_tell(b->w, b, a);
	if (a->sitting != 0)
		broker_drained(b, a->sitting);
}

/* A session in a drill hears no more of its hold, but the log does. */
static void
tell_lost(struct broker *b, const struct effects *fx, const struct effect *e)
{
	char reason[16] = "", name[8] = "";

	take_text(fx, e, FIELD_REASON, reason, sizeof(reason));
	take_text(fx, e, FIELD_NAME, name, sizeof(name));
	if (uses_has(b->w, USE_DRILL) && strcmp(reason, "drill") != 0)
		checker_drill_lost(b->w, b, first_num(fx, e, FIELD_SESSION),
		    name[1] - '0', strcmp(reason, "forced") == 0);
}

static void
tell_log(struct broker *b, const struct effects *fx, const struct effect *e)
{
	static const char *const names[] = {
#define ROW(id, level, name) name,
		CORE_NOTICES(ROW)
#undef ROW
	};

	TRACE(b->w, "%s log %s", b->name, names[e->notice]);
	if (e->notice == NOTICE_GUARD_FENCES)
		b->w->checker.by_clocks = true;
	if (e->notice == NOTICE_LOCK_LOST)
		tell_lost(b, fx, e);
}

/* Tells an effect, which is then used up. */
static void
tell_effect(
    struct broker *b, struct effects *fx, struct effect *e, int64_t early_us)
{
	struct answer a;

	if (e->kind == EFFECT_LOG)
		tell_log(b, fx, e);
	if (e->conn >= POLLERS_FIRST ||
	    (e->kind == EFFECT_TOKEN && e->session == 0)) {
		pollers_tell(b, fx, e);
	} else if (e->conn >= CROWD_FIRST) {
		crowd_tell(b, fx, e);
	} else if (e->kind == EFFECT_REPLY || e->kind == EFFECT_EVENT) {
		make_answer(&a, fx, e);
		a.early_us = early_us;
		tell_one(b, &a);
	}
	e->kind = EFFECT_OP;
}

/* Tells what this turn has said so far, to one connection or to all. */
static void
tell_some(struct broker *b, bool all, uint64_t conn)
{
	size_t i;

	for (i = 0; i < b->fx.n && !b->w->failed; i++)
		if (all || b->fx.v[i].conn == conn)
			tell_effect(b, &b->fx, &b->fx.v[i], b->turn_us);
	for (i = 0; i < b->late.n && !b->w->failed; i++)
		if (all || b->late.v[i].conn == conn)
			tell_effect(b, &b->late, &b->late.v[i], 0);
}

bool
broker_has_lost(const struct broker *b, uint64_t session, uint64_t sitting,
    const char *name, uint64_t fence)
{
	const struct effects *fx = &b->fx;
	const struct effect *e;
	size_t i;

	for (i = 0; i < fx->n; i++) {
		e = &fx->v[i];
		if (e->kind == EFFECT_EVENT && e->event == EVENT_LOST &&
		    e->session == session && e->conn != sitting &&
		    e->name_len == strlen(name) &&
		    memcmp(buf_data(&fx->text) + e->name, name, e->name_len) ==
			0 &&
		    first_num(fx, e, FIELD_FENCE) == fence)
			return true;
	}
	return false;
}

bool
broker_has_drilled(const struct broker *b, const char *name)
{
	const struct effects *fx = &b->fx;
	struct answer a;
	size_t i;

	for (i = 0; i < fx->n; i++) {
		if (fx->v[i].kind != EFFECT_EVENT ||
		    fx->v[i].event != EVENT_LOST)
			continue;
		make_answer(&a, fx, &fx->v[i]);
		if (a.drilled && strcmp(a.name, name) == 0)
			return true;
	}
	return false;
}

static unsigned
count_news(const struct effects *fx, uint64_t session, const char *name)
{
	const struct effect *e;
	unsigned n = 0;
	size_t i;

	for (i = 0; i < fx->n; i++) {
		e = &fx->v[i];
		n += e->kind == EFFECT_EVENT && e->session == session &&
		     (e->event == EVENT_HELD || e->event == EVENT_FREE) &&
		     e->name_len == strlen(name) &&
		     memcmp(buf_data(&fx->text) + e->name, name, e->name_len) ==
			 0;
	}
	return n;
}

unsigned
broker_has_news(const struct broker *b, uint64_t session, const char *name)
{
	return count_news(&b->fx, session, name) +
	       count_news(&b->late, session, name);
}

/* If nobody reads for a session, what it loses is lost at once.  The log is
 * written at once, too. */
static void
hurry_some(struct broker *b, struct effects *fx)
{
	struct effect *e;
	bool hurries = !world_ablated(b->w, ABLATE_HURRY);
	size_t i;

	for (i = 0; i < fx->n && !b->w->failed; i++) {
		e = &fx->v[i];
		if (e->kind == EFFECT_EVENT && (hurries || e->conn == 0) &&
		    (e->event == EVENT_LOST || e->event == EVENT_SHUTDOWN))
			tell_some(b, false, e->conn);
		if (e->kind == EFFECT_LOG && e->notice == NOTICE_LOCK_LOST)
			tell_effect(b, fx, e, b->turn_us);
	}
}

void
broker_hurry(struct broker *b)
{
	hurry_some(b, &b->fx);
	hurry_some(b, &b->late);
}

void
broker_tell(struct broker *b)
{
	broker_hurry(b);
	tell_some(b, true, 0);
	effects_clear(&b->fx);
	effects_clear(&b->late);
}

/* From now on a connection has another session, or none. */
void
broker_attach(struct broker *b, const struct effect *e)
{
	if (e->kind == EFFECT_ATTACH) {
		checker_attached(b->w, e->conn, e->session);
		if (e->conn == e->session ||
		    !world_ablated(b->w, ABLATE_HEARTBEAT))
			beats_owe(b, e->conn, e->heartbeat_ms);
	}
	if (e->kind != EFFECT_CLOSE)
		return;
	checker_taken_over(b->w, b, e->conn);
	client_hung_up(b->w, e->conn);
}

/* What comes in. */

static struct effect *
add_reply(struct broker *b, uint64_t session, uint64_t sitting, uint64_t ref)
{
	struct effects *fx = &b->fx;
	struct effect *e;

	if (fx->n == fx->size) {
		fx->size = fx->size * 2 + 64;
		fx->v = xrealloc(fx->v, fx->size * sizeof(*fx->v));
	}
	e = &fx->v[fx->n++];
	memset(e, 0, sizeof(*e));
	e->kind = EFFECT_REPLY;
	e->session = session;
	e->conn = sitting;
	e->ref = ref;
	return e;
}

/* The core is only asked; the answer comes after what was written before. */
static void
do_ping(struct broker *b, const struct input *in, uint64_t session)
{
	struct effect *e = add_reply(b, session, in->sitting, in->ref);

	e->status = STATUS_OK;
	e->heartbeat_ms = core_ping(b->core, broker_clock_ms(b), session);
	checker_pinged(b->w, b, session, e->heartbeat_ms);
}

void
broker_refuse(
    struct broker *b, uint64_t sitting, uint64_t ref, enum err_code code)
{
	struct effect *e = add_reply(b, sitting, sitting, ref);

	e->status = STATUS_ERR;
	e->code = code;
	broker_wake(b);
}

static void
do_tenure(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_SESSION_OPTIONS };
	struct core_session_options tenure = {
		.ref = in->ref,
		.given = (in->grace_ms >= 0 ? 1u << SESSION_GRACE : 0) |
			 (in->heartbeat_ms >= 0 ? 1u << SESSION_HEARTBEAT : 0) |
			 (in->has_end ? 1u << SESSION_END : 0),
		.num[SESSION_GRACE] = in->grace_ms,
		.num[SESSION_HEARTBEAT] = in->heartbeat_ms,
		.num[SESSION_END] =
		    in->by_quit_only && !world_ablated(b->w, ABLATE_QUIT_ONLY),
	};
	unsigned i;

	for (i = 0; i < sizeof(tenure.secret); i++)
		tenure.secret[i] =
		    (unsigned char)prng_below(&b->w->uses.prng, 256);
	event.u.options.session = session;
	event.u.options.options = &tenure;
	checker_tenure(b->w, session, in);
	broker_step(b, &event);
}

static void
do_resume(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_RESUME };
	size_t i;

	tell_some(b, false, 0);
	if (resumes_asks(b, in))
		return;
	checker_resuming(b->w, b, in->ref, in->resumes);
	event.u.resume.session = session;
	event.u.resume.ref = in->ref;
	event.u.resume.key = in->key;
	event.u.resume.key_len = strlen(in->key);
	broker_step(b, &event);
	for (i = 0; i < b->fx.n && world_ablated(b->w, ABLATE_KEPT); i++)
		if (b->fx.v[i].kind == EFFECT_EVENT)
			b->fx.v[i].kind = EFFECT_OP;
	checker_resumed(b->w, b, in->sitting);
}

static void
do_gone(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_GONE };

	if (checker_survives(b->w, b, in->sitting, in->quit)) {
		broker_catch_up(b);
		tell_some(b, false, in->sitting);
	}
	checker_gone(b->w, b, in->sitting, in->orderly, in->quit);
	event.u.gone.session = session;
	event.u.gone.orderly = in->orderly || world_ablated(b->w, ABLATE_RESET);
	event.u.gone.quit = in->quit || world_ablated(b->w, ABLATE_GRACE);
	broker_step(b, &event);
}

static void
do_open(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_OPEN };

	event.u.open.session = session;
	event.u.open.peer = "sim";
	event.u.open.tcp = true;
	event.u.open.proxied = checker_is_proxied(b->w, in->sitting) &&
			       !world_ablated(b->w, ABLATE_PROXIED);
	broker_step(b, &event);
}

/* An input was held back, because the protection was ablated. */
static void
on_held_back(void *object, uint64_t tag)
{
	struct input *in = object;
	struct broker *b = in->broker;

	if (b->alive && b->life == tag)
		broker_input(b, in);
	else
		free(in);
}

static void
hold_back(struct broker *b, const struct input *in)
{
	struct input *copy = xmalloc(sizeof(*copy));
	unsigned i;

	*copy = *in;
	copy->broker = b;
	copy->request.names = copy->names;
	for (i = 0; i < copy->request.nnames; i++)
		copy->names[i].p = copy->texts[i];
	events_at(&b->w->events, world_now(b->w) + 2 * b->w->lease_ms * 1000,
	    on_held_back, copy, b->life);
}

static void
do_request(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_REQUEST };

	if (world_ablated(b->w, ABLATE_PASS) && in->request.nnames > 1 &&
	    in->request.wait_ms == CORE_WAIT_FOREVER && in->broker == NULL) {
		hold_back(b, in);
		return;
	}

	event.u.request.session = session;
	event.u.request.request = &in->request;
	broker_step(b, &event);
}

static void
do_cancel(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_CANCEL };

	event.u.cancel.session = session;
	event.u.cancel.ref = in->request.ref;
	event.u.cancel.by = in->ref;
	broker_step(b, &event);
}

static void
do_drain(struct broker *b, const struct input *in, uint64_t session)
{
	struct core_event event = { .kind = CORE_DRAIN };

	event.u.gone.session = session;
	checker_draining(b->w, in->sitting);
	broker_step(b, &event);
	broker_drained(b, in->sitting);
}

/* One row: how a line of a client is handled. */
static const struct {
	void (*act)(struct broker *b, const struct input *in, uint64_t session);
	bool asks; /* it is a request, with an answer */
} lines[] = {
	[INPUT_OPEN] = { do_open, false },
	[INPUT_REQUEST] = { do_request, true },
	[INPUT_PING] = { do_ping, true },
	[INPUT_CANCEL] = { do_cancel, true },
	[INPUT_TENURE] = { do_tenure, true },
	[INPUT_RESUME] = { do_resume, true },
	[INPUT_DRAIN] = { do_drain, false },
	[INPUT_GONE] = { do_gone, false },
};

void
broker_take(struct broker *b, struct input *in)
{
	if (in->kind == INPUT_CROWD) {
		crowd_act(b);
		return;
	}
	if (in->kind == INPUT_POLLERS) {
		pollers_act(b);
		return;
	}
	if (in->kind == INPUT_PACKET) {
		in->conn->unread--;
		net_packet(in->conn, in->reply, in->message);
	} else if (in->kind == INPUT_BROKEN) {
		net_broken(in->conn);
	} else if (in->kind == INPUT_BOND)
		bond_reads(b);
	else if (in->kind == INPUT_ROOM)
		bond_sees_room(b);
	if (in->sitting == 0 || checker_sitting_gone(b->w, in->sitting) ||
	    resumes_diverts(b, in))
		return;
	if (lines[in->kind].asks) {
		broker_catch_up(b);
		beats_heard(b, in->sitting);
		if (in->kind == INPUT_REQUEST && in->request.untagged)
			beats_wait(b, in->sitting, in->ref);
	}
	if (lines[in->kind].asks && in->broker == NULL)
		checker_received(b->w, b, in->ref);
	lines[in->kind].act(b, in, checker_session(b->w, in->sitting));
}
