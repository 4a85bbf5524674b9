/*
 * BROKERS.  One guard knows all brokers, since each calls them all; over a
 * quorum all servers that can be reached are asked, because each may have
 * missed a broker that reaches the others.
 *
 *	request --> a server can be reached --> asks --> all have answered,
 *	            or have not --> answers all requests so far
 *	        --> none can --> unavailable
 *
 * A fleet has some brokers, at most a thousand or so, and is rarely asked for.
 * So the answer is taken apart in one step.
 *
 * Two brokers have one name at once if each was seen long after the other was
 * known.  A broker that has died may count as present for a while (it stays
 * away, or is not missing yet), and a replaced broker until it says that it
 * leaves.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/slot.h"
#include "core/parts/fleet/fleet.h"
#include "core/parts/ids.h"

#define INSTANCE_BYTES 16

/* After this many leases without a call, a broker counts as missing. */
#define MISSING_LEASES 2

/* How long a dead broker may seem to be there, at most: longer than it stays
 * away (guard_heartbeat.c). */
#define TWICE_LEASES 8

#define FEW 60 /* brokers: with fewer, no more frequent requests */

/* A growing list of members; owns them. */
struct members {
	struct member **v;
	size_t n, size;
};

/* A request for the list. */
struct asker {
	uint64_t session, ref;
};

struct fleet {
	struct members known; /* in the order of their names, each once */
	int64_t told_ms;      /* when the list came; 0: never */
	bool stale;	      /* and when it was last wanted, it did not come */
	struct members fresh; /* of the answers so far, in no order */
	unsigned under_way;   /* servers that have not answered yet */
	bool told;	      /* some have */
	struct timer due;     /* when to ask again without a request */
	bool twice;	      /* logged that another broker has our name */
	struct asker *askers; /* owned */
	size_t naskers, askers_size;
};

static struct fleet *
fleet_of(const struct core *core)
{
	return core->part[PART_FLEET];
}

static void
members_fini(struct members *m)
{
	while (m->n > 0)
		free(m->v[--m->n]);
	free(m->v);
	*m = (struct members){ NULL, 0, 0 };
}

static void
init(struct core *core)
{
	core->part[PART_FLEET] = xcalloc(1, sizeof(struct fleet));
	fleet_of(core)->due.kind = TIMER_FLEET;
}

static void
fini(struct core *core)
{
	core_disarm(core, &fleet_of(core)->due);
	members_fini(&fleet_of(core)->known);
	members_fini(&fleet_of(core)->fresh);
	free(fleet_of(core)->askers);
	free(fleet_of(core));
}

bool
core_brokers_stale(const struct core *core)
{
	return fleet_of(core)->stale;
}

int64_t
core_brokers_told_ms(const struct core *core)
{
	return fleet_of(core)->told_ms;
}

/* Returns the length of NAME in NAME.INSTANCE, which has 16 hexadecimal digits. */
static size_t
name_length(const char *id)
{
	size_t len = strlen(id), hex = INSTANCE_BYTES;

	if (len <= hex + 1 || id[len - hex - 1] != '.' ||
	    strspn(id + len - hex, "0123456789abcdef") != hex)
		return len;
	return len - hex - 1;
}

static int64_t
number_or(const char *word, int64_t otherwise)
{
	uint64_t n;

	return parse_number(word, strlen(word), INT64_MAX / 4, &n) ? (int64_t)n
								   : otherwise;
}

/*
 * Takes a line apart; words at its end may be missing.  All brokers of a Redis
 * have the same lease, or are refused.
 */
static struct member *
member_new(const struct core *core, const char *line, size_t len)
{
	struct member *one = xcalloc(1, sizeof(*one) + len + 1);
	char *p = one->text;
	size_t i;

	memcpy(p, line, len);
	for (i = 0; i < MEMBER_WORDS; i++) {
		one->words[i] = *p != '\0' ? p : "-";
		p += strcspn(p, " ");
		if (*p != '\0')
			*p++ = '\0';
	}
	one->name_len = name_length(one->words[MEMBER_ID]);
	one->seen_ms = number_or(one->words[MEMBER_SEEN], 0);
	one->lease_ms =
	    number_or(one->words[MEMBER_LEASE], core->config.lease_ms);
	one->missing = one->seen_ms > MISSING_LEASES * one->lease_ms;
	return one;
}

static void
members_add(struct members *m, struct member *one)
{
	if (m->n == m->size) {
		m->size = m->size == 0 ? 16 : 2 * m->size;
		m->v = xrealloc(m->v, m->size * sizeof(*m->v));
	}
	m->v[m->n++] = one;
}

