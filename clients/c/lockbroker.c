/*
 * Distributed locks from lockbroker.
 *
 * Requests that may wait are tagged, so that a PING is answered meanwhile.  What
 * may be free is asked for in one go with a PING, both without tags, so that the
 * one is answered behind the other: that saves a round trip.  A hold is safe for as long as the broker said in answer to a PING that
 * was sent after its grant, counted from that sending; no lock is told before it
 * is.  A connection on which nothing is heard any more is given up, and with it
 * all that is held.
 */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/now.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "client/client.h"
#include "client/reconnect.h"
#include "clients/c/lockbroker.h"

#define EXPORT __attribute__((visibility("default")))

/* So long a broker is looked for by those who wait without end. */
#define SEARCH_MS 10000
/* So much longer than its wait a call may take. */
#define PATIENCE_MS 1000
/* Between attempts to find one. */
#define AGAIN_MS 100
/* So long a request waits at least at a second broker. */
#define RETRY_MS 200
/* A broker that says nothing for so long is given up. */
#define FROZEN_MS 5000
/* PINGs don't come closer together. */
#define ASK_MIN_MS 20

/* So long the end waits for a session that is to be resumed. */
#define CLOSE_MS 1000
/* So often a lock is waited for at once after one was not free. */
#define WARY 8

#define ERROR_SIZE 512

/* What has been granted: a lock, or permits of a semaphore. */
struct hold {
	TAILQ_ENTRY(hold) link;
	const char *kind; /* "lock" or "semaphore" */
	char *name;
	uint64_t fence;
	unsigned permits; /* of a semaphore, that are not given back */
	unsigned slot;	  /* of one of them, if it was asked for */
	int64_t until_ms; /* by now_ms(); 0: no PING has covered it yet */
	bool asked;	  /* the PING under way covers it */
	bool told;	  /* somebody works under it */
	bool lost;
	bool giving; /* it back: so does the end of the connection */
};

TAILQ_HEAD(hold_list, hold);

/*
 * What is to be given back, though nobody waits for it: a request that was given
 * up may be granted yet, and what should be released may be held yet.
 */
struct debt {
	TAILQ_ENTRY(debt) link;
	uint64_t tag; /* of that request; 0: once there is a connection */
	char *undo;
};

TAILQ_HEAD(debt_list, debt);

struct lockbroker {
	struct client link;
	struct address_list places;
	struct tls_files files; /* its strings are ours */
	char *login;
	char *hello;
	struct reconnect back; /* to the session that has what is held */
	uint64_t resuming;     /* the tag of the RESUME under way, or 0 */
	bool unanswered; /* the last request was, when its connection ended */
	bool outrun; /* a grant that is still being given back refused it */
	pid_t owner;
	struct hold_list holds;
	uint64_t tag;	 /* of the last request */
	uint64_t wanted; /* the tag of the reply that is waited for, or 0 */
	struct message reply; /* that reply, once it is there */
	uint64_t ping;	      /* the tag of the PING under way, or 0 */
	uint64_t plain[2]; /* tags of what was asked without them, in order */
	unsigned plain_n;
	unsigned wary;	   /* so often a lock is waited for without a try */
	int64_t pinged_ms; /* when the last one was sent */
	int64_t heard_ms;
	int64_t over_ms; /* when the call under way has to return */
	int64_t
	    quiet_ms; /* a broker that says nothing for so long is given up */
	struct debt_list debts;
	bool leaving; /* the broker wants us to go */
	bool lost;    /* something was, and lockbroker_process() has to say */
	lockbroker_lost_fn *on_lost;
	void *on_lost_arg;
	char error[ERROR_SIZE];
};

/* Errors. */

static const struct {
	const char *code; /* of an ERR */
	enum lockbroker_code means;
} codes[] = {
	{ "denied", LOCKBROKER_DENIED },
	{ "auth", LOCKBROKER_DENIED },
	{ "deadlock", LOCKBROKER_DEADLOCK },
	{ "unavailable", LOCKBROKER_UNAVAILABLE },
	{ "shutdown", LOCKBROKER_UNAVAILABLE },
	{ "bad-request", LOCKBROKER_INVALID },
	{ "bad-option", LOCKBROKER_INVALID },
	{ "bad-name", LOCKBROKER_INVALID },
	{ "lost", LOCKBROKER_LOST },
	{ "not-held", LOCKBROKER_LOST },
};

static const char *const meanings[] = {
	[LOCKBROKER_OK] = "no error",
	[LOCKBROKER_BUSY] = "held by another",
	[LOCKBROKER_TIMEOUT] = "not granted in time",
	[LOCKBROKER_LOST] = "lost",
	[LOCKBROKER_UNAVAILABLE] = "no broker can grant it now",
	[LOCKBROKER_DENIED] = "not permitted",
	[LOCKBROKER_DEADLOCK] = "sessions would wait for each other",
	[LOCKBROKER_INVALID] = "not a valid argument",
	[LOCKBROKER_FORKED] = "the handle belongs to the parent process",
	[LOCKBROKER_FAILED] = "failed",
};

EXPORT const char *
lockbroker_strerror(int code)
{
	const size_t n = sizeof(meanings) / sizeof(meanings[0]);

	return code >= 0 && (size_t)code < n ? meanings[code] : "unknown code";
}

EXPORT const char *
lockbroker_error(const struct lockbroker *lb)
{
	return lb->error;
}

static int
fail(struct lockbroker *lb, int code, const char *why)
{
	snprintf(lb->error, sizeof(lb->error), "%s",
	    why != NULL ? why : lockbroker_strerror(code));
	return code;
}

/* Somebody else has it, and the broker may have said who. */
static int
refused(struct lockbroker *lb, int code, const struct message *reply)
{
	static const char *const keys[] = { "holder", "broker", "age",
		"before" };
	struct buf why;
	struct pair p;
	size_t i, n = 0;

	buf_init(&why);
	buf_adds(&why, lockbroker_strerror(code));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!pair_find(reply->text, keys[i], &p))
			continue;
		buf_addf(&why, "%s%s=%.*s", n++ > 0 ? " " : " (", keys[i],
		    (int)p.value_len, p.value);
	}
	buf_adds(&why, n > 0 ? ")" : "");
	buf_addc(&why, '\0');
	(void)fail(lb, code, buf_data(&why));
	buf_fini(&why);
	return code;
}

