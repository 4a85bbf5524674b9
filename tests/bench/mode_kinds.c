/*
 * Clients of the broker that ask for more than one exclusive lock: to share
 * one, for a permit of a semaphore, for several locks at once, and, to compare
 * with, for as many one after another.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "line.h"
#include "load.h"

#define PERMITS 10
#define NAMES_EACH 3 /* as many as several_say() has */

static void
kind_answer(struct peer *p, const char *text, size_t n)
{
	line_expect_ok(p, text, n);
	if (p->step == STEP_TAKE)
		load_granted(p);
	else
		load_given(p);
}

/* ---- shared ---- */

static void
shared_take(struct peer *p)
{
	line_say(p, "LOCK %s mode=shared", p->name);
}

static void
shared_give(struct peer *p)
{
	line_say(p, "UNLOCK %s", p->name);
}

const struct mode mode_shared = {
	.name = "shared",
	.help = "LOCK mode=shared and UNLOCK at a broker",
	.frame = line_frame,
	.take = shared_take,
	.give = shared_give,
	.answer = kind_answer,
};

/* ---- permits ---- */

static void
permits_take(struct peer *p)
{
	line_say(p, "ACQUIRE %s limit=%d", p->name, PERMITS);
}

static void
permits_give(struct peer *p)
{
	line_say(p, "RELEASE %s", p->name);
}

const struct mode mode_permits = {
	.name = "permits",
	.help = "ACQUIRE of one permit of ten, and RELEASE",
	.frame = line_frame,
	.take = permits_take,
	.give = permits_give,
	.answer = kind_answer,
};

/* ---- several at once ---- */

static void
several_say(struct peer *p, const char *verb)
{
	line_say(p, "%s %s/0 %s/1 %s/2", verb, p->name, p->name, p->name);
}

static void
several_take(struct peer *p)
{
	several_say(p, "LOCK");
}

static void
several_give(struct peer *p)
{
	several_say(p, "UNLOCK");
}

const struct mode mode_several = {
	.name = "several",
	.help = "LOCK and UNLOCK of three names at once",
	.frame = line_frame,
	.take = several_take,
	.give = several_give,
	.answer = kind_answer,
};

/* ---- as many, one after another ---- */

/* The own of a peer: which of its names is under way. */
struct each {
	unsigned at;
};

static void
each_open(struct peer *p)
{
	p->own = xcalloc(1, sizeof(struct each));
}

static void
each_say(struct peer *p)
{
	const struct each *own = p->own;

	line_say(p, "%s %s/%u", p->step == STEP_TAKE ? "LOCK" : "UNLOCK",
	    p->name, own->at);
}

/* All take them in one order, so that nobody waits in a circle. */
static void
each_first(struct peer *p)
{
	struct each *own = p->own;

	own->at = 0;
	each_say(p);
}

static void
each_answer(struct peer *p, const char *text, size_t n)
{
	struct each *own = p->own;

	own->at++;
	if (own->at == NAMES_EACH) {
		kind_answer(p, text, n);
		return;
	}
	line_expect_ok(p, text, n);
	each_say(p);
}

const struct mode mode_each = {
	.name = "each",
	.help = "LOCK of three names one after another, and their UNLOCK",
	.frame = line_frame,
	.open = each_open,
	.take = each_first,
	.give = each_first,
	.answer = each_answer,
};
