/*
 * Carries out what the core decides: replies and events to clients, operations
 * to Redis, lines to the log.  It never steps the core.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "daemon/bridge/bridge.h"
#include "daemon/monitor/monitor.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"

/*
 * May the client look at all names of a circle, "NAME -> NAME -> NAME"?  A name
 * has no space in it.
 */
static bool
may_see_circle(const struct broker *b, const struct conn *c, struct span circle)
{
	const char *p = circle.p, *end = p + circle.n, *space;

	for (; p < end; p = space + 1) {
		space = memchr(p, ' ', (size_t)(end - p));
		if (space == NULL)
			space = end;
		if (!(space - p == 2 && memcmp(p, "->", 2) == 0) &&
		    !identity_may_watch(b->identity, c,
			(struct span){ p, (size_t)(space - p) }))
			return false;
	}
	return true;
}

/* The text of an error; without the names of a circle if the client may not
 * look at each of them. */
static struct span
error_text(const struct broker *b, const struct conn *c, const struct effect *e,
    const char *text)
{
	const size_t names = e->open_len + strlen(": ");
	struct span all = { text + e->text, e->text_len };

	if (e->open_len == 0 ||
	    may_see_circle(b, c, (struct span){ all.p + names, all.n - names }))
		return all;
	return (struct span){ all.p, e->open_len };
}

static void
do_reply(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);

	assert(e->field + e->nfields <= b->effects.nfields);
	resp_latch_told(b, e->session, e->ref, NULL);
	if (c == NULL) {
		monitor_take(b->monitor, e, text);
		return;
	}
	(void)bridge_answer(b, c, e->ref,
	    &(struct wire_reply){ .status = e->status,
		.code = e->code,
		.undone = e->undone,
		.text = error_text(b, c, e, text),
		.fields = b->effects.fields + e->field,
		.nfields = e->nfields,
		.arena = text });
}

/* A watch may live longer than the right to it: a reload can remove that
 * right. */
static bool
may_hear(const struct broker *b, const struct conn *c, const struct effect *e,
    const char *text)
{
	return (e->event != EVENT_HELD && e->event != EVENT_FREE) ||
	       identity_may_watch(b->identity, c,
		   (struct span){ text + e->name, e->name_len });
}

static void
do_event(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);

	assert(e->field + e->nfields <= b->effects.nfields);
	if (c == NULL || !may_hear(b, c, e, text))
		return;
	conn_tell(c, &(struct wire_event){ .id = e->event,
			 .name = { text + e->name, e->name_len },
			 .fields = b->effects.fields + e->field,
			 .nfields = e->nfields,
			 .arena = text });
	if (e->event == EVENT_LOST || e->event == EVENT_SHUTDOWN)
		conn_hurry(c);
}

static void
do_queue(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	if (c == NULL || !conn_answered(c, e->ref, mem, &reply))
		return;
	lists_queue(b, c, &reply, (struct span){ text + e->name, e->name_len },
	    e->kind_of, (size_t)e->limit,
	    &(struct core_row){ .word = "holder",
		.fields = b->effects.fields + e->field,
		.nfields = e->nfields,
		.text = text });
}

/* The monitor asks under sessions of its own, which have no connection. */
static void
do_fleet(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	if (c == NULL)
		monitor_take(b->monitor, e, text);
	else if (conn_answered(c, e->ref, mem, &reply))
		lists_brokers(b, c, &reply);
}

static void
do_why(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply = { .status = STATUS_OK };

	if (c != NULL && conn_answered(c, e->ref, mem, &reply))
		lists_why(b, c, &reply, e, text);
}

static void
do_token(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);

	assert(e->token < b->effects.ntokens);
	resp_latch_told(b, e->session, e->ref, &b->effects.tokens[e->token]);
	if (c != NULL)
		resp_answer(b, c, e->ref, &b->effects.tokens[e->token], text);
	else if (e->session == 0)
		resp_audience_told(b, e->ref);
}

