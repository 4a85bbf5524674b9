/* See json_reply.h. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/field.h"
#include "base/parse.h"
#include "cli/json_reply.h"
#include "client/message.h"

/*
 * How the broker writes its fields, and `top` its numbers. All other values are
 * strings.
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
json_end(struct json *j)
{
	json_close(j);
	(void)fwrite(buf_data(&j->text), 1, buf_len(&j->text), stdout);
	buf_fini(&j->text);
}

void
json_stat(struct json *j, const char *line)
{
	const char *space = strchr(line, ' ');
	uint64_t n;

	if (space == NULL)
		return;
	json_key(j, line, (size_t)(space - line), "");
	if (parse_number(space + 1, strlen(space + 1), UINT64_MAX, &n))
		buf_adds(&j->text, space + 1);
	else
		json_text(j, space + 1, strlen(space + 1));
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

/* Is it digits, a point, and a digit? */
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
		json_key(j, p->key, p->key_len, "_ms");
		buf_add_u64(&j->text, (uint64_t)ms);
		return;
	}
	json_key(j, p->key, p->key_len, "");
	if (how == HOW_NUM &&
	    parse_number(p->value, p->value_len, UINT64_MAX, &num))
		buf_add_u64(&j->text, num);
	else if (how == HOW_TENTHS && is_tenths(p))
		buf_add(&j->text, p->value, p->value_len);
	else
		json_text(j, p->value, p->value_len);
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

void
json_answer(const char *name, const char *line)
{
	struct json j;

	json_begin(&j);
	if (name != NULL)
		json_str(&j, "name", name, strlen(name));
	json_pairs(&j, line);
	json_end(&j);
}
