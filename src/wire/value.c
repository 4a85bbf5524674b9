/*
 * One parser for each type of option, in a table.  Values stay in the request;
 * nothing is copied.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "wire/value.h"

#define QUOTE_BYTES_MAX 64

/*
 * A parser returns NULL, or the end of a sentence that says what is wrong; ""
 * leaves it to `what` in the option's row.
 */
typedef const char *(*value_parser)(
    const struct option *o, struct span value, int64_t *num, struct span *str);

static bool
value_is(struct span value, const char *word)
{
	return value.n == strlen(word) && memcmp(value.p, word, value.n) == 0;
}

static const char *
value_duration(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)str;
	if (!parse_duration(value.p, value.n, num))
		return parse_duration_why(value.p, value.n);
	return *num < (int64_t)o->min ? "" : NULL;
}

static const char *
value_wait(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	if (value_is(value, "forever")) {
		*num = WAIT_FOREVER;
		return NULL;
	}
	return value_duration(o, value, num, str);
}

static const char *
value_number(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	uint64_t n;

	(void)str;
	if (!parse_number(value.p, value.n, UINT64_MAX, &n))
		return "";
	if (n > VALUE_NUMBER_MAX)
		return "is more than 9007199254740991";
	*num = (int64_t)n;
	return n < o->min ? "" : NULL;
}

/* The first word means 0, the second one 1. */
static const char *
value_either(struct span value, const char *zero, const char *one, int64_t *num)
{
	*num = value_is(value, one);
	return *num == 1 || value_is(value, zero) ? NULL : "";
}

static const char *
value_mode(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)str;
	_Static_assert(MODE_EXCLUSIVE == 0 && MODE_SHARED == 1, "their order");
	return value_either(value, "exclusive", "shared", num);
}

static const char *
value_end(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)str;
	_Static_assert(END_CLOSE == 0 && END_QUIT == 1, "their order");
	return value_either(value, "close", "quit", num);
}

static const char *
value_yes(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)str;
	return value_either(value, "no", "yes", num);
}

static const char *
value_kind(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	enum kind kind = kind_find(value.p, value.n);

	(void)o;
	(void)str;
	*num = kind;
	return kind == KIND_ANY ? "" : NULL;
}

static const char *
value_label(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)num;
	*str = value;
	return text_name_why(value, LABEL_MAX_BYTES);
}

static const char *
value_value(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)num;
	*str = value;
	return text_value_why(value);
}

/* Version, id of the trace, id of the span, flags: neither id is all zeros. */
static const char *
value_trace(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)num;
	*str = value;
	return text_is_trace(value) ? NULL : "";
}

static const char *
value_secret(
    const struct option *o, struct span value, int64_t *num, struct span *str)
{
	(void)o;
	(void)num;
	*str = value;
	return value.n == 0 ? "" : NULL;
}

static const value_parser parsers[] = {
	[OPTION_TYPE_DURATION] = value_duration,
	[OPTION_TYPE_WAIT] = value_wait,
	[OPTION_TYPE_NUMBER] = value_number,
	[OPTION_TYPE_MODE] = value_mode,
	[OPTION_TYPE_KIND] = value_kind,
	[OPTION_TYPE_END] = value_end,
	[OPTION_TYPE_YES] = value_yes,
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
	const char *wrong;

	assert(id < OPTION_MAX);
	wrong = parsers[o->type](o, value, num, str);
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
