/*
 * See about.h.  The operation that asks is put aside here, by the number of the
 * question.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/parse.h"
#include "base/table.h"
#include "base/text.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/stored.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/ids.h"
#include "core/parts/notes/notes.h"
#include "core/parts/observe/measure.h"
#include "core/parts/views/about.h"

#define PLACES 256 /* of brokers that were asked */

/* An operation that asks, and its question.  Freed with the answer. */
struct inquiry {
	LIST_ENTRY(inquiry) link;
	struct table_link by_seq;
	struct timer deadline;
	uint64_t seq;
	int64_t asked_ms;
	struct put_off off; /* the operation */
};

/* That many questions since then.  Brokers that share a place share the
 * bound. */
struct asked {
	int64_t since_ms;
	unsigned n;
};

struct abouts {
	LIST_HEAD(, inquiry) inquiries;
	struct table by_seq;
	struct asked asked[PLACES];
};

static struct abouts *
abouts_of(const struct core *core)
{
	return core->part[PART_ABOUT];
}

static void
inquiries_init(struct core *core)
{
	core->part[PART_ABOUT] = xcalloc(1, sizeof(struct abouts));
	LIST_INIT(&abouts_of(core)->inquiries);
	table_init_key(&abouts_of(core)->by_seq, struct inquiry, by_seq, seq);
}

static struct inquiry *
find_seq(const struct core *core, uint64_t seq)
{
	return container_or_null(table_find_key(&abouts_of(core)->by_seq, &seq),
	    struct inquiry, by_seq);
}

static struct inquiry *
inquiry_new(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct inquiry *q = xcalloc(1, sizeof(*q));

	q->seq = ++core->last_seq;
	q->asked_ms = core->now_ms;
	put_off(&q->off, slot, o);
	q->off.slot.name = xstrndup(slot->name, slot->name_len);
	q->deadline.kind = TIMER_ABOUT;
	core_arm(core, &q->deadline, core->now_ms + ABOUT_MS);
	LIST_INSERT_HEAD(&abouts_of(core)->inquiries, q, link);
	table_add(&abouts_of(core)->by_seq, &q->by_seq);
	return q;
}

static void
inquiry_free(struct core *core, struct inquiry *q)
{
	LIST_REMOVE(q, link);
	table_remove(&abouts_of(core)->by_seq, &q->by_seq);
	core_disarm(core, &q->deadline);
	put_off_fini(&q->off);
	free(q);
}

static void
inquiries_fini(struct core *core)
{
	struct inquiry *q;

	while ((q = LIST_FIRST(&abouts_of(core)->inquiries)) != NULL)
		inquiry_free(core, q);
	table_fini(&abouts_of(core)->by_seq);
	free(abouts_of(core));
}

/* Asking. */

static bool
may_ask(struct core *core, const char *broker, size_t n, unsigned most)
{
	struct asked *a = &abouts_of(core)->asked[hash_of(broker, n) % PLACES];

	if (core->now_ms - a->since_ms >= 1000) {
		a->since_ms = core->now_ms;
		a->n = 0;
	}
	return a->n++ < most;
}

void
about_token(
    const struct core *core, uint64_t seq, char token[ABOUT_TOKEN_BYTES])
{
	snprintf(token, ABOUT_TOKEN_BYTES, "%s.%016" PRIx64 ".%" PRIu64,
	    core->broker, core->config.instance, seq);
}

struct slot *
about_send(struct core *core, unsigned kind, const char *name, size_t name_len,
    struct span token, const char *text)
{
	char to[ABOUT_TOKEN_BYTES];
	struct slot *slot;
	struct op *op;

	snprintf(to, sizeof(to), "%.*s", (int)token.n, token.p);
	op = slot_submit(core, &slot, OP_TELL, kind,
	    guard_shard(core, name, name_len), name, name_len);
	emit_op_holder(core, op, to, text);
	return slot;
}

/* Is it the token of a broker, and no longer than one? */
static bool
is_token(struct span token)
{
	return token.n < ABOUT_TOKEN_BYTES &&
	       stored_broker(token.p, token.n) > 0;
}

