/*
 * Who listens for locks of Redisson.  A JVM whose threads wait for a lock has
 * one subscription for all of them, and what comes there lets one of them try
 * again.  Connections do not say of which JVM they are; so an audience is all
 * connections of one user that have subscribed to the channel of a lock, and
 * all of them are told, as Redis tells them (audience in
 * core/parts/token/token.h).
 *
 *	a take is refused  -->  its thread keeps a place in the core
 *	it has its turn    -->  the name is kept for its JVM, and all are told
 *	a lock comes free for which no thread has a place  -->  all are told
 *	all have left      -->  the core forgets their places
 *
 * Tokens say of which JVM they are, by the part before the last colon.  Threads
 * that wait for a fair lock listen each on a channel of their own, which has
 * their token in its name: such a thread counts as a program of its own.
 *
 * A connection that listens may break, and a message may be lost with it: a new
 * subscriber is told to look.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auth/users.h"
#include "base/cursor.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"

#define CHANNEL_PREFIX "redisson_lock__channel:"

#define ROUSE_MAX 100 /* connections that are told in a turn of the loop */

/* Messages: one thread of those that wait, or all of them, try again. */
#define WAKE_ONE "0"
#define WAKE_ALL "1"

struct audience {
	struct table_link by_name, by_id;
	uint64_t id;
	TAILQ_HEAD(, channel) channels; /* empty: it is about to end */
	TAILQ_ENTRY(audience) in_roused;
	bool roused; /* it is in broker.roused */
	bool again;  /* they must be told anew since that began */
	struct cursors cursors;
	struct cursor next;
	size_t user_len, len;
	char name[]; /* user, a zero, channel; both lengths are without it */
};

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct audience *au =
	    container_of_const(link, struct audience, by_name);

	*len = au->user_len + 1 + au->len;
	return au->name;
}

void
resp_audiences_init(struct broker *b)
{
	table_init(&b->audiences, name_of);
	table_init_key(&b->audiences_by_id, struct audience, by_id, id);
	TAILQ_INIT(&b->roused);
}

static void
free_audience(struct broker *b, struct audience *au)
{
	assert(TAILQ_EMPTY(&au->channels));
	TAILQ_REMOVE(&b->roused, au, in_roused);
	table_remove(&b->audiences, &au->by_name);
	table_remove(&b->audiences_by_id, &au->by_id);
	free(au);
}

/* Requires that no connection listens any more. */
void
resp_audiences_fini(struct broker *b)
{
	struct audience *au;

	while ((au = TAILQ_FIRST(&b->roused)) != NULL)
		free_audience(b, au);
	assert(b->audiences.n == 0);
	table_fini(&b->audiences);
	table_fini(&b->audiences_by_id);
}

/* Adds user, zero and channel to `name`; returns the audience, or NULL. */
static struct audience *
find(const struct broker *b, const struct conn *c, const struct buf *channel,
    struct buf *name)
{
	const char *user = identity_name(c);

	buf_add(name, user, strlen(user) + 1);
	buf_add(name, buf_data(channel), buf_len(channel));
	return container_or_null(
	    table_find(&b->audiences, buf_data(name), buf_len(name)),
	    struct audience, by_name);
}

static struct audience *
find_by_id(const struct broker *b, uint64_t id)
{
	return container_or_null(
	    table_find_key(&b->audiences_by_id, &id), struct audience, by_id);
}

/* The audience has work to do in this turn of the loop. */
static void
rouse(struct broker *b, struct audience *au)
{
	if (!au->roused)
		TAILQ_INSERT_TAIL(&b->roused, au, in_roused);
	au->roused = au->again = true;
	front_wake(b->front);
}

void
resp_audience_join(struct broker *b, struct conn *c, struct channel *ch)
{
	const struct span channel = { ch->name, ch->len };
	struct buf name, of;
	struct audience *au;

	assert(ch->audience == NULL);
	if (ch->kind != 'C' || !span_begins(channel, CHANNEL_PREFIX))
		return;
	buf_init(&name);
	buf_init(&of);
	buf_add(&of, ch->name, ch->len);
	au = find(b, c, &of, &name);
	if (au == NULL) {
		au = xcalloc(1, sizeof(*au) + buf_len(&name));
		au->id = ++b->last_audience;
		TAILQ_INIT(&au->channels);
		au->len = ch->len;
		au->user_len = buf_len(&name) - 1 - ch->len;
		memcpy(au->name, buf_data(&name), buf_len(&name));
		table_add(&b->audiences, &au->by_name);
		table_add(&b->audiences_by_id, &au->by_id);
	}
	buf_fini(&name);
	buf_fini(&of);
	ch->conn = conn_id(c);
	ch->audience = au;
	TAILQ_INSERT_TAIL(&au->channels, ch, in_audience);
}

/* This may be where no step of the core is allowed. */
void
resp_audience_leave(struct broker *b, struct channel *ch)
{
	struct audience *au = ch->audience;

	if (au == NULL)
		return;
	CURSOR_REMOVE(&au->cursors, &au->channels, ch, in_audience);
	ch->audience = NULL;
	if (TAILQ_EMPTY(&au->channels))
		rouse(b, au);
}

static void
wake(struct conn *c, const struct channel *ch, const char *whom)
{
	struct buf *out = conn_output(c);

	resp_push(out, resp_three(c), 3);
	resp_word(out, "message");
	resp_bulk(out, (struct span){ ch->name, ch->len });
	resp_word(out, whom);
}

