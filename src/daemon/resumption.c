/*
 * See resumption.h.  What was read of a connection and what it was not sent yet
 * go along as hexadecimal digits, because packets have texts.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/users.h"
#include "base/list.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "daemon/bridge.h"
#include "daemon/identity.h"
#include "daemon/resumption.h"
#include "relay/packet.h"

#define ANSWER_MS 3000
#define BYTES_MAX 12000 /* that go along, in each direction */
#define KEY_MAX 64	/* no key is as long */

/* A RESUME that waits.  Owned by the resumption. */
struct quest {
	struct resumption *of;
	uint64_t number, conn, ref;
	unsigned awaited; /* answers */
	struct event *late;
	char key[KEY_MAX];
	LIST_ENTRY(quest) link;
};

struct resumption {
	struct broker *broker;
	unsigned (*ask_all)(struct broker *b, const struct packet *p);
	uint64_t last;
	LIST_HEAD(, quest) quests;
	unsigned promised; /* connections that were not handed to us yet ... */
	int64_t until_ms;  /* ... and are not waited for after that */
};

static const struct wire_protocol *const protocols[] = { &wire_lines,
	&wire_resp2, &wire_resp3 };

#define NPROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

static void
quest_free(struct quest *q)
{
	LIST_REMOVE(q, link);
	event_free(q->late);
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
not_found(struct quest *q)
{
	refuse(q, ERR_NOT_FOUND, "no session has that key, or it has ended");
}

static void
on_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	refuse(arg, ERR_UNAVAILABLE,
	    "the process that has the session does not answer; try again");
}

static const char *
user_of(const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->user != NULL ? user_name(client->user) : "";
}

/* Asks all others, under a new number.  Returns false if there are none. */
static bool
ask(struct quest *q, const struct conn *c)
{
	struct resumption *r = q->of;
	struct packet p;

	q->number = ++r->last;
	packet_begin(&p, "has");
	packet_add_num(&p, (int64_t)q->number);
	packet_add(&p, q->key);
	packet_add(&p, user_of(c));
	q->awaited = r->ask_all(r->broker, &p);
	return q->awaited > 0;
}

bool
resumption_asks(
    struct resumption *r, struct conn *c, const struct request *request)
{
	const struct timeval late = ms_to_timeval(ANSWER_MS);
	struct span key = request->str[OPTION_KEY];
	struct broker *b = r->broker;
	struct quest *q;

	if (key.n >= KEY_MAX ||
	    core_resumable(b->core, now_ms(), key.p, key.n, NULL))
		return false;
	q = xcalloc(1, sizeof(*q));
	memcpy(q->key, key.p, key.n);
	q->of = r;
	if (!ask(q, c)) {
		free(q);
		return false;
	}
	q->conn = conn_id(c);
	q->ref = conn_defer(c, request);
	q->late = evtimer_new(b->base, on_late, q);
	if (q->late == NULL || evtimer_add(q->late, &late) < 0)
		abort();
	LIST_INSERT_HEAD(&r->quests, q, link);
	return true;
}

/* The connection. */

static void
add_hex(struct packet *p, struct span bytes)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * BYTES_MAX + 1];
	size_t i;

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
    struct span tag, const char *key)
{
	if (protocol != &wire_lines)
		buf_addf(out, "*2\r\n$6\r\nRESUME\r\n$%zu\r\nkey=%s\r\n",
		    strlen("key=") + strlen(key), key);
	else if (tag.n > 0)
		buf_addf(
		    out, "@%.*s RESUME key=%s\r\n", (int)tag.n, tag.p, key);
	else
		buf_addf(out, "RESUME key=%s\r\n", key);
}

static enum packet_end
send_conn(int peer, const struct conn *c, const struct front_passed *passed,
    const struct buf *in)
{
	struct packet p;
	size_t i = 0;

	while (i < NPROTOCOLS - 1 && protocols[i] != passed->protocol)
		i++;
	packet_begin(&p, "take");
	packet_add_num(&p, (int64_t)i);
	packet_add_num(&p, passed->tcp);
	packet_add_num(&p, passed->proxied);
	packet_add(&p, passed->peer != NULL ? passed->peer : "");
	packet_add(&p, user_of(c));
	add_hex(&p, (struct span){ buf_data(in), buf_len(in) });
	add_hex(&p, passed->out);
	return p.full ? PACKET_LATER : packet_send(peer, &p, passed->fd);
}

