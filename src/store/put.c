/*
 * One operation written into a call: its keys, its word and its arguments, as
 * call.h lists them; or its seq alone, where it goes on with a row.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "store/put.h"

/* The keys of a class: what stands between PREFIX and NAME. */
enum keys {
	KEYS_NONE,
	KEYS_LEASE,
	KEYS_LOOK,
	KEYS_SEMAPHORE,
	KEYS_LATCH,
	KEYS_BARRIER,
	KEYS_MAX
};

#define KEYS_PER_OP 4

static const char *const keys_of[KEYS_MAX][KEYS_PER_OP + 1] = {
	[KEYS_LEASE] = { "", "@queue:", "@shared:" },
	[KEYS_LOOK] = { "", "@sem:", "@latch:", "@barrier:" },
	[KEYS_SEMAPHORE] = { "@sem:" },
	[KEYS_LATCH] = { "@latch:" },
	[KEYS_BARRIER] = { "@barrier:" },
};

static const struct {
	const char *word;
	size_t len;
	enum script_id script;
	enum keys keys;
} kinds[] = {
#define OP(id, word, script, keys) \
	[OP_##id] = { word, sizeof(word) - 1, SCRIPT_##script, KEYS_##keys },
	OPS(OP)
#undef OP
};

enum script_id
put_script(enum op_kind kind)
{
	return kinds[kind].script;
}

bool
put_has_name(enum op_kind kind)
{
	return kinds[kind].keys != KEYS_NONE;
}

static void
arg_add(struct call *call, const char *s, size_t n)
{
	assert(call->nargs < CALL_ARGS_MAX);
	call->args[call->nargs] = s;
	call->arglen[call->nargs++] = n;
}

static void
arg_number(struct call *call, uint64_t n)
{
	char digits[DIGITS_MAX];
	char *p = digits + sizeof(digits), *room;
	size_t len;

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	len = (size_t)(digits + sizeof(digits) - p);
	room = call_room(call, len);
	memcpy(room, p, len);
	arg_add(call, room, len);
}

static void
key_add(struct call *call, const char *s, size_t n)
{
	size_t i = CALL_HEAD + call->nkeys++;

	assert(call->nkeys <= CALL_KEYS_MAX);
	call->argv[i] = s;
	call->argvlen[i] = n;
}

static void
key_build(struct call *call, const struct shard_keys *s, const char *middle,
    const struct op *op)
{
	size_t middle_len = strlen(middle);
	size_t n = s->head_len + middle_len + op->name_len;
	char *p = call_room(call, n);

	memcpy(p, s->head, s->head_len);
	memcpy(p + s->head_len, middle, middle_len);
	memcpy(p + s->head_len + middle_len, op->name, op->name_len);
	key_add(call, p, n);
}

static void
arg_mode(struct call *call, const struct op *op)
{
	arg_add(call, op->flags & OP_SHARED ? "s" : "x", 1);
}

static void
args_acquire(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, (uint64_t)op->ttl_ms);
	arg_number(call, op->reserve);
	arg_add(call, op->flags & OP_QUEUE ? "q" : "t", 1);
	arg_mode(call, op);
}

static void
args_renew(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, (uint64_t)op->ttl_ms);
	arg_number(call, op->fence);
	arg_number(call, op->flags & OP_SHARED ? op->limit : op->reserve);
	arg_mode(call, op);
}

static void
args_confirm(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, (uint64_t)op->ttl_ms);
	arg_number(call, op->reserve);
}

static void
args_raise(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, (uint64_t)op->ttl_ms);
	arg_number(call, op->fence);
}

static void
args_convert(struct call *call, const struct op *op)
{
	args_confirm(call, op);
	arg_mode(call, op);
}

static void
args_end(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, (uint64_t)op->linger_ms);
	arg_number(call, op->again);
}

static void
args_undo(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
}

static void
args_bless(struct call *call, const struct op *op)
{
	size_t n = strnlen(op->pend, sizeof(op->pend));
	char *p = call_room(call, n);

	memcpy(p, op->pend, n);
	arg_add(call, p, n);
}

static void
arg_queue(struct call *call, const struct op *op)
{
	arg_add(call, op->flags & OP_QUEUE ? "q" : "t", 1);
}

static void
args_take(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, op->have);
	arg_number(call, op->need);
	arg_number(call, op->want);
	arg_number(call, op->limit);
	arg_queue(call, op);
}

static void
args_hold(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, op->have);
	arg_number(call, op->limit);
	arg_queue(call, op);
	arg_number(call, (uint64_t)op->by_ms);
}

static void
args_latch(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, op->need);
	arg_number(call, (uint64_t)op->ttl_ms);
}

static void
args_countdown(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, op->need);
}

static void
args_arrive(struct call *call, const struct op *op)
{
	arg_number(call, op->seq);
	arg_number(call, op->fence);
	arg_number(call, op->need);
	arg_number(call, op->limit);
}

