/*
 * The handlers of verbs.  Requests on names go to the core, all of them through
 * ask_core().  Each other verb has a handler, here or in lists.c, which answers
 * with conn_reply(), or defers the request and tells the core. base/verbs.def
 * says which handler a verb has.
 *
 * The gate has checked words and options, so a handler takes them as they are.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/now.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/replace/resume_elsewhere.h"
#include "daemon/replace/takeover.h"
#include "daemon/replace/upgrade.h"
#include "daemon/users/identity.h"
#include "wire/resp_value.h"

#define DRILL_MS 60000 /* of a DRILL without max= */
#define LATCH_TTL_MS (INT64_C(24) * 60 * 60 * 1000) /* if LATCH gives none */

static void
reply_ok(struct conn *c, const struct request *r, const struct field *fields,
    size_t nfields, const char *arena)
{
	conn_reply(c, &(struct wire_reply){ .tag = r->tag,
			  .verb = r->verb,
			  .status = STATUS_OK,
			  .fields = fields,
			  .nfields = nfields,
			  .arena = arena });
}

static int64_t
number_or(const struct request *r, enum option_id o, int64_t otherwise)
{
	return request_has(r, o) ? r->num[o] : otherwise;
}

/* Returns the permits, the count or the step: each verb takes one of them. */
static int64_t
amount(const struct request *r)
{
	if (request_has(r, OPTION_COUNT))
		return r->num[OPTION_COUNT];
	return number_or(r, OPTION_PERMITS, number_or(r, OPTION_BY, 1));
}

/* For a request that gives none. */
static int64_t
latch_ttl_ms(const struct broker *b)
{
	int64_t most_ms = b->config->locks.limits.max_ttl_ms;

	return LATCH_TTL_MS < most_ms ? LATCH_TTL_MS : most_ms;
}

/*
 * Limits the wait of a Redis client, because its library has a timeout, too.
 */
static int64_t
wait_ms(const struct broker *b, const struct conn *c, const struct request *r)
{
	int64_t asked_ms = number_or(r, OPTION_WAIT, verbs[r->verb].wait_ms);
	int64_t most_ms = b->config->resp.max_wait_ms;

	if (most_ms == 0 || asked_ms <= most_ms || !resp_is(conn_protocol(c)))
		return asked_ms;
	return most_ms;
}

/* Passes a request on names to the core. */
static void
ask_core(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_request rq = { .verb = r->verb };
	struct core_event ev = { .kind = CORE_REQUEST };
	struct core_name names[CORE_NAMES_MAX];
	unsigned i;

	for (i = 0; i < r->nwords; i++)
		names[i] = (struct core_name){ r->words[i].p, r->words[i].n };
	rq.names = names;
	rq.nnames = r->nwords;
	rq.shared = number_or(r, OPTION_MODE, MODE_EXCLUSIVE) == MODE_SHARED;
	rq.untagged = r->tag.n == 0;
	rq.wait_ms = wait_ms(b, c, r);
	rq.has_hold = request_has(r, OPTION_HOLD);
	rq.hold_ms = number_or(r, OPTION_HOLD, 0);
	rq.keep_ms = number_or(r, OPTION_KEEP, 0);
	rq.delay_ms = number_or(r, OPTION_DELAY, 0);
	rq.queue_limit = request_has(r, OPTION_QUEUE)
			     ? (uint64_t)r->num[OPTION_QUEUE]
			     : UINT64_MAX;
	rq.number = (uint64_t)amount(r);
	rq.slot = number_or(r, OPTION_SLOT, 0) != 0;
	rq.limit = (uint64_t)number_or(
	    r, OPTION_LIMIT, number_or(r, OPTION_PARTIES, 0));
	rq.ttl_ms = number_or(r, OPTION_TTL, latch_ttl_ms(b));
	rq.max_ms = number_or(r, OPTION_LONGEST, DRILL_MS);
	rq.deaf = conn_protocol(c) == &wire_resp2;
	rq.fence = (uint64_t)number_or(r, OPTION_FENCE, 0);
	rq.kind = (enum kind)r->num[OPTION_KIND];
	rq.notes[NOTE_TRACE] = (struct core_name){ r->str[OPTION_TRACE].p,
		r->str[OPTION_TRACE].n };
	rq.notes[NOTE_VALUE] = (struct core_name){ r->str[OPTION_VALUE].p,
		r->str[OPTION_VALUE].n };
	rq.ref = conn_defer(c, r);
	ev.u.request.session = bridge_session(c);
	ev.u.request.request = &rq;
	bridge_step(b, &ev);
}

