/*
 * Warm names.
 *
 *	held --UNLOCK--> warm --LOCK here------------------> held
 *	                   |
 *	                   +--time is up, another broker ...--> ending
 *
 * A warm name is a lease without a holder, and nothing else: the broker vouches
 * for it as for any lease, and it has no holder.  It is not renewed while it is
 * warm, and stays for a tenth of a lease at most, so a broker that dies with it
 * keeps others away no longer than with a hold.
 *
 * It must be worth it.  A name becomes warm only if it was taken twice here
 * within a second, and no other broker is known to want it.  If another broker
 * asks for it while it is warm, it is given back at once, and stays *cold* for
 * half a minute or more: brokers that take turns would only pay for warmth.
 *
 * Both are remembered by hash, as most names are forgotten when they are
 * released.  Two names in one place make one of them warm later, or cold for
 * longer; no promise rests on either.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/guard/sweep.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/parts/force/force.h"
#include "core/parts/ids.h"
#include "core/parts/warm/plain.h"
#include "core/parts/warm/warm.h"

#define AGAIN_MS 1000	 /* two grants within this are worth it */
#define COLD_MS 30000	 /* a generation: cold for one, and two at most */
#define SETS 16384	 /* of names taken lately; a power of two */
#define WAYS 4		 /* places in each */
#define COLD_BITS 65536	 /* a power of two */
#define LEASE_PART 10	 /* at most lease/10 */
#define AUTO_ROW_MS 5000 /* `auto`: in a row for this long, then once not */
#define RESERVE_MS 1000	 /* a draw of fences is to be enough for this long */

/* A name that was granted here lately. */
struct taken {
	uint32_t tag; /* its hash */
	bool again;   /* that was the second time within AGAIN_MS */
	int64_t at_ms;
	int64_t row_ms; /* auto: it has been warm again and again since then */
};

/* Its memory is there only if locks.warm is not 0, or was not. */
struct warm {
	TAILQ_HEAD(, warm_name) names; /* the oldest first */
	size_t n;
	int64_t most_ms; /* locks.warm; 0: off */
	bool is_auto;	 /* with plain clients around, which must be let in */
	char **patterns; /* owned, as its texts */
	size_t npatterns;
	struct taken *taken;	/* owned; SETS of WAYS */
	unsigned char *cold[2]; /* owned; this generation, the one before */
	int64_t cold_ms;	/* this one began then */
};

static struct warm *
warm_of(const struct core *core)
{
	return core->part[PART_WARM];
}

static void
forget(struct warm *warm)
{
	size_t i;

	for (i = 0; i < warm->npatterns; i++)
		free(warm->patterns[i]);
	free(warm->patterns);
	free(warm->taken);
	warm->patterns = NULL;
	warm->npatterns = 0;
	warm->taken = NULL;
}

static void
init(struct core *core)
{
	core->part[PART_WARM] = xcalloc(1, sizeof(struct warm));
	TAILQ_INIT(&warm_of(core)->names);
}

static void
fini(struct core *core)
{
	assert(warm_of(core)->n == 0);
	forget(warm_of(core));
	free(warm_of(core)->cold[0]);
	free(warm_of(core)->cold[1]);
	free(warm_of(core));
}

/* Names that are warm by former settings are swept (SWEEP_WARM). */
static void
configure(struct core *core, const struct lock_limits *limits)
{
	struct warm *warm = warm_of(core);
	size_t i;

	forget(warm);
	warm->is_auto = limits->warm_ms == WARM_AUTO;
	warm->most_ms = warm->is_auto ? core->config.lease_ms / WARM_AUTO_PART
				      : min_ms(limits->warm_ms,
					    core->config.lease_ms / LEASE_PART);
	/* Over a quorum a lease costs more than a trip, and no broker
	 * recalls. */
	if (core->config.quorum)
		warm->most_ms = 0;
	core->warm_ms = warm->most_ms;
	if (warm->most_ms == 0)
		return;
	warm->npatterns = limits->warm_names.n;
	warm->patterns = xcalloc(warm->npatterns + 1, sizeof(char *));
	for (i = 0; i < warm->npatterns; i++)
		warm->patterns[i] = xstrdup(limits->warm_names.v[i]);
	warm->taken = xcalloc(SETS * WAYS, sizeof(*warm->taken));
	/* A promise to another broker about a name outlives other settings. */
	if (warm->cold[0] != NULL)
		return;
	warm->cold[0] = xcalloc(COLD_BITS / 8, 1);
	warm->cold[1] = xcalloc(COLD_BITS / 8, 1);
	warm->cold_ms = core->now_ms;
}