/* What a reply means; notes the broker's words. */
static int
judge(struct lockbroker *lb, const struct message *reply)
{
	const size_t n = sizeof(codes) / sizeof(codes[0]);
	size_t i;

	switch (message_status(reply)) {
	case STATUS_OK:
		return LOCKBROKER_OK;
	case STATUS_BUSY:
		return refused(lb, LOCKBROKER_BUSY, reply);
	case STATUS_TIMEOUT:
		return refused(lb, LOCKBROKER_TIMEOUT, reply);
	default:
		break;
	}
	for (i = 0; i < n; i++)
		if (message_error_is(reply, codes[i].code))
			return fail(lb, codes[i].means, message_error(reply));
	return fail(lb, LOCKBROKER_FAILED, reply->text);
}

/* Holds. */

static struct hold *
find(const struct lockbroker *lb, const char *kind, const char *name, size_t n)
{
	struct hold *h;

	TAILQ_FOREACH (h, &lb->holds, link)
		if ((kind == NULL || strcmp(h->kind, kind) == 0) &&
		    strlen(h->name) == n && memcmp(h->name, name, n) == 0)
			return h;
	return NULL;
}

static void
forget(struct lockbroker *lb, struct hold *h)
{
	TAILQ_REMOVE(&lb->holds, h, link);
	free(h->name);
	free(h);
}

static void
lose(struct lockbroker *lb, struct hold *h, const char *reason)
{
	if (h->lost)
		return;
	h->lost = true;
	if (!h->told)
		return;
	lb->lost = true;
	if (lb->on_lost != NULL)
		lb->on_lost(lb->on_lost_arg, h->name, reason);
}

static void
lose_all(struct lockbroker *lb, const char *reason)
{
	struct hold *h;

	TAILQ_FOREACH (h, &lb->holds, link)
		if (!h->giving)
			lose(lb, h, reason);
}

static bool
holds_any(const struct lockbroker *lb)
{
	const struct hold *h;

	TAILQ_FOREACH (h, &lb->holds, link)
		if (!h->lost)
			return true;
	return false;
}

/* When the first of what is held is no longer safe; NEVER_MS: none is. */
static int64_t
safe_until(const struct lockbroker *lb)
{
	const struct hold *h;
	int64_t least = NEVER_MS;

	TAILQ_FOREACH (h, &lb->holds, link)
		if (!h->lost && h->until_ms != 0)
			least = min_ms(least, h->until_ms);
	return least;
}

EXPORT int64_t
lockbroker_valid_ms(const struct lockbroker *lb, const char *name)
{
	const struct hold *h;
	int64_t left;

	if (lb->owner != getpid())
		return 0;
	if (name != NULL) {
		h = find(lb, NULL, name, strlen(name));
		left = h == NULL || h->lost ? 0 : h->until_ms - now_ms();
	} else {
		left = safe_until(lb);
		left = left == NEVER_MS ? 0 : left - now_ms();
	}
	return left > 0 ? left : 0;
}

/* Debts. */

static void
debt_free(struct lockbroker *lb, struct debt *d)
{
	TAILQ_REMOVE(&lb->debts, d, link);
	free(d->undo);
	free(d);
}

static void
owe(struct lockbroker *lb, uint64_t tag, const char *undo)
{
	struct debt *d = xcalloc(1, sizeof(*d));

	d->tag = tag;
	d->undo = xstrndup(undo, strlen(undo));
	TAILQ_INSERT_TAIL(&lb->debts, d, link);
}

/* Nobody waits for the answer. */
static void
pay(struct lockbroker *lb, struct debt *d)
{
	client_send(&lb->link, "@%" PRIu64 " %s", ++lb->tag, d->undo);
	debt_free(lb, d);
}

/* The answer to a request that was given up. */
static void
take_late(struct lockbroker *lb, uint64_t tag, const struct message *m)
{
	struct debt *d;

	TAILQ_FOREACH (d, &lb->debts, link) {
		if (d->tag != tag)
			continue;
		if (message_status(m) == STATUS_OK)
			pay(lb, d);
		else
			debt_free(lb, d);
		return;
	}
}

/* The connection. */

/* Gives the connection up, and with it what is held. */
static void
drop(struct lockbroker *lb, const char *reason)
{
	client_close(&lb->link);
	reconnect_fini(&lb->back);
	while (!TAILQ_EMPTY(&lb->debts)) /* they end with the session */
		debt_free(lb, TAILQ_FIRST(&lb->debts));
	lb->ping = lb->plain_n = 0;
	lb->leaving = false;
	lose_all(lb, reason);
}

/*
 * The connection is lost.  The session has what it held, and perhaps what was
 * being asked for.
 */
static void
part(struct lockbroker *lb)
{
	const bool idle = !lb->back.away && lb->wanted == 0 && !holds_any(lb);

	if (idle || !reconnect_cut(&lb->back, now_ms())) {
		drop(lb, "unreachable");
		return;
	}
	client_close(&lb->link);
	lb->resuming = lb->ping = lb->plain_n = 0;
}

/* Looks for the session where it was. */
static void
resume(struct lockbroker *lb)
{
	char tag[24];

	snprintf(tag, sizeof(tag), "%" PRIu64, ++lb->tag);
	lb->resuming = 0;
	if (reconnect_try(&lb->back, &lb->link, tag, now_ms()))
		lb->resuming = lb->tag;
}

/* Time in which we did not run does not count for a call. */
static int64_t
clock_ms(const struct lockbroker *lb)
{
	return client_now_ms(&lb->link);
}

static void go_on(struct lockbroker *lb, int64_t deadline_ms);

/* Waits until the session has been resumed, or given up. */
static int
come_back(struct lockbroker *lb, int64_t deadline_ms)
{
	while (lb->back.away && clock_ms(lb) < deadline_ms)
		go_on(lb, deadline_ms);
	return lb->back.away
		   ? fail(lb, LOCKBROKER_UNAVAILABLE, "the connection is lost")
		   : LOCKBROKER_OK;
}

