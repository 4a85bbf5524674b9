/*
 * STATUS.  What this broker holds it tells from memory; for anything else it
 * reads the key.
 */
#include "config.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/guard.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/status.h"

#define WHY_SIZE 256
#define INSTANCE_DIGITS 16 /* of a broker, in a token */

static void
emit_text(struct core *core, enum field_id id, const char *text)
{
	emit_str(core, id, text, strlen(text));
}

static void
from_here(
    struct core *core, uint64_t session, uint64_t ref, const struct lock *l)
{
	const struct hold *h = LIST_FIRST(&l->holders);
	int64_t left_ms = lease_deadline_ms(core, l) - core->now_ms;

	emit_reply(core, session, ref, STATUS_OK);
	emit_text(
	    core, FIELD_STATE, h != NULL && l->shared_hold ? "shared" : "held");
	emit_num(core, FIELD_WAITERS, l->nwaiting);
	emit_text(core, FIELD_BROKER, core->broker);
	if (h != NULL) {
		emit_num(core, FIELD_SESSION, h->session->id);
		if (h->session->label != NULL)
			emit_text(core, FIELD_LABEL, h->session->label);
		emit_num(core, FIELD_FENCE, h->fence);
	} else {
		left_ms = more_of(l)->linger_ms - core->now_ms;
	}
	emit_num(core, FIELD_TTL, left_ms > 0 ? (uint64_t)left_ms : 0);
}

static bool
told_here(const struct lock *l)
{
	return l != NULL &&
	       (!LIST_EMPTY(&l->holders) || l->state == LEASE_LINGERING);
}

static struct op *
look(struct core *core, uint64_t session, uint64_t ref, const char *name,
    size_t len)
{
	struct slot *slot;
	struct op *op = slot_submit(core, &slot, OP_STATUS, SLOT_ASK,
	    core_shard(core, name, len), name, len);

	slot->session = session;
	slot->ref = ref;
	slot->name = xstrndup(name, len);
	slot->name_len = len;
	return op;
}

static void
ask_free(struct core *core, struct ask *ask)
{
	TAILQ_REMOVE(&core->asks, ask, link);
	core_disarm(core, &ask->deadline);
	free(ask);
}

/* Redis can't be reached: for as long as it may take to answer, wait. */
static void
ask_later(struct core *core, const struct session *s, uint64_t ref,
    const struct core_name *name)
{
	struct ask *ask = xcalloc(1, sizeof(*ask) + name->n);

	ask->session = s->id;
	ask->ref = ref;
	ask->shard = core_shard(core, name->p, name->n);
	ask->name_len = name->n;
	memcpy(ask->name, name->p, name->n);
	ask->deadline.kind = TIMER_ASK;
	TAILQ_INSERT_TAIL(&core->asks, ask, link);
	core_arm(
	    core, &ask->deadline, core->now_ms + core->config.reply_timeout_ms);
}

void
status_timer(struct core *core, struct ask *ask)
{
	char why[WHY_SIZE];

	guard_why(core, ask->shard, why, sizeof(why));
	emit_error(core, ask->session, ask->ref, ERR_UNAVAILABLE, "%s", why);
	ask_free(core, ask);
}

void
status_link_up(struct core *core)
{
	struct ask *ask, *next;
	struct op *op;

	TAILQ_FOREACH_SAFE (ask, &core->asks, link, next) {
		if (!guard_up(core, ask->shard))
			continue;
		/* A part of the time it may take is over. */
		op = look(
		    core, ask->session, ask->ref, ask->name, ask->name_len);
		op->timeout_ms =
		    heap_at_ms(&core->timers, &ask->deadline) - core->now_ms;
		ask_free(core, ask);
	}
}

