/*
 * Calls that take a free name, or extend a hold that the client has already.
 *
 *	take or extend:  CLAIM --busy, and the hold is meant--> TOKEN
 *	     if others come first:  TOKEN --not held--> the call is parked
 *	extend or take:  TOKEN --free--> CLAIM
 *
 * These are two operations, and never one: if nobody answers a CLAIM, the
 * broker ends what that may have made, and a hold that the client had before
 * must not end so.  Each is tried once.  A hold that was kept for the client's
 * user (poll.h) is none that it had before: to extend it is to be granted it.
 */
#include "config.h"

#include <string.h>

#include "core/token/parts.h"
#include "core/token/poll.h"
#include "core/token/token_record.h"

/* Does this broker look after the hold of a token that takes it once more? */
static bool
has_it(const struct core *core, const struct token_call *c,
    const struct token_name *n)
{
	const struct token_record *r = token_record_find(core, n->name, n->len);

	return c->how.match == HOW_COUNTED && r != NULL &&
	       client_same_counted(r->client, c->client);
}

/*
 * May a hold of the token be one that nobody was told of, and that is about to
 * end?  It must not be counted as the one that the client has.
 */
static bool
doubts(const struct core *core, const struct token_call *c,
    const struct token_name *n)
{
	return c->how.match == HOW_COUNTED && c->op == TOKEN_ACQUIRE &&
	       !has_it(core, c, n) &&
	       (poll_asks(core, c) ||
		   token_record_orphaned(core, n->name, n->len));
}

void
either_begin(struct core *core, struct token_call *c)
{
	bool extends = c->op == TOKEN_EXTEND || c->inherits ||
		       has_it(core, c, c->names) ||
		       (c->park_ms > 0 && poll_matters(core, c) &&
			   !doubts(core, c, c->names));
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		n->extends = extends;
}

/*
 * Goes over to the other operation if the answer to the last one calls for it.
 * Each is tried once: otherwise a name that changes hands all the time would be
 * asked about for ever.
 */
static void
turn(const struct core *core, const struct token_call *c, struct token_name *n)
{
	bool meant = n->kind == TOKEN_HELD &&
		     (n->key_bits & KEY_IS_MEANT) != 0 && !doubts(core, c, n);

	if (n->status == OUTCOME_BUSY && meant && !n->extended)
		n->extends = true;
	else if (n->status == OUTCOME_GONE && n->extends && !n->claimed)
		n->extends = false;
	else
		return;
	n->settled = false;
}

/* Another broker keeps the name for the program of the client: the turn is one
 * of its threads, whichever broker they ask. */
static bool
takes_turn(const struct core *core, struct token_call *c, struct token_name *n)
{
	if (c->program == NULL || c->inherits || n->text == NULL ||
	    (n->status != OUTCOME_BUSY && n->status != OUTCOME_LOST) ||
	    n->kind != TOKEN_HELD || strcmp(n->text, c->program) != 0 ||
	    poll_keeps(core, c))
		return false;
	call_inherits(c, c->program);
	n->extends = true;
	n->settled = false;
	return true;
}

/* The token does not have the name, and others came before it. */
static bool
gives_way(struct core *core, struct token_call *c)
{
	struct token_name *n = &c->names[0];

	if (call_asker(core, c) != NULL && poll_join(core, c))
		return true;
	if (poll_others_first(core, c)) {
		n->settled = true;
		n->status = OUTCOME_BUSY;
	}
	return false;
}

/*
 * A call that would wait has asked for its hold first.  If its token does not
 * have the name, it waits; or it is BUSY, if others come first; or else it goes
 * on and takes the name.
 */
bool
either_goes_on(struct core *core, struct token_call *c)
{
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled)
			turn(core, c, n);
	n = &c->names[0];
	if (takes_turn(core, c, n))
		return false;
	if (c->park_ms == 0 || n->claimed ||
	    (n->status != OUTCOME_GONE && n->status != OUTCOME_LOST))
		return false;
	return gives_way(core, c);
}
