/*
 * Locks of spring-integration with PUB_SUB_LOCK.  A program that waits for one
 * does not ask again soon: it listens to a channel on which the library
 * publishes each release, and then tries again.
 *
 *	it is refused   -->  the broker awaits the name for that client
 *	it is free      -->  it is kept for the user, and the channel is told
 *	programs come   -->  the first one gets it; again for each of the others
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "daemon/resp/resp.h"

/* References of requests that no client made. */
#define OWN_REF (UINT64_C(1) << 63)

/* The locks begin with REGISTRY: , and programs that wait for them listen to
 * REGISTRY-channel, since 6.3 by the pattern REGISTRY-channel:* . */
#define SPRING_CHANNEL "-channel"

/* A program that still waits has tried again by then, or when the hold that it
 * asked for would be over. */
#define AWAIT_MS 60000
#define WANTED_MAX 64 /* names that one client waits for */

/* A name that the broker awaits for a client.  Owned by struct resp. */
struct wanted {
	LIST_ENTRY(wanted) link;
	TAILQ_ENTRY(wanted) in_todo;
	uint64_t conn; /* id */
	uint64_t ref;  /* of the request; 0: it is in broker.wanted */
	bool again;    /* the client has been refused meanwhile */
	int64_t ms;    /* for how long */
	size_t len;
	char name[];
};

/* Who listens. */

/* Returns the registry of which it is the channel; of 0 bytes: of none. */
static struct span
registry_of(const struct channel *ch)
{
	size_t more = strlen(SPRING_CHANNEL), n = ch->len;

	if (ch->kind == 'P' && n > 2 && memcmp(ch->name + n - 2, ":*", 2) == 0)
		n -= 2;
	else if (ch->kind != 'C')
		return (struct span){ ch->name, 0 };
	if (n <= more || memcmp(ch->name + n - more, SPRING_CHANNEL, more) != 0)
		return (struct span){ ch->name, 0 };
	return (struct span){ ch->name, n - more };
}

/* Will the program be told that the name is free? */
static bool
hears(const struct channel *ch, struct span name)
{
	const struct span registry = registry_of(ch);

	return registry.n > 0 && name.n > registry.n &&
	       memcmp(name.p, registry.p, registry.n) == 0 &&
	       name.p[registry.n] == ':';
}

void
resp_spring_listen(struct broker *b, struct conn *c)
{
	struct resp *rs = resp_of(c);
	const struct channel *ch;

	LIST_FOREACH (ch, &rs->channels, link)
		if (registry_of(ch).n > 0)
			break;
	if ((ch != NULL) == (rs->listens != 0))
		return;
	rs->listens = ch != NULL ? conn_id(c) : 0;
	if (ch != NULL)
		LIST_INSERT_HEAD(&b->spring_listeners, rs, in_listeners);
	else
		LIST_REMOVE(rs, in_listeners);
}

static void
write_message(struct conn *c, const struct channel *ch, struct span name)
{
	const struct span to = { ch->name, ch->len };
	const struct span registry = registry_of(ch);
	struct buf *out = conn_output(c), full;

	resp_push(out, resp_three(c), ch->kind == 'P' ? 4 : 3);
	resp_word(out, ch->kind == 'P' ? "pmessage" : "message");
	resp_bulk(out, to);
	if (ch->kind == 'P') {
		buf_init(&full);
		buf_add(&full, registry.p, registry.n);
		buf_adds(&full, SPRING_CHANNEL ":");
		buf_add(&full, name.p, name.n);
		resp_bulk(
		    out, (struct span){ buf_data(&full), buf_len(&full) });
		buf_fini(&full);
	}
	resp_bulk(out, name);
}

/* Tells all listeners of the same user that the name is free, unless it is only
 * asked whether there are any. */
static bool
tell(struct broker *b, const struct conn *of, struct span name, bool only_asks)
{
	const struct client *client = conn_data(of), *other;
	const struct channel *ch;
	const struct resp *rs;
	struct conn *c;
	bool any = false;

	LIST_FOREACH (rs, &b->spring_listeners, in_listeners) {
		c = front_find(b->front, rs->listens);
		other = c == NULL ? NULL : conn_data(c);
		if (other == NULL || other->user != client->user)
			continue;
		LIST_FOREACH (ch, &rs->channels, link) {
			if (!hears(ch, name))
				continue;
			any = true;
			if (!only_asks)
				write_message(c, ch, name);
		}
	}
	return any;
}