void
status_cancel(struct core *core, const struct session *s, bool tell)
{
	struct ask *ask, *next;

	TAILQ_FOREACH_SAFE (ask, &core->asks, link, next) {
		if (ask->session != s->id)
			continue;
		if (tell)
			emit_reply(core, s->id, ask->ref, STATUS_CANCELLED);
		ask_free(core, ask);
	}
}

void
status_request(
    struct core *core, struct session *s, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct lock *l = lock_find(core, name->p, name->n);

	if (told_here(l))
		from_here(core, s->id, rq->ref, l);
	else if (guard_up(core, core_shard(core, name->p, name->n)))
		look(core, s->id, rq->ref, name->p, name->n);
	else if (s->draining)
		emit_reply(core, s->id, rq->ref, STATUS_CANCELLED);
	else
		ask_later(core, s, rq->ref, name);
}

/*
 * Where the broker's name ends in BROKER.INSTANCE.SEQ; 0: nowhere.  A plain
 * client's value may look much like that.
 */
static size_t
broker_end(const char *token, size_t n)
{
	size_t end = n, i;

	while (end > 0 && isdigit((unsigned char)token[end - 1]))
		end--;
	if (end == n || end < INSTANCE_DIGITS + 3 || token[end - 1] != '.')
		return 0;
	end -= INSTANCE_DIGITS + 1;
	for (i = 0; i < INSTANCE_DIGITS; i++)
		if (!isxdigit((unsigned char)token[end + i]))
			return 0;
	return token[end - 1] == '.' ? end - 1 : 0;
}

bool
status_is_ours(const struct core *core, const char *value, size_t n)
{
	char us[BROKER_MAX_BYTES + 20];
	int len = snprintf(us, sizeof(us), "%s.%016" PRIx64 ".", core->broker,
	    core->config.instance);

	return n > (size_t)len && memcmp(value, us, (size_t)len) == 0;
}

struct status_value
status_parse(const char *p, size_t n)
{
	static const char marker[] = "@shared";
	const char *bar = memchr(p, '|', n);
	struct status_value v = { .state = n == 0 ? "free" : "held" };
	size_t token = bar == NULL ? 0 : (size_t)(bar - p);

	if (bar == NULL ||
	    !parse_number(bar + 1, n - token - 1, UINT64_MAX, &v.fence))
		return v;
	if (token == sizeof(marker) - 1 && memcmp(p, marker, token) == 0) {
		v.state = "shared";
		return v;
	}
	v.broker_len = broker_end(p, token);
	if (v.broker_len == 0)
		v.fence = 0;
	return v;
}

/* What nobody has here: a lease of ours on its way, in or out, is no hold. */
static void
from_key(struct core *core, const struct slot *slot, const struct lock *l,
    const struct outcome *o)
{
	bool ours = l != NULL && status_is_ours(core, o->text, o->text_len);
	size_t n = ours ? 0 : o->text_len;
	struct status_value v = status_parse(o->text, n);

	emit_reply(core, slot->session, slot->ref, STATUS_OK);
	emit_text(core, FIELD_STATE, v.state);
	emit_num(core, FIELD_WAITERS, l == NULL ? 0 : l->nwaiting);
	if (v.broker_len > 0)
		emit_str(core, FIELD_BROKER, o->text, v.broker_len);
	if (v.fence > 0)
		emit_num(core, FIELD_FENCE, v.fence);
	if (n > 0 && o->ttl_ms >= 0)
		emit_num(core, FIELD_TTL, (uint64_t)o->ttl_ms);
}

void
status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct lock *l = lock_find(core, slot->name, slot->name_len);

	if (o->status != OUTCOME_VALUE) {
		emit_error(core, slot->session, slot->ref, ERR_UNAVAILABLE,
		    "Redis did not answer%s%.*s", o->text_len > 0 ? ": " : "",
		    (int)o->text_len, o->text_len > 0 ? o->text : "");
		return;
	}
	if (told_here(l))
		from_here(core, slot->session, slot->ref, l);
	else
		from_key(core, slot, l, o);
}