/* What is remembered. */

/* Literal, or the beginning of the name followed by '*'. */
static bool
fits(const char *pattern, const struct lock *l)
{
	size_t n = strlen(pattern);
	bool open = n > 0 && pattern[n - 1] == '*';

	n -= open;
	return (open ? l->name_len >= n : l->name_len == n) &&
	       memcmp(l->name, pattern, n) == 0;
}

static bool
may_be_warm(const struct warm *warm, const struct lock *l)
{
	size_t i;

	for (i = 0; i < warm->npatterns; i++)
		if (fits(warm->patterns[i], l))
			return true;
	return false;
}

static bool
bit_of(const unsigned char *bits, uint32_t hash)
{
	return (bits[hash % COLD_BITS / 8] >> hash % 8 & 1) != 0;
}

/* Begins a new generation when it is time; both, if nothing was asked for such
 * a long time that even the present one is old. */
static void
turn_cold(const struct core *core, struct warm *warm)
{
	unsigned char *old = warm->cold[1];
	int64_t age_ms = core->now_ms - warm->cold_ms;

	assert(warm->cold[0] != NULL && old != NULL && age_ms >= 0);
	if (age_ms < COLD_MS)
		return;
	warm->cold[1] = warm->cold[0];
	warm->cold[0] = old;
	memset(old, 0, COLD_BITS / 8);
	if (age_ms >= 2 * COLD_MS)
		memset(warm->cold[1], 0, COLD_BITS / 8);
	warm->cold_ms = core->now_ms;
}

static void
set_cold(const struct core *core, struct warm *warm, uint32_t hash)
{
	turn_cold(core, warm);
	warm->cold[0][hash % COLD_BITS / 8] |= (unsigned char)(1 << hash % 8);
}

static bool
is_cold(const struct core *core, struct warm *warm, uint32_t hash)
{
	turn_cold(core, warm);
	return bit_of(warm->cold[0], hash) || bit_of(warm->cold[1], hash);
}

/* The place of the name; if it has none, the one that was used least lately.
 * Names that shared a place and are taken in turn would never become warm. */
static struct taken *
taken_for(const struct warm *warm, uint32_t hash)
{
	struct taken *set = &warm->taken[hash % SETS * WAYS], *oldest = set;
	unsigned i;

	for (i = 0; i < WAYS; i++) {
		if (set[i].tag == hash)
			return &set[i];
		if (set[i].at_ms < oldest->at_ms)
			oldest = &set[i];
	}
	return oldest;
}

static void
note_taken(const struct core *core, struct warm *warm, const struct lock *l)
{
	uint32_t hash = hash_of(l->name, l->name_len);
	struct taken *t = taken_for(warm, hash);

	t->again = t->tag == hash && t->at_ms > 0 &&
		   core->now_ms - t->at_ms <= AGAIN_MS;
	if (!t->again)
		t->row_ms = 0;
	t->tag = hash;
	t->at_ms = core->now_ms;
}

static bool
is_worth_it(const struct core *core, struct warm *warm, const struct lock *l)
{
	uint32_t hash = hash_of(l->name, l->name_len);
	const struct taken *t = taken_for(warm, hash);

	return t->tag == hash && t->again &&
	       core->now_ms - t->at_ms <= AGAIN_MS &&
	       !is_cold(core, warm, hash);
}

/* Warm names. */