/* Hands the connection over.  On failure the client is told. */
static void
give(struct quest *q, int peer)
{
	struct broker *b = q->of->broker;
	struct conn *c = front_find(b->front, q->conn);
	struct wire_reply reply = { .status = STATUS_ERR,
		.code = ERR_UNAVAILABLE };
	static const char why[] = "too much is under way; try again";
	char mem[TAG_MAX_BYTES + 1];
	struct front_passed passed;
	struct buf in;

	if (c == NULL || !conn_answered(c, q->ref, mem, &reply)) {
		quest_free(q);
		return;
	}
	buf_init(&in);
	conn_pass(c, &passed);
	write_request(&in, passed.protocol, reply.tag, q->key);
	buf_add(&in, passed.in.p, passed.in.n);
	if (!conn_owes(c) && core_is_idle(b->core, bridge_session(c)) &&
	    buf_len(&in) <= BYTES_MAX && passed.out.n <= BYTES_MAX &&
	    send_conn(peer, c, &passed, &in) == PACKET_OK) {
		conn_passed(c);
	} else {
		reply.text = (struct span){ why, sizeof(why) - 1 };
		conn_reply(c, &reply);
	}
	buf_fini(&in);
	quest_free(q);
}

static void
on_answer(struct resumption *r, int peer, uint64_t number, bool yes)
{
	struct quest *q;

	LIST_FOREACH (q, &r->quests, link)
		if (q->number == number)
			break;
	if (q == NULL)
		return;
	assert(q->awaited > 0);
	if (yes)
		give(q, peer);
	else if (--q->awaited == 0)
		not_found(q);
}

/* Whether it had answered isn't known here: the others are asked again. */
void
resumption_gone(struct resumption *r)
{
	struct quest *q, *next;
	const struct conn *c;

	LIST_FOREACH_SAFE (q, &r->quests, link, next) {
		c = front_find(r->broker->front, q->conn);
		if (c == NULL)
			quest_free(q);
		else if (!ask(q, c))
			not_found(q);
	}
}

/* In the process that may have the session. */

/* One that leaves asks the one that does not. */
static void
on_has(struct resumption *r, int peer, const struct packet *p)
{
	const char *key = packet_text(p, 2), *user = packet_text(p, 3);
	bool yes = r->broker->leaving_ms == 0 ||
		   core_resumable(r->broker->core, now_ms(), key, strlen(key),
		       user[0] != '\0' ? user : NULL);
	struct packet answer;

	if (yes) {
		r->promised++;
		r->until_ms = now_awake_ms() + ANSWER_MS;
	}
	packet_begin(&answer, yes ? "yes" : "no");
	packet_add_num(&answer, packet_num(p, 1));
	(void)!packet_send(peer, &answer, -1);
}

static void
on_take(struct resumption *r, struct packet *p)
{
	struct broker *b = r->broker;
	const char *peer = packet_text(p, 4), *user = packet_text(p, 5);
	struct front_passed passed = {
		.tcp = packet_num(p, 2) != 0,
		.proxied = packet_num(p, 3) != 0,
		.peer = peer[0] != '\0' ? peer : NULL,
		.protocol = protocols[(size_t)packet_num(p, 1) % NPROTOCOLS],
	};
	struct buf in, out;
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
	if (user[0] != '\0')
		identity_handed(b->identity, c, user);
	LOG(INFO, "client-handed-back", LOG_S("peer", conn_peer(c)));
	buf_fini(&in);
	buf_fini(&out);
	front_wake(b->front);
}

bool
resumption_expects(const struct resumption *r)
{
	return r->promised > 0 && now_awake_ms() < r->until_ms;
}

bool
resumption_hears(struct resumption *r, int peer, struct packet *p)
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

struct resumption *
resumption_new(struct broker *b,
    unsigned (*ask_all)(struct broker *b, const struct packet *p))
{
	struct resumption *r = xcalloc(1, sizeof(*r));

	r->broker = b;
	r->ask_all = ask_all;
	/* Answers to a process come to the next one if it is replaced. */
	r->last = (uint64_t)getpid() << 32;
	LIST_INIT(&r->quests);
	return r;
}

void
resumption_free(struct resumption *r)
{
	struct quest *q;

	while ((q = LIST_FIRST(&r->quests)) != NULL)
		quest_free(q);
	free(r);
}