static void
handle_cancel(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_event ev = { .kind = CORE_CANCEL };

	ev.u.cancel.session = bridge_session(c);
	ev.u.cancel.ref = conn_tag_ref(c, r->words[0]);
	ev.u.cancel.by = conn_defer(c, r);
	bridge_step(b, &ev);
}

static const enum option_id session_options[SESSION_OPTIONS] = {
	[SESSION_GRACE] = OPTION_GRACE,
	[SESSION_HEARTBEAT] = OPTION_HEARTBEAT,
	[SESSION_END] = OPTION_END,
	[SESSION_WHY] = OPTION_WHY,
};

static void
handle_session(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_event ev = { .kind = CORE_SESSION_OPTIONS };
	struct core_session_options t = { .ref = 0 };
	unsigned i;

	if (request_has(r, OPTION_WHY) && resp_is(conn_protocol(c))) {
		conn_refuse(c, r, ERR_BAD_OPTION,
		    "why= works in the line protocol only; RESP has no field "
		    "for it");
		return;
	}
	t.ref = conn_defer(c, r);

	if (request_has(r, OPTION_LABEL)) {
		t.label = r->str[OPTION_LABEL].p;
		t.label_len = r->str[OPTION_LABEL].n;
	}
	for (i = 0; i < SESSION_OPTIONS; i++) {
		t.given |= (uint32_t)request_has(r, session_options[i]) << i;
		t.num[i] = r->num[session_options[i]];
	}
	if (getrandom(t.secret, sizeof(t.secret), 0) !=
	    (ssize_t)sizeof(t.secret))
		abort();
	ev.u.options.session = bridge_session(c);
	ev.u.options.options = &t;
	bridge_step(b, &ev);
}

/*
 * References belong to a connection, so it must owe no answer when its session
 * changes.
 */
static void
handle_resume(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_event ev = { .kind = CORE_RESUME };

	if (conn_owes(c)) {
		conn_refuse(c, r, ERR_BAD_REQUEST,
		    "requests of this connection are still in progress");
		return;
	}
	if (resume_elsewhere_asks(upgrade_resume_elsewhere(b->upgrade), c, r))
		return;
	ev.u.resume.session = bridge_session(c);
	ev.u.resume.key = r->str[OPTION_KEY].p;
	ev.u.resume.key_len = r->str[OPTION_KEY].n;
	ev.u.resume.ref = conn_defer(c, r);
	bridge_step(b, &ev);
}

/* The intended process answers, once it has the connection. */
static void
handle_leaving(struct broker *b, struct conn *c, const struct request *r)
{
	bool here =
	    b->leaving_ms > 0 && resume_elsewhere_is_this(b, r->words[0]);

	if (conn_owes(c) || !core_is_idle(b->core, bridge_session(c))) {
		conn_refuse(c, r, ERR_BAD_REQUEST,
		    "this session holds or waits for a lock");
	} else if (here) {
		reply_ok(c, r, NULL, 0, NULL);
	} else if (!resume_elsewhere_asks(
		       upgrade_resume_elsewhere(b->upgrade), c, r)) {
		conn_refuse(c, r, ERR_NOT_FOUND, RESUMPTION_NOT_LEAVING);
	}
}

static void
handle_ping(struct broker *b, struct conn *c, const struct request *r)
{
	int64_t valid_ms = core_ping(b->core, now_ms(), bridge_session(c));
	const struct field valid = { .id = FIELD_VALID,
		.num = (uint64_t)valid_ms };

	reply_ok(c, r, &valid, valid_ms >= 0, NULL);
}

static void
handle_ready(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_gauges gauges;
	struct buf why;

	core_gauges(b->core, now_ms(), &gauges);
	if (gauges.ready) {
		reply_ok(c, r, NULL, 0, NULL);
		return;
	}
	buf_init(&why);
	broker_why(&gauges, &why);
	conn_refuse(
	    c, r, ERR_UNAVAILABLE, "%.*s", (int)buf_len(&why), buf_data(&why));
	buf_fini(&why);
}

