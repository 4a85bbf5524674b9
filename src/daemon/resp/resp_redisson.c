/*
 * What locks of Redisson need beyond those of other libraries.
 *
 * Latches.  A client that has not heard the answer to an unlock sends it again,
 * under the same name that it has made up.  The broker keeps what it answered
 * under that name, until the client deletes it or the time is up, and looks for
 * a kept answer before it looks at the hold: a depth that was taken off once is
 * not taken off again.  While the first request is on its way, also if its
 * connection broke meanwhile, the answer to the next one is TRYAGAIN.  Other
 * brokers do not know of the request, but they find in the hold which request
 * has taken off a depth last, and answer the same; once the hold has ended,
 * they answer that there is none.
 *
 * Parts.  One script renews the holds of many names, each of a token of its
 * own.  The core gets a request for each, and the answer is written when all
 * have been answered.
 *
 * TRYAGAIN.  The library repeats a request that was refused so.  So it gets
 * that answer only if surely nothing was done, or if doing it twice does no
 * harm.  If the broker stops, it finds another one then, or the next one at
 * this address.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/table.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp.h"

#define LATCH_PREFIX "redisson_unlock_latch:"
#define LATCH_ID_BYTES 32 /* hexadecimal digits at the end of a name */
#define LATCHES_MAX 1024  /* the oldest gives way */

/* References of the parts of a request: with its own, and the part. */
#define PART_REF (UINT64_C(1) << 62)
#define PART_BITS 10

struct latch {
	struct table_link by_name;
	TAILQ_ENTRY(latch) link;
	int64_t until_ms;
	/* Of the request that is being carried out; 0: there is the answer. */
	uint64_t session, ref;
	bool one;     /* the answer; else 0 */
	bool deleted; /* the name may be used for another request */
	size_t len;
	char name[];
};

struct latches {
	struct table by_name;
	TAILQ_HEAD(, latch) list; /* the oldest first */
	unsigned n, nopen; /* in all; whose request is being carried out */
};

/* A request that is being carried out in parts. */
struct parts {
	uint64_t ref; /* of the request */
	struct ask_wrong wrong;
	const char *error; /* static: the answer; NULL: it goes well so far */
	unsigned n, left;
	bool done[];
};

/* Latches. */

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct latch *l = container_of_const(link, struct latch, by_name);

	*len = l->len;
	return l->name;
}

struct latches *
resp_latches_new(void)
{
	struct latches *all = xcalloc(1, sizeof(*all));

	table_init(&all->by_name, name_of);
	TAILQ_INIT(&all->list);
	return all;
}

static void
drop(struct latches *all, struct latch *l)
{
	TAILQ_REMOVE(&all->list, l, link);
	table_remove(&all->by_name, &l->by_name);
	all->n--;
	all->nopen -= l->session != 0;
	free(l);
}

void
resp_latches_free(struct latches *all)
{
	while (!TAILQ_EMPTY(&all->list))
		drop(all, TAILQ_FIRST(&all->list));
	table_fini(&all->by_name);
	free(all);
}

static struct latch *
find(struct latches *all, struct span name)
{
	struct table_link *link = table_find(&all->by_name, name.p, name.n);
	struct latch *l;

	if (link == NULL)
		return NULL;
	l = container_of(link, struct latch, by_name);
	if (l->until_ms > now_ms())
		return l;
	drop(all, l);
	return NULL;
}

/* Requires that there is none of that name: resp_latched() has looked. */
static void
add_open(struct latches *all, const struct ask *a, uint64_t session)
{
	struct latch *l;

	if (all->n == LATCHES_MAX)
		drop(all, TAILQ_FIRST(&all->list));
	l = xcalloc(1, sizeof(*l) + a->latch.n);
	l->until_ms = now_ms() + a->latch_ms;
	l->session = session;
	l->ref = a->rq.ref;
	l->len = a->latch.n;
	memcpy(l->name, a->latch.p, a->latch.n);
	table_add(&all->by_name, &l->by_name);
	TAILQ_INSERT_TAIL(&all->list, l, link);
	all->n++;
	all->nopen++;
}

static bool
is_hex(const char *p, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strchr("0123456789abcdef", p[i]) == NULL || p[i] == '\0')
			return false;
	return true;
}

/* redisson_unlock_latch:{NAME}:ID */
bool
resp_is_latch(enum resp_id id, const struct request *r)
{
	const size_t prefix = strlen(LATCH_PREFIX), behind = LATCH_ID_BYTES + 1;
	struct span key;

	if ((id != RESP_DEL && id != RESP_UNLINK) || r->nwords != 2)
		return false;
	key = r->words[1];
	return key.n > prefix + behind &&
	       memcmp(key.p, LATCH_PREFIX, prefix) == 0 &&
	       key.p[key.n - behind] == ':' &&
	       is_hex(key.p + key.n - LATCH_ID_BYTES, LATCH_ID_BYTES);
}

void
resp_del_latch(struct broker *b, struct conn *c, const struct request *r)
{
	struct latch *l = find(b->latches, r->words[1]);
	bool there = l != NULL && !l->deleted;

	resp_int(conn_output(c), there);
	if (!there)
		return;
	/* A hold that is left has its name. */
	if (l->session != 0 || l->one)
		drop(b->latches, l);
	else
		l->deleted = true;
}