/* Connects, unless there is a connection that takes requests. */
static int
connect_by(struct lockbroker *lb, int64_t deadline_ms)
{
	struct client_probe probe = { lb->hello, 0, deadline_ms };
	struct message reply;
	struct buf why;
	enum client_got got;
	int code = come_back(lb, deadline_ms);

	if (code != LOCKBROKER_OK)
		return code;
	/* One that is drained may let us in, and not answer. */
	if (lb->leaving && !holds_any(lb)) {
		if (lb->link.address != NULL)
			probe.first =
			    (size_t)(lb->link.address - lb->places.items + 1) %
			    lb->places.n;
		drop(lb, "leaving");
	}
	if (lb->link.fd >= 0)
		return LOCKBROKER_OK;
	buf_init(&why);
	got = client_open(&lb->link, &lb->places, &probe, &reply, &why);
	if (got == CLIENT_MESSAGE) {
		code = judge(lb, &reply);
		reconnect_begin(&lb->back, &reply);
		message_fini(&reply);
	} else {
		buf_addc(&why, '\0');
		code = fail(lb,
		    got == CLIENT_REFUSED ? LOCKBROKER_DENIED
					  : LOCKBROKER_UNAVAILABLE,
		    buf_data(&why));
	}
	buf_fini(&why);
	if (code != LOCKBROKER_OK)
		client_close(&lb->link);
	else /* an older broker refuses that */
		client_send(
		    &lb->link, "@%" PRIu64 " SESSION why=yes", ++lb->tag);
	lb->heard_ms = now_ms();
	return code;
}

/* The same, again and again until then. */
static int
find_broker(struct lockbroker *lb, int64_t deadline_ms)
{
	int code;

	for (;;) {
		code = connect_by(lb, deadline_ms);
		if (code != LOCKBROKER_UNAVAILABLE ||
		    clock_ms(lb) + AGAIN_MS >= deadline_ms)
			return code;
		(void)client_poll(&lb->link, AGAIN_MS);
	}
}

/* What the broker says. */

static void
take_pong(struct lockbroker *lb, const struct message *m)
{
	struct hold *h;
	int64_t valid_ms;
	const bool told = pair_find_ms(m->text, "valid", &valid_ms);

	lb->ping = 0;
	TAILQ_FOREACH (h, &lb->holds, link) {
		if (h->asked && told && lb->pinged_ms + valid_ms > h->until_ms)
			h->until_ms = lb->pinged_ms + valid_ms;
		h->asked = false;
	}
}

static void
take_lost(struct lockbroker *lb, const struct message *m)
{
	const char *cursor = m->text;
	struct pair word, name, kind, why;
	char reason[64] = "lost";
	struct hold *h;

	if (!pair_next(&cursor, &word) || !pair_next(&cursor, &name))
		return;
	if (pair_find(m->text, "reason", &why))
		snprintf(reason, sizeof(reason), "%.*s", (int)why.value_len,
		    why.value);
	h = find(lb, pair_find(m->text, "kind", &kind) ? "semaphore" : "lock",
	    name.value, name.value_len);
	if (h != NULL)
		lose(lb, h, reason);
}

static void ping(struct lockbroker *lb);

/* The answer to RESUME. */
static void
take_resumed(struct lockbroker *lb, const struct message *m)
{
	lb->resuming = 0;
	if (message_error_is(m, "not-found")) {
		drop(lb, "unreachable");
		return;
	}
	if (message_status(m) != STATUS_OK) {
		part(lb);
		return;
	}
	/* What was lost meanwhile, the broker says after this. */
	reconnect_done(&lb->back);
	while (!TAILQ_EMPTY(&lb->debts))
		pay(lb, TAILQ_FIRST(&lb->debts));
	ping(lb);
}

/* The tag of the request that a message answers; 0: none. */
static uint64_t
answered(struct lockbroker *lb, const struct message *m)
{
	const uint64_t first = lb->plain[0];

	if (m->event)
		return 0;
	if (m->tag[0] != '\0')
		return strtoull(m->tag, NULL, 10);
	if (lb->plain_n == 0)
		return 0;
	lb->plain[0] = lb->plain[1];
	lb->plain_n--;
	return first;
}

static void
take(struct lockbroker *lb, struct message *m)
{
	const uint64_t tag = answered(lb, m);

	lb->heard_ms = now_ms();
	if (tag != 0 && tag == lb->wanted) {
		lb->reply = *m;
		lb->wanted = 0;
		return;
	}
	if (tag != 0 && tag == lb->ping) {
		take_pong(lb, m);
	} else if (tag != 0 && tag == lb->resuming) {
		take_resumed(lb, m);
	} else if (tag != 0) {
		take_late(lb, tag, m);
	} else if (m->event && message_is(m, "!LOST")) {
		take_lost(lb, m);
	} else if (m->event && message_is(m, "!SHUTDOWN")) {
		lb->leaving = true;
		lose_all(lb, "shutdown");
	} else if (m->event && message_is(m, "!LEAVING")) {
		lb->leaving = true;
	}
	message_fini(m);
}

/* Its own clock. */

static int64_t
ping_due(const struct lockbroker *lb)
{
	const int64_t until = safe_until(lb);
	int64_t every = lb->quiet_ms / 3;

	if (lb->link.fd < 0 || (!holds_any(lb) && lb->wanted == 0))
		return NEVER_MS;
	if (until != NEVER_MS)
		every = min_ms(every, (until - lb->pinged_ms) / 3);
	return lb->pinged_ms + (every > ASK_MIN_MS ? every : ASK_MIN_MS);
}

/* A PING is being sent. */
static void
begin_ping(struct lockbroker *lb)
{
	struct hold *h;

	lb->ping = ++lb->tag;
	lb->pinged_ms = now_ms();
	TAILQ_FOREACH (h, &lb->holds, link)
		h->asked = !h->lost;
}

static void
ping(struct lockbroker *lb)
{
	begin_ping(lb);
	client_send(&lb->link, "@%" PRIu64 " PING", lb->ping);
}

/* When a broker that has not answered a PING by then is given up. */
static int64_t
frozen_at(const struct lockbroker *lb)
{
	return max_ms(lb->pinged_ms, lb->heard_ms) +
	       (holds_any(lb) ? FROZEN_MS : lb->quiet_ms);
}

/* When tick() has something to do. */
static int64_t
next_due(const struct lockbroker *lb)
{
	int64_t due = safe_until(lb);

	if (lb->back.away)
		return min_ms(
		    due, min_ms(lb->back.try_ms, reconnect_over_ms(&lb->back)));
	if (lb->ping == 0)
		return min_ms(due, ping_due(lb));
	return min_ms(due, frozen_at(lb));
}

