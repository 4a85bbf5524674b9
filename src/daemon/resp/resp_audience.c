/*
 * Who listens for locks of Redisson.  A JVM whose threads wait for a lock has
 * one subscription for all of them, and what comes there lets one of them try
 * again.  Redis tells all JVMs; the broker tells the one whose thread has its
 * turn (resp_turns.c).
 *
 * If a connection that listens breaks, threads may have lost their places with
 * it, so all others that listen look; see "Rousing" below.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "auth/users.h"
#include "base/hash.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp_audience.h"

/* The key of struct ears: the id of an audience, and a program. */
#define KEY_ROOM (sizeof(uint64_t) + TOKEN_MAX_BYTES)

/* Those of an audience who listen for one program; that of no bytes: those of
 * whom it is not known for which. */
struct ears {
	struct table_link by_key;
	struct channel_list channels; /* told last: at the end */
	size_t len;
	char key[];
};

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct audience *au =
	    container_of_const(link, struct audience, by_name);

	*len = au->len;
	return au->name;
}

static const char *
id_of(const struct table_link *link, size_t *len)
{
	const struct audience *au =
	    container_of_const(link, struct audience, by_id);

	*len = sizeof(au->id);
	return (const char *)&au->id;
}

static const char *
key_of(const struct table_link *link, size_t *len)
{
	const struct ears *e = container_of_const(link, struct ears, by_key);

	*len = e->len;
	return e->key;
}

void
resp_audiences_init(struct broker *b)
{
	table_init(&b->audiences, name_of);
	table_init(&b->audiences_by_id, id_of);
	table_init(&b->ears, key_of);
	TAILQ_INIT(&b->roused);
}

/* Requires that nobody listens any more. */
void
resp_audiences_fini(struct broker *b)
{
	assert(b->audiences.n == 0 && b->ears.n == 0);
	assert(TAILQ_EMPTY(&b->roused));
	table_fini(&b->audiences);
	table_fini(&b->audiences_by_id);
	table_fini(&b->ears);
}

struct audience *
resp_audience_find(const struct broker *b, struct span name)
{
	struct table_link *link = table_find(&b->audiences, name.p, name.n);

	return link == NULL ? NULL
			    : container_of(link, struct audience, by_name);
}