static void
cool_off(struct core *core, struct lock *l)
{
	struct warm_name *m = lock_part(l, PART_WARM);

	if (m == NULL || !m->warm)
		return;
	assert(warm_of(core)->n > 0 && l->lease.rare != NULL);
	TAILQ_REMOVE(&warm_of(core)->names, m, link);
	warm_of(core)->n--;
	m->warm = false;
	l->lease.rare->warm_ms = 0;
}

void
warm_recall(struct core *core, struct lock *l)
{
	if (!warm_is(l))
		return;
	cool_off(core, l);
	core->stats.warm_recalls++;
	warm_cool(core, l->name, l->name_len);
}

void
warm_cool(struct core *core, const char *name, size_t len)
{
	struct warm *warm = warm_of(core);

	if (warm->cold[0] != NULL)
		set_cold(core, warm, hash_of(name, len));
}

/*
 * Is the lease one that can stay without a holder?  Not if it is shared, at
 * risk, or good for a pad only; nor if its key outlives lease and pad, for then
 * a broker that dies would keep others away for longer than a hold would.
 */
static bool
is_sound(const struct core *core, const struct lock *l)
{
	const struct lease *lease = &l->lease;
	const struct term *t = &lease->term;

	return lease_is_held(lease) && term_vouched(core, t) &&
	       t->state != TERM_ATRISK && !t->provisional && !lease->shared &&
	       !lease->outcome_unknown && !lease_converts(lease) &&
	       !lease_lingers(core, lease) && lease_rare(lease)->longer_ms == 0;
}

/* A plain client that polls for the name is let in once in a while. */
static bool
is_in_row(
    const struct core *core, const struct warm *warm, const struct lock *l)
{
	struct taken *t = taken_for(warm, hash_of(l->name, l->name_len));
	int64_t row_ms = core->now_ms - t->row_ms;

	if (!warm->is_auto)
		return true;
	if (t->row_ms == 0 || row_ms >= AUTO_ROW_MS + warm->most_ms)
		t->row_ms = core->now_ms;
	return core->now_ms - t->row_ms < AUTO_ROW_MS;
}

/* Does the broker serve, and the store remember what it has confirmed? */
static bool
is_calm(const struct core *core, const struct lock *l)
{
	const struct term *t = &l->lease.term;

	return warm_of(core)->most_ms > 0 && !core->stopping &&
	       !core->leaving && guard_ready(core, t->shard) &&
	       plain_near(core, t->shard) == NULL &&
	       t->epoch == guard_epoch(core, t->shard) &&
	       guard_knows_warm(core, t->shard);
}

/* Otherwise half of the renewals of names that change hands all the time would
 * be due just then, and each go out alone. */
static void
put_off_renewal(struct core *core, struct lock *l)
{
	if (l->lease.pending == NULL && !l->lease.whole && !l->lease.paused &&
	    is_sound(core, l) && is_calm(core, l))
		pace_put_off(core, &l->lease.term);
}

static void
warm_granted(struct core *core, struct lock *l, bool shared)
{
	struct warm *warm = warm_of(core);
	struct warm_name *m = lock_part(l, PART_WARM);

	if (m != NULL && m->warm) {
		cool_off(core, l);
		core->stats.warm_grants++;
		m->grants++;
		put_off_renewal(core, l);
	}
	if (warm->most_ms > 0 && !shared)
		note_taken(core, warm, l);
}

static bool
is_wanted_elsewhere(const struct lock *l)
{
	return lease_contended(&l->lease) || l->lease.contended_early ||
	       force_awaits(l);
}

/* The first of the list has been warm for longest. */
static void
make_room(struct core *core, struct warm *warm)
{
	struct lock *oldest;

	if (warm->n < WARM_MAX)
		return;
	oldest = TAILQ_FIRST(&warm->names)->lock;
	cool_off(core, oldest);
	lock_touch(core, oldest);
}