/* Asks for more time where it is due, and gives up what is no longer safe. */
static void
tick(struct lockbroker *lb)
{
	const int64_t now = now_ms();

	if (lb->link.fd < 0 && !lb->back.away)
		return;
	if (safe_until(lb) <= now ||
	    (lb->back.away && reconnect_over_ms(&lb->back) <= now)) {
		drop(lb, "unreachable");
	} else if (lb->back.away) {
		if (now >= lb->back.try_ms)
			resume(lb);
	} else if (lb->ping != 0 && now >= frozen_at(lb)) {
		if (!holds_any(lb))
			client_send(&lb->link, "QUIT"); /* should it wake up */
		drop(lb, "unreachable");
	} else if (lb->ping == 0 && now >= ping_due(lb)) {
		ping(lb);
	}
}

/*
 * Takes the messages that are there, up to the reply that is waited for: it says
 * what those behind it are about.  Returns false if there were none.
 */
static bool
take_all(struct lockbroker *lb)
{
	const uint64_t wanted = lb->wanted;
	struct message m;
	enum client_got got;
	bool any = false;

	while ((got = client_next(&lb->link, &m)) == CLIENT_MESSAGE) {
		take(lb, &m);
		any = true;
		if (lb->wanted != wanted)
			break;
	}
	if (got == CLIENT_GARBAGE)
		drop(lb, "unreachable");
	return any;
}

/*
 * Goes on for a moment, until then at most: reads what there is, and does what
 * is due.  A deadline that is over reads without waiting.
 */
static void
go_on(struct lockbroker *lb, int64_t deadline_ms)
{
	const int64_t now = now_ms();
	const int64_t left = min_ms(
	    deadline_ms == NEVER_MS ? NEVER_MS : deadline_ms - clock_ms(lb),
	    next_due(lb) == NEVER_MS ? NEVER_MS : next_due(lb) - now);
	const uint64_t wanted = lb->wanted;
	bool open = true;

	if (!take_all(lb) && (lb->link.fd >= 0 || lb->back.away)) {
		if (client_poll(&lb->link, left))
			open = client_pump(&lb->link);
		(void)take_all(lb);
	}
	if (lb->wanted != wanted)
		return; /* the next turn sees the end again */
	if (!open || (lb->link.fd < 0 && !lb->back.away))
		part(lb);
	tick(lb);
}

/* Requests. */

/* A request for something to hold, and what gives it back. */
struct want {
	const char *kind;
	const char *names;
	const char *line; /* without wait= */
	const char *undo;
	int64_t wait_ms;
	bool bounded; /* by `hold=` */
	bool again;   /* another broker did not answer it in time */
};

static void
begin_request(struct lockbroker *lb)
{
	lb->wanted = ++lb->tag;
	if (!holds_any(lb))
		lb->pinged_ms = lb->heard_ms = now_ms();
}

/*
 * A call begins, which may take so long: PATIENCE_MS more than it waits.  A
 * broker that says nothing has half of that, where another one may be asked, or
 * where there is time for the same one by another connection.
 */
static void
begin_call(struct lockbroker *lb, int64_t wait_ms)
{
	const int64_t all_ms = wait_ms + PATIENCE_MS;

	lb->over_ms = wait_ms < 0 ? NEVER_MS : clock_ms(lb) + all_ms;
	lb->quiet_ms = FROZEN_MS;
	if (wait_ms >= 0 && (lb->places.n > 1 || all_ms > 2 * PATIENCE_MS))
		lb->quiet_ms = min_ms(FROZEN_MS, all_ms * 3 / 8);
}

static bool
is_over(const struct lockbroker *lb)
{
	return clock_ms(lb) >= lb->over_ms;
}

/*
 * The broker is given up, as far as this request goes.  It will see the QUIT, or
 * the CANCEL, behind the request.
 */
static void
give_up(struct lockbroker *lb, const char *undo)
{
	if (!holds_any(lb)) {
		client_send(&lb->link, "QUIT");
		drop(lb, "unreachable");
		return;
	}
	client_send(
	    &lb->link, "@%" PRIu64 " CANCEL %" PRIu64, ++lb->tag, lb->wanted);
	if (undo != NULL)
		owe(lb, lb->wanted, undo);
}

static int
silent(struct lockbroker *lb)
{
	const struct place *at = lb->link.address;
	char why[ERROR_SIZE];

	snprintf(why, sizeof(why), "%.300s does not answer any more",
	    at != NULL ? at->text : "the broker");
	return fail(lb, LOCKBROKER_UNAVAILABLE, why);
}

/*
 * Waits for the reply to what was sent, which becomes *reply.  Returns
 * LOCKBROKER_UNAVAILABLE if the connection ends before, or the call is over:
 * then what it may have got yet is given back by `undo`.
 */
static int
await_reply(struct lockbroker *lb, const char *undo, struct message *reply)
{
	while (lb->wanted != 0 && lb->link.fd >= 0 && !lb->back.away &&
	       !is_over(lb))
		go_on(lb, lb->over_ms);
	if (lb->wanted != 0) {
		if (lb->link.fd >= 0 && !lb->back.away)
			give_up(lb, undo);
		lb->wanted = 0;
		return silent(lb);
	}
	*reply = lb->reply;
	return judge(lb, reply);
}

/* Sends a request and waits for its reply; `undo`: of what it gets, or NULL. */
static int
ask(struct lockbroker *lb, const char *line, const char *undo,
    struct message *reply)
{
	begin_request(lb);
	client_send(&lb->link, "@%" PRIu64 " %s", lb->wanted, line);
	return await_reply(lb, undo, reply);
}

/* Asks for what may be free, and how long it is safe. */
static int
ask_whether_free(
    struct lockbroker *lb, const struct want *w, struct message *reply)
{
	assert(lb->ping == 0 && lb->plain_n == 0);
	begin_request(lb);
	begin_ping(lb);
	lb->plain[0] = lb->wanted;
	lb->plain[1] = lb->ping;
	lb->plain_n = 2;
	client_send(&lb->link, "%s wait=0\nPING", w->line);
	return await_reply(lb, w->undo, reply);
}

/* Is it one line, and has it no words that are ours to give? */
static bool
is_line(const char *text)
{
	const unsigned char *p;

	for (p = (const unsigned char *)text; *p != '\0'; p++)
		if (*p < ' ' || *p == 0x7f)
			return false;
	return true;
}