/* Log events of the core (core/notice.h) and the keys of their fields. */
static const struct {
	enum log_level level;
	const char *name;
} notices[NOTICE_MAX] = {
#define ROW(id, level, name) [NOTICE_##id] = { LOG_LEVEL_##level, name },
	CORE_NOTICES(ROW)
#undef ROW
};

#define END_NUM ""
#define END_STR ""
#define END_MS "_ms"
static const char *const log_keys[FIELD_LOG_MAX] = {
#define FIELD(id, key, how) [FIELD_##id] = key END_##how,
	FIELDS(FIELD)
#undef FIELD
#define LOGFIELD(id, key, how) [FIELD_##id] = key END_##how,
	    LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
};

static bool
is_text(enum field_id id)
{
	enum { NUM, MS, STR };
	static const int how[FIELD_LOG_MAX] = {
#define FIELD(id, key, how) [FIELD_##id] = how,
		FIELDS(FIELD)
#undef FIELD
#define LOGFIELD(id, key, how) [FIELD_##id] = how,
		    LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
	};

	return how[id] == STR;
}

#define LOG_VALUES_MAX 16

/*
 * The core knows shards by number; users know servers by address.  LOCK_ENDED
 * has a switch of its own (log.audit), and is logged at any log.level.
 */
static void
do_log(struct broker *b, const struct effect *e, const char *text)
{
	struct log_value v[LOG_VALUES_MAX];
	const struct field *f = b->effects.fields + e->field;
	size_t i;

	assert(e->nfields <= LOG_VALUES_MAX);
	if (e->notice != NOTICE_LOCK_ENDED &&
	    !log_enabled(notices[e->notice].level))
		return;
	for (i = 0; i < e->nfields; i++, f++) {
		v[i] = (struct log_value)LOG_N(log_keys[f->id], f->num);
		if (f->id == FIELD_SHARD)
			v[i] = (struct log_value)LOG_S(log_keys[f->id],
			    redis_node(b->redis, (uint32_t)f->num));
		else if (is_text(f->id))
			v[i] = (struct log_value)LOG_B(
			    log_keys[f->id], text + f->str, f->len);
	}
	log_values(
	    notices[e->notice].level, notices[e->notice].name, v, e->nfields);
}

static void
do_attach(struct broker *b, const struct effect *e)
{
	struct conn *c = front_find(b->front, e->conn);
	struct client *client;

	if (c == NULL)
		return;
	client = conn_data(c);
	client->session = e->session;
	client->late = false;
	conn_set_heartbeat(c, e->heartbeat_ms);
}

static void
do_close(struct broker *b, const struct effect *e)
{
	struct conn *c = front_find(b->front, e->conn);
	struct client *client;

	if (c == NULL)
		return;
	client = conn_data(c);
	client->session = 0;
	conn_kill(c);
}

/* No function called from here steps the core: see redis.h and front.h. */
void
bridge_run_effects(struct broker *b)
{
	struct effects *fx = &b->effects;
	const struct effect *e;
	const char *text = buf_len(&fx->text) == 0 ? "" : buf_data(&fx->text);
	size_t i;

	for (i = 0; i < fx->n; i++) {
		e = &fx->v[i];
		switch (e->kind) {
		case EFFECT_REPLY:
			do_reply(b, e, text);
			break;
		case EFFECT_EVENT:
			do_event(b, e, text);
			break;
		case EFFECT_QUEUE:
			do_queue(b, e, text);
			break;
		case EFFECT_FLEET:
			do_fleet(b, e, text);
			break;
		case EFFECT_WHY:
			do_why(b, e, text);
			break;
		case EFFECT_LINK:
			break; /* do_why() has looked at it */
		case EFFECT_TOKEN:
			do_token(b, e, text);
			break;
		case EFFECT_OP:
			redis_submit(b->redis, effects_op(fx, e));
			break;
		case EFFECT_LOG:
			do_log(b, e, text);
			break;
		case EFFECT_ATTACH:
			do_attach(b, e);
			break;
		case EFFECT_CLOSE:
			do_close(b, e);
			break;
		}
	}
	effects_clear(fx);
}
