/*
 * See resume_elsewhere.h.  The bytes that were read of a connection, and those
 * that it was not sent yet, go along as hexadecimal digits, because packets
 * have texts.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "auth/users.h"
#include "base/list.h"
#include "base/log.h"
#include "base/now.h"
#include "base/quiet.h"
#include "base/table.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "daemon/bridge/bridge.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/resume_elsewhere.h"
#include "daemon/users/identity.h"
#include "relay/channel.h"
#include "relay/packet.h"

#define ANSWER_MS 3000
#define BYTES_MAX 12000 /* that go along, in each direction */
#define KEY_MAX 64	/* no key is as long */
#define TAKE_TEXTS 9	/* before the names of the certificate */
#define FULL "too many requests are in progress; try again"

TAILQ_HEAD(quest_list, quest);

/* A RESUME or LEAVING that waits.  Owned by struct resume_elsewhere. */
struct quest {
	struct resume_elsewhere *of;
	enum verb_id verb;
	uint64_t number, conn, ref;
	unsigned awaited;     /* answers */
	struct channel *said; /* the process that has said yes; NULL: none */
	struct event *late;
	char key[KEY_MAX]; /* or an instance, which is shorter than any */
	struct table_link by_number;
	TAILQ_ENTRY(quest) link; /* of the lists `asking` or `told` */
};

/* A question of another process while users and rights are being read.  Owned
 * by the struct resume_elsewhere. */
struct question {
	struct channel *peer;
	int64_t number;
	char *key, *user; /* owned */
	TAILQ_ENTRY(question) link;
};

struct resume_elsewhere {
	struct broker *broker;
	int (*ask_all)(struct broker *b, const struct packet *p);
	uint64_t last;
	struct table by_number;
	struct quest_list asking;
	struct quest_list told; /* yes, and wait for room in the channel */
	TAILQ_HEAD(, question) held;
	bool holds;	   /* users and rights are being read anew */
	unsigned promised; /* connections that were not handed to us yet ... */
	int64_t until_ms;  /* ... and are not waited for after that */
	struct quiet quiet;
};

static const struct wire_protocol *const protocols[] = { &wire_lines,
	&wire_resp2, &wire_resp3 };

#define NPROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

static void
take_out(struct quest *q)
{
	struct resume_elsewhere *r = q->of;

	table_remove(&r->by_number, &q->by_number);
	TAILQ_REMOVE(q->said != NULL ? &r->told : &r->asking, q, link);
}

static void
quest_free(struct quest *q)
{
	take_out(q);
	event_free(q->late);
	free(q);
}

static void
question_free(struct resume_elsewhere *r, struct question *q)
{
	TAILQ_REMOVE(&r->held, q, link);
	free(q->key);
	free(q->user);
	free(q);
}

static void
refuse(struct quest *q, enum err_code code, const char *why)
{
	struct broker *b = q->of->broker;
	struct conn *c = front_find(b->front, q->conn);

	if (c != NULL)
		(void)bridge_answer(b, c, q->ref,
		    &(struct wire_reply){ .status = STATUS_ERR,
			.code = code,
			.text = { why, strlen(why) } });
	quest_free(q);
}

static void
on_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	refuse(arg, ERR_UNAVAILABLE,
	    "the process that owns it does not answer; try again");
}

/* Asks all others, under a new number.  Returns like ask_all(). */
static int
ask(struct quest *q, const struct conn *c)
{
	struct resume_elsewhere *r = q->of;
	struct packet p;
	int n;

	q->number = ++r->last;
	packet_begin(&p, "has");
	packet_add_num(&p, (int64_t)q->number);
	packet_add(&p, q->key);
	packet_add(&p, identity_name(c));
	n = r->ask_all(r->broker, &p);
	q->awaited = n > 0 ? (unsigned)n : 0;
	q->said = NULL;
	TAILQ_INSERT_TAIL(&r->asking, q, link);
	table_add(&r->by_number, &q->by_number);
	return n;
}

/* No process, or not all, could be asked. */
static void
not_asked(struct quest *q, int n)
{
	if (n == 0)
		refuse(q, ERR_NOT_FOUND,
		    q->verb == VERB_LEAVING
			? RESUMPTION_NOT_LEAVING
			: "no session has that key; it may have ended");
	else
		refuse(q, ERR_UNAVAILABLE, FULL);
}

