/*
 * One parser for each type of option, in a table.  Values stay in the request;
 * nothing is copied.
 */
#include "config.h"

#include <assert.h>

#include "base/parse.h"
#include "base/text.h"
#include "wire/value.h"

#define QUOTE_BYTES_MAX 64

/* A value to read. */
struct reading {
	const struct option *o;
	struct span text;
	int64_t *num;
	struct span *str;
};

/*
 * A parser returns NULL, or the end of a sentence that says what is wrong; ""
 * leaves it to `what` in the option's row.
 */
typedef const char *(*value_parser)(const struct reading *r);

static const char *
value_duration(const struct reading *r)
{
	if (!parse_duration(r->text.p, r->text.n, r->num))
		return parse_duration_why(r->text.p, r->text.n);
	return *r->num < (int64_t)r->o->min ? "" : NULL;
}

static const char *
value_wait(const struct reading *r)
{
	if (!span_is(r->text, "forever"))
		return value_duration(r);
	*r->num = WAIT_FOREVER;
	return NULL;
}

static const char *
value_number(const struct reading *r)
{
	uint64_t n;

	if (!parse_number(r->text.p, r->text.n, UINT64_MAX, &n))
		return "";
	if (n > VALUE_NUMBER_MAX)
		return "is more than 9007199254740991";
	*r->num = (int64_t)n;
	return n < r->o->min ? "" : NULL;
}

/* The first word means 0, the second one 1. */
static const char *
value_either(const struct reading *r)
{
	static const char *const words[][2] = {
		[OPTION_TYPE_MODE] = { "exclusive", "shared" },
		[OPTION_TYPE_END] = { "close", "quit" },
		[OPTION_TYPE_YES] = { "no", "yes" },
	};
	_Static_assert(MODE_EXCLUSIVE == 0 && MODE_SHARED == 1, "their order");
	_Static_assert(END_CLOSE == 0 && END_QUIT == 1, "their order");

	*r->num = span_is(r->text, words[r->o->type][1]);
	return *r->num == 1 || span_is(r->text, words[r->o->type][0]) ? NULL
								      : "";
}

static const char *
value_kind(const struct reading *r)
{
	enum kind kind = kind_find(r->text.p, r->text.n);

	*r->num = kind;
	return kind == KIND_ANY ? "" : NULL;
}

static const char *
value_label(const struct reading *r)
{
	*r->str = r->text;
	return text_name_why(r->text, LABEL_MAX_BYTES);
}

static const char *
value_value(const struct reading *r)
{
	*r->str = r->text;
	return text_value_why(r->text);
}

/* Version, id of the trace, id of the span, flags: neither id is all zeros. */
static const char *
value_trace(const struct reading *r)
{
	*r->str = r->text;
	return text_is_trace(r->text) ? NULL : "";
}

static const char *
value_secret(const struct reading *r)
{
	*r->str = r->text;
	return r->text.n == 0 ? "" : NULL;
}

static const value_parser parsers[] = {
	[OPTION_TYPE_DURATION] = value_duration,
	[OPTION_TYPE_WAIT] = value_wait,
	[OPTION_TYPE_NUMBER] = value_number,
	[OPTION_TYPE_MODE] = value_either,
	[OPTION_TYPE_KIND] = value_kind,
	[OPTION_TYPE_END] = value_either,
	[OPTION_TYPE_YES] = value_either,
	[OPTION_TYPE_LABEL] = value_label,
	[OPTION_TYPE_VALUE] = value_value,
	[OPTION_TYPE_TRACE] = value_trace,
	[OPTION_TYPE_SECRET] = value_secret,
};

bool
value_parse(enum option_id id, struct span value, int64_t *num,
    struct span *str, struct buf *why)
{
	const struct option *o = &options[id];
	const struct reading reading = { o, value, num, str };
	const char *wrong;

	assert(id < OPTION_MAX);
	wrong = parsers[o->type](&reading);
	if (wrong == NULL)
		return true;
	buf_adds(why, o->key);
	buf_addc(why, '=');
	if (o->type != OPTION_TYPE_SECRET)
		text_add(why, value, QUOTE_BYTES_MAX);
	buf_addc(why, ' ');
	if (wrong[0] != '\0') {
		buf_adds(why, wrong);
	} else {
		buf_adds(why, "must be ");
		buf_adds(why, o->what);
	}
	return false;
}