struct audience *
resp_audience_find_by_id(const struct broker *b, uint64_t id)
{
	struct table_link *link =
	    table_find(&b->audiences_by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL : container_of(link, struct audience, by_id);
}

/* Returns its length. */
static size_t
make_key(char *to, const struct audience *au, struct span program)
{
	assert(program.n <= TOKEN_MAX_BYTES);
	memcpy(to, &au->id, sizeof(au->id));
	if (program.n > 0)
		memcpy(to + sizeof(au->id), program.p, program.n);
	return sizeof(au->id) + program.n;
}

static struct ears *
find_ears(
    const struct broker *b, const struct audience *au, struct span program)
{
	char key[KEY_ROOM];
	struct table_link *link =
	    table_find(&b->ears, key, make_key(key, au, program));

	return link == NULL ? NULL : container_of(link, struct ears, by_key);
}

struct channel *
resp_audience_first(
    const struct broker *b, const struct audience *au, struct span program)
{
	const struct ears *e = find_ears(b, au, program);

	return e == NULL ? NULL : TAILQ_FIRST(&e->channels);
}

static struct ears *
get_ears(struct broker *b, const struct audience *au, struct span program)
{
	struct ears *e = find_ears(b, au, program);

	if (e != NULL)
		return e;
	e = xcalloc(1, sizeof(*e) + sizeof(au->id) + program.n);
	TAILQ_INIT(&e->channels);
	e->len = make_key(e->key, au, program);
	table_add(&b->ears, &e->by_key);
	return e;
}

static void
join_ears(struct broker *b, struct channel *ch, const struct resp *rs)
{
	struct span program = { rs->program, 0 };

	if (rs->program != NULL)
		program = span_of(rs->program);
	ch->ears = get_ears(b, ch->audience, program);
	TAILQ_INSERT_HEAD(&ch->ears->channels, ch, in_ears);
}

static void
leave_ears(struct broker *b, struct channel *ch)
{
	struct ears *e = ch->ears;

	CURSOR_REMOVE(&ch->audience->cursors, &e->channels, ch, in_ears);
	ch->ears = NULL;
	if (!TAILQ_EMPTY(&e->channels))
		return;
	table_remove(&b->ears, &e->by_key);
	free(e);
}

/*
 * Places of threads outlive an audience: they belong to the next one of this
 * name, too.  So its id comes from the name, but for two names with one sum.
 */
static uint64_t
make_id(const struct broker *b, struct span name)
{
	uint64_t id = (uint64_t)hash_of(name.p, name.n) + 1;

	while (resp_audience_find_by_id(b, id) != NULL)
		id++;
	return id;
}

void
resp_audience_join(struct broker *b, struct conn *c, struct channel *ch)
{
	const struct span name = { ch->name, ch->len };
	const size_t prefix = strlen(CHANNEL_PREFIX);
	struct audience *au;

	assert(ch->audience == NULL);
	if (ch->kind != 'C' || name.n <= prefix || name.n >= CHANNEL_ROOM ||
	    !span_begins(name, CHANNEL_PREFIX))
		return;
	au = resp_audience_find(b, name);
	if (au == NULL) {
		au = xcalloc(1, sizeof(*au) + name.n);
		TAILQ_INIT(&au->channels);
		TAILQ_INIT(&au->told);
		au->len = name.n;
		au->turn = 1;
		memcpy(au->name, name.p, name.n);
		au->id = make_id(b, name);
		table_add(&b->audiences, &au->by_name);
		table_add(&b->audiences_by_id, &au->by_id);
	}
	ch->id = ++b->last_channel;
	ch->conn = conn_id(c);
	ch->audience = au;
	TAILQ_INSERT_HEAD(&au->channels, ch, in_audience);
	TAILQ_INSERT_TAIL(&au->told, ch, in_told);
	join_ears(b, ch, resp_of(c));
}

static bool
is_roused(const struct audience *au)
{
	return (au->lost | au->left | au->vain) != 0;
}

void
resp_audience_leave(struct broker *b, struct channel *ch)
{
	struct audience *au = ch->audience;

	if (au == NULL)
		return;
	leave_ears(b, ch);
	CURSOR_REMOVE(&au->cursors, &au->channels, ch, in_audience);
	TAILQ_REMOVE(&au->told, ch, in_told);
	ch->audience = NULL;
	free(ch->told_for);
	if (!TAILQ_EMPTY(&au->channels))
		return;
	if (is_roused(au))
		TAILQ_REMOVE(&b->roused, au, in_roused);
	table_remove(&b->audiences, &au->by_name);
	table_remove(&b->audiences_by_id, &au->by_id);
	free(au);
}

/* A cursor that stands at the last one has yet to take it. */
void
resp_audience_put_last(struct channel *ch)
{
	struct audience *au = ch->audience;
	struct ears *e = ch->ears;

	if (TAILQ_NEXT(ch, in_audience) != NULL) {
		CURSOR_REMOVE(&au->cursors, &au->channels, ch, in_audience);
		TAILQ_INSERT_TAIL(&au->channels, ch, in_audience);
	}
	if (TAILQ_NEXT(ch, in_ears) != NULL) {
		CURSOR_REMOVE(&au->cursors, &e->channels, ch, in_ears);
		TAILQ_INSERT_TAIL(&e->channels, ch, in_ears);
	}
}

/* One of which nothing is known any more was told in vain, and comes last. */
void
resp_audience_set_program(
    struct broker *b, struct resp *rs, struct span program)
{
	struct channel *ch;

	free(rs->program);
	rs->program = program.n > 0 ? xstrndup(program.p, program.n) : NULL;
	rs->proven = false;
	LIST_FOREACH (ch, &rs->channels, link) {
		if (ch->audience == NULL)
			continue;
		leave_ears(b, ch);
		join_ears(b, ch, rs);
		if (program.n == 0)
			resp_audience_put_last(ch);
	}
}

/* Returns the connection if it is alive. */
static struct conn *
conn_of(const struct broker *b, const struct channel *ch)
{
	struct conn *c = front_find(b->front, ch->conn);
	const struct client *client = c == NULL ? NULL : conn_data(c);

	return client != NULL && client->session != 0 ? c : NULL;
}

struct conn *
resp_audience_listener(
    struct broker *b, const struct conn *c, const struct channel *ch)
{
	const struct client *client = conn_data(c), *other;
	struct conn *lc = conn_of(b, ch);

	other = lc == NULL ? NULL : conn_data(lc);
	return other != NULL && other->user == client->user ? lc : NULL;
}

void
resp_audience_wake(struct conn *c, const struct channel *ch, const char *whom)
{
	struct buf *out = conn_output(c);

	resp_push(out, resp_three(c), 3);
	resp_word(out, "message");
	resp_bulk(out, (struct span){ ch->name, ch->len });
	resp_word(out, whom);
}

static void
note_told(struct channel *ch)
{
	struct audience *au = ch->audience;

	ch->told_ms = now_ms();
	TAILQ_REMOVE(&au->told, ch, in_told);
	TAILQ_INSERT_HEAD(&au->told, ch, in_told);
}

void
resp_audience_tell(struct conn *c, struct channel *ch, const char *whom)
{
	resp_audience_wake(c, ch, whom);
	note_told(ch);
	ch->turn = ch->audience->turn;
}

/* Threads that wait here for the first time do so only after this message. */
void
resp_audience_joined(struct conn *c, struct channel *ch)
{
	if (ch->audience == NULL)
		return;
	resp_audience_wake(c, ch, WAKE_ALL);
	note_told(ch);
}

/*
 * Rousing.  Threads that sleep may have lost their places, or never be told, so
 * those who listen look.  Many connections may break at once, and very many
 * listen: each turn wakes some of them, and all that breaks meanwhile makes them
 * look once more, and not once for each.  They count as told: which of them a
 * thread has heard then is not clear.
 */

#define ROUSE_MAX 100 /* in a turn */

/* A bit for the user of the client.  Seldom have two the same. */
static uint64_t
bit_of(const struct conn *c)
{
	const struct client *client = conn_data(c);
	const char *name = client->user == NULL ? "" : user_name(client->user);

	return UINT64_C(1) << hash_of(name, strlen(name)) % 64;
}

void
resp_audience_rouse(
    struct broker *b, const struct conn *c, struct audience *au, uint64_t *why)
{
	if (!is_roused(au))
		TAILQ_INSERT_TAIL(&b->roused, au, in_roused);
	*why |= bit_of(c);
	au->again = true;
	front_wake(b->front);
}

/* It may have been taken for that of any program when a thread was refused. */
void
resp_audience_lost(struct broker *b, struct conn *c, const struct channel *ch)
{
	if (ch->audience != NULL)
		resp_audience_rouse(b, c, ch->audience, &ch->audience->lost);
}

static void
rouse_one(struct broker *b, const struct audience *au, struct channel *ch)
{
	struct conn *c = conn_of(b, ch);
	uint64_t all = au->lost;

	if (c == NULL)
		return;
	if (resp_of(c)->program == NULL)
		all |= au->left;
	if ((all & bit_of(c)) != 0)
		resp_audience_tell(c, ch, WAKE_ALL);
	else if ((au->vain & bit_of(c)) != 0)
		resp_audience_wake(c, ch, WAKE_ONE);
}

static void
begin_rousing(struct broker *b, struct audience *au)
{
	const bool every = (au->lost | au->vain) != 0;

	au->again = false;
	cursor_begin(&au->cursors, &au->next,
	    every ? TAILQ_FIRST(&au->channels)
		  : resp_audience_first(b, au, (struct span){ NULL, 0 }),
	    every ? offsetof(struct channel, in_audience)
		  : offsetof(struct channel, in_ears));
	/* Others have their turn, whatever breaks meanwhile. */
	TAILQ_REMOVE(&b->roused, au, in_roused);
	TAILQ_INSERT_TAIL(&b->roused, au, in_roused);
}

static void
end_rousing(struct broker *b, struct audience *au)
{
	TAILQ_REMOVE(&b->roused, au, in_roused);
	au->lost = au->left = au->vain = 0;
}

void
resp_audience_run(struct broker *b)
{
	struct audience *au;
	struct channel *ch;
	unsigned looks = 0;

	while ((au = TAILQ_FIRST(&b->roused)) != NULL && looks++ < ROUSE_MAX) {
		ch = cursor_take(&au->next);
		if (ch != NULL)
			rouse_one(b, au, ch);
		else if (au->again)
			begin_rousing(b, au);
		else
			end_rousing(b, au);
	}
	if (!TAILQ_EMPTY(&b->roused))
		front_wake(b->front);
}