static int
may(struct lockbroker *lb, const char *text, const char *more)
{
	if (lb->owner != getpid())
		return fail(lb, LOCKBROKER_FORKED, NULL);
	if (text == NULL)
		return fail(lb, LOCKBROKER_INVALID, "no name at all: NULL");
	if (!is_line(text) || (more != NULL && !is_line(more)))
		return fail(lb, LOCKBROKER_INVALID, "a control character");
	return LOCKBROKER_OK;
}

/* Calls f with each word; stops and returns false where f does. */
static bool
each_word(struct lockbroker *lb, const char *words,
    bool (*f)(struct lockbroker *lb, const char *word, size_t n))
{
	size_t n;

	for (; words += strspn(words, " "), *words != '\0'; words += n) {
		n = strcspn(words, " ");
		if (!f(lb, words, n))
			return false;
	}
	return true;
}

static bool
is_free_lock(struct lockbroker *lb, const char *word, size_t n)
{
	const struct hold *h = find(lb, "lock", word, n);

	return memchr(word, '=', n) == NULL && (h == NULL || h->lost);
}

static void
add(struct lockbroker *lb, const char *kind, const char *name, size_t n,
    uint64_t fence)
{
	struct hold *h = find(lb, kind, name, n);

	if (h != NULL)
		forget(lb, h);
	h = xcalloc(1, sizeof(*h));
	h->kind = kind;
	h->name = xstrndup(name, n);
	h->fence = fence;
	TAILQ_INSERT_TAIL(&lb->holds, h, link);
}

/* Enters what a reply grants: names, and their fences with commas between. */
static void
enter(struct lockbroker *lb, const char *kind, const char *names,
    const struct message *reply)
{
	struct pair fences, slot;
	const char *f = "";
	size_t n;
	char *end;

	if (pair_find(reply->text, "fence", &fences))
		f = fences.value;
	for (; names += strspn(names, " "), *names != '\0'; names += n) {
		n = strcspn(names, " ");
		add(lb, kind, names, n, strtoull(f, &end, 10));
		f = *end == ',' ? end + 1 : end;
	}
	if (pair_find(reply->text, "slot", &slot))
		TAILQ_LAST(&lb->holds, hold_list)->slot =
		    (unsigned)strtoul(slot.value, NULL, 10);
}

/* Asks how long what is held is safe. */
static void
ask_anew(struct lockbroker *lb)
{
	/* The one under way was sent before the grant. */
	while (lb->ping != 0 && lb->link.fd >= 0 && !is_over(lb))
		go_on(lb, lb->over_ms);
	if (lb->link.fd >= 0 && !lb->back.away)
		ping(lb);
}

/* What is granted is told once it is safe: after an answer to a PING. */
static bool
becomes_safe(struct lockbroker *lb, const char *kind, const char *names)
{
	struct hold *h;
	size_t n;

	while (lb->ping != 0 && lb->link.fd >= 0 && !is_over(lb))
		go_on(lb, lb->over_ms);
	TAILQ_FOREACH (h, &lb->holds, link)
		if (!h->told && (h->lost || h->until_ms <= now_ms()))
			return false;
	for (; names += strspn(names, " "), *names != '\0'; names += n) {
		n = strcspn(names, " ");
		find(lb, kind, names, n)->told = true;
	}
	return true;
}

/* Where one of several names was lost, the others are still held. */
static bool
give_one(struct lockbroker *lb, const char *name, size_t n)
{
	struct message reply = { 0 };
	char *line = NULL;

	if (asprintf(&line, "UNLOCK %.*s", (int)n, name) < 0)
		abort();
	(void)ask(lb, line, NULL, &reply);
	free(line);
	message_fini(&reply);
	return lb->link.fd >= 0 && !lb->back.away;
}

/* Asks all that are held of these; returns whether one was lost. */
static bool
ask_each(struct lockbroker *lb, const char *kind, const char *names,
    bool (*is_lost)(struct lockbroker *lb, struct hold *h))
{
	struct hold *h;
	bool lost = false;
	size_t n;

	for (; names += strspn(names, " "), *names != '\0'; names += n) {
		n = strcspn(names, " ");
		h = find(lb, kind, names, n);
		if (h != NULL && is_lost(lb, h))
			lost = true;
	}
	return lost;
}

static bool
begin_giving(struct lockbroker *lb, struct hold *h)
{
	(void)lb;
	h->giving = true;
	return h->lost || h->until_ms <= now_ms();
}

static bool
end_giving(struct lockbroker *lb, struct hold *h)
{
	bool lost = h->lost; /* meanwhile */

	h->giving = false;
	if (lost || h->permits == 0)
		forget(lb, h);
	return lost;
}

/*
 * Gives names back.  What was lost before is told by the code; where the
 * connection ends meanwhile, the broker takes them back: they were held until
 * then.
 */
static int
give_back(struct lockbroker *lb, const char *kind, const char *line,
    const char *names)
{
	struct message reply = { 0 };
	bool lost = ask_each(lb, kind, names, begin_giving);
	int code = LOCKBROKER_OK, tries;

	/* A session that is resumed has them still, or no longer. */
	for (tries = 0;; tries++) {
		(void)come_back(lb, lb->over_ms);
		if (lb->back.away) {
			owe(lb, 0, line);
			break;
		}
		if (lb->link.fd < 0)
			break;
		code = ask(lb, line, NULL, &reply);
		if (tries > 0 && reply.text != NULL &&
		    message_error_is(&reply, "not-held"))
			code = LOCKBROKER_OK;
		message_fini(&reply);
		if (!lb->back.away)
			break;
	}
	/* It is finished behind us: the broker has the line. */
	if (code == LOCKBROKER_UNAVAILABLE && (is_over(lb) || lb->link.fd < 0))
		code = LOCKBROKER_OK;
	if (code == LOCKBROKER_LOST && strchr(names, ' ') != NULL)
		(void)each_word(lb, names, give_one);
	lost = ask_each(lb, kind, names, end_giving) || lost;
	return lost ? fail(lb, LOCKBROKER_LOST, NULL) : code;
}

/* The session survived, but nobody knows whether it was granted something. */
static void
take_back(struct lockbroker *lb, const char *undo)
{
	struct message reply = { 0 };

	do {
		(void)come_back(lb, lb->over_ms);
		if (lb->back.away)
			owe(lb, 0, undo);
		if (lb->link.fd < 0)
			return;
		(void)ask(lb, undo, NULL, &reply);
		message_fini(&reply);
	} while (lb->back.away);
}

