/*
 * Other ways to wait for a lock on Redis.
 *
 *	token   a list with one element: BLPOP takes it, LPUSH gives it back.
 *		Not safe, as it is gone with its holder: the bound of what
 *		Redis can do.
 *	pubsub  as Redisson does: try; subscribe and try again; at each message
 *		everybody tries again.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "load.h"
#include "resp.h"

static void
command(struct peer *p, const char *verb, const char *prefix, const char *rest)
{
	struct buf text;

	buf_init(&text);
	resp_words(&text, "%s %s%s%s", verb, prefix, p->name, rest);
	peer_send(p, buf_data(&text), buf_len(&text));
	buf_fini(&text);
}

static void
delete_keys(struct peers *peers, const char *prefix, bool fill)
{
	const struct load *load = peers->arg;
	int fd = peer_connect(load->prepared);
	unsigned i, n = load->names > 0 ? load->names : load->clients;
	const char *kind = load->names > 0 ? "shared" : "own";
	struct buf text, reply;

	buf_init(&text);
	buf_init(&reply);
	for (i = 0; i < n; i++) {
		resp_words(&text, "DEL %s%s/%u", prefix, kind, i);
		resp_call(fd, &text, &reply);
		if (!fill)
			continue;
		resp_words(&text, "LPUSH %s%s/%u 1", prefix, kind, i);
		resp_call(fd, &text, &reply);
	}
	buf_fini(&text);
	buf_fini(&reply);
	close(fd);
}

/* ---- token ---- */

#define TOKEN "token:"

static void
token_prepare(struct peers *peers)
{
	delete_keys(peers, TOKEN, true);
}

static void
token_take(struct peer *p)
{
	command(p, "BLPOP", TOKEN, " 0");
}

static void
token_give(struct peer *p)
{
	command(p, "LPUSH", TOKEN, " 1");
}

static void
token_answer(struct peer *p, const char *text, size_t n)
{
	if (text[0] != (p->step == STEP_TAKE ? '*' : ':'))
		fail("token: %.*s", (int)n, text);
	if (p->step == STEP_TAKE)
		load_granted(p);
	else
		load_given(p);
}

const struct mode mode_token = {
	.name = "token",
	.help = "BLPOP and LPUSH of a token",
	.frame = resp_frame,
	.prepare = token_prepare,
	.take = token_take,
	.give = token_give,
	.answer = token_answer,
};

/* ---- pub/sub and retry ---- */

#define PUBSUB "pubsub:"
#define CHANNEL "channel:"

/* The own of a peer. */
struct waiter {
	bool subscribed;
	bool trying; /* an answer to an attempt is due */
	bool again;  /* a message came meanwhile */
};

static const char script_give[] =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end "
    "redis.call('DEL', KEYS[1]) redis.call('PUBLISH', ARGV[2], '0') return 1";

static void
pubsub_prepare(struct peers *peers)
{
	delete_keys(peers, PUBSUB, false);
}

/* RESP3, so that one connection can subscribe and ask. */
static void
pubsub_open(struct peer *p)
{
	struct buf text, reply;

	buf_init(&text);
	buf_init(&reply);
	resp_words(&text, "HELLO 3");
	resp_call(p->fd, &text, &reply);
	buf_fini(&text);
	buf_fini(&reply);
	p->own = xcalloc(1, sizeof(struct waiter));
}

static void
attempt(struct peer *p)
{
	struct waiter *own = p->own;
	char rest[64];

	own->trying = true;
	own->again = false;
	snprintf(rest, sizeof(rest), " %u NX PX 30000", p->id);
	command(p, "SET", PUBSUB, rest);
}

static void
pubsub_give(struct peer *p)
{
	char key[80], channel[80], id[16];
	struct buf text;

	snprintf(key, sizeof(key), PUBSUB "%s", p->name);
	snprintf(channel, sizeof(channel), CHANNEL "%s", p->name);
	snprintf(id, sizeof(id), "%u", p->id);
	buf_init(&text);
	resp_begin(&text, 6);
	resp_str(&text, "EVAL");
	resp_str(&text, script_give);
	resp_str(&text, "1");
	resp_str(&text, key);
	resp_str(&text, id);
	resp_str(&text, channel);
	peer_send(p, buf_data(&text), buf_len(&text));
	buf_fini(&text);
}

/* A push: it was subscribed, or somebody has given the lock back. */
static void
pubsub_push(struct peer *p, const char *text, size_t n)
{
	struct waiter *own = p->own;

	if (memmem(text, n, "unsubscribe", 11) != NULL || p->step != STEP_TAKE)
		return;
	if (own->trying)
		own->again = true;
	else
		attempt(p);
}

static void
pubsub_refused(struct peer *p)
{
	struct waiter *own = p->own;

	if (!own->subscribed) {
		own->subscribed = true;
		command(p, "SUBSCRIBE", CHANNEL, "");
	} else if (own->again) {
		attempt(p);
	}
}

static void
pubsub_answer(struct peer *p, const char *text, size_t n)
{
	struct waiter *own = p->own;

	if (text[0] == '>') {
		pubsub_push(p, text, n);
		return;
	}
	if (p->step == STEP_GIVE && text[0] == ':') {
		load_given(p);
		return;
	}
	if (p->step != STEP_TAKE || (text[0] != '+' && text[0] != '_'))
		fail("pubsub: %.*s", (int)n, text);
	own->trying = false;
	if (text[0] == '_') {
		pubsub_refused(p);
		return;
	}
	if (own->subscribed)
		command(p, "UNSUBSCRIBE", CHANNEL, "");
	own->subscribed = false;
	load_granted(p);
}

const struct mode mode_pubsub = {
	.name = "pubsub",
	.help = "SET NX PX, retried when a message says so (as Redisson)",
	.frame = resp_frame,
	.prepare = pubsub_prepare,
	.open = pubsub_open,
	.take = attempt,
	.give = pubsub_give,
	.answer = pubsub_answer,
};
