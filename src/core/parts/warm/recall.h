/*
 * Recalls: a name that another broker keeps warm (warm.h) is free to clients,
 * so no client here is told that it is not before that broker has been asked.
 *
 *	operation --> `BUSY`, held, ...; its owner keeps names warm
 *	          --> RECALL --> `recall` --> the owner, which gives the name back
 *	                                      if it is warm, and keeps it warm no
 *	                                      more for half a minute
 *	          <-------------- `recalled` <--
 *	          --> the operation again: what it finds now stands
 *
 * If the owner is this broker itself, the name goes back in the same call that
 * asks for it; if a renewal is under way, that call waits for it here.
 *
 * So the answer to an operation that does not wait passes through here, and the
 * asker sees only one that took longer.  That an owner was asked is remembered
 * for less than that half a minute: any name that it has meanwhile, it has for
 * a client.  If it does not answer, the warmth is over by itself.
 */
#ifndef LOCKBROKER_CORE_PARTS_WARM_RECALL_H
#define LOCKBROKER_CORE_PARTS_WARM_RECALL_H

#include "core/kernel/lock/state.h"

void recall_init(struct core *core);
void recall_fini(struct core *core);

/*
 * The operation of this slot, which is free by now, has this outcome.  Returns
 * true if its owner is asked first: the operation is sent again then
 * (slot_row.again()), and the outcome does not count.  Takes over the name of
 * the slot in that case.
 */
bool recall_first(
    struct core *core, const struct slot *slot, const struct outcome *o);

void recall_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void recall_timer(struct core *core, struct timer *t);

/* A message: the name that this broker asked for under `seq` has been seen to. */
void recall_done(struct core *core, uint64_t seq);

/* The broker stops: nothing is asked any longer. */
void recall_stop(struct core *core);

/* At the owner: the broker of the token `asker` wants the name, of which this
 * one has `l`, or nothing (NULL); then it is told so at once. */
void recall_note(struct core *core, struct lock *l, const char *name,
    size_t name_len, const char *asker, size_t asker_len);

/* Tells those who have asked, unless the name is on its way back. */
void recall_tell(struct core *core, struct lock *l);

#endif
