/*
 * Replies, events and rows in RESP2 and RESP3 (lockbroker-resp(7)).
 *
 * A reply of fields is a map, except for some verbs, whose whole answer is one
 * field (not where it has a slot=).  Numbers and durations, in ms, are integers.
 */
#include "config.h"

#include <assert.h>

#include "base/parse.h"
#include "wire/resp_value.h"

/* How a field is written, and its key. */
struct field_key {
	const char *p;
	size_t n;
	bool is_text;
};

enum { NUM, MS, STR };
static const struct field_key keys[FIELD_MAX] = {
#define FIELD(id, key, how) [FIELD_##id] = { key, sizeof(key) - 1, how == STR },
	FIELDS(FIELD)
#undef FIELD
};

static const char *const events[EVENT_MAX] = {
#define EVENT(id, word) [EVENT_##id] = word,
	EVENTS(EVENT)
#undef EVENT
};

/*
 * Verbs whose answer is the value of one field, or an array of values if there
 * are several names.  `nil`: without the field, the answer is nil.
 */
static const struct plain {
	bool plain, nil;
	enum field_id id;
} plains[VERB_MAX] = {
	[VERB_LOCK] = { true, false, FIELD_FENCE },
	[VERB_TRYLOCK] = { true, false, FIELD_FENCE },
	[VERB_UNLOCK] = { true, false, FIELD_DEPTH },
	[VERB_ACQUIRE] = { true, false, FIELD_PERMITS },
	[VERB_RELEASE] = { true, false, FIELD_PERMITS },
	[VERB_LATCH] = { true, false, FIELD_COUNT },
	[VERB_COUNTDOWN] = { true, false, FIELD_COUNT },
	[VERB_VALID] = { true, true, FIELD_VALID },
};

static void
add_value(struct buf *b, const struct field *f, const char *arena)
{
	if (keys[f->id].is_text)
		resp_bulk(b, (struct span){ arena + f->str, f->len });
	else
		resp_int(b, (int64_t)f->num);
}

/* Returns how many fields from here on are values of the same field. */
static size_t
run_length(const struct field *fields, size_t n)
{
	size_t i = 1;

	while (i < n && fields[i].id == fields[0].id &&
	       !keys[fields[0].id].is_text)
		i++;
	return i;
}

static size_t
count_keys(const struct field *fields, size_t n)
{
	size_t at = 0, found = 0;

	for (; at < n; at += run_length(fields + at, n - at))
		found++;
	return found;
}

static void
add_run(struct buf *b, const struct field *fields, size_t n, const char *arena)
{
	size_t i;

	if (n > 1)
		resp_array(b, n);
	for (i = 0; i < n; i++)
		add_value(b, &fields[i], arena);
}

/* Adds keys and values.  The caller has written their number. */
static void
add_fields(
    struct buf *b, const struct field *fields, size_t n, const char *arena)
{
	size_t at, run;

	for (at = 0; at < n; at += run) {
		assert(fields[at].id < FIELD_MAX);
		run = run_length(fields + at, n - at);
		resp_bulk(b, (struct span){ keys[fields[at].id].p,
				 keys[fields[at].id].n });
		add_run(b, fields + at, run, arena);
	}
}

/* Returns NULL if the answer is not the value of one field. */
static const struct field *
find_plain(const struct wire_reply *reply, size_t *n)
{
	const struct field *plain = NULL;
	size_t i;

	if (reply->verb == VERB_MAX || !plains[reply->verb].plain)
		return NULL;
	for (i = 0; i < reply->nfields; i++) {
		if (reply->fields[i].id == FIELD_SLOT)
			return NULL;
		if (plain != NULL ||
		    reply->fields[i].id != plains[reply->verb].id)
			continue;
		*n = run_length(reply->fields + i, reply->nfields - i);
		plain = &reply->fields[i];
	}
	return plain;
}

static void
add_ok(struct buf *b, bool three, const struct wire_reply *reply)
{
	const struct field *plain;
	size_t n = 0;

	if (reply->nfields == 0) {
		if (reply->verb != VERB_MAX && plains[reply->verb].nil)
			resp_null(b, three);
		else
			resp_simple(b, "OK");
		return;
	}
	plain = find_plain(reply, &n);
	if (plain != NULL) {
		add_run(b, plain, n, reply->arena);
		return;
	}
	resp_map(b, three, count_keys(reply->fields, reply->nfields));
	add_fields(b, reply->fields, reply->nfields, reply->arena);
}

/*
 * Adds the code: that of Redis if clients of Redis look for it.  An error in a
 * request without one of our verbs is an ERR, as with Redis.
 */
