/*
 * What each verb does: one row, one handler.  A handler answers into
 * conn_output(), or defers the request and gives it to the core.
 *
 * The gate has checked words and options, so a handler takes them as they
 * are.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "config/config.h"
#include "daemon/bridge.h"
#include "daemon/clock.h"
#include "wire/reply.h"

#define LATCH_TTL_MS (INT64_C(24) * 60 * 60 * 1000) /* where LATCH has none */

static void
reply_ok(struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);

	reply_begin(out, r->tag, STATUS_OK);
	reply_end(out);
}

static int64_t
number_or(const struct request *r, enum option_id o, int64_t otherwise)
{
	return request_has(r, o) ? r->num[o] : otherwise;
}

/* Permits, a count or by how much: each verb takes one of them. */
static int64_t
amount(const struct request *r)
{
	if (request_has(r, OPTION_COUNT))
		return r->num[OPTION_COUNT];
	return number_or(r, OPTION_PERMITS, number_or(r, OPTION_BY, 1));
}

static const enum core_kind kinds[] = {
	[KIND_LOCK] = CORE_KIND_LOCK,
	[KIND_SEMAPHORE] = CORE_KIND_SEMAPHORE,
	[KIND_LATCH] = CORE_KIND_LATCH,
	[KIND_BARRIER] = CORE_KIND_BARRIER,
};

/* Where the request has none. */
static int64_t
latch_ttl_ms(const struct broker *b)
{
	int64_t most_ms = b->config->locks.max_ttl_ms;

	return LATCH_TTL_MS < most_ms ? LATCH_TTL_MS : most_ms;
}

/* Gives a request on names to the core. */
static void
ask_core(struct broker *b, struct conn *c, const struct request *r,
    enum core_verb verb, int64_t wait_ms)
{
	struct core_request rq = { .verb = verb };
	struct core_event ev = { .kind = CORE_REQUEST };
	struct core_name names[CORE_NAMES_MAX];
	unsigned i;

	for (i = 0; i < r->nwords; i++)
		names[i] = (struct core_name){ r->words[i].p, r->words[i].n };
	rq.names = names;
	rq.nnames = r->nwords;
	rq.shared = number_or(r, OPTION_MODE, MODE_EXCLUSIVE) == MODE_SHARED;
	rq.untagged = r->tag.n == 0;
	rq.wait_ms = wait_ms;
	rq.has_hold = request_has(r, OPTION_HOLD);
	rq.hold_ms = number_or(r, OPTION_HOLD, 0);
	rq.keep_ms = number_or(r, OPTION_KEEP, 0);
	rq.delay_ms = number_or(r, OPTION_DELAY, 0);
	rq.queue_limit = request_has(r, OPTION_QUEUE)
			     ? (uint64_t)r->num[OPTION_QUEUE]
			     : UINT64_MAX;
	rq.number = (uint64_t)amount(r);
	rq.limit = (uint64_t)number_or(
	    r, OPTION_LIMIT, number_or(r, OPTION_PARTIES, 0));
	rq.ttl_ms = number_or(r, OPTION_TTL, latch_ttl_ms(b));
	if (request_has(r, OPTION_KIND))
		rq.kind = kinds[r->num[OPTION_KIND]];
	rq.ref = conn_defer(c, r);
	ev.u.request.session = bridge_session(c);
	ev.u.request.request = &rq;
	bridge_step(b, &ev);
}

static void
handle_lock(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(
	    b, c, r, CORE_LOCK, number_or(r, OPTION_WAIT, CORE_WAIT_FOREVER));
}

static void
handle_trylock(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_LOCK, 0);
}

static void
handle_unlock(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_UNLOCK, 0);
}

static void
handle_extend(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_EXTEND, 0);
}

static void
handle_status(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_STATUS, 0);
}

static void
handle_queue(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_QUEUE, 0);
}

static void
handle_acquire(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_ACQUIRE,
	    number_or(r, OPTION_WAIT, CORE_WAIT_FOREVER));
}

static void
handle_release(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_RELEASE, 0);
}

static void
handle_latch(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_LATCH, 0);
}

static void
handle_countdown(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_COUNTDOWN, 0);
}

static void
handle_await(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(
	    b, c, r, CORE_AWAIT, number_or(r, OPTION_WAIT, CORE_WAIT_FOREVER));
}

static void
handle_barrier(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_BARRIER,
	    number_or(r, OPTION_WAIT, CORE_WAIT_FOREVER));
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

static void
handle_watch(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_WATCH, 0);
}

static void
handle_unwatch(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_UNWATCH, 0);
}

static void
handle_unlock_force(struct broker *b, struct conn *c, const struct request *r)
{
	ask_core(b, c, r, CORE_FORCE, 0);
}

static void
handle_session(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_event ev = { .kind = CORE_TENURE };
	struct core_tenure t = { .ref = conn_defer(c, r) };

	if (request_has(r, OPTION_LABEL)) {
		t.label = r->str[OPTION_LABEL].p;
		t.label_len = r->str[OPTION_LABEL].n;
	}
	t.has_grace = request_has(r, OPTION_GRACE);
	t.grace_ms = number_or(r, OPTION_GRACE, 0);
	t.has_heartbeat = request_has(r, OPTION_HEARTBEAT);
	t.heartbeat_ms = number_or(r, OPTION_HEARTBEAT, 0);
	if (getrandom(t.secret, sizeof(t.secret), 0) !=
	    (ssize_t)sizeof(t.secret))
		abort();
	ev.u.tenure.session = bridge_session(c);
	ev.u.tenure.tenure = &t;
	bridge_step(b, &ev);
}

