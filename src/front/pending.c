/*
 * Requests whose answers come later.
 *
 * A connection has at most one untagged request, which is a field of it.
 * Tagged ones are in two tables, by reference and by tag, because a client may
 * have a thousand of them.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "front/conn.h"
#include "front/front.h"
#include "front/state.h"

static void
key_set(struct pending_key *key, const struct conn *c, struct span tag)
{
	assert(tag.n > 0 && tag.n <= sizeof(key->tag));
	memset(key, 0, sizeof(*key));
	key->conn = c->id;
	memcpy(key->tag, tag.p, tag.n);
}

static void
pending_free(struct conn *c, struct pending *p)
{
	struct front *f = c->front;

	assert(c->npending > 0 && p->key.conn == c->id);
	LIST_REMOVE(p, link);
	table_remove(&f->by_ref, &p->by_ref);
	table_remove(&f->by_tag, &p->by_tag);
	free(p);
	c->npending--;
}

uint64_t
conn_defer(struct conn *c, const struct request *r)
{
	struct front *f = c->front;
	uint64_t ref = ++f->next_ref;
	struct pending *p;

	if (r->tag.n == 0) {
		assert(c->blocked == 0);
		c->blocked = ref;
		c->pressed = false;
		c->blocked_verb = r->verb;
		return ref;
	}
	p = xcalloc(1, sizeof(*p));
	p->ref = ref;
	p->verb = r->verb;
	key_set(&p->key, c, r->tag);
	LIST_INSERT_HEAD(&c->pending, p, link);
	table_add(&f->by_ref, &p->by_ref);
	table_add(&f->by_tag, &p->by_tag);
	c->npending++;
	return ref;
}

/* The next line or the end may have waited for an answer. */
static void
wake(struct conn *c)
{
	if (buf_len(&c->in) > 0 || c->eof || c->quit)
		front_ready(c);
}

bool
conn_answered(struct conn *c, uint64_t ref, char mem[TAG_MAX_BYTES + 1],
    struct wire_reply *reply)
{
	struct pending *p;

	mem[0] = '\0';
	reply->tag = (struct span){ mem, 0 };
	if (ref == 0)
		return false;
	if (ref == c->blocked) {
		c->blocked = 0;
		reply->verb = c->blocked_verb;
		heartbeat_heard(c);
		wake(c);
		return true;
	}
	p = container_or_null(
	    table_find_key(&c->front->by_ref, &ref), struct pending, by_ref);
	if (p == NULL || p->key.conn != c->id)
		return false;
	memcpy(mem, p->key.tag, sizeof(p->key.tag));
	mem[TAG_MAX_BYTES] = '\0';
	reply->tag.n = strlen(mem);
	reply->verb = p->verb;
	pending_free(c, p);
	wake(c);
	return true;
}

uint64_t
conn_tag_ref(const struct conn *c, struct span tag)
{
	struct pending_key key;
	const struct pending *p;

	if (c->npending == 0 || tag.n == 0 || tag.n > sizeof(key.tag))
		return 0;
	key_set(&key, c, tag);
	p = container_or_null(
	    table_find_key(&c->front->by_tag, &key), struct pending, by_tag);
	return p != NULL ? p->ref : 0;
}

bool
conn_owes(const struct conn *c)
{
	return c->blocked != 0 || c->npending > 0 || c->busy > 0;
}

void
conn_busy(struct conn *c, bool busy)
{
	if (busy) {
		c->busy++;
		return;
	}
	assert(c->busy > 0);
	c->busy--;
	heartbeat_heard(c);
	wake(c);
}

void
conn_forget(struct conn *c)
{
	struct pending *p;

	while ((p = LIST_FIRST(&c->pending)) != NULL)
		pending_free(c, p);
	c->blocked = 0;
	assert(c->npending == 0);
}
