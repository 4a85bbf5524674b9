/*
 * Data that go back within a history that continues, as after SWAPDB or with a
 * snapshot of the machine.  Brokers notice that if the data are older than a
 * stall, or know nothing of a running broker (lockbroker-guarantees(7)).
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "world.h"

#define BACK_US 2000000 /* within it all brokers call, before data go back */

/* Reads a field of the guard. */
static void
guard_field(struct redis_db *db, const char *field, char *out, size_t size)
{
	const struct text words[] = { { "HGET", 4 },
		{ WORLD_PREFIX "@guard", strlen(WORLD_PREFIX "@guard") },
		{ field, strlen(field) } };
	redisReply *reply = redis_db_run(db, 3, words);

	snprintf(out, size, "%s",
	    reply->type == REDIS_REPLY_STRING ? reply->str : "");
	answer_free(reply);
}

static bool
is_blessed(struct server *s)
{
	char id[REDIS_REPLID_LEN + 1];

	guard_field(&s->db, "id", id, sizeof(id));
	return strcmp(id, s->db.replid) == 0;
}

/* Were the data saved when all brokers had stopped in order? */
bool
faults_saved_idle(struct server *s)
{
	char idle[REDIS_REPLID_LEN + 1];

	if ((s->w->faults.on & FAULT_BACK) == 0 || s->saved_run != s->run)
		return false;
	guard_field(&s->saved, "idle", idle, sizeof(idle));
	return strcmp(idle, s->db.replid) == 0;
}

/* Does the guard know all brokers, and do they know that it does? */
static bool
knows_all(struct world *w, struct redis_db *db)
{
	char field[64], at[32];
	struct broker *b;

	for (b = w->brokers; b < w->brokers + w->nbrokers; b++) {
		snprintf(field, sizeof(field), "b:%s.%016llx", b->name,
		    (unsigned long long)b->instance);
		guard_field(db, field, at, sizeof(at));
		if (!b->alive || b->stopping || at[0] == '\0' ||
		    world_now(w) - b->start_us < BACK_US)
			return false;
	}
	return true;
}

/*
 * Data that are older than a stall are noticed at the first call.  If they are
 * from a time when nobody had anything, only brokers notice that have started
 * since.
 */
static bool
may_go_back(struct world *w, struct server *s)
{
	if (s->saved_run != s->run || !is_blessed(s) ||
	    world_now(w) + BACK_US > w->heal_us)
		return false;
	if (faults_saved_idle(s))
		return knows_all(w, &s->db);
	return server_clock_us(s) - s->saved_clock_us > w->pad_ms * 1000;
}

void
faults_go_back(struct server *s)
{
	struct world *w = s->w;

	if (!s->up || s->frozen || !may_go_back(w, s))
		return;
	server_go_back(s);
	checker_amnesia(w);
	w->faults.unnoticed = true;
}

/* Until a running broker has called, a broker that starts would notice
 * nothing. */
bool
faults_unnoticed(struct world *w)
{
	struct server *s = &w->servers[0];

	w->faults.unnoticed = w->faults.unnoticed && is_blessed(s);
	return w->faults.unnoticed;
}
