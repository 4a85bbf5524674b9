/*
 * What clients use in a run, and which client does which of it when.
 */
#include "config.h"

#include "client_parts.h"
#include "words.h"
#include "world.h"

static const char *const use_words[] = {
#define USE(id, word, what) word,
	USES(USE)
#undef USE
};

bool
uses_parse(const char *text, unsigned *out)
{
	return words_parse(text, use_words, USE_BITS, out);
}

/* Each has a limit of its own. */
static void
draw_semaphores(struct world *w)
{
	int i;

	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++)
		if (w->permits[i] == 0)
			w->permits[i] =
			    (uint64_t)prng_range(&w->uses.prng, 1, 6);
}

/* Half of those with several semaphores have slots, too. */
static void
draw_slots(struct world *w)
{
	struct uses *u = &w->uses;

	prng_seed(&u->slots, w->o->seed ^ 0x736c6f74);
	if (!w->o->uses_given && uses_has(w, USE_SEMAPHORES) &&
	    prng_chance(&u->slots, 500))
		u->on |= USE_SLOTS & w->o->uses;
	if (w->quorum || !uses_has(w, USE_SLOTS))
		u->on &= ~(unsigned)USE_SLOTS;
	else
		u->earlier = prng_chance(&u->slots, 500)
				 ? (unsigned)prng_below(&u->slots, 16) & ~1u
				 : 0;
}

/* A quarter of all seeds. */
static void
draw_drills(struct world *w)
{
	struct uses *u = &w->uses;

	prng_seed(&u->drills, w->o->seed ^ 0x6472696c6c73);
	if (!w->o->uses_given && prng_chance(&u->drills, 250))
		u->on |= USE_DRILL & w->o->uses;
	if (w->quorum)
		u->on &= ~(unsigned)USE_DRILL;
}

/* Half of the seeds use none of it but, at times, drills. */
void
uses_draw(struct world *w)
{
	struct uses *u = &w->uses;
	struct prng *p = &u->prng;
	const struct sim_options *o = w->o;
	bool some;

	prng_seed(p, o->seed ^ 0x75736573);
	some = prng_chance(p, 500);
	u->on = (unsigned)prng_below(p, 1u << USE_BIT_SLOTS) & o->uses;
	if (!some)
		u->on = 0;
	if (o->uses_given)
		u->on = o->uses;
	/* ERR unsupported. */
	if (w->quorum)
		u->on &= ~(unsigned)(USE_LATCH | USE_BARRIER | USE_FORCE |
				     USE_SEMAPHORES);
	u->parties = (uint64_t)prng_range(p, 2, 1 + w->nclients / 2);
	if (u->parties > 4)
		u->parties = 4;
	if (uses_has(w, USE_KEEPS) && !w->quorum)
		w->shares = true;
	if (uses_has(w, USE_SEMAPHORES))
		draw_semaphores(w);
	draw_slots(w);
	draw_drills(w);
}

bool
uses_wants_slot(struct world *w, int broker)
{
	return uses_has(w, USE_SLOTS) && (w->uses.earlier >> broker & 1) == 0 &&
	       prng_chance(&w->uses.slots, 600);
}

bool
uses_has(const struct world *w, enum use use)
{
	return (w->uses.on & (unsigned)use) != 0;
}

/* One row: how often a client that is free to do anything does this. */
static const struct deed {
	enum use use;
	unsigned permille;
	void (*act)(struct client *c);
} deeds[] = {
	{ USE_LATCH, 150, client_use_latch },
	{ USE_BARRIER, 250, client_use_barrier },
	{ USE_SESSION, 150, client_use_session },
	{ USE_WATCH, 100, client_use_watch },
	{ USE_FORCE, 40, client_use_force },
	{ USE_HEARTBEAT, 100, client_use_heartbeat },
	{ USE_HEARTBEAT, 100, client_use_end },
	{ USE_SEMAPHORES, 400, client_use_permits },
	{ USE_DRILL, 60, client_use_drill },
};

bool
uses_act(struct client *c)
{
	const struct deed *d = deeds;
	const struct deed *end = deeds + sizeof(deeds) / sizeof(deeds[0]);

	for (; d < end; d++) {
		if (!uses_has(c->w, d->use) ||
		    !prng_chance(&c->w->uses.prng, d->permille))
			continue;
		d->act(c);
		return true;
	}
	return false;
}