/* Has the broker go on. */
static void
abort_drain(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf why;

	buf_init(&why);
	if (broker_drain_no_more(b, &why))
		reply_ok(c, r, NULL, 0, NULL);
	else
		conn_refuse(c, r, ERR_UNAVAILABLE, "%.*s", (int)buf_len(&why),
		    buf_data(&why));
	buf_fini(&why);
}

/* The broker may end before the next line is read. */
static void
handle_drain(struct broker *b, struct conn *c, const struct request *r)
{
	int64_t left_ms;
	struct field fields[] = {
		{ .id = FIELD_HOLDS, .num = broker_counts(b).holds },
		{ .id = FIELD_CLIENTS, .num = front_count(b->front) },
		{ .id = FIELD_LEFT },
	};

	if (number_or(r, OPTION_ABORT, 0) != 0) {
		abort_drain(b, c, r);
		return;
	}
	left_ms = broker_leave_left_ms(b);
	fields[2].num = left_ms > 0 ? (uint64_t)left_ms : 0;
	reply_ok(c, r, fields, left_ms > 0 ? 3 : 2, NULL);
	broker_drain(b);
}

static void
handle_replace(struct broker *b, struct conn *c, const struct request *r)
{
	upgrade_begin(b->upgrade, conn_id(c), conn_defer(c, r));
}

static void
handle_version(struct broker *b, struct conn *c, const struct request *r)
{
#define EMBEDDED "embedded"
	static const char arena[] = EMBEDDED PACKAGE_VERSION;
	static const struct field fields[] = {
		{ .id = FIELD_VERSION,
		    .str = sizeof(EMBEDDED) - 1,
		    .len = sizeof(PACKAGE_VERSION) - 1 },
		{ .id = FIELD_PROTOCOL, .num = 1 },
		{ .id = FIELD_REDIS, .str = 0, .len = sizeof(EMBEDDED) - 1 },
	};
	bool embedded = b->config->redis.mode == CONFIG_MODE_EMBEDDED;

	reply_ok(c, r, fields, embedded ? 3 : 2, arena);
}

void
handle_quit(struct broker *b, struct conn *c, const struct request *r)
{
	struct client *client = conn_data(c);

	(void)b;
	reply_ok(c, r, NULL, 0, NULL);
	client->quit = true;
	conn_quit(c);
}

typedef void (*handler)(
    struct broker *b, struct conn *c, const struct request *r);

static const handler handlers[VERB_MAX] = {
#define CORE(function) ask_core
#define PART(function) ask_core
#define BROKER(function) function
#define VERB(id, word, min, max, kind, options, required, answer, ...) \
	[VERB_##id] = answer,
#include "base/verbs.def"
#undef VERB
#undef BROKER
#undef PART
#undef CORE
};

/* Returns true if it has refused the request. */
static bool
refuse_in_quorum(
    const struct broker *b, struct conn *c, const struct request *r)
{
	bool shared = number_or(r, OPTION_MODE, MODE_EXCLUSIVE) == MODE_SHARED;
	bool never = verb_has(r->verb, VERB_FLAG_ONE_SERVER);

	if (b->config->redis.mode != CONFIG_MODE_QUORUM ||
	    (!never && !shared &&
		number_or(r, OPTION_KIND, KIND_LOCK) == KIND_LOCK))
		return false;
	conn_refuse(c, r, ERR_UNSUPPORTED,
	    "%s is not available over a quorum of Redis servers",
	    shared		    ? "mode=shared"
	    : never		    ? verbs[r->verb].word
	    : r->verb == VERB_QUEUE ? "QUEUE of a " KIND_SYNC_TEXT
				    : "STATUS of a " KIND_SYNC_TEXT);
	return true;
}

void
handler_request(void *arg, struct conn *c, const struct request *r)
{
	const struct broker *b = arg;

	if (identity_refuses(b->identity, c, r) || refuse_in_quorum(b, c, r))
		return;
	handlers[r->verb](arg, c, r);
}