/* Is it perhaps free, and nothing else to be said here meanwhile? */
static bool
may_be_free(struct lockbroker *lb, const struct want *w)
{
	if (lb->ping != 0 || lb->plain_n > 0 || holds_any(lb))
		return false;
	if (w->wait_ms == 0 || lb->wary == 0)
		return true;
	lb->wary--;
	return false;
}

/* Asks for it as long as there is time. */
static int
ask_for(struct lockbroker *lb, const struct want *w, int64_t end_ms,
    struct message *reply)
{
	struct buf line;
	int code;

	buf_init(&line);
	buf_adds(&line, w->line);
	if (end_ms != NEVER_MS)
		buf_addf(&line, " wait=%" PRId64 "ms",
		    w->wait_ms > 0
			? max_ms(end_ms - now_ms(), w->again ? RETRY_MS : 1)
			: 0);
	buf_addc(&line, '\0');
	code = ask(lb, buf_data(&line), w->undo, reply);
	buf_fini(&line);
	return code;
}

/* Enters what a reply has granted, and tells it once it is safe. */
static int
take_up(struct lockbroker *lb, const struct want *w,
    const struct message *reply, bool asked)
{
	struct hold *h;

	enter(lb, w->kind, w->names, reply);
	if (asked)
		TAILQ_FOREACH (h, &lb->holds, link)
			h->asked = !h->lost;
	else
		ask_anew(lb);
	if (becomes_safe(lb, w->kind, w->names))
		return LOCKBROKER_OK;
	(void)give_back(lb, w->kind, w->undo, w->names);
	return fail(lb, LOCKBROKER_LOST, "lost as soon as it was granted");
}

static int
try_grant(struct lockbroker *lb, const struct want *w, int64_t end_ms)
{
	struct message reply = { 0 };
	bool tried = may_be_free(lb, w), owes = !TAILQ_EMPTY(&lb->debts);
	int code = LOCKBROKER_OK;

	if (tried) {
		code = ask_whether_free(lb, w, &reply);
		if (w->wait_ms != 0 && reply.text != NULL &&
		    (code == LOCKBROKER_BUSY ||
			message_error_is(&reply, "unavailable"))) {
			message_fini(&reply);
			lb->wary = WARY;
			tried = false;
		}
	}
	if (!tried)
		code = ask_for(lb, w, end_ms, &reply);
	lb->unanswered = lb->back.away && reply.text == NULL;
	lb->outrun =
	    owes && reply.text != NULL && message_error_is(&reply, "exists");
	if (lb->unanswered)
		take_back(lb, w->undo);
	else if (code == LOCKBROKER_OK)
		code = take_up(lb, w, &reply, tried);
	else if (reply.text != NULL && message_error_is(&reply, "shutdown"))
		lb->leaving = true;
	message_fini(&reply);
	return code;
}

/*
 * Is a request that ended so to be made again?  One that a broker that has gone,
 * or goes, did not grant; what was lost before anybody had it, unless its own
 * bound was over; and a slot, while the one of a request that was given up is
 * still being given back.
 */
static bool
is_to_repeat(const struct lockbroker *lb, const struct want *w, int code)
{
	if (code == LOCKBROKER_LOST)
		return !w->bounded;
	if (lb->outrun)
		return true;
	return code == LOCKBROKER_UNAVAILABLE &&
	       (lb->link.fd < 0 || lb->unanswered ||
		   (lb->leaving && !holds_any(lb)));
}

/* Asks until there is an answer, at other brokers if need be. */
static int
grant(struct lockbroker *lb, struct want *w)
{
	int64_t heard = clock_ms(lb);
	const int64_t end = w->wait_ms < 0 ? NEVER_MS : now_ms() + w->wait_ms;
	bool last = false;
	int code, tries;

	begin_call(lb, w->wait_ms);
	for (tries = 1;; tries++) {
		code = find_broker(lb, min_ms(lb->over_ms, heard + SEARCH_MS));
		if (code != LOCKBROKER_OK)
			return code;
		w->again = tries > 1 || now_ms() > end;
		code = try_grant(lb, w, end);
		if (last || is_over(lb) || !is_to_repeat(lb, w, code))
			return code;
		heard = max_ms(heard, lb->heard_ms - lb->link.still_ms);
		last = now_ms() >= end;
		if (tries > 1)
			(void)client_poll(&lb->link, AGAIN_MS);
	}
}

/* To the broker `hold=0` is without end; here it is a time that is over. */
static bool
has_time(struct lockbroker *lb, const char *word, size_t n)
{
	static const char key[] = "hold=0";

	(void)lb;
	return n < sizeof(key) - 1 ||
	       strncasecmp(word, key, sizeof(key) - 1) != 0;
}

/* Says what it is about. */
static int
name_error(struct lockbroker *lb, const char *names, int code)
{
	char why[ERROR_SIZE];

	if (code == LOCKBROKER_OK)
		return code;
	snprintf(why, sizeof(why), "%.200s: %.300s", names, lb->error);
	return fail(lb, code, why);
}

EXPORT int
lockbroker_lock(struct lockbroker *lb, const char *names, const char *options,
    int64_t wait_ms, uint64_t *fence)
{
	struct buf line, undo;
	struct want w = { .kind = "lock", .names = names, .wait_ms = wait_ms };
	int code = may(lb, names, options);

	if (code != LOCKBROKER_OK)
		return code;
	if (names[strspn(names, " ")] == '\0')
		return fail(lb, LOCKBROKER_INVALID, "a lock has a name");
	if (!each_word(lb, names, is_free_lock))
		return fail(lb, LOCKBROKER_INVALID,
		    "a name that this handle has, or that is none");
	if (options != NULL && !each_word(lb, options, has_time))
		return fail(lb, LOCKBROKER_INVALID,
		    "hold= is 0: leave it out to hold without end");
	buf_init(&line);
	buf_addf(&line, "LOCK %s%s%s", names, options != NULL ? " " : "",
	    options != NULL ? options : "");
	buf_addc(&line, '\0');
	buf_init(&undo);
	buf_addf(&undo, "UNLOCK %s", names);
	buf_addc(&undo, '\0');
	w.line = buf_data(&line);
	w.undo = buf_data(&undo);
	w.bounded = options != NULL && strstr(options, "hold=") != NULL;
	code = name_error(lb, names, grant(lb, &w));
	buf_fini(&line);
	buf_fini(&undo);
	names += strspn(names, " ");
	if (code == LOCKBROKER_OK && fence != NULL)
		*fence = find(lb, "lock", names, strcspn(names, " "))->fence;
	return code;
}