bool
about_ask(struct core *core, const struct slot *slot, const struct outcome *o,
    unsigned most)
{
	const char *bar = memchr(o->text, '|', o->text_len);
	struct span to = { o->text, bar != NULL ? (size_t)(bar - o->text) : 0 };
	char token[ABOUT_TOKEN_BYTES], text[ABOUT_TOKEN_BYTES + 16];
	struct inquiry *q;

	if (!is_token(to) || core->config.quorum || core->stopping ||
	    !may_ask(core, to.p, stored_broker(to.p, to.n), most))
		return false;
	q = inquiry_new(core, slot, o);
	about_token(core, q->seq, token);
	snprintf(text, sizeof(text), "about %s", token);
	about_send(
	    core, SLOT_ABOUT, q->off.slot.name, q->off.slot.name_len, to, text)
	    ->ref = q->seq;
	return true;
}

/* a: NULL: there is no answer. */
static void
over(struct core *core, struct inquiry *q, const struct about *a)
{
	struct put_off off = put_off_take(&q->off);

	if (off.then.ttl_ms > 0)
		off.then.ttl_ms =
		    max_ms(off.then.ttl_ms - (core->now_ms - q->asked_ms), 0);
	inquiry_free(core, q);
	core->above->slots[off.slot.kind].told(core, &off.slot, &off.then, a);
	put_off_fini(&off);
}

/* DONE: it was told, and may have answered before this. */
static void
on_inquiry(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct inquiry *q = find_seq(core, slot->ref);

	if (q != NULL && o->status != OUTCOME_DONE)
		over(core, q, NULL);
}

static void
on_inquiry_timer(struct core *core, struct timer *t)
{
	over(core, container_of(t, struct inquiry, deadline), NULL);
}

static void
inquiries_stop(struct core *core)
{
	struct inquiry *q;

	while ((q = LIST_FIRST(&abouts_of(core)->inquiries)) != NULL)
		over(core, q, NULL);
}

/* Answers. */

/* A field of an answer, and where it stands. */
struct known {
	const char *key;
	uint64_t most; /* a number; bytes of a text */
	uint64_t *num; /* one of these; 0: not known */
	int64_t *ms;   /* below 0: not known */
	struct span *text;
};

#define FIELDS_MAX 11

static void
known_of(struct about *a, struct known out[FIELDS_MAX])
{
	const struct known all[FIELDS_MAX] = {
		{ "fence", FENCE_MAX, .num = &a->fence },
		{ "session", UINT64_MAX, .num = &a->session },
		{ "age", INT64_MAX / 2, .ms = &a->age_ms },
		{ "until", INT64_MAX / 2, .ms = &a->until_ms },
		{ "label", LABEL_MAX_BYTES, .text = &a->label },
		{ "peer", NAME_MAX_BYTES, .text = &a->peer },
		{ "was", NAME_MAX_BYTES, .text = &a->was },
		{ "risk", INT64_MAX / 2, .ms = &a->risk_ms },
		{ "waits", NAME_MAX_BYTES, .text = &a->waits },
		{ "tagged", 1, .num = &a->tagged },
		{ "value", VALUE_MAX_BYTES, .text = &a->value },
	};

	memcpy(out, all, sizeof(all));
}

static bool
take_value(const struct known *p, struct span value)
{
	uint64_t n;

	if (p->text != NULL) {
		*p->text = value;
		return (p->most == VALUE_MAX_BYTES
			       ? text_value_why(value)
			       : text_name_why(value, p->most)) == NULL;
	}
	if (!parse_number(value.p, value.n, p->most, &n))
		return false;
	if (p->num != NULL)
		*p->num = n;
	else
		*p->ms = (int64_t)n;
	return true;
}

/* Takes KEY=VALUE; false: the value is none. */
static bool
take_field(const struct known known[FIELDS_MAX], struct span field)
{
	size_t i, n;

	for (i = 0; i < FIELDS_MAX; i++) {
		n = strlen(known[i].key);
		if (span_begins(field, known[i].key) && field.n > n &&
		    field.p[n] == '=')
			return take_value(&known[i],
			    (struct span){ field.p + n + 1, field.n - n - 1 });
	}
	return true;
}

static bool
take_fields(struct about *a, struct span fields)
{
	const char *end = fields.p + fields.n, *space;
	struct known known[FIELDS_MAX];
	size_t n;

	known_of(a, known);
	while (fields.p < end) {
		space = memchr(fields.p, ' ', (size_t)(end - fields.p));
		n = (size_t)((space != NULL ? space : end) - fields.p);
		if (!take_field(known, (struct span){ fields.p, n }))
			return false;
		fields.p += n + (space != NULL);
	}
	return true;
}

