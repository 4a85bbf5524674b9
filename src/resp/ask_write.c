/*
 * Writes the core's result for a token hold, in the form of each command and
 * script.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "resp/ask.h"
#include "wire/resp_value.h"

#define WRONG_TYPE                                                    \
	"WRONGTYPE Operation against a key holding the wrong kind of" \
	" value"

static bool
is_there(const struct token_result *t)
{
	return t->answer != TOKEN_ABSENT && t->kind != TOKEN_FREE;
}

/* Shows a client only the tokens of its own user. */
static struct span
visible(const struct token_result *t, struct span token)
{
	static const struct span others = { "another-user", 12 };

	return t->kind == TOKEN_HELD && !t->own ? others : token;
}

/* A hold with a depth is a hash, not a string. */
static void
write_token(const struct token_result *t, struct span token, bool three,
    struct buf *out)
{
	if (is_there(t) && t->depth > 0)
		resp_error(out, span_of(WRONG_TYPE));
	else if (is_there(t))
		resp_bulk(out, visible(t, token));
	else
		resp_null(out, three);
}

/* Rounds as Redis does. */
static int64_t
left_s(const struct token_result *t)
{
	return t->left_ms < 0 ? t->left_ms : (t->left_ms + 500) / 1000;
}

static void
write_error(struct buf *out)
{
	resp_error(out, span_of("ERROR"));
}

static bool
is_mine(const struct token_result *t, struct span token, struct span mine)
{
	return is_there(t) && t->kind == TOKEN_HELD && t->own &&
	       span_same(token, mine);
}

static void
write_int(bool there, int64_t n, bool three, struct buf *out)
{
	if (there)
		resp_int(out, n);
	else
		resp_null(out, three);
}

static const char *
type(const struct token_result *t)
{
	if (!is_there(t))
		return "none";
	return t->depth > 0 ? "hash" : "string";
}

static void
write_length(const struct token_result *t, struct span token, bool three,
    struct buf *out)
{
	if (is_there(t) && t->depth > 0)
		write_token(t, token, three, out);
	else
		resp_int(out, is_there(t) ? (int64_t)visible(t, token).n : 0);
}

/* Writes a number as the value of a key, or nil if that is 0. */
static void
write_value(bool there, uint64_t n, bool three, struct buf *out)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	if (there && n > 0)
		resp_word(out, text);
	else
		resp_null(out, three);
}

/* The remaining time.  Returns false if the form is none of these. */
static bool
write_left(const struct token_result *t, enum ask_form form, bool mine,
    bool three, struct buf *out)
{
	switch (form) {
	case ASK_LEFT_MS:
		resp_int(out, is_there(t) ? t->left_ms : -2);
		return true;
	case ASK_LEFT_S:
		resp_int(out, is_there(t) ? left_s(t) : -2);
		return true;
	case ASK_LEFT_OR_NIL:
		write_int(mine, t->left_ms, three, out);
		return true;
	case ASK_LEFT_OR_NO_TIME:
		resp_int(out, mine ? t->left_ms : -3);
		return true;
	case ASK_LEFT_S_OR_ERROR:
		if (mine)
			resp_int(out, left_s(t));
		else
			write_error(out);
		return true;
	case ASK_LEFT_OR_ZERO:
		resp_int(out, mine && t->left_ms > 0 ? t->left_ms : 0);
		return true;
	default:
		return false;
	}
}

/*
 * Writes answers to GET and the like.  Returns false if the form is none of
 * these.
 */
static bool
write_query(const struct token_result *t, struct span token, enum ask_form form,
    struct span mine, bool three, struct buf *out)
{
	if (write_left(t, form, is_mine(t, token, mine), three, out))
		return true;
	switch (form) {
	case ASK_TOKEN_OR_NIL:
		write_token(t, token, three, out);
		return true;
	case ASK_TYPE:
		resp_simple(out, type(t));
		return true;
	case ASK_LENGTH:
		write_length(t, token, three, out);
		return true;
	case ASK_FENCE:
		write_int(
		    is_mine(t, token, mine), (int64_t)t->fence, three, out);
		return true;
	case ASK_FENCE_NOW:
		write_value(is_there(t), t->fence, three, out);
		return true;
	case ASK_TOKEN_AND_LEFT_OR_NIL:
		if (!is_there(t)) {
			resp_null(out, three);
			return true;
		}
		/* fallthrough */
	case ASK_TOKEN_AND_LEFT:
		resp_array(out, 2);
		write_token(t, token, three, out);
		resp_int(out, is_there(t) ? t->left_ms : -2);
		return true;
	case ASK_ONE:
		resp_int(out, 1);
		return true;
	case ASK_ONE_IF_MINE:
		write_int(is_mine(t, token, mine), 1, three, out);
		return true;
	default:
		return false;
	}
}

/*
 * Writes what scripts return that is neither plain success nor plain failure.
 */