bool
resume_elsewhere_is_this(const struct broker *b, struct span instance)
{
	char mine[LEAVER_INSTANCE_SIZE];

	snprintf(mine, sizeof(mine), "%016" PRIx64, b->instance);
	return instance.n == sizeof(mine) - 1 &&
	       memcmp(instance.p, mine, instance.n) == 0;
}

static bool
is_here(const struct broker *b, const struct request *request, struct span key)
{
	return request->verb == VERB_LEAVING
		   ? resume_elsewhere_is_this(b, key)
		   : core_resumable(b->core, now_ms(), key.p, key.n, NULL);
}

bool
resume_elsewhere_asks(
    struct resume_elsewhere *r, struct conn *c, const struct request *request)
{
	const struct timeval late = ms_to_timeval(ANSWER_MS);
	struct span key = request->verb == VERB_LEAVING
			      ? request->words[0]
			      : request->str[OPTION_KEY];
	struct broker *b = r->broker;
	struct quest *q;
	int n;

	if (key.n >= KEY_MAX || is_here(b, request, key))
		return false;
	q = xcalloc(1, sizeof(*q));
	memcpy(q->key, key.p, key.n);
	q->of = r;
	q->verb = request->verb;
	q->conn = conn_id(c);
	q->late = evtimer_new(b->base, on_late, q);
	if (q->late == NULL || evtimer_add(q->late, &late) < 0)
		abort();
	n = ask(q, c);
	if (n == 0) {
		quest_free(q);
		return false;
	}
	q->ref = conn_defer(c, request);
	if (n < 0)
		not_asked(q, n);
	return true;
}

/* The connection. */

static void
add_hex(struct packet *p, struct span bytes)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * BYTES_MAX + 1];
	size_t i;

	assert(bytes.n <= BYTES_MAX);
	for (i = 0; i < bytes.n; i++) {
		text[2 * i] = digits[(unsigned char)bytes.p[i] >> 4];
		text[2 * i + 1] = digits[(unsigned char)bytes.p[i] & 15];
	}
	text[2 * bytes.n] = '\0';
	packet_add(p, text);
}

static unsigned
digit(char c)
{
	return ((unsigned)c & 15u) + (c > '9' ? 9u : 0u);
}

static void
read_hex(struct buf *out, const char *text)
{
	for (; text[0] != '\0' && text[1] != '\0'; text += 2)
		buf_addc(out, (char)(digit(text[0]) << 4 | digit(text[1])));
}

/* The request again, as the client has sent it. */
static void
write_request(struct buf *out, const struct wire_protocol *protocol,
    struct span tag, const struct quest *q)
{
	const char *verb = verbs[q->verb].word,
		   *key = q->verb == VERB_RESUME ? "key=" : "";

	if (protocol != &wire_lines)
		buf_addf(out, "*2\r\n$%zu\r\n%s\r\n$%zu\r\n%s%s\r\n",
		    strlen(verb), verb, strlen(key) + strlen(q->key), key,
		    q->key);
	else
		buf_addf(out, "%s%.*s%s%s %s%s\r\n", tag.n > 0 ? "@" : "",
		    (int)tag.n, tag.p, tag.n > 0 ? " " : "", verb, key, q->key);
}

static bool
send_conn(struct channel *peer, const struct conn *c,
    const struct front_passed *passed, const struct buf *in)
{
	struct packet p;
	size_t i = 0;

	assert(passed->fd >= 0);
	while (i < NPROTOCOLS - 1 && protocols[i] != passed->protocol)
		i++;
	packet_begin(&p, "take");
	packet_add_num(&p, (int64_t)i);
	packet_add_num(&p, passed->tcp);
	packet_add_num(&p, passed->proxied);
	packet_add(&p, passed->peer != NULL ? passed->peer : "");
	packet_add(&p, identity_name(c));
	add_hex(&p, (struct span){ buf_data(in), buf_len(in) });
	add_hex(&p, passed->out);
	packet_add(&p, identity_via(c));
	for (i = 0; i < passed->nnames; i++)
		packet_add(&p, passed->names[i]);
	return !p.full && channel_hand(peer, &p, passed->fd);
}

static bool
is_fit(const struct broker *b, const struct conn *c,
    const struct front_passed *passed, const struct buf *in)
{
	return !conn_owes(c) && core_is_idle(b->core, bridge_session(c)) &&
	       buf_len(in) <= BYTES_MAX && passed->out.n <= BYTES_MAX;
}

