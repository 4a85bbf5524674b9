/*
 * The protocol of lines (lockbroker-protocol(7)).
 *
 * It puts replies together from constant pieces whose lengths are known: no
 * usual reply needs printf.  Texts are cleaned of control characters, so that
 * each reply, event and row is one line, whatever it contains.  request.c
 * parses lines.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "wire/protocol.h"

enum field_how { HOW_NUM, HOW_MS, HOW_STR };

/* The text before a value: ` key=`. */
struct field_head {
	const char *p;
	size_t n;
	enum field_how how;
};

#define SPAN(text)                       \
	{                                \
		(text), sizeof(text) - 1 \
	}

static const struct field_head heads[FIELD_MAX] = {
#define FIELD(id, key, how) \
	[FIELD_##id] = { " " key "=", sizeof(" " key "=") - 1, HOW_##how },
	FIELDS(FIELD)
#undef FIELD
};

static const struct span statuses[STATUS_MAX] = {
	[STATUS_OK] = SPAN("OK"),
	[STATUS_BUSY] = SPAN("BUSY"),
	[STATUS_TIMEOUT] = SPAN("TIMEOUT"),
	[STATUS_CANCELLED] = SPAN("CANCELLED"),
	[STATUS_ERR] = SPAN("ERR"),
};

static const struct span events[EVENT_MAX] = {
#define EVENT(id, word) [EVENT_##id] = SPAN("!" word),
	EVENTS(EVENT)
#undef EVENT
};

/* Adds a text from outside, which must stay one word. */
static void
add_outside(struct buf *b, struct span value)
{
	char *p = buf_reserve(b, value.n);

	if (value.n > 0)
		memcpy(p, value.p, value.n);
	text_clean(p, value.n, '_');
	buf_added(b, value.n);
}

static void
add_num(struct buf *b, const struct field *f)
{
	buf_add(b, heads[f->id].p, heads[f->id].n);
	buf_add_u64(b, f->num);
	if (heads[f->id].how == HOW_MS)
		buf_add(b, "ms", 2);
}

/* ` key=value` for each field */
static void
add_fields(
    struct buf *b, const struct field *fields, size_t n, const char *arena)
{
	const struct field *f;
	size_t i;

	for (i = 0; i < n; i++) {
		f = &fields[i];
		assert(f->id < FIELD_MAX);
		if (heads[f->id].how == HOW_STR) {
			buf_add(b, heads[f->id].p, heads[f->id].n);
			add_outside(b, (struct span){ arena + f->str, f->len });
		} else if (heads[f->id].how == HOW_NUM && i > 0 &&
			   fields[i - 1].id == f->id) {
			buf_addc(b, ',');
			buf_add_u64(b, f->num);
		} else {
			add_num(b, f);
		}
	}
}

static void
end_line(struct buf *b)
{
	buf_add(b, "\r\n", 2);
}

/* `@TAG STATUS` */
static void
add_status(struct buf *b, const struct wire_reply *reply)
{
	assert(reply->status < STATUS_MAX);
	if (reply->tag.n > 0) {
		buf_addc(b, '@');
		buf_add(b, reply->tag.p, reply->tag.n);
		buf_addc(b, ' ');
	}
	buf_add(b, statuses[reply->status].p, statuses[reply->status].n);
}

/* ` code text` */
static void
add_error(struct buf *b, const struct wire_reply *reply)
{
	size_t start;

	assert(reply->code != ERR_NONE);
	buf_addc(b, ' ');
	buf_adds(b, err_word(reply->code));
	buf_addc(b, ' ');
	start = buf_len(b);
	buf_add(b, reply->text.p, reply->text.n);
	text_clean(buf_data(b) + start, buf_len(b) - start, ' ');
}

static void
lines_reply(struct buf *b, const struct wire_reply *reply)
{
	add_status(b, reply);
	if (reply->status == STATUS_ERR)
		add_error(b, reply);
	else
		add_fields(b, reply->fields, reply->nfields, reply->arena);
	end_line(b);
}

static void
lines_event(struct buf *b, const struct wire_event *event)
{
	assert(event->id < EVENT_MAX);
	buf_add(b, events[event->id].p, events[event->id].n);
	if (event->name.n > 0) {
		buf_addc(b, ' ');
		add_outside(b, event->name);
	}
	add_fields(b, event->fields, event->nfields, event->arena);
	end_line(b);
}

static void
lines_row(struct buf *b, const struct wire_row *row)
{
	buf_add(b, row->word.p, row->word.n);
	if (row->word.n > 0 && row->name.n > 0)
		buf_addc(b, ' ');
	buf_add(b, row->name.p, row->name.n);
	add_fields(b, row->fields, row->nfields, row->arena);
	end_line(b);
}

static void
lines_row_text(struct buf *b, struct span text)
{
	buf_add(b, text.p, text.n);
	end_line(b);
}

static void
lines_row_number(struct buf *b, const char *name, uint64_t number)
{
	buf_adds(b, name);
	buf_addc(b, ' ');
	buf_add_u64(b, number);
	end_line(b);
}

/* `OK lines=N`, the other fields, and the lines */
static void
lines_rows(struct buf *b, const struct wire_reply *reply, size_t nrows,
    const struct buf *rows)
{
	const struct field lines = { .id = FIELD_LINES, .num = nrows };

	assert(reply->status == STATUS_OK);
	add_status(b, reply);
	add_fields(b, &lines, 1, NULL);
	add_fields(b, reply->fields, reply->nfields, reply->arena);
	end_line(b);
	buf_add(b, buf_data(rows), buf_len(rows));
}

/*
 * A request is a line.  The first `scanned` bytes are known to hold no line
 * end.
 */
static enum frame_status
lines_frame(struct wire_frame *f, const char *data, size_t have, size_t max,
    size_t *scanned, enum err_code *code, struct buf *why)
{
	const char *end = NULL;
	size_t n;

	if (have > *scanned)
		end = memchr(data + *scanned, '\n', have - *scanned);
	n = end ? (size_t)(end - data) : have;
	*scanned = n;
	f->size = n + 1;
	/* If the end is still missing, this may be the CR of a CRLF. */
	if (n > 0 && data[n - 1] == '\r')
		n--;
	f->p = data;
	f->n = n;
	if (n <= max)
		return end ? FRAME_WHOLE : FRAME_PART;
	*code = ERR_TOO_LONG;
	buf_addf(why, "a line may have at most %zu bytes", max);
	return FRAME_REFUSED;
}

const struct wire_protocol wire_lines = {
	.name = "lines",
	.frame = lines_frame,
	.parse = request_parse,
	.reply = lines_reply,
	.event = lines_event,
	.row = lines_row,
	.row_text = lines_row_text,
	.row_number = lines_row_number,
	.rows = lines_rows,
};