static void
on_told_message(struct core *core, struct lock *l, const struct message *m)
{
	struct inquiry *q = find_seq(core, m->seq);
	struct about a = ABOUT_NOTHING;

	(void)l;
	if (q != NULL &&
	    span_same((struct span){ m->name, m->name_len },
		(struct span){ q->off.slot.name, q->off.slot.name_len }) &&
	    take_fields(&a, (struct span){ m->more[0].p, m->more[0].n }))
		over(core, q, &a);
}

/* At the broker that is asked. */

/* The names of one request are next to each other: the one that has a holder
 * here is reported, if there is one.  Untagged requests come first. */
static void
tell_wait(const struct owner *owner, struct about *out)
{
	const struct waiter *w, *found = NULL;
	const struct claim *c;
	unsigned n = 0;

	TAILQ_FOREACH (c, &owner->waiting, in_owner) {
		w = waiter_seen(c);
		if (n++ == CORE_NAMES_MAX || w == NULL ||
		    (found != NULL &&
			w->claim.untagged != found->claim.untagged))
			break;
		if (found == NULL || !TAILQ_EMPTY(&w->lock->holders))
			found = w;
		if (!TAILQ_EMPTY(&w->lock->holders))
			break;
	}
	if (found == NULL)
		return;
	out->waits = (struct span){ found->lock->name, found->lock->name_len };
	out->tagged = !found->claim.untagged;
}

bool
about_here(const struct core *core, const struct lock *l, struct about *out)
{
	const struct hold *h = l != NULL ? hold_first(l) : NULL;
	const struct owner *owner;
	const char *was;

	*out = ABOUT_NOTHING;
	if (h == NULL && (l == NULL || l->lease.state != LEASE_LINGERING))
		return false;
	if (h == NULL) {
		out->until_ms =
		    max_ms(lease_rare(&l->lease)->linger_ms - core->now_ms, 0);
		was =
		    measure_last_holder(measure_of(core), l->name, l->name_len);
		if (was != NULL)
			out->was = span_of(was);
		return true;
	}
	owner = h->holding.owner;
	out->session = owner->id;
	out->fence = h->fence;
	out->age_ms = core->now_ms - h->holding.since_ms;
	out->value = notes_of(core, h, NOTE_VALUE);
	if (owner->label != NULL)
		out->label = span_of(owner->label);
	if (core->above->conn_of(core, owner->id) != 0)
		out->peer = span_of(owner->peer);
	tell_wait(owner, out);
	if (l->lease.term.state == TERM_ATRISK)
		out->risk_ms = max_ms(
		    term_deadline_ms(core, &l->lease.term) - core->now_ms, 0);
	if (timer_armed(&hold_rare(h)->bound))
		out->until_ms = max_ms(
		    core_armed_ms(core, &hold_rare(h)->bound) - core->now_ms,
		    0);
	return true;
}

static void
write_field(struct buf *text, const struct known *p)
{
	if (p->num != NULL && *p->num > 0)
		buf_addf(text, " %s=%" PRIu64, p->key, *p->num);
	else if (p->ms != NULL && *p->ms >= 0)
		buf_addf(text, " %s=%" PRId64, p->key, *p->ms);
	else if (p->text != NULL && p->text->n > 0)
		buf_addf(text, " %s=%.*s", p->key, (int)p->text->n, p->text->p);
}

static void
on_about_message(struct core *core, struct lock *l, const struct message *m)
{
	struct span to = { m->more[0].p, m->more[0].n };
	struct known known[FIELDS_MAX];
	struct about a;
	struct buf text;
	size_t i;

	if (!is_token(to))
		return;
	if (!about_here(core, l, &a))
		(void)LOCK_ASK(token_held, core, m->name, m->name_len, &a);
	known_of(&a, known);
	buf_init(&text);
	buf_adds(&text, "told");
	for (i = 0; i < FIELDS_MAX; i++)
		write_field(&text, &known[i]);
	buf_addc(&text, '\0');
	about_send(core, SLOT_STRAY, m->name, m->name_len, to, buf_data(&text));
	buf_fini(&text);
}

static const struct message_word words[] = {
	{ "about", 1, TO_BROKER, on_about_message },
	{ "told", MORE_ANY, TO_BROKER, on_told_message },
	{ .word = NULL },
};

/* As a part. */

static const struct part_timer timers[] = {
	{ TIMER_ABOUT, { AGENDA_PATIENT, on_inquiry_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_ABOUT, { .outcome = on_inquiry } },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.words = words,
};

const struct core_part about_part = {
	.id = PART_ABOUT,
	.lock = &hooks,
	.init = inquiries_init,
	.fini = inquiries_fini,
	.stops = inquiries_stop,
	.timers = timers,
	.slots = slots,
};
