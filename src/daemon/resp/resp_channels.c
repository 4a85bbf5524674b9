/*
 * Subscriptions.  Libraries make some when they connect, and wait for the
 * answer.  The broker publishes nothing but what
 * spring-integration and Redisson wait for (resp_spring.c, resp_audience.c).
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp.h"

#define CHANNELS_MAX 1024 /* of one client */
#define CHANNEL_BYTES_MAX 1024

void
resp_forget_channels(struct broker *b, struct resp *rs)
{
	struct channel *ch;

	while ((ch = LIST_FIRST(&rs->channels)) != NULL) {
		resp_audience_leave(b, ch);
		LIST_REMOVE(ch, link);
		free(ch);
	}
	rs->nchannels = 0;
}

/* S, P: of a shard, by pattern; C: a plain channel. */
static char
kind_of(struct span word)
{
	static const char *const of_shards[] = { "SSUBSCRIBE", "SUNSUBSCRIBE" };

	if (resp_says(word, of_shards[0]) || resp_says(word, of_shards[1]))
		return 'S';
	return parse_upper(word.p[0]) == 'P' ? 'P' : 'C';
}

static struct channel *
find(const struct resp *rs, char kind, struct span name)
{
	struct channel *ch;

	LIST_FOREACH (ch, &rs->channels, link)
		if (ch->kind == kind && ch->len == name.n &&
		    memcmp(ch->name, name.p, name.n) == 0)
			return ch;
	return NULL;
}

/* Counts as Redis does: channels of shards, or all others. */
static unsigned
count(const struct resp *rs, char kind)
{
	const struct channel *ch;
	unsigned n = 0;

	LIST_FOREACH (ch, &rs->channels, link)
		n += (ch->kind == 'S') == (kind == 'S');
	return n;
}

static void
tell(struct conn *c, const char *word, char kind, const struct span *name)
{
	struct buf *out = conn_output(c);
	bool three = resp_three(c);

	resp_push(out, three, 3);
	resp_word(out, word);
	if (name != NULL)
		resp_bulk(out, *name);
	else
		resp_null(out, three);
	resp_int(out, count(resp_of(c), kind));
}

static const char *
word_of(char kind, bool un)
{
	if (kind == 'S')
		return un ? "sunsubscribe" : "ssubscribe";
	if (kind == 'P')
		return un ? "punsubscribe" : "psubscribe";
	return un ? "unsubscribe" : "subscribe";
}

static void
add(struct broker *b, struct conn *c, char kind, struct span name)
{
	struct resp *rs = resp_of(c);
	struct channel *ch = xcalloc(1, sizeof(*ch) + name.n);

	ch->kind = kind;
	ch->len = name.n;
	if (name.n > 0)
		memcpy(ch->name, name.p, name.n);
	LIST_INSERT_HEAD(&rs->channels, ch, link);
	resp_audience_join(b, c, ch);
	rs->nchannels++;
}

void
resp_subscribe(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);
	char kind = kind_of(r->words[0]);
	unsigned i;

	/* At an error Redisson gives up a wait, and begins anew on another
	 * connection. */
	if (b->stopping) {
		conn_kill(c);
		return;
	}
	if (rs->nchannels + r->nwords - 1 > CHANNELS_MAX) {
		resp_fail(c, "LIMIT a client may subscribe to %d channels",
		    CHANNELS_MAX);
		return;
	}
	for (i = 1; i < r->nwords; i++) {
		if (r->words[i].n <= CHANNEL_BYTES_MAX)
			continue;
		resp_fail(c, "LIMIT the name of a channel may have %d bytes",
		    CHANNEL_BYTES_MAX);
		return;
	}
	for (i = 1; i < r->nwords; i++) {
		if (find(rs, kind, r->words[i]) == NULL)
			add(b, c, kind, r->words[i]);
		resp_spring_listen(b, c);
		tell(c, word_of(kind, false), kind, &r->words[i]);
		resp_audience_joined(c, find(rs, kind, r->words[i]));
	}
}

static void
drop(struct broker *b, struct conn *c, struct channel *ch)
{
	struct resp *rs = resp_of(c);
	const struct span name = { ch->name, ch->len };

	assert(rs->nchannels > 0);
	resp_audience_leave(b, ch);
	LIST_REMOVE(ch, link);
	resp_spring_listen(b, c);
	rs->nchannels--;
	tell(c, word_of(ch->kind, true), ch->kind, &name);
	free(ch);
}

static void
drop_all(struct broker *b, struct conn *c, char kind)
{
	struct resp *rs = resp_of(c);
	struct channel *ch, *next;
	bool any = false;

	LIST_FOREACH_SAFE (ch, &rs->channels, link, next) {
		if (ch->kind != kind)
			continue;
		drop(b, c, ch);
		any = true;
	}
	if (!any)
		tell(c, word_of(kind, true), kind, NULL);
}

void
resp_unsubscribe(struct broker *b, struct conn *c, const struct request *r)
{
	char kind = kind_of(r->words[0]);
	struct channel *ch;
	unsigned i;

	if (r->nwords == 1)
		drop_all(b, c, kind);
	for (i = 1; i < r->nwords; i++) {
		ch = find(resp_of(c), kind, r->words[i]);
		if (ch != NULL)
			drop(b, c, ch);
		else
			tell(c, word_of(kind, true), kind, &r->words[i]);
	}
}
