/*
 * Semaphores (protocol, section 6): ACQUIRE and RELEASE.
 */
#ifndef LOCKBROKER_CORE_SYNC_SEMAPHORE_H
#define LOCKBROKER_CORE_SYNC_SEMAPHORE_H

#include "core/sync/sync.h"

/* What one session has of one semaphore.  Owned by semaphore.c. */
struct permits {
	struct table_link by_key; /* in syncs.permits */
	struct permits_key {
		const struct session *session;
		const struct sync *sync;
	} key; /* the same two, as bytes */
	TAILQ_ENTRY(permits) in_session;
	TAILQ_ENTRY(permits) in_sync;
	struct session *session;
	struct sync *sync;
	struct timer bound; /* armed where the time of holding is bounded */
	uint64_t n;
	uint64_t untold;  /* of them; wait for a FLUSH */
	unsigned nuntold; /* claims of which it is not told yet; they keep it */
	uint32_t losses;  /* the semaphore's, when they were granted */
	bool over;	  /* the session has them no more, ... */
	bool withdrawn;	  /* ... and lost them before they were told */
	int64_t since_ms;
};

extern const struct sync_class semaphore_class;

void semaphore_acquire(
    struct core *core, struct session *s, const struct core_request *rq);
void semaphore_release(
    struct core *core, struct session *s, const struct core_request *rq);

/* Gives all of them back; the session is gone. */
void permits_end(struct core *core, struct permits *p);

/* They will be ended, but shall be nobody else's for one more lease. */
void permits_outlive(struct permits *p);

/* A grant that will not be told: as if it had not been made. */
void permits_take_back(struct core *core, struct claim *c);

/* Are they lost before that could be told?  If all of the semaphore's were, and
 * there was no time to tell it yet, then that is told first. */
bool permits_withdrawn(struct core *core, const struct claim *c);

/* One that is told, or not: its permits count as told.  False: those are no
 * more. */
bool permits_untold(struct claim *c);

/* The time of holding them is over. */
void permits_timer(struct core *core, struct timer *t);

/* When what is vouched for ends: the lease or the bound. */
int64_t permits_valid_ms(const struct core *core, const struct permits *p);

/* What the session has of the semaphore; NULL: nothing.  It may be lost, and not
 * told yet. */
struct permits *permits_find(
    const struct core *core, const struct sync *y, const struct session *s);

void permits_init(struct core *core);

#endif
