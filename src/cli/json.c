/*
 * Writes JSON: one object a line.
 */
#include "config.h"

#include "cli/json.h"

#include "base/field.h"
#include "base/parse.h"
#include "cli/message.h"

#include <stdio.h>
#include <string.h>

/*
 * How the broker writes the fields it has, and how the rate of `top` is
 * written; what is not in here is a string.
 */
enum { HOW_STR, HOW_NUM, HOW_MS, HOW_TENTHS };

static const struct {
	const char *key;
	int how;
} fields[] = {
#define FIELD(id, key, how) { key, HOW_##how },
	FIELDS(FIELD) FIELD(RATE, "rate", TENTHS)
#undef FIELD
};

void
json_begin(struct json *j)
{
	buf_init(&j->text);
	buf_addc(&j->text, '{');
}

void
json_close(struct json *j)
{
	buf_adds(&j->text, "}\n");
}

void
json_end(struct json *j)
{
	json_close(j);
	(void)fwrite(buf_data(&j->text), 1, buf_len(&j->text), stdout);
	buf_fini(&j->text);
}

/* The bytes of the character at s: 0 if it is not UTF-8. */
static size_t
utf8_len(const char *s, size_t n)
{
	size_t len;

	for (len = 1; len <= 4 && len <= n; len++) {
		if (parse_utf8(s, len))
			return len;
	}
	return 0;
}

static void
string_add(struct buf *b, const char *s, size_t n)
{
	size_t i = 0, len;

	buf_addc(b, '"');
	while (i < n) {
		len = utf8_len(s + i, n - i);
		if (len == 0)
			buf_adds(b, "\\ufffd");
		else if (len == 1 && (s[i] == '"' || s[i] == '\\'))
			buf_addf(b, "\\%c", s[i]);
		else if (len == 1 &&
			 ((unsigned char)s[i] < ' ' || s[i] == 0x7f))
			buf_addf(b, "\\u%04x", (unsigned int)s[i]);
		else
			buf_add(b, s + i, len);
		i += len > 0 ? len : 1;
	}
	buf_addc(b, '"');
}

static void
comma_add(struct json *j)
{
	const char last = buf_data(&j->text)[buf_len(&j->text) - 1];

	if (last != '{' && last != '[')
		buf_addc(&j->text, ',');
}

static void
key_add(struct json *j, const char *key, size_t n, const char *suffix)
{
	char text[80];

	snprintf(text, sizeof(text), "%.*s%s", (int)n, key, suffix);
	comma_add(j);
	string_add(&j->text, text, strlen(text));
	buf_addc(&j->text, ':');
}

void
json_str(struct json *j, const char *key, const char *value, size_t n)
{
	key_add(j, key, strlen(key), "");
	string_add(&j->text, value, n);
}

void
json_raw(struct json *j, const char *key, const char *value, size_t n)
{
	key_add(j, key, strlen(key), "");
	buf_add(&j->text, value, n);
}

void
json_open(struct json *j, const char *key, char bracket)
{
	if (key != NULL)
		key_add(j, key, strlen(key), "");
	else
		comma_add(j);
	buf_addc(&j->text, bracket);
}

void
json_shut(struct json *j, char bracket)
{
	buf_addc(&j->text, bracket);
}

void
json_stat(struct json *j, const char *line)
{
	const char *space = strchr(line, ' ');
	uint64_t n;

	if (space == NULL)
		return;
	key_add(j, line, (size_t)(space - line), "");
	if (parse_number(space + 1, strlen(space + 1), UINT64_MAX, &n))
		buf_adds(&j->text, space + 1);
	else
		string_add(&j->text, space + 1, strlen(space + 1));
}

void
json_bare(struct json *j, const char *line, const char *const *keys)
{
	struct pair p;

	while (*keys != NULL && pair_next(&line, &p)) {
		if (p.key == NULL)
			json_str(j, *keys++, p.value, p.value_len);
	}
}

void
json_strs(struct json *j, const char *key, char *const *values, size_t n)
{
	size_t i;

	key_add(j, key, strlen(key), "");
	buf_addc(&j->text, '[');
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&j->text, ',');
		string_add(&j->text, values[i], strlen(values[i]));
	}
	buf_addc(&j->text, ']');
}

static int
how_of(const struct pair *p)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (pair_is(p, fields[i].key))
			return fields[i].how;
	}
	return HOW_STR;
}

/* Digits, a point, a digit. */
static bool
is_tenths(const struct pair *p)
{
	uint64_t n;

	return p->value_len > 2 && p->value[p->value_len - 2] == '.' &&
	       parse_number(p->value, p->value_len - 2, UINT64_MAX, &n) &&
	       parse_number(p->value + p->value_len - 1, 1, 9, &n);
}

static void
pair_add(struct json *j, const struct pair *p)
{
	const int how = how_of(p);
	int64_t ms;
	uint64_t num;

	if (how == HOW_MS && parse_duration(p->value, p->value_len, &ms)) {
		key_add(j, p->key, p->key_len, "_ms");
		buf_add_u64(&j->text, (uint64_t)ms);
		return;
	}
	key_add(j, p->key, p->key_len, "");
	if (how == HOW_NUM &&
	    parse_number(p->value, p->value_len, UINT64_MAX, &num))
		buf_add_u64(&j->text, num);
	else if (how == HOW_TENTHS && is_tenths(p))
		buf_add(&j->text, p->value, p->value_len);
	else
		string_add(&j->text, p->value, p->value_len);
}

void
json_pairs(struct json *j, const char *line)
{
	struct pair p;

	while (pair_next(&line, &p)) {
		if (p.key != NULL)
			pair_add(j, &p);
	}
}