static bool
is_held(struct lockbroker *lb, const char *word, size_t n)
{
	return find(lb, "lock", word, n) != NULL;
}

EXPORT int
lockbroker_unlock(struct lockbroker *lb, const char *names)
{
	struct buf line;
	int code = may(lb, names, NULL);

	if (code != LOCKBROKER_OK)
		return code;
	if (!each_word(lb, names, is_held))
		return fail(lb, LOCKBROKER_INVALID, "not held by this handle");
	buf_init(&line);
	buf_addf(&line, "UNLOCK %s", names);
	buf_addc(&line, '\0');
	begin_call(lb, 0);
	code = give_back(lb, "lock", buf_data(&line), names);
	buf_fini(&line);
	return code;
}

/* Takes permits; `words` say how many, or that one of them has a slot. */
static int
acquire(struct lockbroker *lb, const char *name, unsigned permits,
    const char *words, int64_t wait_ms)
{
	struct buf line, undo;
	struct want w = {
		.kind = "semaphore", .names = name, .wait_ms = wait_ms
	};
	struct hold *h;
	int code = may(lb, name, NULL);

	if (code != LOCKBROKER_OK)
		return code;
	h = find(lb, "semaphore", name, strlen(name));
	if (name[0] == '\0' || strpbrk(name, " =") != NULL ||
	    (h != NULL && !h->lost))
		return fail(lb, LOCKBROKER_INVALID,
		    "a name that this handle has, or that is none");
	buf_init(&line);
	buf_addf(&line, "ACQUIRE %s %s", name, words);
	buf_addc(&line, '\0');
	buf_init(&undo);
	buf_addf(&undo, "RELEASE %s permits=%u", name, permits);
	buf_addc(&undo, '\0');
	w.line = buf_data(&line);
	w.undo = buf_data(&undo);
	code = name_error(lb, name, grant(lb, &w));
	h = find(lb, "semaphore", name, strlen(name));
	if (code == LOCKBROKER_OK && h != NULL)
		h->permits = permits;
	buf_fini(&line);
	buf_fini(&undo);
	return code;
}

EXPORT int
lockbroker_acquire(struct lockbroker *lb, const char *name, unsigned limit,
    unsigned permits, int64_t wait_ms)
{
	char words[64];

	snprintf(words, sizeof(words), "limit=%u permits=%u", limit, permits);
	return acquire(lb, name, permits, words, wait_ms);
}

EXPORT int
lockbroker_acquire_slot(struct lockbroker *lb, const char *name, unsigned limit,
    int64_t wait_ms, unsigned *slot)
{
	char words[64];
	int code;

	snprintf(words, sizeof(words), "limit=%u slot=yes", limit);
	code = acquire(lb, name, 1, words, wait_ms);
	if (code == LOCKBROKER_OK && slot != NULL)
		*slot = find(lb, "semaphore", name, strlen(name))->slot;
	return code;
}

EXPORT int
lockbroker_release(struct lockbroker *lb, const char *name, unsigned permits)
{
	struct buf line;
	struct hold *h;
	int code = may(lb, name, NULL);

	if (code != LOCKBROKER_OK)
		return code;
	h = find(lb, "semaphore", name, strlen(name));
	if (h == NULL)
		return fail(lb, LOCKBROKER_INVALID, "not held by this handle");
	if (permits == 0 || permits > h->permits)
		return fail(lb, LOCKBROKER_INVALID,
		    "permits: at least 1, and no more than this handle holds");
	buf_init(&line);
	buf_addf(&line, "RELEASE %s permits=%u", name, permits);
	buf_addc(&line, '\0');
	begin_call(lb, 0);
	h->permits -= permits;
	code = give_back(lb, "semaphore", buf_data(&line), name);
	buf_fini(&line);
	return code;
}

/* The whole reply as one text. */
static char *
text_of(const struct message *m)
{
	struct buf text;
	char *copy;
	size_t i;

	buf_init(&text);
	buf_adds(&text, m->text);
	for (i = 0; i < m->lines_n; i++)
		buf_addf(&text, "\n%s", m->lines[i]);
	copy = xstrndup(buf_data(&text), buf_len(&text));
	buf_fini(&text);
	return copy;
}

EXPORT int
lockbroker_request(struct lockbroker *lb, const char *line, char **reply)
{
	struct message m = { 0 };
	int code = may(lb, line, NULL);

	if (reply != NULL)
		*reply = NULL;
	if (code == LOCKBROKER_OK && (line[0] == '\0' || line[0] == '@'))
		code = fail(lb, LOCKBROKER_INVALID, "not a request");
	if (code == LOCKBROKER_OK)
		begin_call(lb, -1);
	if (code == LOCKBROKER_OK)
		code = find_broker(lb, clock_ms(lb) + SEARCH_MS);
	if (code != LOCKBROKER_OK)
		return code;
	code = ask(lb, line, NULL, &m);
	if (reply != NULL && m.text != NULL)
		*reply = text_of(&m);
	message_fini(&m);
	return code;
}

/* Values. */

/* Asks for what may be asked twice. */
static int
ask_twice(struct lockbroker *lb, const char *line, struct message *reply)
{
	int code, tries = 0;

	begin_call(lb, 0);
	do {
		code = find_broker(lb, lb->over_ms);
		if (code == LOCKBROKER_OK)
			code = ask(lb, line, NULL, reply);
	} while (reply->text == NULL && ++tries < 2 && !is_over(lb));
	return code;
}

EXPORT int
lockbroker_set_value(struct lockbroker *lb, const char *name, const char *value)
{
	struct message reply = { 0 };
	const struct hold *h;
	char *line = NULL;
	int code = may(lb, name, value);

	if (code != LOCKBROKER_OK)
		return code;
	if (value == NULL || value[0] == '\0' || strchr(value, ' ') != NULL)
		return fail(lb, LOCKBROKER_INVALID, "a value is one word");
	h = find(lb, "lock", name, strlen(name));
	if (h == NULL)
		return fail(lb, LOCKBROKER_INVALID, "not held by this handle");
	if (lockbroker_valid_ms(lb, name) == 0)
		return name_error(lb, name, fail(lb, LOCKBROKER_LOST, NULL));
	if (asprintf(&line, "SETVALUE %s value=%s", name, value) < 0)
		abort();
	code = name_error(lb, name, ask_twice(lb, line, &reply));
	message_fini(&reply);
	free(line);
	return code;
}

