/*
 * How calls end: who looks after the hold from now on, what is given back, and
 * the answer.
 *
 *	extended            this broker looks after it, even if the client is
 *	                    gone: it had the hold before
 *	granted, told       this broker looks after it
 *	granted, not told   an orphan: the broker ends it (token_record.c)
 *	ended, not there    a record of it is dropped
 */
#include "config.h"

#include "core/guard/guard.h"
#include "core/token/measured.h"
#include "core/token/notify.h"
#include "core/token/parts.h"
#include "core/token/poll.h"
#include "core/token/result.h"
#include "core/token/token_record.h"
#include "core/turn/emit.h"

#define WHY_SIZE 256

void
call_drop(struct core *core, struct token_call *c)
{
	if (c->parked)
		poll_leave(core, c);
	call_remove(core, c);
}

/* Gives back the names that the call was granted and nobody hears of. */
static void
give_back(struct core *core, struct token_call *c)
{
	struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled && n->status == OUTCOME_GRANTED)
			token_record_orphan(core, n);
}

/* `why` is copied.  The names that the call was granted go back: its client
 * would not know of them. */
void
call_refuse(struct core *core, struct token_call *c, enum err_code code,
    const char *why)
{
	c->result = RESULT_REFUSED;
	give_back(core, c);
	emit_error(core, c->session, c->ref, code, "%s", why);
	/* What was taken of several names is given back only now. */
	if (!c->broken && c->n == 1)
		emit_undone(core);
	call_drop(core, c);
}

void
call_unavailable(struct core *core, struct token_call *c, uint32_t shard)
{
	char why[WHY_SIZE] = "";

	if (!guard_ready(core, shard))
		guard_why(core, shard, why, sizeof(why));
	call_refuse(core, c, ERR_UNAVAILABLE,
	    why[0] != '\0' ? why : "Redis did not answer in time; try again");
}

/* From now on this broker looks after the hold. */
static void
note_hold(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct owner *asker)
{
	const char *client = c->op == TOKEN_ACQUIRE ? c->client : c->other;

	notify_token(core, c, n, asker);
	if (n->status == OUTCOME_GRANTED) {
		core->stats.grants++;
		token_granted(core, n);
	}
	if (n->status == OUTCOME_RENEWED)
		client = n->text;
	else if (client[0] == '\0')
		client = c->client;
	token_record_take(core, n, client, asker);
}

/*
 * The hold is over, or not this broker's any more: drops the record, unless the
 * record is of a later operation.  A poll queue asks under one number until it
 * is granted the name, so the fence tells, too: an answer about an older hold
 * came before the record.
 */
static void
note_gone(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct owner *asker)
{
	struct token_record *r = token_record_find(core, n->name, n->len);

	if (n->status == OUTCOME_ENDED) {
		notify_token(core, c, n, asker);
		core->stats.releases++;
	}
	if (r == NULL || r->seq >= n->seq ||
	    (n->fence != 0 && n->fence < r->fence))
		return;
	if (n->status == OUTCOME_ENDED && n->fence == r->fence)
		token_record_drop(core, r, "released");
	else if (n->status == OUTCOME_ENDED || n->fence != r->fence)
		token_record_gone(core, r);
}

void
call_answer(struct core *core, struct token_call *c, enum token_answer how)
{
	const struct owner *asker = call_asker(core, c);
	bool keeps = asker != NULL && how == TOKEN_DONE;
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++) {
		if (!n->settled || n->status == OUTCOME_LATE)
			continue;
		/* A name that was awaited is its poll queue's, which keeps it
		 * for the user. */
		if (n->status == OUTCOME_RENEWED ||
		    (n->status == OUTCOME_GRANTED && keeps && !c->awaits))
			note_hold(core, c, n, asker);
		else if (n->status != OUTCOME_GRANTED)
			note_gone(core, c, n, asker);
	}
	if (!keeps)
		give_back(core, c);
	if (asker != NULL && !asker->draining)
		c->result = keeps ? RESULT_GRANTED : RESULT_TIMEOUT;
	if (how == TOKEN_BUSY && !c->parked)
		token_busy(core, c);
	if (how == TOKEN_BUSY && c->listener != 0 && asker != NULL)
		c->listed = poll_listens(core, c);
	result_emit(core, c, how);
	/* A token that waited in vain has its place already. */
	if (c->park_ms > 0 && how == TOKEN_BUSY && !c->parked && !c->listed)
		poll_refused(core, c);
	else if (keeps && (c->park_ms > 0 || c->op == TOKEN_EXTEND))
		poll_granted(core, c); /* elsewhere, if it extends */
	call_drop(core, c);
}