bool
resp_latched(struct broker *b, struct conn *c, struct ask *a)
{
	struct latch *l = a->latch.n > 0 ? find(b->latches, a->latch) : NULL;

	if (l == NULL)
		return false;
	if (l->deleted) {
		drop(b->latches, l);
		a->rq.latch[0] = '\0';
		return false;
	}
	if (l->session != 0)
		resp_fail(c, "TRYAGAIN this unlock is in progress");
	else
		resp_int(conn_output(c), l->one);
	return true;
}

void
resp_latch_told(struct broker *b, uint64_t session, uint64_t ref,
    const struct token_result *t)
{
	struct latches *all = b->latches;
	struct latch *l = all->nopen == 0 ? NULL : TAILQ_FIRST(&all->list);

	while (l != NULL && (l->session != session || l->ref != ref))
		l = TAILQ_NEXT(l, link);
	if (l == NULL || session == 0)
		return;
	if (t == NULL || t->answer != TOKEN_DONE) {
		drop(all, l);
		return;
	}
	l->one = t->depth == 0;
	l->session = 0;
	all->nopen--;
}

/* Requests and answers. */

static void
refuse(struct conn *c, const struct wire_reply *reply, bool again)
{
	if (again &&
	    (reply->code == ERR_UNAVAILABLE || reply->code == ERR_SHUTDOWN))
		resp_fail(
		    c, "TRYAGAIN %.*s", (int)reply->text.n, reply->text.p);
	else
		resp_refusal(conn_output(c), reply);
}

static void
told_refusal(struct broker *b, struct conn *c, const struct wire_reply *reply)
{
	(void)b;
	refuse(c, reply, reply->undone);
}

/* Other libraries may repeat a request that a stopping broker has not carried
 * out: go-redis does, at another address. */
static void
told_stop(struct broker *b, struct conn *c, const struct wire_reply *reply)
{
	(void)b;
	refuse(c, reply, reply->undone && reply->code == ERR_SHUTDOWN);
}

void
resp_redisson_asks(struct broker *b, struct conn *c, const struct ask *a)
{
	resp_of(c)->then = a->repeats ? told_refusal : told_stop;
	if (a->latch_ms > 0)
		add_open(b->latches, a, bridge_session(c));
}

/* Parts. */

static void
write_parts(struct conn *c, const struct parts *p, const struct wire_reply *why)
{
	unsigned i;

	if (why != NULL) {
		refuse(c, why, true);
		return;
	}
	if (p->error != NULL) {
		resp_fail(c, "ERR %s", p->error);
		return;
	}
	resp_array(conn_output(c), p->n);
	for (i = 0; i < p->n; i++)
		resp_int(conn_output(c), p->done[i]);
}

static void
finish(struct conn *c, struct resp *rs, const struct wire_reply *why)
{
	struct parts *p = rs->parts;
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	rs->parts = NULL;
	if (conn_answered(c, p->ref, mem, &reply)) {
		resp_exec_begins(c);
		write_parts(c, p, why);
		resp_exec_ends(c);
	}
	free(p);
}

bool
resp_part_told(struct conn *c, uint64_t ref, const struct token_result *t,
    const struct wire_reply *reply)
{
	struct token_result told;
	const char *error;
	struct resp *rs;
	struct parts *p;

	if ((ref & PART_REF) == 0)
		return false;
	rs = resp_of(c);
	p = rs->parts;
	if (p == NULL || p->ref != (ref & ~PART_REF) >> PART_BITS)
		return true;
	if (t == NULL) {
		finish(c, rs, reply);
		return true;
	}
	told = *t;
	error = ask_error(&told, &p->wrong);
	if (error != NULL)
		p->error = error;
	p->done[ref & ((1U << PART_BITS) - 1)] = told.answer == TOKEN_DONE;
	if (--p->left == 0)
		finish(c, rs, NULL);
	return true;
}

/* Returns false if it has refused the request. */
static bool
may_ask_each(struct broker *b, struct conn *c, const struct request *r,
    enum script_id id, unsigned n)
{
	struct buf why;
	struct ask a;
	unsigned i;
	bool may = true;

	buf_init(&why);
	for (i = 0; i < n && may; i++) {
		may = scripts_ask_one(&a, id, r->words + 2, r->nwords - 2, i,
		    resp_clock_ms(b, r->words[3 + i]), &why);
		if (!may)
			resp_fail_why(c, &why);
		else
			may = !resp_refuse_names(b, c, r, "eval", &a);
	}
	buf_fini(&why);
	return may;
}

/* An answer may come inside of a step; and the first one that is an error is
 * the answer to all. */
void
resp_ask_each(struct broker *b, struct conn *c, const struct request *r,
    enum script_id id)
{
	unsigned i, n = scripts_each(id, r->words + 2, r->nwords - 2);
	uint64_t conn = conn_id(c), ref;
	struct parts *p;
	struct ask a;
	struct buf why;
	bool sure;

	if (!may_ask_each(b, c, r, id, n))
		return;
	ref = conn_defer(c, r);
	p = xcalloc(1, sizeof(*p) + n * sizeof(p->done[0]));
	p->ref = ref;
	p->n = p->left = n;
	resp_of(c)->parts = p;
	buf_init(&why);
	for (i = 0; i < n; i++) {
		sure = scripts_ask_one(&a, id, r->words + 2, r->nwords - 2, i,
		    resp_clock_ms(b, r->words[3 + i]), &why);
		assert(sure);
		p->wrong = a.wrong;
		a.rq.names = a.names;
		a.rq.ref = PART_REF | ref << PART_BITS | i;
		resp_step(b, c, &a.rq);
		c = front_find(b->front, conn);
		if (c == NULL || resp_of(c)->parts == NULL)
			break;
	}
	buf_fini(&why);
}
