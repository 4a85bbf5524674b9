/*
 * Locks of simple-redis-mutex.  A program that waits for one keeps no token,
 * and does not ask again soon: it listens to a channel on which the library
 * tells each release, and then tries again with a new token.
 *
 *	SET is refused  -->  the broker awaits the name for that client
 *	it is free      -->  it is kept for the user, and the channel is told
 *	SETs come       -->  the first one gets it; again for each of the others
 *
 * The library also counts its locks, and takes the count for a fencing token:
 * the broker tells it the fence instead.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp.h"

#define CHANNEL "@simple-redis-mutex:locks-releases"
#define COUNTER "@simple-redis-mutex:fencing-tokens"

/* References of requests that no client has made. */
#define OWN_REF (UINT64_C(1) << 63)

/* A program that still waits has tried again by then: every 10 s, if it is not
 * told to do otherwise. */
#define AWAIT_MS 60000
#define WANTED_MAX 64 /* names that one client waits for */

/* A name that the broker awaits for a client.  Owned by struct resp. */
struct wanted {
	LIST_ENTRY(wanted) link;
	TAILQ_ENTRY(wanted) in_todo;
	uint64_t conn; /* id */
	uint64_t ref;  /* of the request; 0: it is in broker.wanted */
	bool again;    /* the client has been refused meanwhile */
	size_t len;
	char name[];
};

/* Who listens. */

bool
resp_mutex_is_channel(struct span name)
{
	return span_is(name, CHANNEL);
}

void
resp_mutex_listen(struct broker *b, struct conn *c, bool listens)
{
	struct resp *rs = resp_of(c);

	if (listens == (rs->listens != 0))
		return;
	rs->listens = listens ? conn_id(c) : 0;
	if (listens)
		LIST_INSERT_HEAD(&b->mutex_listeners, rs, in_listeners);
	else
		LIST_REMOVE(rs, in_listeners);
}

static void
write_message(struct conn *c, struct span text)
{
	struct buf *out = conn_output(c);

	resp_push(out, resp_three(c), 3);
	resp_word(out, "message");
	resp_word(out, CHANNEL);
	resp_bulk(out, text);
}

/* Tells all listeners of the same user that the name is free. */
static void
tell(struct broker *b, const struct conn *of, const struct wanted *w)
{
	const struct client *client = conn_data(of), *other;
	const struct resp *rs;
	struct span text; /* without the line end */
	struct json j;
	struct buf key;
	struct conn *c;

	buf_init(&key);
	buf_addc(&key, '@');
	buf_add(&key, w->name, w->len);
	json_begin(&j);
	json_str(&j, "key", buf_data(&key), buf_len(&key));
	json_str(&j, "value", "", 0);
	json_close(&j);
	text = (struct span){ buf_data(&j.text), buf_len(&j.text) - 1 };
	LIST_FOREACH (rs, &b->mutex_listeners, in_listeners) {
		c = front_find(b->front, rs->listens);
		other = c == NULL ? NULL : conn_data(c);
		if (other != NULL && other->user == client->user)
			write_message(c, text);
	}
	buf_fini(&j.text);
	buf_fini(&key);
}

/* Who wants which name. */

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
want(struct broker *b, struct conn *c, const char *name, size_t len)
{
	struct resp *rs = resp_of(c);
	struct wanted *w = find(rs, name, len);

	if (w != NULL) {
		w->again = true;
		return;
	}
	if (rs->nwanted >= WANTED_MAX)
		return;
	w = xcalloc(1, sizeof(*w) + len);
	w->conn = conn_id(c);
	w->len = len;
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
resp_mutex_gone(struct broker *b, struct resp *rs)
{
	if (rs->listens != 0)
		LIST_REMOVE(rs, in_listeners);
	rs->listens = 0;
	while (!LIST_EMPTY(&rs->wanted))
		forget(b, rs, LIST_FIRST(&rs->wanted));
}

void
resp_mutex_run(struct broker *b)
{
	struct core_event ev = { .kind = CORE_TOKEN };
	struct token_request rq = { .op = TOKEN_ACQUIRE,
		.nnames = 1,
		.awaits = true,
		.park_ms = AWAIT_MS };
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
		name = (struct core_name){ w->name, w->len };
		if (ev.u.token.session != 0)
			bridge_step(b, &ev);
	}
}

bool
resp_mutex_woken(struct broker *b, struct conn *c, uint64_t ref,
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
		tell(b, c, w);
	if (t != NULL && t->answer == TOKEN_BUSY && w->again)
		ask_later(b, w);
	else
		forget(b, rs, w);
	return true;
}

/* Requests. */

void
resp_mutex_asks(struct resp *rs, const struct ask *a)
{
	bool takes = a->mutex && a->rq.op == TOKEN_ACQUIRE && !a->rq.awaits &&
		     a->rq.nnames == 1;

	free(rs->mutex);
	rs->mutex = takes ? xstrndup(a->names[0].p, a->names[0].n) : NULL;
}

void
resp_mutex_told(struct broker *b, struct conn *c, const struct token_result *t)
{
	struct resp *rs = resp_of(c);

	if (rs->mutex == NULL)
		return;
	if (t->answer == TOKEN_DONE) {
		if (rs->nfences == RESP_FENCES_MAX)
			memmove(rs->fences, rs->fences + 1,
			    --rs->nfences * sizeof(rs->fences[0]));
		rs->fences[rs->nfences++] = t->fence;
	} else {
		want(b, c, rs->mutex, strlen(rs->mutex));
	}
}

/* One of these follows each lock, in the order of the locks. */
void
resp_incr(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);

	struct buf why;

	(void)b;
	if (!span_is(r->words[1], COUNTER)) {
		buf_init(&why);
		resp_unknown(r->words, r->nwords, &why);
		resp_fail(c, "ERR %.*s", (int)buf_len(&why), buf_data(&why));
		buf_fini(&why);
	} else if (rs->nfences == 0) {
		resp_fail(c,
		    "ERR this connection has taken no lock that is not counted"
		    " yet");
	} else {
		resp_int(conn_output(c), (int64_t)rs->fences[0]);
		memmove(rs->fences, rs->fences + 1,
		    --rs->nfences * sizeof(rs->fences[0]));
	}
}