static void
members_read(
    const struct core *core, struct members *m, const char *text, size_t len)
{
	const char *end = text + len, *line_end;

	for (; text < end; text = line_end + 1) {
		line_end = memchr(text, '\n', (size_t)(end - text));
		if (line_end == NULL)
			line_end = end;
		members_add(
		    m, member_new(core, text, (size_t)(line_end - text)));
	}
}

static int
order_names(const char *x, size_t x_len, const char *y, size_t y_len)
{
	int order = memcmp(x, y, x_len < y_len ? x_len : y_len);

	return order != 0 ? order : (x_len > y_len) - (x_len < y_len);
}

/* By name; of one name, the one seen last comes first. */
static int
compare(const void *a, const void *b)
{
	const struct member *x = *(struct member *const *)a;
	const struct member *y = *(struct member *const *)b;
	int names = order_names(x->text, x->name_len, y->text, y->name_len);

	return names != 0
		   ? names
		   : (x->seen_ms > y->seen_ms) - (x->seen_ms < y->seen_ms);
}

static bool
same_name(const struct member *x, const struct member *y)
{
	return x->name_len == y->name_len &&
	       memcmp(x->text, y->text, x->name_len) == 0;
}

static bool
same_id(const struct member *x, const struct member *y)
{
	return strcmp(x->words[MEMBER_ID], y->words[MEMBER_ID]) == 0;
}

/*
 * Each broker comes once, as it was seen last.  Of the brokers with one name,
 * the latest stays and all that are not missing: the others have died, and that
 * name was started again since.
 */
static void
members_merge(struct members *m)
{
	size_t i, k, n = 0;

	if (m->n > 0)
		qsort(m->v, m->n, sizeof(*m->v), compare);
	for (i = 0; i < m->n; i++) {
		for (k = n; k > 0 && same_name(m->v[k - 1], m->v[i]) &&
			    !same_id(m->v[k - 1], m->v[i]);)
			k--;
		if (k > 0 && same_name(m->v[k - 1], m->v[i]))
			free(m->v[i]); /* that one again */
		else if (n > 0 && m->v[i]->missing &&
			 same_name(m->v[n - 1], m->v[i]))
			free(m->v[i]);
		else
			m->v[n++] = m->v[i];
	}
	m->n = n;
}

/* Since when each is known. */
static void
members_date(
    const struct core *core, struct members *m, const struct members *before)
{
	size_t i, k = 0, at;

	for (i = 0; i < m->n; i++) {
		m->v[i]->since_ms = core->now_ms;
		while (k < before->n &&
		       order_names(before->v[k]->text, before->v[k]->name_len,
			   m->v[i]->text, m->v[i]->name_len) < 0)
			k++;
		for (at = k;
		     at < before->n && same_name(before->v[at], m->v[i]); at++)
			if (same_id(before->v[at], m->v[i]))
				m->v[i]->since_ms = before->v[at]->since_ms;
	}
}

static bool
is_leaving(const struct member *one)
{
	return strcmp(one->words[MEMBER_LEAVING], "-") != 0;
}

/* Was x seen long after y was known? */
static bool
outlasts(
    const struct core *core, const struct member *x, const struct member *y)
{
	return core->now_ms - x->seen_ms - y->since_ms >
	       TWICE_LEASES * core->config.lease_ms;
}

/* Marks brokers that share a name; the list has only those that are there. */
static void
members_pair(const struct core *core, struct members *m)
{
	struct member *x, *y;
	size_t i, k;

	for (i = 0; i < m->n; i++) {
		x = m->v[i];
		for (k = i + 1; k < m->n && same_name(x, m->v[k]); k++) {
			y = m->v[k];
			if (!is_leaving(x) && !is_leaving(y) &&
			    outlasts(core, x, y) && outlasts(core, y, x))
				x->twice = y->twice = true;
		}
	}
}

static const char *
address_of(const struct member *one)
{
	const char *address = one->words[MEMBER_ADDRESS];

	return strcmp(address, "-") == 0 ? NULL : address;
}

static bool
fleet_ask(struct core *core, uint32_t shard)
{
	struct slot *slot;

	if (!guard_reached(core, shard))
		return false;
	slot_submit(core, &slot, OP_BROKERS, SLOT_FLEET, shard, "", 0);
	slot->shard = shard;
	fleet_of(core)->under_way++;
	return true;
}

/* Asks the servers that must be asked, unless they are being asked already;
 * returns whether they are. */
static bool
fleet_look(struct core *core)
{
	struct fleet *f = fleet_of(core);
	bool idle = f->under_way == 0;
	uint32_t i;

	for (i = 0; idle && i < core->config.shards; i++)
		if (fleet_ask(core, i) && !core->config.quorum)
			break;
	return f->under_way > 0;
}