/* Hands the connection over, or tells the client why not.  Returns false if it
 * has to wait for room. */
static bool
give(struct quest *q)
{
	struct broker *b = q->of->broker;
	struct conn *c = front_find(b->front, q->conn);
	struct wire_reply reply = { .status = STATUS_ERR,
		.code = ERR_UNAVAILABLE };
	char mem[TAG_MAX_BYTES + 1];
	struct front_passed passed;
	bool given = false, fit;
	struct buf in;

	assert(q->said != NULL);
	if (c == NULL || !conn_answered(c, q->ref, mem, &reply)) {
		quest_free(q);
		return true;
	}
	buf_init(&in);
	conn_pass(c, &passed);
	write_request(&in, passed.protocol, reply.tag, q);
	buf_add(&in, passed.in.p, passed.in.n);
	fit = is_fit(b, c, &passed, &in);
	if (fit)
		given = send_conn(q->said, c, &passed, &in);
	buf_fini(&in);
	if (fit && !given && !channel_has_room(q->said)) {
		q->ref = conn_defer(
		    c, &(struct request){ .verb = q->verb, .tag = reply.tag });
		return false;
	}
	if (given) {
		conn_passed(c);
	} else {
		reply.text = (struct span){ FULL, strlen(FULL) };
		conn_reply(c, &reply);
	}
	quest_free(q);
	return true;
}

void
resume_elsewhere_room(struct resume_elsewhere *r, struct channel *peer)
{
	struct quest *q, *next;

	TAILQ_FOREACH_SAFE (q, &r->told, link, next)
		if (q->said == peer && !give(q))
			return;
}

static void
on_answer(
    struct resume_elsewhere *r, struct channel *peer, uint64_t number, bool yes)
{
	struct quest *q = container_or_null(
	    table_find_key(&r->by_number, &number), struct quest, by_number);

	if (q == NULL || q->said != NULL)
		return;
	assert(q->awaited > 0);
	if (yes) {
		TAILQ_REMOVE(&r->asking, q, link);
		TAILQ_INSERT_TAIL(&r->told, q, link);
		q->said = peer;
		if (channel_has_room(peer))
			(void)give(q);
	} else if (--q->awaited == 0) {
		not_asked(q, 0);
	}
}

/* Whether it had answered isn't known here: the others are asked again. */
static void
ask_again(struct quest *q)
{
	const struct conn *c = front_find(q->of->broker->front, q->conn);
	int n;

	if (c == NULL) {
		quest_free(q);
		return;
	}
	take_out(q);
	n = ask(q, c);
	if (n <= 0)
		not_asked(q, n);
}

void
resume_elsewhere_gone(struct resume_elsewhere *r, const struct channel *peer)
{
	uint64_t last = r->last;
	struct quest *q, *next;
	struct question *asked, *after;

	TAILQ_FOREACH_SAFE (asked, &r->held, link, after)
		if (peer == NULL || asked->peer == peer)
			question_free(r, asked);
	TAILQ_FOREACH_SAFE (q, &r->told, link, next)
		if (peer == NULL || q->said == peer)
			ask_again(q);
	TAILQ_FOREACH_SAFE (q, &r->asking, link, next) {
		if (q->number > last)
			break;
		ask_again(q);
	}
}

/* In the process that may have the session, or the instance. */

/* Old processes ask the process that does not leave. */
static void
answer_has(struct resume_elsewhere *r, struct channel *peer, int64_t number,
    const char *key, const char *user)
{
	const struct span asked = { key, strlen(key) };
	bool yes = r->broker->leaving_ms == 0 ||
		   resume_elsewhere_is_this(r->broker, asked) ||
		   core_resumable(r->broker->core, now_ms(), key, asked.n,
		       user[0] != '\0' ? user : NULL);
	struct packet answer;

	if (yes) {
		r->promised++;
		r->until_ms = now_awake_ms() + ANSWER_MS;
	}
	packet_begin(&answer, yes ? "yes" : "no");
	packet_add_num(&answer, number);
	/* There are no more answers than questions, which are limited. */
	(void)channel_tell(peer, &answer, SIZE_MAX);
}

