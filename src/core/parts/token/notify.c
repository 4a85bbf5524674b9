/*
 * Log lines: who took which name by a token, and who deleted it, all of them
 * for debugging; and the fate of the holds of a broker that stops or has gone.
 */
#include "config.h"

#include "core/kernel/session/notify.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/tally.h"
#include "core/parts/token/notify.h"

static void
emit_hold(struct core *core, enum notice_id id, const struct token_name *n,
    const struct owner *asker)
{
	emit_notice(core, id);
	emit_str(core, FIELD_NAME, n->name, n->len);
	emit_num(core, FIELD_FENCE, n->fence);
	if (asker != NULL)
		notify_who(core, asker);
}

void
notify_token(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct owner *asker)
{
	if (!emit_debugs(core))
		return;
	/* Some libraries release so; or it was ended without its token. */
	if (n->status == OUTCOME_ENDED && c->how.match == HOW_ANY)
		emit_hold(core, NOTICE_TOKEN_DELETED, n, asker);
	else if (n->status == OUTCOME_ENDED)
		emit_hold(core, NOTICE_TOKEN_RELEASED, n, asker);
	else if (n->status == OUTCOME_GRANTED)
		emit_hold(core, NOTICE_TOKEN_GRANTED, n, asker);
	else
		emit_hold(core, NOTICE_TOKEN_EXTENDED, n, asker);
}

void
notify_token_twice(
    struct core *core, const struct token_name *n, const struct owner *asker)
{
	emit_hold(core, NOTICE_SAME_TOKEN, n, asker);
	emit_text(core, FIELD_ADVICE,
	    "give the library one address: this broker is one server, even "
	    "at several addresses");
}

void
notify_tokens_left(struct core *core)
{
	if (tokens_of(core)->nrecords == 0)
		return;
	emit_notice(core, NOTICE_TOKENS_LEFT);
	emit_num(core, FIELD_COUNT, tokens_of(core)->nrecords);
}

void
notify_tokens_adopted(struct core *core, uint32_t shard, uint64_t n)
{
	emit_notice(core, NOTICE_TOKENS_ADOPTED);
	emit_num(core, FIELD_SHARD, shard);
	emit_num(core, FIELD_COUNT, n);
}

void
notify_not_adopted(
    struct core *core, uint32_t shard, const char *why, size_t len)
{
	emit_notice(core, NOTICE_TOKENS_NOT_ADOPTED);
	emit_num(core, FIELD_SHARD, shard);
	emit_str(core, FIELD_TEXT, why, len);
}

void
notify_token_lost(struct core *core, const struct measure_hold *h)
{
	if (!tally_names(core, TALLY_LOST))
		return;
	emit_notice(core, NOTICE_LOCK_LOST);
	emit_str(core, FIELD_NAME, h->name, h->name_len);
	emit_text(core, FIELD_REASON, h->end);
	emit_num(core, FIELD_FENCE, h->fence);
	emit_num(core, FIELD_SESSION, h->session);
	if (h->label != NULL)
		emit_text(core, FIELD_LABEL, h->label);
	emit_text(core, FIELD_PEER, h->peer);
	emit_since(core, FIELD_HELD, h->granted_ms);
}
