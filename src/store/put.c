/*
 * Writes one operation into a call: its keys, its word and its arguments, as
 * ops.def lists them; or only its keys and its seq, if it goes on with a row.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "store/op_rows.h"
#include "store/put.h"

/* The keys of a class: the part between PREFIX and NAME. */
static const char *const keys_of[KEYS_MAX][CALL_OP_KEYS_MAX + 1] = {
	[KEYS_LEASE] = { "", "@queue:", "@shared:" },
	[KEYS_LOOK] = { "", "@shared:", "@sem:", "@latch:", "@barrier:" },
	[KEYS_SEMAPHORE] = { "@sem:" },
	[KEYS_LATCH] = { "@latch:" },
	[KEYS_BARRIER] = { "@barrier:" },
};

_Static_assert(2 + 3 * CALL_RENEWALS_MAX <= CALL_KEYS_MAX,
    "a call of renewals must have room for its keys");

static void
arg_add(struct call *call, const char *s, size_t n)
{
	assert(call->nargs < CALL_ARGS_MAX);
	call->args[call->nargs] = s;
	call->arglen[call->nargs++] = n;
}

static void
arg_digits(struct call *call, uint64_t n, bool negative)
{
	char digits[DIGITS_MAX + 1];
	char *p = digits + sizeof(digits), *room;
	size_t len;

	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	if (negative)
		*--p = '-';
	len = (size_t)(digits + sizeof(digits) - p);
	room = call_room(call, len);
	memcpy(room, p, len);
	arg_add(call, room, len);
}

static void
arg_number(struct call *call, uint64_t n)
{
	arg_digits(call, n, false);
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

/* Adds a copy of text that goes away with the operation. */
static void
arg_copy(struct call *call, const char *text, size_t n)
{
	char *p = call_room(call, n);

	if (n > 0)
		memcpy(p, text, n);
	arg_add(call, p, n);
}

/* The letters of lua/token.lua (means(), op.token) and op.claim. */
static void
arg_how(struct call *call, const struct op_how *how)
{
	static const char acts[HOW_ACTS] = { '-', 'q', 'r', 'e', 'u', 'f' };
	static const char matches[HOW_MATCHES] = { '-', 'x', 'p', 'n', 'a',
		'c' };
	static const char bounds[HOW_BOUNDS] = { '-', 'r', 'a', 'b', 'u', 'l',
		's' };
	const char letters[] = { acts[how->act], matches[how->match],
		bounds[how->bound] };

	assert(how->act < HOW_ACTS && how->match < HOW_MATCHES &&
	       how->bound < HOW_BOUNDS);
	arg_copy(call, letters, sizeof(letters));
}

/* Adds an argument that is no number of the operation. */
static void
arg_text(struct call *call, const struct op *op, enum op_arg arg)
{
	static const char *const looks[KIND_MAX] = {
#define KIND(id, word, letter) [KIND_##id] = (letter),
#include "base/kinds.def"
#undef KIND
	};

	switch (arg) {
	case ARG_QUEUE:
		arg_add(call, op->flags & OP_QUEUE ? "q" : "t", 1);
		break;
	case ARG_MODE:
		arg_add(call, op->flags & OP_SHARED ? "s" : "x", 1);
		break;
	case ARG_NOTED:
		arg_add(call, op->flags & OP_NOTED ? "n" : "l", 1);
		break;
	case ARG_LOOK:
		arg_add(call, looks[op->look], 1);
		break;
	case ARG_PEND:
		arg_copy(call, op->pend, strnlen(op->pend, sizeof(op->pend)));
		break;
	case ARG_CLIENT:
		arg_copy(call, op->holder, op->holder_len);
		break;
	case ARG_OTHER:
		arg_copy(call, op->other, op->other_len);
		break;
	case ARG_HOW:
		arg_how(call, &op->how);
		break;
	case ARG_NAME:
		arg_copy(call, op->name, op->name_len);
		break;
	case ARG_ABOUT:
		arg_add(call, call->about, strlen(call->about));
		break;
	default:
		assert(arg == ARG_ADDRESS);
		arg_add(call, call->address, strlen(call->address));
		break;
	}
}

static void
arg_put(struct call *call, const struct op *op, enum op_arg arg)
{
	/* Numbers that are never below 0, of 64 bits. */
	static const size_t numbers[ARG_MAX] = {
		[ARG_SEQ] = offsetof(struct op, seq),
		[ARG_LINGER] = offsetof(struct op, linger_ms),
		[ARG_AGAIN] = offsetof(struct op, again),
		[ARG_FENCE] = offsetof(struct op, fence),
		[ARG_HAVE] = offsetof(struct op, have),
		[ARG_NEED] = offsetof(struct op, need),
		[ARG_WANT] = offsetof(struct op, want),
		[ARG_LIMIT] = offsetof(struct op, limit),
		[ARG_BY] = offsetof(struct op, by_ms),
		[ARG_MOST] = offsetof(struct op, most_ms),
	};
	uint64_t n;

	if (numbers[arg] != 0) {
		memcpy(&n, (const char *)op + numbers[arg], sizeof(n));
		arg_number(call, n);
	} else if (arg == ARG_TTL) {
		arg_digits(call,
		    op->ttl_ms < 0 ? -(uint64_t)op->ttl_ms
				   : (uint64_t)op->ttl_ms,
		    op->ttl_ms < 0);
	} else if (arg == ARG_RESERVE) {
		arg_number(call, op->reserve);
	} else if (arg == ARG_RENEWAL) {
		arg_number(
		    call, op->flags & OP_SHARED ? op->limit : op->reserve);
	} else {
		arg_text(call, op, arg);
	}
}

/* The row that an operation may join; ROW_NONE if it asks for more. */
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

/* See renew.lua, drop.lua and grab.lua. */
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
		arg_text(call, op, ARG_QUEUE);
	}
}

void
call_put(struct call *call, const struct shard_keys *s, const struct op *op,
    bool rows)
{
	const struct op_row *kind = &op_rows[op->kind];
	const char *const *middles = keys_of[kind->keys];
	enum call_row row = row_of(op, rows);
	size_t i, n = row == ROW_KEEP ? 2 : CALL_OP_KEYS_MAX;

	for (i = 0; middles[i] != NULL && i < n; i++)
		key_build(call, s, middles[i], op);
	if (row != ROW_NONE) {
		if (!goes_on(call, row, op))
			row_begin(call, row, op);
		arg_number(call, op->seq);
		return;
	}
	call->row = ROW_NONE;
	arg_add(call, kind->word, kind->len);
	for (i = 0; kind->args[i] != ARG_NONE; i++)
		arg_put(call, op, (enum op_arg)kind->args[i]);
}
