/* Parses one reply or event of the broker. */
#include "config.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "client/message.h"

/* No sane broker sends more lines; a faulty one must not fill memory. */
#define LINES_MAX 10000000

static const char *const status_words[STATUS_MAX] = {
	[STATUS_OK] = "OK",
	[STATUS_BUSY] = "BUSY",
	[STATUS_TIMEOUT] = "TIMEOUT",
	[STATUS_CANCELLED] = "CANCELLED",
	[STATUS_ERR] = "ERR",
};

bool
message_parse(struct message *m, const char *line, size_t n)
{
	const char *text = line, *end = line + n, *space;

	memset(m, 0, sizeof(*m));
	if (n > 0 && line[0] == '@') {
		space = memchr(line, ' ', n);
		if (space == NULL || space == line + 1)
			return false;
		text = space + 1;
	}
	if (text == end || memchr(line, '\0', n) != NULL)
		return false;
	m->event = text == line && text[0] == '!';
	if (!m->event && !isalpha((unsigned char)text[0]))
		return false;
	m->tag = text == line ? xstrdup("")
			      : xstrndup(line + 1, (size_t)(text - line - 2));
	m->text = xstrndup(text, (size_t)(end - text));
	return true;
}

void
message_fini(struct message *m)
{
	size_t i;

	for (i = 0; i < m->lines_n; i++)
		free(m->lines[i]);
	free(m->lines);
	free(m->tag);
	free(m->text);
	memset(m, 0, sizeof(*m));
}

uint64_t
message_lines_due(const struct message *m)
{
	uint64_t n;

	if (m->event || message_status(m) != STATUS_OK)
		return 0;
	n = pair_number(m->text, "lines");
	return n <= LINES_MAX ? n : 0;
}

bool
message_is(const struct message *m, const char *word)
{
	const size_t n = strlen(word);

	return strncmp(m->text, word, n) == 0 &&
	       (m->text[n] == '\0' || m->text[n] == ' ');
}

enum status
message_status(const struct message *m)
{
	enum status s;

	assert(!m->event);
	for (s = 0; s < STATUS_MAX; s++) {
		if (message_is(m, status_words[s]))
			break;
	}
	return s;
}

bool
message_answers(const struct message *m, const char *tag)
{
	return !m->event && strcmp(m->tag, tag) == 0;
}

const char *
message_error(const struct message *m)
{
	if (m->event || !message_is(m, "ERR") || m->text[3] == '\0')
		return "";
	return m->text + 4;
}

bool
message_error_is(const struct message *m, const char *code)
{
	const char *error = message_error(m);
	const size_t n = strlen(code);

	return strncmp(error, code, n) == 0 &&
	       (error[n] == '\0' || error[n] == ' ');
}

bool
pair_next(const char **cursor, struct pair *p)
{
	const char *word, *equals;
	size_t n;

	word = *cursor + strspn(*cursor, " ");
	n = strcspn(word, " ");
	*cursor = word + n;
	if (n == 0)
		return false;
	equals = memchr(word, '=', n);
	p->key = equals != NULL ? word : NULL;
	p->key_len = equals != NULL ? (size_t)(equals - word) : 0;
	p->value = equals != NULL ? equals + 1 : word;
	p->value_len = (size_t)(word + n - p->value);
	return true;
}

bool
pair_is(const struct pair *p, const char *key)
{
	return p->key != NULL && strlen(key) == p->key_len &&
	       memcmp(p->key, key, p->key_len) == 0;
}

bool
pair_find(const char *text, const char *key, struct pair *p)
{
	struct pair one;

	while (pair_next(&text, &one)) {
		if (!pair_is(&one, key))
			continue;
		*p = one;
		return true;
	}
	return false;
}

uint64_t
pair_number(const char *text, const char *key)
{
	struct pair p;
	uint64_t n;

	return pair_find(text, key, &p) &&
		       parse_number(p.value, p.value_len, UINT64_MAX, &n)
		   ? n
		   : 0;
}

const char *
pair_text(const char *text, const char *key, char *out, size_t size)
{
	struct pair p = { NULL, 0, "", 0 };

	(void)pair_find(text, key, &p);
	snprintf(out, size, "%.*s", (int)p.value_len, p.value);
	return out;
}

bool
pair_says(const struct pair *p, const char *value)
{
	return strlen(value) == p->value_len &&
	       memcmp(p->value, value, p->value_len) == 0;
}

bool
pair_find_ms(const char *text, const char *key, int64_t *ms)
{
	struct pair p;

	return pair_find(text, key, &p) &&
	       parse_duration(p.value, p.value_len, ms);
}