static void
on_has(struct resume_elsewhere *r, struct channel *peer, const struct packet *p)
{
	struct question *q;

	if (!r->holds) {
		answer_has(r, peer, packet_num(p, 1), packet_text(p, 2),
		    packet_text(p, 3));
		return;
	}
	q = xcalloc(1, sizeof(*q));
	q->peer = peer;
	q->number = packet_num(p, 1);
	q->key = xstrdup(packet_text(p, 2));
	q->user = xstrdup(packet_text(p, 3));
	TAILQ_INSERT_TAIL(&r->held, q, link);
}

void
resume_elsewhere_hold(struct resume_elsewhere *r, bool on)
{
	struct question *q;

	r->holds = on;
	while (!on && (q = TAILQ_FIRST(&r->held)) != NULL) {
		answer_has(r, q->peer, q->number, q->key, q->user);
		question_free(r, q);
	}
}

bool
resume_elsewhere_holds(const struct resume_elsewhere *r)
{
	return r->holds;
}

static void
on_take(struct resume_elsewhere *r, struct packet *p)
{
	struct broker *b = r->broker;
	const char *peer = packet_text(p, 4), *user = packet_text(p, 5);
	struct front_passed passed = {
		.tcp = packet_num(p, 2) != 0,
		.proxied = packet_num(p, 3) != 0,
		.peer = peer[0] != '\0' ? peer : NULL,
		.names = p->text + TAKE_TEXTS,
		.nnames = p->n > TAKE_TEXTS ? p->n - TAKE_TEXTS : 0,
		.protocol = protocols[(size_t)packet_num(p, 1) % NPROTOCOLS],
	};
	struct buf in, out;
	uint64_t left_out;
	struct conn *c;

	if (r->promised > 0)
		r->promised--;
	if (p->fd < 0)
		return; /* no descriptor was left */
	passed.fd = packet_take_fd(p);
	buf_init(&in);
	buf_init(&out);
	read_hex(&in, packet_text(p, 6));
	read_hex(&out, packet_text(p, 7));
	passed.in = (struct span){ buf_data(&in), buf_len(&in) };
	passed.out = (struct span){ buf_data(&out), buf_len(&out) };
	c = front_receive(b->front, &passed);
	if (user[0] != '\0' &&
	    !identity_handed(b->identity, c, user, packet_text(p, 8)))
		conn_kill(c);
	if (quiet_may_log(&r->quiet, &left_out))
		LOG(INFO, "client-handed-back", LOG_S("peer", conn_peer(c)),
		    LOG_N("left_out", left_out));
	buf_fini(&in);
	buf_fini(&out);
	front_wake(b->front);
}

bool
resume_elsewhere_expects(const struct resume_elsewhere *r)
{
	return r->promised > 0 && now_awake_ms() < r->until_ms;
}

bool
resume_elsewhere_hears(
    struct resume_elsewhere *r, struct channel *peer, struct packet *p)
{
	if (packet_is(p, "yes", 1) || packet_is(p, "no", 1))
		on_answer(r, peer, (uint64_t)packet_num(p, 1),
		    packet_is(p, "yes", 1));
	else if (packet_is(p, "has", 3))
		on_has(r, peer, p);
	else if (packet_is(p, "take", 7))
		on_take(r, p);
	else
		return false;
	return true;
}

struct resume_elsewhere *
resume_elsewhere_new(
    struct broker *b, int (*ask_all)(struct broker *b, const struct packet *p))
{
	struct resume_elsewhere *r = xcalloc(1, sizeof(*r));
	uint32_t first;

	r->broker = b;
	r->ask_all = ask_all;
	/* Answers to a process come to the next one if it is replaced; and in
	 * two containers both may be process 1. */
	if (getrandom(&first, sizeof(first), 0) != (ssize_t)sizeof(first))
		abort();
	r->last = (uint64_t)(first >> 1) << 32;
	table_init_key(&r->by_number, struct quest, by_number, number);
	TAILQ_INIT(&r->asking);
	TAILQ_INIT(&r->told);
	TAILQ_INIT(&r->held);
	return r;
}

void
resume_elsewhere_free(struct resume_elsewhere *r)
{
	struct question *asked;
	struct quest *q;

	while ((asked = TAILQ_FIRST(&r->held)) != NULL)
		question_free(r, asked);
	while ((q = TAILQ_FIRST(&r->asking)) != NULL ||
	       (q = TAILQ_FIRST(&r->told)) != NULL)
		quest_free(q);
	table_fini(&r->by_number);
	free(r);
}