static void
add_code(struct buf *b, const struct wire_reply *reply)
{
	const char *word;

	if (reply->code == ERR_AUTH) {
		buf_adds(b, "NOAUTH Authentication required.");
	} else if (reply->code == ERR_DENIED) {
		buf_adds(b, "NOPERM ");
		if (reply->verb != VERB_MAX)
			buf_adds(b, verbs[reply->verb].words_min > 0
					? "No permissions to access a key: "
					: "No permissions to run it: ");
	} else if (reply->verb == VERB_MAX && reply->code <= ERR_TOO_LONG) {
		buf_adds(b, "ERR ");
		if (reply->code == ERR_BAD_NAME)
			buf_adds(b, "bad-name ");
	} else {
		for (word = err_word(reply->code); *word != '\0'; word++)
			buf_addc(b, parse_upper(*word));
		buf_addc(b, ' ');
	}
}

void
resp_refusal(struct buf *b, const struct wire_reply *reply)
{
	struct buf text;

	buf_init(&text);
	add_code(&text, reply);
	if (reply->code != ERR_AUTH && reply->text.n > 0)
		buf_add(&text, reply->text.p, reply->text.n);
	resp_error(b, (struct span){ buf_data(&text), buf_len(&text) });
	buf_fini(&text);
}

static void
add_reply(struct buf *b, bool three, const struct wire_reply *reply)
{
	if (reply->status == STATUS_ERR)
		resp_refusal(b, reply);
	else if (reply->status == STATUS_OK)
		add_ok(b, three, reply);
	else
		resp_null(b, three);
}

/* RESP2 has no messages that the client did not ask for. */
static void
resp2_event(struct buf *b, const struct wire_event *event)
{
	(void)b;
	(void)event;
}

/* ["lockbroker", "LOST", name, field, value ...] */
static void
resp3_event(struct buf *b, const struct wire_event *event)
{
	size_t nkeys = count_keys(event->fields, event->nfields);

	assert(event->id < EVENT_MAX);
	resp_push(b, true, 2 + (event->name.n > 0) + 2 * nkeys);
	resp_word(b, "lockbroker");
	resp_word(b, events[event->id]);
	if (event->name.n > 0)
		resp_bulk(b, event->name);
	add_fields(b, event->fields, event->nfields, event->arena);
}

static void
add_row(struct buf *b, bool three, const struct wire_row *row)
{
	resp_map(b, three,
	    (row->word.n > 0) + (row->name.n > 0) +
		count_keys(row->fields, row->nfields));
	if (row->word.n > 0) {
		resp_word(b, "kind");
		resp_bulk(b, row->word);
	}
	if (row->name.n > 0) {
		resp_word(b, "name");
		resp_bulk(b, row->name);
	}
	add_fields(b, row->fields, row->nfields, row->arena);
}

static void
resp_row_text(struct buf *b, struct span text)
{
	resp_bulk(b, text);
}

static void
resp_row_number(struct buf *b, const char *name, uint64_t number)
{
	resp_word(b, name);
	resp_int(b, (int64_t)number);
}

/* Rows of named numbers make one map together. */
static void
add_rows(struct buf *b, bool three, const struct wire_reply *reply,
    size_t nrows, const struct buf *rows)
{
	assert(reply->status == STATUS_OK);
	if (reply->verb == VERB_STATS)
		resp_map(b, three, nrows);
	else
		resp_array(b, nrows);
	if (buf_len(rows) > 0)
		buf_add(b, buf_data(rows), buf_len(rows));
}

#define RESP(n)                                                              \
	static void resp##n##_reply(                                         \
	    struct buf *b, const struct wire_reply *reply)                   \
	{                                                                    \
		add_reply(b, (n) == 3, reply);                               \
	}                                                                    \
	static void resp##n##_row(struct buf *b, const struct wire_row *row) \
	{                                                                    \
		add_row(b, (n) == 3, row);                                   \
	}                                                                    \
	static void resp##n##_rows(struct buf *b,                            \
	    const struct wire_reply *reply, size_t nrows,                    \
	    const struct buf *rows)                                          \
	{                                                                    \
		add_rows(b, (n) == 3, reply, nrows, rows);                   \
	}                                                                    \
	const struct wire_protocol wire_resp##n = {                          \
		.name = "resp" #n,                                           \
		.frame = resp_frame,                                         \
		.parse = resp_parse,                                         \
		.reply = resp##n##_reply,                                    \
		.event = resp##n##_event,                                    \
		.row = resp##n##_row,                                        \
		.row_text = resp_row_text,                                   \
		.row_number = resp_row_number,                               \
		.rows = resp##n##_rows,                                      \
	}

RESP(2);
RESP(3);

bool
resp_is(const struct wire_protocol *p)
{
	return p == &wire_resp2 || p == &wire_resp3;
}

bool
resp_is_3(const struct wire_protocol *p)
{
	return p == &wire_resp3;
}