static void
write_odd(const struct token_result *t, enum ask_form form, struct buf *out)
{
	bool done = t->answer == TOKEN_DONE;
	bool absent = t->answer == TOKEN_ABSENT;

	switch (form) {
	case ASK_ONE_ZERO_GONE:
		resp_int(out, done ? 1 : absent ? -1 : 0);
		break;
	case ASK_ONE_ZERO_OTHERS:
		resp_int(out, done ? 1 : absent ? 0 : -1);
		break;
	case ASK_ONE_GONE_OTHERS:
		resp_int(out, done ? 1 : absent ? -1 : -2);
		break;
	case ASK_ZERO_OR_ONE:
		resp_int(out, !done);
		break;
	case ASK_ZERO_ONE_TWO:
		resp_int(out, done ? 0 : t->answer == TOKEN_UNBOUND ? 2 : 1);
		break;
	case ASK_OK_OR_ZERO:
		if (done)
			resp_simple(out, "OK");
		else
			resp_int(out, 0);
		break;
	case ASK_OK_OR_ERROR:
		if (done)
			resp_simple(out, "OK");
		else
			write_error(out);
		break;
	default: /* ASK_ONE_OK_ERROR */
		if (done)
			resp_int(out, 1);
		else if (absent)
			resp_simple(out, "OK");
		else
			write_error(out);
		break;
	}
}

/*
 * Answers to Redisson.  A client that is refused sleeps for this time, unless a
 * message wakes it: -1 would be for ever, and 0 not at all.
 */
static int64_t
sleep_ms(const struct token_result *t)
{
	int64_t ms = t->left_ms;
	int64_t most_ms = t->listed ? ASK_LISTEN_MS : ASK_SLEEP_MS;

	if (ms < 0 || ms > most_ms || (ms == 0 && t->kind != TOKEN_HELD))
		return most_ms;
	return ms > 0 ? ms : 1;
}

/* Returns false if the form is none of these. */
static bool
write_counted(const struct token_result *t, struct span token,
    enum ask_form form, struct span mine, bool three, struct buf *out)
{
	bool done = t->answer == TOKEN_DONE;

	switch (form) {
	case ASK_HAS_DEPTH:
		resp_int(out, is_mine(t, token, mine) && t->depth > 0);
		return true;
	case ASK_DEPTH:
		write_value(is_mine(t, token, mine), t->depth, three, out);
		return true;
	case ASK_NIL_OR_LEFT:
		write_int(!done, sleep_ms(t), three, out);
		return true;
	case ASK_NIL_OR_ONE:
		write_int(!done, 1, three, out);
		return true;
	case ASK_FENCE_OR_LEFT:
		resp_array(out, 2);
		resp_int(out, done ? -1 : sleep_ms(t));
		resp_int(out, done ? (int64_t)t->fence : -1);
		return true;
	case ASK_DEPTH_LEFT:
	case ASK_DEPTH_OR_GONE:
		if (done)
			resp_int(out, t->depth == 0);
		else if (form == ASK_DEPTH_OR_GONE && t->answer == TOKEN_ABSENT)
			resp_int(out, 1);
		else
			resp_null(out, three);
		return true;
	default:
		return false;
	}
}

static void
write_ok(bool done, bool three, struct buf *out)
{
	if (done)
		resp_simple(out, "OK");
	else
		resp_null(out, three);
}

static void
write_signal(bool done, struct span key, bool three, struct buf *out)
{
	if (!done) {
		resp_null_array(out, three);
		return;
	}
	resp_array(out, 2);
	resp_bulk(out, key);
	resp_word(out, "1");
}

void
ask_write(const struct token_result *t, struct span token, enum ask_form form,
    struct span mine, bool three, struct buf *out)
{
	bool done = t->answer == TOKEN_DONE;

	if (write_query(t, token, form, mine, three, out) ||
	    write_counted(t, token, form, mine, three, out))
		return;
	switch (form) {
	case ASK_OK_OR_NIL:
		write_ok(done, three, out);
		break;
	case ASK_ONE_OR_ZERO:
		resp_int(out, done);
		break;
	case ASK_COUNT:
		resp_int(out, done ? t->done : 0);
		break;
	case ASK_ONE_OK_NIL:
		if (done && !t->extended)
			resp_simple(out, "OK");
		else
			write_int(done, 1, three, out);
		break;
	case ASK_OK_OK_NIL:
		if (done && t->extended)
			resp_word(out, "OK");
		else
			write_ok(done, three, out);
		break;
	case ASK_ONE_OR_NIL:
		write_int(done, 1, three, out);
		break;
	case ASK_NIL:
		resp_null(out, three);
		break;
	case ASK_SIGNAL:
		write_signal(done, mine, three, out);
		break;
	case ASK_OLD_OR_NIL:
		if (done)
			resp_null(out, three);
		else
			write_token(t, token, three, out);
		break;
	default:
		write_odd(t, form, out);
		break;
	}
}

static enum ask_found
found(const struct token_result *t, const struct ask_wrong *w)
{
	if (w->asks && t->meant == w->nnames)
		return ASK_MINE;
	if (w->asks)
		return t->done == 0 ? ASK_FREE : ASK_OTHERS;
	if (t->answer == TOKEN_UNBOUND)
		return ASK_MINE;
	return t->all_free ? ASK_FREE : ASK_OTHERS;
}

const char *
ask_error(struct token_result *t, const struct ask_wrong *w)
{
	const enum ask_found how = found(t, w);

	if (w->all && t->meant < w->nnames)
		t->kind = TOKEN_FREE;
	if (!w->asks && t->answer == TOKEN_DONE)
		return w->behind;
	if (w->where == 0 && w->over == 0)
		return NULL;
	if (how == ASK_MINE && w->if_bound && t->left_ms < 0) {
		t->answer = TOKEN_UNBOUND;
		return NULL;
	}
	if (w->asks)
		t->answer = how == ASK_FREE ? TOKEN_ABSENT : TOKEN_OTHERS;
	if ((w->over & how) != 0) {
		t->answer = TOKEN_DONE;
		t->done = w->nnames;
	}
	return (w->where & how) != 0 ? w->error : NULL;
}