static void
plan(struct core *core)
{
	struct fleet *f = fleet_of(core);
	int64_t n = f->known.n > FEW ? (int64_t)f->known.n : FEW;

	if (core->config.fleet_ms > 0 && !core->stopping)
		core_arm(
		    core, &f->due, core->now_ms + n * core->config.fleet_ms);
}

static void
on_timer(struct core *core, struct timer *t)
{
	(void)t;
	plan(core);
	if (!core->stopping)
		(void)fleet_look(core);
}

static void
on_guard(struct core *core)
{
	if (core->config.fleet_ms > 0 && fleet_of(core)->told_ms == 0 &&
	    !core->stopping)
		(void)fleet_look(core);
}

/* The last list is better than nothing while Redis is away. */
static void
tell_one(struct core *core, struct asker asker, const char *why)
{
	if (fleet_of(core)->told_ms > 0)
		emit_fleet(core, asker.session, asker.ref);
	else
		emit_error(
		    core, asker.session, asker.ref, ERR_UNAVAILABLE, "%s", why);
}

void
fleet_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct fleet *f = fleet_of(core);
	char why[GUARD_WHY_SIZE];

	if (!fleet_look(core)) {
		f->stale = true;
		tell_one(core, (struct asker){ owner->id, rq->ref },
		    guard_excuse(core, 0, NULL, why));
		return;
	}
	if (f->naskers == f->askers_size) {
		f->askers_size = f->naskers == 0 ? 4 : 2 * f->naskers;
		f->askers =
		    xrealloc(f->askers, f->askers_size * sizeof(*f->askers));
	}
	f->askers[f->naskers++] = (struct asker){ owner->id, rq->ref };
}

/* Only brokers that have the name say so in their logs. */
static void
note_twice(struct core *core)
{
	struct fleet *f = fleet_of(core);
	bool twice = false;
	size_t i;

	for (i = 0; i < f->known.n; i++)
		twice |= f->known.v[i]->twice &&
			 f->known.v[i]->name_len == strlen(core->broker) &&
			 memcmp(f->known.v[i]->text, core->broker,
			     f->known.v[i]->name_len) == 0;
	if (twice && !f->twice) {
		emit_notice(core, NOTICE_SAME_NAME);
		emit_text(core, FIELD_NAME, core->broker);
		emit_text(core, FIELD_TEXT,
		    "another broker on this Redis has this name, so the name "
		    "no longer identifies a broker");
		emit_text(
		    core, FIELD_ADVICE, "give each broker its own broker.name");
	}
	f->twice = twice;
}

static void
fleet_tell(struct core *core, const char *why)
{
	struct fleet *f = fleet_of(core);
	size_t i;

	f->stale = !f->told;
	for (i = 0; i < f->naskers; i++)
		tell_one(core, f->askers[i], why);
	f->naskers = 0;
	f->told = false;
}

static void
on_outcome(struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct fleet *f = fleet_of(core);
	char why[GUARD_WHY_SIZE];

	assert(f->under_way > 0);
	f->under_way--;
	if (o->status == OUTCOME_VALUE) {
		f->told = true;
		members_read(core, &f->fresh, o->text, o->text_len);
	}
	if (f->under_way > 0)
		return;
	if (f->told) {
		members_merge(&f->fresh);
		members_date(core, &f->fresh, &f->known);
		members_pair(core, &f->fresh);
		members_fini(&f->known);
		f->known = f->fresh;
		f->fresh = (struct members){ NULL, 0, 0 };
		f->told_ms = core->now_ms;
		note_twice(core);
	}
	plan(core);
	fleet_tell(core, guard_excuse(core, slot->shard, o, why));
}

const char *
fleet_address(const struct core *core, const char *name, size_t len)
{
	const struct members *m = &fleet_of(core)->known;
	size_t low = 0, high = m->n, mid;
	int order;

	while (low < high) {
		mid = low + (high - low) / 2;
		order = order_names(
		    name, len, m->v[mid]->text, m->v[mid]->name_len);
		if (order == 0)
			return address_of(m->v[mid]);
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const struct member *
fleet_member(const struct core *core, size_t i)
{
	const struct members *m = &fleet_of(core)->known;

	return i < m->n ? m->v[i] : NULL;
}

/* As a part. */

static void
ask_if_ready(struct core *core, uint32_t shard)
{
	(void)shard;
	on_guard(core);
}

static const struct part_timer timers[] = {
	{ TIMER_FLEET, { AGENDA_PATIENT, on_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_FLEET, { .outcome = on_outcome } },
	{ 0 },
};

const struct core_part fleet_part = {
	.id = PART_FLEET,
	.init = init,
	.fini = fini,
	.guard_changed = ask_if_ready,
	.timers = timers,
	.slots = slots,
};
