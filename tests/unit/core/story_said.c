/*
 * What the core says in a story, as text.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/dump.h"

#include "story_state.h"

static const char *const op_words[] = {
#define OP(id, word, ...) [OP_##id] = word,
#include "store/ops.def"
#undef OP
};

static const char *const event_words[] = {
#define EVENT(id, word) [EVENT_##id] = "!" word,
	EVENTS(EVENT)
#undef EVENT
};

static const struct {
	const char *key;
	enum { NUM, MS, STR } how;
} field_words[] = {
#define FIELD(id, key, how) [FIELD_##id] = { key, how },
	FIELDS(FIELD)
#undef FIELD
#define LOGFIELD(id, key, how) [FIELD_##id] = { key, how },
	    LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
};

static const char *const notice_words[] = {
#define ROW(id, level, name) [NOTICE_##id] = name,
	CORE_NOTICES(ROW)
#undef ROW
};

static const char *const status_words[] = { "OK", "BUSY", "TIMEOUT",
	"CANCELLED", "ERR" };

void
story_begin_line(struct story *st)
{
	buf_adds(st->out, "> ");
	if (st->stamped)
		buf_addf(st->out, "%" PRId64 " ", st->now_ms);
}

static void
write_fields(
    struct story *st, const struct field *fields, size_t n, const char *text)
{
	const struct field *f, *last = NULL;
	size_t i;

	for (i = 0; i < n; i++, last = f) {
		f = &fields[i];
		if (f->id == FIELD_TEXT)
			continue; /* of a log line: for people */
		if (last != NULL && last->id == f->id &&
		    field_words[f->id].how == NUM)
			buf_addc(st->out, ',');
		else
			buf_addf(st->out, " %s=", field_words[f->id].key);
		if (f->id == FIELD_KEY)
			story_write_key(st, text + f->str, f->len);
		else if (field_words[f->id].how == STR)
			buf_add(st->out, text + f->str, f->len);
		else
			buf_add_u64(st->out, f->num);
	}
}

static void
write_num(struct story *st, const char *key, uint64_t n)
{
	if (n != 0)
		buf_addf(st->out, " %s=%" PRIu64, key, n);
}

/* The length of the text without the addresses of the servers. */
static size_t
enlist_len(const struct op *op)
{
	size_t n, words = 0;

	for (n = 0; n < op->name_len; n++)
		if (op->name[n] == ' ' && ++words == 4)
			return n;
	return n;
}

/* Is it about a semaphore, a latch or a barrier? */
static bool
is_sync(enum op_kind kind)
{
	static const enum {
		LEASE,
		LOOK,
		NONE,
		SEMAPHORE,
		LATCH,
		BARRIER
	} keys[] = {
#define OP(id, word, script, keys, ...) [OP_##id] = keys,
#include "store/ops.def"
#undef OP
	};

	return keys[kind] >= SEMAPHORE;
}

static const struct {
	unsigned flag;
	const char *word;
} flags[] = {
	{ OP_SHARED, "shared" },
	{ OP_WHOLE, "whole" },
	{ OP_QUEUE, "queue" },
	{ OP_PROMPT, "prompt" },
	{ OP_NOTED, "noted" },
};

/* As the script reads it (arg_how() in store/put.c). */
static void
write_how(struct story *st, const struct op_how *how)
{
	if (how->act != HOW_NO_ACT)
		buf_addf(st->out, " how=%c%c%c", "-qreuf"[how->act],
		    "-xpnac"[how->match], "-rabuls"[how->bound]);
}

/* The line of an operation. */
static void
write_op_line(struct story *st, const struct op *op)
{
	size_t i;

	story_begin_line(st);
	buf_addf(st->out, "op %s", op_words[op->kind]);
	if (op->name_len > 0)
		buf_addf(st->out, " %.*s",
		    (int)(op->kind == OP_ENLIST ? enlist_len(op)
						: op->name_len),
		    op->name);
	write_num(st, "seq", op->seq);
	if (op->ttl_ms < 0)
		buf_addf(st->out, " ttl=%" PRId64, op->ttl_ms);
	else
		write_num(st, "ttl", (uint64_t)op->ttl_ms);
	write_num(st, "linger", (uint64_t)op->linger_ms);
	write_num(st, "fence", op->fence);
	write_num(st, "reserve", op->reserve);
	write_num(st, "have", op->have);
	if (op->kind == OP_HEARTBEAT && st->away_ms > 0)
		write_num(st, "most", op->need);
	if (op->kind == OP_FORCE || op->kind == OP_RENEW)
		write_num(st, "by", op->limit);
	if (op->kind == OP_HOLD)
		write_num(st, "by", (uint64_t)op->by_ms);
	if (op->holder_len > 0)
		buf_addf(
		    st->out, " client=%.*s", (int)op->holder_len, op->holder);
	if (op->other_len > 0)
		buf_addf(st->out, " other=%.*s", (int)op->other_len, op->other);
	write_how(st, &op->how);
	if (op->kind == OP_PASS)
		write_num(st, "stand", op->again);
	if (op->kind == OP_PASS)
		write_num(st, "behind", op->need);
	if (is_sync(op->kind)) {
		write_num(st, "need", op->need);
		write_num(st, "want", op->want);
		write_num(st, "limit", op->limit);
	}
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (op->flags & flags[i].flag)
			buf_addf(st->out, " %s", flags[i].word);
	if (op->kind == OP_BLESS && op->pend[0] != '\0')
		buf_addf(st->out, " pend=%s", op->pend);
	if (st->config.shards > 1)
		buf_addf(st->out, " on=%" PRIu32, op->shard);
	buf_addc(st->out, '\n');
}