static void
args_party(struct call *call, const struct op *op)
{
	arg_number(call, op->fence);
}

static void
args_leave(struct call *call, const struct op *op)
{
	arg_add(call, op->flags & OP_NOTED ? "n" : "l", 1);
}

static void
args_force(struct call *call, const struct op *op)
{
	arg_number(call, op->limit);
	args_bless(call, op); /* who asks */
}

static void
args_enlist(struct call *call, const struct op *op)
{
	char *p = call_room(call, op->name_len);

	memcpy(p, op->name, op->name_len);
	arg_add(call, p, op->name_len);
}

static void
args_look(struct call *call, const struct op *op)
{
	static const char *const words[LOOK_MAX] = {
		[LOOK_LOCK] = "l",
		[LOOK_SEMAPHORE] = "s",
		[LOOK_LATCH] = "t",
		[LOOK_BARRIER] = "b",
	};

	arg_add(call, words[op->look], 1);
}

static void
args_heartbeat(struct call *call, const struct op *op)
{
	(void)op;
	arg_add(call, call->address, strlen(call->address));
}

static void
args_none(struct call *call, const struct op *op)
{
	(void)call;
	(void)op;
}

static void (*const args_of[])(struct call *, const struct op *) = {
	[OP_ACQUIRE] = args_acquire,
	[OP_RENEW] = args_renew,
	[OP_CONFIRM] = args_confirm,
	[OP_CONVERT] = args_convert,
	[OP_RAISE] = args_raise,
	[OP_END] = args_end,
	[OP_UNDO] = args_undo,
	[OP_STATUS] = args_none,
	[OP_LOOK] = args_look,
	[OP_TAKE] = args_take,
	[OP_HOLD] = args_hold,
	[OP_LATCH] = args_latch,
	[OP_COUNTDOWN] = args_countdown,
	[OP_AWAIT] = args_none,
	[OP_ARRIVE] = args_arrive,
	[OP_PARTY] = args_party,
	[OP_LEAVE] = args_leave,
	[OP_FORCE] = args_force,
	[OP_HEARTBEAT] = args_heartbeat,
	[OP_BLESS] = args_bless,
	[OP_ENLIST] = args_enlist,
	[OP_IDLE] = args_none,
};

/* The row that an operation may stand in; none, if it asks for more. */
static enum call_row
row_of(const struct op *op, bool rows)
{
	bool plain = (op->flags & (OP_SHARED | OP_WHOLE)) == 0;

	if (op->kind == OP_RENEW && plain && op->reserve == 0 && op->ttl_ms > 0)
		return ROW_KEEP;
	if (!rows || !plain)
		return ROW_NONE;
	if (op->kind == OP_ACQUIRE)
		return ROW_GRAB;
	if (op->kind == OP_END && op->linger_ms == 0 && op->again == 0)
		return ROW_DROP;
	return ROW_NONE;
}

/* Does the operation go on with the row that the call ends with? */
static bool
goes_on(const struct call *call, enum call_row row, const struct op *op)
{
	if (call->row != row)
		return false;
	if (row == ROW_DROP)
		return true;
	return call->row_ttl_ms == op->ttl_ms &&
	       (row == ROW_KEEP || (call->row_reserve == op->reserve &&
				       call->row_flags == op->flags));
}

/* See op.keep and op.drop in keep.lua, op.grab in acquire.lua. */
static void
row_begin(struct call *call, enum call_row row, const struct op *op)
{
	static const char *const words[] = {
		[ROW_KEEP] = "keep",
		[ROW_GRAB] = "grab",
		[ROW_DROP] = "drop",
	};

	call->row = row;
	call->row_ttl_ms = op->ttl_ms;
	call->row_reserve = op->reserve;
	call->row_flags = op->flags;
	arg_add(call, words[row], 4);
	if (row != ROW_DROP)
		arg_number(call, (uint64_t)op->ttl_ms);
	if (row == ROW_GRAB) {
		arg_number(call, op->reserve);
		arg_queue(call, op);
	}
}

void
call_put(struct call *call, const struct shard_keys *s, const struct op *op,
    bool rows)
{
	const char *const *middles = keys_of[kinds[op->kind].keys];
	enum call_row row = row_of(op, rows);
	size_t i, n = row == ROW_KEEP ? 2 : KEYS_PER_OP;

	for (i = 0; middles[i] != NULL && i < n; i++)
		key_build(call, s, middles[i], op);
	if (row != ROW_NONE) {
		if (!goes_on(call, row, op))
			row_begin(call, row, op);
		arg_number(call, op->seq);
		return;
	}
	call->row = ROW_NONE;
	arg_add(call, kinds[op->kind].word, kinds[op->kind].len);
	args_of[op->kind](call, op);
}