/* References are of a connection, so it must owe no answer when it changes. */
static void
handle_resume(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_event ev = { .kind = CORE_RESUME };

	if (conn_owes(c)) {
		reply_error(conn_output(c), r->tag, ERR_BAD_REQUEST,
		    "requests of this connection are still under way");
		return;
	}
	ev.u.resume.session = bridge_session(c);
	ev.u.resume.key = r->str[OPTION_KEY].p;
	ev.u.resume.key_len = r->str[OPTION_KEY].n;
	ev.u.resume.ref = conn_defer(c, r);
	bridge_step(b, &ev);
}

static void
handle_ping(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);
	int64_t valid_ms = bridge_valid_ms(b, c);

	reply_begin(out, r->tag, STATUS_OK);
	if (valid_ms >= 0)
		reply_field_num(out, FIELD_VALID, (uint64_t)valid_ms);
	reply_end(out);
}

static void
handle_ready(struct broker *b, struct conn *c, const struct request *r)
{
	struct core_gauges gauges;

	core_gauges(b->core, clock_now_ms(), &gauges);
	if (gauges.ready)
		reply_ok(c, r);
	else
		reply_error(
		    conn_output(c), r->tag, ERR_UNAVAILABLE, "%s", gauges.why);
}

static void
handle_version(struct broker *b, struct conn *c, const struct request *r)
{
	static const char embedded[] = "embedded";
	struct buf *out = conn_output(c);

	reply_begin(out, r->tag, STATUS_OK);
	reply_field_str(out, FIELD_VERSION,
	    (struct span){ PACKAGE_VERSION, strlen(PACKAGE_VERSION) });
	reply_field_num(out, FIELD_PROTOCOL, 1);
	if (b->config->redis.mode == CONFIG_MODE_EMBEDDED)
		reply_field_str(out, FIELD_REDIS,
		    (struct span){ embedded, strlen(embedded) });
	reply_end(out);
}

static void
handle_quit(struct broker *b, struct conn *c, const struct request *r)
{
	struct client *client = conn_data(c);

	(void)b;
	reply_ok(c, r);
	client->quit = true;
	conn_quit(c);
}

/* Nobody is known by a password yet, so whoever comes with one is wrong. */
static void
handle_auth(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	reply_error(
	    conn_output(c), r->tag, ERR_AUTH, "this broker has no users");
}

/* Without users, everybody is nobody in particular. */
static void
handle_whoami(struct broker *b, struct conn *c, const struct request *r)
{
	static const char nobody[] = "-";
	struct buf *out = conn_output(c);

	(void)b;
	reply_begin(out, r->tag, STATUS_OK);
	reply_field_str(
	    out, FIELD_USER, (struct span){ nobody, strlen(nobody) });
	reply_end(out);
}

typedef void (*handler)(
    struct broker *b, struct conn *c, const struct request *r);

static const handler handlers[VERB_MAX] = {
	[VERB_LOCK] = handle_lock,
	[VERB_TRYLOCK] = handle_trylock,
	[VERB_UNLOCK] = handle_unlock,
	[VERB_EXTEND] = handle_extend,
	[VERB_STATUS] = handle_status,
	[VERB_QUEUE] = handle_queue,
	[VERB_NAMES] = handle_names,
	[VERB_UNLOCK_FORCE] = handle_unlock_force,
	[VERB_ACQUIRE] = handle_acquire,
	[VERB_RELEASE] = handle_release,
	[VERB_LATCH] = handle_latch,
	[VERB_COUNTDOWN] = handle_countdown,
	[VERB_AWAIT] = handle_await,
	[VERB_BARRIER] = handle_barrier,
	[VERB_WATCH] = handle_watch,
	[VERB_UNWATCH] = handle_unwatch,
	[VERB_SESSION] = handle_session,
	[VERB_RESUME] = handle_resume,
	[VERB_LIST] = handle_list,
	[VERB_CANCEL] = handle_cancel,
	[VERB_PING] = handle_ping,
	[VERB_READY] = handle_ready,
	[VERB_STATS] = handle_stats,
	[VERB_VERSION] = handle_version,
	[VERB_HELP] = handle_help,
	[VERB_AUTH] = handle_auth,
	[VERB_WHOAMI] = handle_whoami,
	[VERB_QUIT] = handle_quit,
};

/* What would be unsound over servers that vote, or is not built for them. */
static const bool unsound_in_quorum[VERB_MAX] = {
	[VERB_UNLOCK_FORCE] = true,
	[VERB_ACQUIRE] = true,
	[VERB_RELEASE] = true,
	[VERB_LATCH] = true,
	[VERB_COUNTDOWN] = true,
	[VERB_AWAIT] = true,
	[VERB_BARRIER] = true,
};

/* True: it was refused. */
static bool
refuse_in_quorum(
    const struct broker *b, struct conn *c, const struct request *r)
{
	bool shared = number_or(r, OPTION_MODE, MODE_EXCLUSIVE) == MODE_SHARED;

	if (b->config->redis.mode != CONFIG_MODE_QUORUM ||
	    (!unsound_in_quorum[r->verb] && !shared &&
		number_or(r, OPTION_KIND, KIND_LOCK) == KIND_LOCK))
		return false;
	reply_error(conn_output(c), r->tag, ERR_UNSUPPORTED,
	    "%s is not available over a quorum of Redis servers",
	    shared ? "mode=shared"
	    : unsound_in_quorum[r->verb]
		? verbs[r->verb].word
		: "STATUS of a semaphore, latch or barrier");
	return true;
}

void
handler_request(void *arg, struct conn *c, const struct request *r)
{
	if (refuse_in_quorum(arg, c, r))
		return;
	handlers[r->verb](arg, c, r);
}