void
resp_audience_joined(struct conn *c, const struct channel *ch)
{
	if (ch->audience != NULL)
		wake(c, ch, WAKE_ALL);
}

/* Requests. */

/* Returns how much of the token is its program. */
static size_t
program_of(struct span token)
{
	const char *colon = memrchr(token.p, ':', token.n);

	return colon == NULL ? 0 : (size_t)(colon - token.p);
}

/* As Redisson makes it of the name of a lock, and of the token of a fair
 * lock. */
static void
make_channel(struct buf *to, const struct ask *a)
{
	const struct core_name *name = a->names;
	bool bare = memchr(name->p, '{', name->n) == NULL;

	buf_adds(to, CHANNEL_PREFIX);
	if (bare)
		buf_addc(to, '{');
	buf_add(to, name->p, name->n);
	if (bare)
		buf_addc(to, '}');
	if (!a->fair)
		return;
	buf_addc(to, ':');
	buf_add(to, a->rq.token, a->rq.token_len);
}

static uint64_t
audience_of(const struct broker *b, const struct conn *c, const struct ask *a)
{
	struct buf channel, name;
	const struct audience *au;

	buf_init(&channel);
	buf_init(&name);
	make_channel(&channel, a);
	au = find(b, c, &channel, &name);
	buf_fini(&channel);
	buf_fini(&name);
	return au == NULL || TAILQ_EMPTY(&au->channels) ? 0 : au->id;
}

void
resp_audience_ask(struct broker *b, struct conn *c, struct ask *a)
{
	const struct span token = { a->rq.token, a->rq.token_len };
	bool takes = a->rq.op == TOKEN_ACQUIRE && !a->rq.awaits &&
		     a->rq.match == TOKEN_COUNTED;
	uint64_t *frees = &resp_of(c)->frees;

	*frees = 0;
	/* A client that gets an error does not come again. */
	if (a->wrong.where != 0 || a->rq.nnames != 1)
		return;
	if (takes)
		a->rq.program = a->fair ? token.n : program_of(token);
	if (b->audiences.n == 0)
		return;
	if (a->rq.op == TOKEN_RELEASE && !a->fair)
		*frees = audience_of(b, c, a);
	if (a->rq.program == 0)
		return;
	a->rq.audience = audience_of(b, c, a);
	if (a->rq.audience != 0)
		a->rq.park_ms = ASK_LISTEN_MS;
}

void
resp_audience_told(struct broker *b, uint64_t id)
{
	struct audience *au = id == 0 ? NULL : find_by_id(b, id);

	if (au != NULL)
		rouse(b, au);
}

/* Those that sleep without a place would not be told. */
void
resp_audience_freed(
    struct broker *b, struct conn *c, const struct token_result *t)
{
	if (t->answer == TOKEN_DONE && t->depth == 0 && !t->listed)
		resp_audience_told(b, resp_of(c)->frees);
}

/* Telling. */

/* A client may have become another user since it subscribed. */
static void
tell(const struct broker *b, const struct audience *au, struct channel *ch)
{
	struct conn *c = front_find(b->front, ch->conn);
	const struct client *client = c == NULL ? NULL : conn_data(c);

	if (client != NULL && client->session != 0 &&
	    strcmp(identity_name(c), au->name) == 0)
		wake(c, ch, WAKE_ONE);
}

/* The channel of `a` is also the channel of `{a}`. */
static void
forget(struct broker *b, const struct audience *au, struct span name)
{
	struct core_event ev = { .kind = CORE_UNHEARD };

	ev.u.unheard.name = name.p;
	ev.u.unheard.len = name.n;
	ev.u.unheard.audience = au->id;
	bridge_step(b, &ev);
	if (name.n > 2 && name.p[0] == '{' && name.p[name.n - 1] == '}')
		forget(b, au, (struct span){ name.p + 1, name.n - 2 });
}

/* All have left.  What stands behind the name may be a part of it, or a token.
 */
static void
end(struct broker *b, struct audience *au)
{
	const char *channel = au->name + au->user_len + 1;
	const size_t prefix = strlen(CHANNEL_PREFIX);
	struct span name = { channel + prefix, au->len - prefix };

	forget(b, au, name);
	name.n = program_of((struct span){ name.p, program_of(name) });
	if (name.n > 0)
		forget(b, au, name);
	free_audience(b, au);
}

static void
go_on(struct broker *b, struct audience *au)
{
	TAILQ_REMOVE(&b->roused, au, in_roused);
	au->roused = au->again;
	if (!au->again)
		return;
	/* Others have their turn, however often it is roused. */
	TAILQ_INSERT_TAIL(&b->roused, au, in_roused);
	au->again = false;
	cursor_begin(&au->cursors, &au->next, TAILQ_FIRST(&au->channels),
	    offsetof(struct channel, in_audience));
}

void
resp_audience_run(struct broker *b)
{
	struct audience *au;
	struct channel *ch;
	unsigned n = 0;

	while ((au = TAILQ_FIRST(&b->roused)) != NULL && n++ < ROUSE_MAX) {
		ch = cursor_take(&au->next);
		if (ch != NULL)
			tell(b, au, ch);
		else if (TAILQ_EMPTY(&au->channels))
			end(b, au);
		else
			go_on(b, au);
	}
	if (!TAILQ_EMPTY(&b->roused))
		front_wake(b->front);
}
