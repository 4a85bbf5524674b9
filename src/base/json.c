/*
 * Writes JSON: one object a line.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/parse.h"

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

size_t
json_escape(char out[JSON_ESCAPE_SIZE], size_t *len, const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];
	size_t took = parse_utf8_char(s, n);

	if (took == 0) {
		*len = (size_t)sprintf(out, "\\\\x%02x", c);
		return 1;
	}
	if (took == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0)
		*len = (size_t)sprintf(out, "\\u%04x", (unsigned)(s[1] & 0xff));
	else if (c == '"' || c == '\\')
		*len = (size_t)sprintf(out, "\\%c", c);
	else if (c < ' ' || c == 0x7f)
		*len = (size_t)sprintf(out, "\\u%04x", c);
	else {
		memcpy(out, s, took);
		*len = took;
	}
	return took;
}

void
json_text(struct json *j, const char *value, size_t n)
{
	char out[JSON_ESCAPE_SIZE];
	size_t i = 0, len;

	buf_addc(&j->text, '"');
	while (i < n) {
		i += json_escape(out, &len, value + i, n - i);
		buf_add(&j->text, out, len);
	}
	buf_addc(&j->text, '"');
}

static void
comma_add(struct json *j)
{
	const char last = buf_data(&j->text)[buf_len(&j->text) - 1];

	if (last != '{' && last != '[')
		buf_addc(&j->text, ',');
}

void
json_key(struct json *j, const char *key, size_t n, const char *suffix)
{
	char text[80];

	snprintf(text, sizeof(text), "%.*s%s", (int)n, key, suffix);
	comma_add(j);
	json_text(j, text, strlen(text));
	buf_addc(&j->text, ':');
}

void
json_str(struct json *j, const char *key, const char *value, size_t n)
{
	json_key(j, key, strlen(key), "");
	json_text(j, value, n);
}

void
json_raw(struct json *j, const char *key, const char *value, size_t n)
{
	json_key(j, key, strlen(key), "");
	buf_add(&j->text, value, n);
}

void
json_open(struct json *j, const char *key, char bracket)
{
	if (key != NULL)
		json_key(j, key, strlen(key), "");
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
json_strs(struct json *j, const char *key, char *const *values, size_t n)
{
	size_t i;

	json_key(j, key, strlen(key), "");
	buf_addc(&j->text, '[');
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&j->text, ',');
		json_text(j, values[i], strlen(values[i]));
	}
	buf_addc(&j->text, ']');
}
