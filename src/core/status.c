/*
 * STATUS.  What this broker holds it tells from memory; for anything else it
 * reads the key.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/guard.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/status.h"

#define WHY_SIZE 256

static void
emit_text(struct core *core, enum field_id id, const char *text)
{
	emit_str(core, id, text, strlen(text));
}

static void
from_here(
    struct core *core, uint64_t session, uint64_t ref, const struct lock *l)
{
	const struct hold *h = TAILQ_FIRST(&l->holders);
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
		left_ms = l->linger_ms - core->now_ms;
	}
	emit_num(core, FIELD_TTL, left_ms > 0 ? (uint64_t)left_ms : 0);
}

void
status_request(
    struct core *core, struct session *s, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct lock *l = lock_find(core, name->p, name->n);
	uint32_t shard = core_shard(core, name->p, name->n);
	struct slot *slot;
	char why[WHY_SIZE];

	if (l != NULL &&
	    (!TAILQ_EMPTY(&l->holders) || l->state == LEASE_LINGERING)) {
		from_here(core, s->id, rq->ref, l);
		return;
	}
	if (!guard_up(core, shard)) {
		guard_why(core, shard, why, sizeof(why));
		emit_error(core, s->id, rq->ref, ERR_UNAVAILABLE, "%s", why);
		return;
	}
	slot_submit(core, &slot, OP_STATUS, SLOT_ASK, shard, name->p, name->n);
	slot->session = s->id;
	slot->ref = rq->ref;
	slot->name = xstrndup(name->p, name->n);
	slot->name_len = name->n;
}

/* What the value of a key says; see lua/lease.lua. */
struct value {
	const char *state;
	size_t broker_len; /* at its beginning; 0: unknown */
	uint64_t fence;	   /* 0: unknown */
};

/* Where the broker's name ends in BROKER.INSTANCE.SEQ; 0: nowhere. */
static size_t
broker_end(const char *token, size_t n)
{
	size_t i;
	int dots = 0;

	for (i = n; i > 0; i--)
		if (token[i - 1] == '.' && ++dots == 2)
			return i - 1;
	return 0;
}

static struct value
parse_value(const char *p, size_t n)
{
	static const char marker[] = "@shared";
	const char *bar = memchr(p, '|', n);
	struct value v = { .state = n == 0 ? "free" : "held" };
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

void
status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct lock *l = lock_find(core, slot->name, slot->name_len);
	struct value v;

	if (o->status != OUTCOME_VALUE) {
		emit_error(core, slot->session, slot->ref, ERR_UNAVAILABLE,
		    "Redis did not answer%s%.*s", o->text_len > 0 ? ": " : "",
		    (int)o->text_len, o->text_len > 0 ? o->text : "");
		return;
	}
	if (l != NULL && !TAILQ_EMPTY(&l->holders)) {
		from_here(core, slot->session, slot->ref, l);
		return;
	}
	v = parse_value(o->text, o->text_len);
	emit_reply(core, slot->session, slot->ref, STATUS_OK);
	emit_text(core, FIELD_STATE, v.state);
	emit_num(core, FIELD_WAITERS, l == NULL ? 0 : l->nwaiting);
	if (v.broker_len > 0)
		emit_str(core, FIELD_BROKER, o->text, v.broker_len);
	if (v.fence > 0)
		emit_num(core, FIELD_FENCE, v.fence);
	if (o->text_len > 0 && o->ttl_ms >= 0)
		emit_num(core, FIELD_TTL, (uint64_t)o->ttl_ms);
}
