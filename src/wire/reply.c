/*
 * Lines for clients, put together from constant pieces whose lengths are
 * known: nothing on the way of a usual reply calls printf.
 */
#include "config.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "wire/reply.h"

enum field_how { HOW_NUM, HOW_MS, HOW_STR };

/* What is written before a value: ` key=`. */
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
#define EVENT(id, word) [EVENT_##id] = SPAN(word),
	EVENTS(EVENT)
#undef EVENT
};

static void
reply_word(struct buf *b, struct span tag, enum status status)
{
	assert(status < STATUS_MAX);
	if (tag.n > 0) {
		buf_addc(b, '@');
		buf_add(b, tag.p, tag.n);
		buf_addc(b, ' ');
	}
	buf_add(b, statuses[status].p, statuses[status].n);
}

/* Something from outside that must stay one word. */
static void
reply_outside(struct buf *b, struct span value)
{
	char *p = buf_reserve(b, value.n);

	if (value.n > 0)
		memcpy(p, value.p, value.n);
	text_clean(p, value.n, '_');
	buf_added(b, value.n);
}

void
reply_begin(struct buf *b, struct span tag, enum status status)
{
	assert(status != STATUS_ERR);
	reply_word(b, tag, status);
}

void
reply_field_num(struct buf *b, enum field_id id, uint64_t num)
{
	assert(id < FIELD_MAX && heads[id].how != HOW_STR);
	buf_add(b, heads[id].p, heads[id].n);
	buf_add_u64(b, num);
	if (heads[id].how == HOW_MS)
		buf_add(b, "ms", 2);
}

void
reply_field_str(struct buf *b, enum field_id id, struct span value)
{
	assert(id < FIELD_MAX && heads[id].how == HOW_STR);
	buf_add(b, heads[id].p, heads[id].n);
	reply_outside(b, value);
}

void
reply_fields(
    struct buf *b, const struct field *fields, size_t n, const char *text)
{
	const struct field *f;
	size_t i;

	for (i = 0; i < n; i++) {
		f = &fields[i];
		assert(f->id < FIELD_MAX);
		if (heads[f->id].how == HOW_STR) {
			reply_field_str(
			    b, f->id, (struct span){ text + f->str, f->len });
		} else if (heads[f->id].how == HOW_NUM && i > 0 &&
			   fields[i - 1].id == f->id) {
			buf_addc(b, ',');
			buf_add_u64(b, f->num);
		} else {
			reply_field_num(b, f->id, f->num);
		}
	}
}

void
reply_end(struct buf *b)
{
	buf_add(b, "\r\n", 2);
}

void
reply_error(
    struct buf *b, struct span tag, enum err_code code, const char *fmt, ...)
{
	size_t start;
	va_list ap;

	assert(code != ERR_NONE);
	reply_word(b, tag, STATUS_ERR);
	buf_addc(b, ' ');
	buf_adds(b, err_word(code));
	buf_addc(b, ' ');
	start = buf_len(b);
	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
	text_clean(buf_data(b) + start, buf_len(b) - start, ' ');
	reply_end(b);
}

void
reply_event(struct buf *b, enum event_id event, struct span name,
    const struct field *fields, size_t n, const char *text)
{
	assert(event < EVENT_MAX);
	buf_add(b, events[event].p, events[event].n);
	if (name.n > 0) {
		buf_addc(b, ' ');
		reply_outside(b, name);
	}
	reply_fields(b, fields, n, text);
	reply_end(b);
}