/* The operation is in flight now.  Heartbeats are shown only in stories that
 * are about them. */
static void
write_op(struct story *st, const struct op *op)
{
	struct flight *f = &st->flights[st->nflights++];

	if (st->nflights == FLIGHT_MAX)
		story_fail(st, "too many operations");
	f->id = op->id;
	f->kind = op->kind;
	f->shard = op->shard;
	f->need = op->need;
	f->sent_ms = st->now_ms;
	snprintf(f->name, sizeof(f->name), "%.*s", (int)op->name_len, op->name);
	if (op->name_len == 0)
		strcpy(f->name, "@guard");
	if (op->kind == OP_ENLIST)
		f->name[strcspn(f->name, " ")] = '\0';
	if (op->kind == OP_HEARTBEAT && st->config.address == NULL &&
	    st->away_ms == 0)
		return;
	write_op_line(st, op);
}

const char *
story_lines(char out[LINES_MAX], const char *text)
{
	char *p;

	snprintf(out, LINES_MAX, "%s", text);
	for (p = out; *p != '\0'; p++)
		if (*p == ',' || *p == ';')
			*p = *p == ',' ? ' ' : '\n';
	return out;
}

static void
write_broker(void *arg, const struct core_row *row)
{
	struct story *st = arg;

	buf_addf(st->out, ">   %.*s", (int)row->name_len, row->name);
	write_fields(st, row->fields, row->nfields, row->text);
	buf_addc(st->out, '\n');
}

/* The list that the driver makes then. */
static void
write_brokers(struct story *st)
{
	struct listing *g = core_brokers_begin(st->core);

	while (core_listing_part(st->core, g, st->now_ms, write_broker, st))
		;
	core_listing_end(g);
}

static void
write_effect(struct story *st, const struct effect *e)
{
	const char *text =
	    st->fx.text.mem == NULL ? "" : buf_data(&st->fx.text);

	if (e->kind == EFFECT_LOG && e->notice < NOTICE_UNLOCK_FORCE &&
	    !st->config.debug)
		return;
	if (e->kind == EFFECT_OP) {
		write_op(st, effects_op(&st->fx, e));
		return;
	}
	story_begin_line(st);
	if (e->kind == EFFECT_QUEUE)
		buf_addf(st->out, "%" PRIu64 " queue %.*s", e->session,
		    (int)e->name_len, text + e->name);
	else if (e->kind == EFFECT_FLEET)
		buf_addf(st->out, "%" PRIu64 " brokers", e->session);
	else if (e->kind == EFFECT_WHY)
		buf_addf(st->out, "%" PRIu64 " why", e->session);
	else if (e->kind == EFFECT_LINK)
		buf_addf(st->out, "  %.*s", (int)e->name_len, text + e->name);
	else if (e->kind == EFFECT_LOG)
		buf_addf(st->out, "log %s", notice_words[e->notice]);
	else if (e->kind == EFFECT_CLOSE)
		buf_addf(st->out, "close %" PRIu64, e->conn);
	else
		buf_addf(st->out, "%" PRIu64, e->session);
	if (e->kind == EFFECT_ATTACH)
		buf_addf(st->out, " attach %" PRIu64, e->conn);
	if (e->kind == EFFECT_EVENT)
		buf_addf(st->out, " %s%s%.*s", event_words[e->event],
		    e->name_len > 0 ? " " : "", (int)e->name_len,
		    text + e->name);
	if (e->kind == EFFECT_TOKEN)
		story_write_token(st, e);
	if (e->kind == EFFECT_REPLY) {
		if (e->ref != 0)
			buf_addf(st->out, " @%" PRIu64, e->ref);
		buf_addf(st->out, " %s", status_words[e->status]);
		if (e->status == STATUS_ERR)
			buf_addf(st->out, " %s %.*s", err_word(e->code),
			    (int)e->text_len, text + e->text);
		if (e->undone)
			buf_adds(st->out, " (undone)");
	}
	write_fields(st, st->fx.fields + e->field, e->nfields, text);
	buf_addc(st->out, '\n');
	if (e->kind == EFFECT_FLEET)
		write_brokers(st);
}

void
story_write(struct story *st)
{
	size_t i;

	for (i = 0; i < st->fx.n; i++)
		write_effect(st, &st->fx.v[i]);
	effects_clear(&st->fx);
}
