/*
 * What a broker says of a name that it has, when another broker asks:
 *
 *	STATUS, UNLOCK-FORCE fence= --> `about SEQ ASKER NAME` --> the broker of
 *	                                                           the token
 *	    <-- `told SEQ [KEY=VALUE ...] NAME` <----------------
 *
 * The asker goes on with the answer, or without it: if no broker listens, if
 * too many questions went to that broker within a second, and once ABOUT_MS are
 * over.  Over a quorum no broker is asked.  Fields that are not known are
 * ignored, and so is an answer that is no such line.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_ABOUT_H
#define LOCKBROKER_CORE_PARTS_VIEWS_ABOUT_H

#include "base/span.h"
#include "core/kernel/lock/state.h"
#include "core/kernel/turn/slot.h"

#define ABOUT_MS 200			    /* for an answer */
#define ABOUT_EACH_SECOND 100		    /* questions to one broker */
#define ABOUT_LOOKS (ABOUT_EACH_SECOND / 2) /* of them, on behalf of watchers */
#define ABOUT_TOKEN_BYTES (BROKER_MAX_BYTES + 64) /* of a token, with a NUL */

/* A hold, or a reserved name, with nothing but `until` and `was`.  Texts belong
 * to the hold, or to the message. */
struct about {
	uint64_t session; /* 0: not known */
	uint64_t fence;	  /* 0: no one has the name */
	int64_t age_ms;	  /* since the grant; below 0: not known */
	int64_t
	    until_ms; /* what is left of its bound, or of the window in which
			 the name is kept; below 0: there is none */
	int64_t
	    risk_ms; /* left, unless a renewal is confirmed; below 0: safe */
	struct span label, peer; /* empty: there is none */
	struct span was;	 /* last holder of a name that is kept; empty */
	struct span waits; /* the lock that its session waits for; empty */
	uint64_t tagged;   /* that request is: it may go on without it */
	struct span value; /* of value=; empty */
};

#define ABOUT_NOTHING \
	((struct about){ .age_ms = -1, .until_ms = -1, .risk_ms = -1 })

/*
 * Asks the broker of the token with which the text of the outcome begins.
 * Returns false if it is not asked; nor is it if it has had `most` questions
 * within a second.  Otherwise slot_row.told() takes copies of both later, with
 * the answer.
 */
bool about_ask(struct core *core, const struct slot *slot,
    const struct outcome *o, unsigned most);

/* Writes BROKER.INSTANCE.SEQ of this broker. */
void about_token(
    const struct core *core, uint64_t seq, char token[ABOUT_TOKEN_BYTES]);

/* Sends words about the name to the broker of a token; `text` comes before the
 * name.  The caller may fill in the slot at once. */
struct slot *about_send(struct core *core, unsigned kind, const char *name,
    size_t name_len, struct span token, const char *text);

/* Does a session here have the name, or is it kept here? */
bool about_here(
    const struct core *core, const struct lock *l, struct about *out);

#endif