static void
warm_released(struct core *core, struct lock *l)
{
	struct warm *warm = warm_of(core);
	struct warm_name *m;

	if (warm->most_ms == 0 || l->queue != NULL ||
	    !TAILQ_EMPTY(&l->holders) || !is_sound(core, l) ||
	    !is_calm(core, l) || !is_worth_it(core, warm, l) ||
	    !may_be_warm(warm, l) || !is_in_row(core, warm, l))
		return;
	if (is_wanted_elsewhere(l))
		return;
	make_room(core, warm);
	m = lock_need_part(l, PART_WARM, sizeof(*m));
	assert(!m->warm);
	if (m->lock == NULL)
		m->drawn_ms = core->now_ms;
	m->lock = l;
	TAILQ_INSERT_TAIL(&warm->names, m, link);
	warm->n++;
	m->warm = true;
	lease_need_rare(&l->lease)->warm_ms = core->now_ms + warm->most_ms;
}

static bool
warm_stays(struct core *core, struct lock *l)
{
	if (!warm_is(l))
		return false;
	if (is_wanted_elsewhere(l)) {
		warm_recall(core, l);
		return false;
	}
	if (lease_rare(&l->lease)->warm_ms > core->now_ms && is_calm(core, l) &&
	    is_sound(core, l))
		return true;
	cool_off(core, l);
	return false;
}

/* As many fences as the name will need for a while, if it is taken as often as
 * since its last draw.  Redis gives no more than a million a second to all
 * names of all brokers: if these drew more than they use, they would soon get
 * one each. */
static uint32_t
warm_reserve(const struct core *core, struct lock *l)
{
	struct warm_name *m = lock_part(l, PART_WARM);
	int64_t n;

	if (m == NULL || !(m->warm || m->grants > 0))
		return 0;
	n = (m->grants + INT64_C(1)) * RESERVE_MS /
	    max_ms(core->now_ms - m->drawn_ms, 1);
	m->grants = 0;
	m->drawn_ms = core->now_ms;
	return (uint32_t)min_ms(n, LEASE_FENCES_MAX);
}

/* A warm name rests on its lease: between two steps it is held, or about to be
 * looked at. */
static void
check_one(const struct lock *l)
{
	assert(warm_is(l) == (lease_rare(&l->lease)->warm_ms > 0));
	assert(!warm_is(l) || TAILQ_EMPTY(&l->holders));
	assert(!warm_is(l) || l->touched ||
	       (lease_is_held(&l->lease) && l->queue == NULL));
}

static size_t
check_warm(const struct core *core)
{
	const struct warm *warm = warm_of(core);
	const struct warm_name *m;
	struct lock_walk walk;
	const struct lock *l;
	size_t n = 0;

	for (l = names_first(core, &walk); l != NULL; l = names_next(&walk))
		check_one(l);
	TAILQ_FOREACH (m, &warm->names, link) {
		assert(m->warm && lock_part(m->lock, PART_WARM) == m);
		n++;
	}
	assert(n == warm->n && n <= WARM_MAX);
	return 0;
}

/* As a part. */

static void
settled(struct core *core, struct lock *l)
{
	if (!lease_is_held(&l->lease) || l->queue != NULL)
		cool_off(core, l);
}

static const struct lock_hooks hooks = {
	.settled = settled,
	.freed = cool_off,
	.wanted = warm_recall,
	.stays = warm_stays,
	.reserve = warm_reserve,
	.granted = warm_granted,
	.released = warm_released,
};

/* Settings have changed, or the broker leaves: gives back, in later steps,
 * names that are warm and may not stay so. */
static void
cool_down(struct core *core)
{
	if (warm_of(core)->n > 0)
		sweep_plan_all(core, SWEEP_WARM);
}

static void
configure_warm(struct core *core, const struct metrics_settings *metrics)
{
	(void)metrics;
	configure(core, &core->config.locks);
	cool_down(core);
}

static unsigned
sweeps(const struct core *core, uint32_t shard)
{
	return warm_of(core)->n > 0 && !guard_ready(core, shard) ? SWEEP_WARM
								 : 0;
}

const struct core_part warm_part = {
	.id = PART_WARM,
	.lock = &hooks,
	.init = init,
	.fini = fini,
	.configure = configure_warm,
	.leaves = cool_down,
	.stops = cool_down,
	.sweeps = sweeps,
	.check = check_warm,
};