/* Which client wants which name. */

static struct wanted *
find(const struct resp *rs, const char *name, size_t len)
{
	struct wanted *w;

	LIST_FOREACH (w, &rs->wanted, link)
		if (w->len == len && memcmp(w->name, name, len) == 0)
			return w;
	return NULL;
}

/* Asks in the next turn: this may be inside a step of the core. */
static void
ask_later(struct broker *b, struct wanted *w)
{
	assert(w->len > 0);
	w->ref = 0;
	w->again = false;
	TAILQ_INSERT_TAIL(&b->wanted, w, in_todo);
	front_wake(b->front);
}

static void
want(struct broker *b, struct conn *c, const char *name, size_t len, int64_t ms)
{
	struct resp *rs = resp_of(c);
	struct wanted *w = find(rs, name, len);

	if (w != NULL) {
		w->again = true;
		w->ms = ms;
		return;
	}
	if (rs->nwanted >= WANTED_MAX)
		return;
	w = xcalloc(1, sizeof(*w) + len);
	w->conn = conn_id(c);
	w->len = len;
	w->ms = ms;
	memcpy(w->name, name, len);
	LIST_INSERT_HEAD(&rs->wanted, w, link);
	rs->nwanted++;
	ask_later(b, w);
}

static void
forget(struct broker *b, struct resp *rs, struct wanted *w)
{
	assert(rs->nwanted > 0);
	if (w->ref == 0)
		TAILQ_REMOVE(&b->wanted, w, in_todo);
	LIST_REMOVE(w, link);
	rs->nwanted--;
	free(w);
}

void
resp_spring_gone(struct broker *b, struct resp *rs)
{
	if (rs->listens != 0)
		LIST_REMOVE(rs, in_listeners);
	rs->listens = 0;
	while (!LIST_EMPTY(&rs->wanted))
		forget(b, rs, LIST_FIRST(&rs->wanted));
}

void
resp_spring_run(struct broker *b)
{
	struct core_event ev = { .kind = CORE_TOKEN };
	struct token_request rq = {
		.op = TOKEN_ACQUIRE, .nnames = 1, .awaits = true
	};
	struct core_name name;
	struct wanted *w;
	struct conn *c;

	ev.u.token.request = &rq;
	rq.names = &name;
	while ((w = TAILQ_FIRST(&b->wanted)) != NULL) {
		c = front_find(b->front, w->conn);
		ev.u.token.session = c == NULL ? 0 : bridge_session(c);
		TAILQ_REMOVE(&b->wanted, w, in_todo);
		w->ref = rq.ref = OWN_REF | ++b->last_wanted;
		rq.park_ms = w->ms;
		name = (struct core_name){ w->name, w->len };
		if (ev.u.token.session != 0)
			bridge_step(b, &ev);
	}
}

bool
resp_spring_woken(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t)
{
	struct resp *rs;
	struct wanted *w;

	if ((ref & OWN_REF) == 0)
		return false;
	rs = resp_of(c);
	LIST_FOREACH (w, &rs->wanted, link)
		if (w->ref == ref)
			break;
	if (w == NULL)
		return true;
	if (t != NULL && t->answer == TOKEN_DONE)
		(void)tell(b, c, (struct span){ w->name, w->len }, false);
	if (t != NULL && t->answer == TOKEN_BUSY && w->again)
		ask_later(b, w);
	else
		forget(b, rs, w);
	return true;
}

/* Requests. */

void
resp_spring_asks(struct resp *rs, const struct ask *a)
{
	free(rs->lock);
	rs->lock = a->hears ? xstrndup(a->names[0].p, a->names[0].n) : NULL;
	rs->lock_ms = a->rq.ttl_ms > AWAIT_MS ? a->rq.ttl_ms : AWAIT_MS;
}

void
resp_spring_told(struct broker *b, struct conn *c, const struct token_result *t)
{
	struct resp *rs = resp_of(c);

	if (rs->lock != NULL && t->answer != TOKEN_DONE &&
	    tell(b, c, span_of(rs->lock), true))
		want(b, c, rs->lock, strlen(rs->lock), rs->lock_ms);
}