EXPORT int
lockbroker_value(struct lockbroker *lb, const char *name, char **value)
{
	struct message reply = { 0 };
	struct pair p;
	char *line = NULL;
	int code = may(lb, name, NULL);

	*value = NULL;
	if (code != LOCKBROKER_OK)
		return code;
	if (name[0] == '\0' || strpbrk(name, " =") != NULL)
		return fail(lb, LOCKBROKER_INVALID, "not a name");
	if (asprintf(&line, "STATUS %s", name) < 0)
		abort();
	code = ask_twice(lb, line, &reply);
	if (code == LOCKBROKER_OK && pair_find(reply.text, "value", &p))
		*value = xstrndup(p.value, p.value_len);
	code = name_error(lb, name, code);
	message_fini(&reply);
	free(line);
	return code;
}

/* Event loops. */

EXPORT void
lockbroker_on_lost(struct lockbroker *lb, lockbroker_lost_fn *lost, void *arg)
{
	lb->on_lost = lost;
	lb->on_lost_arg = arg;
}

EXPORT int
lockbroker_fd(const struct lockbroker *lb)
{
	return lb->link.fd;
}

EXPORT short
lockbroker_events(const struct lockbroker *lb)
{
	return client_events(&lb->link);
}

EXPORT int
lockbroker_timeout_ms(const struct lockbroker *lb)
{
	const int64_t due = next_due(lb);
	const int64_t left = due - now_ms();

	if ((lb->link.fd < 0 && !lb->back.away) || due == NEVER_MS)
		return -1;
	if (left <= 0)
		return 0;
	return left < FROZEN_MS ? (int)left : FROZEN_MS;
}

EXPORT int
lockbroker_process(struct lockbroker *lb)
{
	if (lb->owner != getpid())
		return fail(lb, LOCKBROKER_FORKED, NULL);
	if (lb->link.fd >= 0 || lb->back.away)
		go_on(lb, 0);
	if (lb->lost) {
		lb->lost = false;
		return fail(lb, LOCKBROKER_LOST, NULL);
	}
	return lb->link.fd >= 0 || lb->back.away
		   ? LOCKBROKER_OK
		   : fail(lb, LOCKBROKER_UNAVAILABLE, NULL);
}

/* Life. */

static char *
copy(const char *text)
{
	return text != NULL && text[0] != '\0' ? xstrndup(text, strlen(text))
					       : NULL;
}

static char *
join(const char *a, const char *b, const char *c)
{
	struct buf text;
	char *joined;

	buf_init(&text);
	buf_addf(&text, "%s%s%s", a, b, c != NULL ? c : "");
	joined = xstrndup(buf_data(&text), buf_len(&text));
	buf_fini(&text);
	return joined;
}

/* A word of the protocol, so that it can't become more than that. */
static bool
is_word(const char *text)
{
	return text == NULL || (is_line(text) && strchr(text, ' ') == NULL);
}

static int
set_up(struct lockbroker *lb, const char *addresses,
    const struct lockbroker_options *o)
{
	struct buf hello;
	const char *why;
	char *login;

	if (!is_word(o->user) || !is_word(o->password) || !is_word(o->label))
		return fail(lb, LOCKBROKER_INVALID, "an option is no word");
	if (addresses == NULL || addresses[0] == '\0')
		addresses = getenv("LOCKBROKER");
	if (addresses == NULL || addresses[0] == '\0')
		address_list_local(&lb->places);
	else if (!address_list_parse(&lb->places, addresses, &why))
		return fail(lb, LOCKBROKER_INVALID, why);
	lb->files.ca = copy(o->ca);
	lb->files.cert = copy(o->cert);
	lb->files.key = copy(o->key);
	address_list_trust(&lb->places, &lb->files);
	if (o->user != NULL) {
		login = join("AUTH ", o->user, " ");
		lb->login =
		    join(login, o->password != NULL ? o->password : "", NULL);
		explicit_bzero(login, strlen(login));
		free(login);
		lb->link.login = lb->login;
	}
	lb->back.grace_ms = o->grace_ms;
	buf_init(&hello);
	buf_adds(&hello, "SESSION");
	if (o->label != NULL)
		buf_addf(&hello, " label=%s", o->label);
	if (o->grace_ms > 0)
		buf_addf(&hello, " grace=%" PRId64 "ms", o->grace_ms);
	lb->hello = xstrndup(buf_data(&hello), buf_len(&hello));
	buf_fini(&hello);
	return LOCKBROKER_OK;
}

EXPORT int
lockbroker_open(struct lockbroker **out, const char *addresses,
    const struct lockbroker_options *options)
{
	struct lockbroker *lb = xcalloc(1, sizeof(*lb));
	struct lockbroker_options o = { 0 };
	int code;

	*out = lb;
	client_init(&lb->link, NULL);
	TAILQ_INIT(&lb->holds);
	TAILQ_INIT(&lb->debts);
	begin_call(lb, -1);
	lb->owner = getpid();
	if (options != NULL)
		memcpy(&o, options,
		    options->size < sizeof(o) ? options->size : sizeof(o));
	code = set_up(lb, addresses, &o);
	if (code != LOCKBROKER_OK)
		return code;
	return connect_by(lb, clock_ms(lb) + SEARCH_MS);
}

EXPORT void
lockbroker_close(struct lockbroker *lb)
{
	struct hold *h;

	if (lb == NULL)
		return;
	if (lb->owner == getpid() && lb->back.grace_ms > 0) {
		/* It may be lost already. */
		go_on(lb, 0);
		(void)come_back(lb, clock_ms(lb) + CLOSE_MS);
	}
	if (lb->link.fd >= 0 && lb->owner == getpid())
		client_send(&lb->link, "QUIT");
	client_fini(&lb->link);
	while ((h = TAILQ_FIRST(&lb->holds)) != NULL)
		forget(lb, h);
	while (!TAILQ_EMPTY(&lb->debts))
		debt_free(lb, TAILQ_FIRST(&lb->debts));
	address_list_fini(&lb->places);
	free((char *)(uintptr_t)lb->files.ca);
	free((char *)(uintptr_t)lb->files.cert);
	free((char *)(uintptr_t)lb->files.key);
	if (lb->login != NULL)
		explicit_bzero(lb->login, strlen(lb->login));
	free(lb->login);
	free(lb->hello);
	reconnect_fini(&lb->back);
	free(lb);
}
