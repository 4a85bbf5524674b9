/*
 * See merge_names.h.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/kind.h"
#include "base/list.h"
#include "base/table.h"
#include "base/xmalloc.h"
#include "daemon/replace/merge_names.h"

#define FIELDS_MAX 9

/* How a name is held; what more processes see is less than what one has. */
enum how { HOW_FREE, HOW_HELD, HOW_SHARED, HOW_MAX };

static const char *const how_words[HOW_MAX] = {
	[HOW_FREE] = "free",
	[HOW_HELD] = "held",
	[HOW_SHARED] = "shared",
};

/* A name of a kind.  Owned by the names. */
struct one {
	struct table_link link;
	enum kind kind;
	enum how how;
	char *holder; /* owned; NULL: nobody knows one */
	bool leaving; /* told by a process that leaves */
	bool has_age, has_risk;
	uint64_t age_ms, risk_ms;
	uint64_t waiters, handovers, oldest_ms;
	size_t len;
	char key[]; /* a letter for its kind, and the name */
};

struct merge_names {
	struct table table;
	struct one **v; /* owned */
	size_t n, size;
	size_t taken;
	uint64_t total;
	struct field fields[FIELDS_MAX];
	size_t nfields;
	struct buf arena;
};

static const char *
key_of(const struct table_link *link, size_t *len)
{
	const struct one *one = container_of_const(link, struct one, link);

	*len = one->len + 1;
	return one->key;
}

struct merge_names *
merge_names_new(void)
{
	struct merge_names *names = xcalloc(1, sizeof(*names));

	table_init(&names->table, key_of);
	buf_init(&names->arena);
	return names;
}

void
merge_names_free(struct merge_names *names)
{
	size_t i;

	table_fini(&names->table);
	for (i = 0; i < names->n; i++) {
		free(names->v[i]->holder);
		free(names->v[i]);
	}
	free(names->v);
	buf_fini(&names->arena);
	free(names);
}

void
merge_names_more(struct merge_names *names, uint64_t total)
{
	names->total += total;
}

void
merge_names_less(struct merge_names *names)
{
	if (names->total > 0)
		names->total--;
}

/* The name of that kind; a new one if there is none. */
static struct one *
one_of(struct merge_names *names, enum kind kind, struct span name)
{
	struct one *one = xcalloc(1, sizeof(*one) + 1 + name.n);
	struct table_link *link;

	one->kind = kind;
	one->len = name.n;
	one->key[0] = (char)('a' + kind);
	memcpy(one->key + 1, name.p, name.n);
	link = table_find(&names->table, one->key, name.n + 1);
	if (link != NULL) {
		free(one);
		merge_names_less(names);
		return container_of(link, struct one, link);
	}
	if (names->n == names->size) {
		names->size = names->size == 0 ? 64 : 2 * names->size;
		names->v =
		    xrealloc(names->v, names->size * sizeof(struct one *));
	}
	names->v[names->n++] = one;
	table_add(&names->table, &one->link);
	return one;
}

static enum how
how_of(struct span word)
{
	enum how how;

	for (how = HOW_MAX - 1; how > HOW_FREE; how--)
		if (strlen(how_words[how]) == word.n &&
		    memcmp(how_words[how], word.p, word.n) == 0)
			break;
	return how;
}

/* Who has the name is told by the process that was asked, if it knows one. */
static void
add_holder(struct one *one, bool leaving, const struct field *fields, size_t n,
    const char *arena)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (fields[i].id == FIELD_HELD_BY) {
			free(one->holder);
			one->leaving = leaving;
			one->holder =
			    xstrndup(arena + fields[i].str, fields[i].len);
		} else if (fields[i].id == FIELD_AGE) {
			one->has_age = true;
			one->age_ms = fields[i].num;
		} else if (fields[i].id == FIELD_AT_RISK) {
			one->has_risk = true;
			one->risk_ms = fields[i].num;
		}
	}
}

static void
add_numbers(
    struct one *one, const struct field *fields, size_t n, const char *arena)
{
	struct span state;
	enum how how;
	size_t i;

	for (i = 0; i < n; i++) {
		if (fields[i].id == FIELD_STATE) {
			state = (struct span){ arena + fields[i].str,
				fields[i].len };
			how = how_of(state);
			if (how > one->how)
				one->how = how;
		} else if (fields[i].id == FIELD_WAITERS) {
			one->waiters += fields[i].num;
		} else if (fields[i].id == FIELD_HANDOVERS) {
			one->handovers += fields[i].num;
		} else if (fields[i].id == FIELD_OLDEST &&
			   fields[i].num > one->oldest_ms) {
			one->oldest_ms = fields[i].num;
		}
	}
}

void
merge_names_add(struct merge_names *names, bool leaving, struct span name,
    const struct field *fields, size_t n, const char *arena)
{
	enum kind kind = KIND_LOCK;
	struct one *one;
	size_t i;

	for (i = 0; i < n; i++)
		if (fields[i].id == FIELD_KIND)
			kind = kind_find(arena + fields[i].str, fields[i].len);
	one = one_of(names, kind, name);
	if (one->holder == NULL || (one->leaving && !leaving))
		add_holder(one, leaving, fields, n, arena);
	add_numbers(one, fields, n, arena);
}

static int
busier_first(const void *a, const void *b)
{
	const struct one *x = *(struct one *const *)a;
	const struct one *y = *(struct one *const *)b;
	int order;

	if (x->waiters != y->waiters)
		return x->waiters > y->waiters ? -1 : 1;
	if (x->handovers != y->handovers)
		return x->handovers > y->handovers ? -1 : 1;
	order =
	    memcmp(x->key + 1, y->key + 1, x->len < y->len ? x->len : y->len);
	if (order != 0)
		return order;
	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

/* A name of which nobody knows since when it is held comes last. */
static int
older_first(const void *a, const void *b)
{
	const struct one *x = *(struct one *const *)a;
	const struct one *y = *(struct one *const *)b;

	if (x->has_age != y->has_age)
		return x->has_age ? -1 : 1;
	if (x->age_ms != y->age_ms)
		return x->age_ms > y->age_ms ? -1 : 1;
	return busier_first(a, b);
}

void
merge_names_order(struct merge_names *names, bool by_age)
{
	if (names->n > 0)
		qsort(names->v, names->n, sizeof(struct one *),
		    by_age ? older_first : busier_first);
}

static void
put_num(struct merge_names *names, enum field_id id, uint64_t num)
{
	names->fields[names->nfields++] =
	    (struct field){ .id = id, .num = num };
}

static void
put_str(struct merge_names *names, enum field_id id, const char *text)
{
	names->fields[names->nfields++] = (struct field){ .id = id,
		.str = (uint32_t)buf_len(&names->arena),
		.len = (uint32_t)strlen(text) };
	buf_adds(&names->arena, text);
}

size_t
merge_names_take(struct merge_names *names, struct span *name,
    const struct field **fields, const char **arena)
{
	const struct one *one;

	names->nfields = 0;
	buf_clear(&names->arena);
	if (names->taken == names->n)
		return 0;
	one = names->v[names->taken++];
	if (one->kind != KIND_LOCK)
		put_str(names, FIELD_KIND, kind_words[one->kind]);
	put_str(names, FIELD_STATE, how_words[one->how]);
	if (one->holder != NULL)
		put_str(names, FIELD_HELD_BY, one->holder);
	if (one->has_age)
		put_num(names, FIELD_AGE, one->age_ms);
	if (one->has_risk)
		put_num(names, FIELD_AT_RISK, one->risk_ms);
	put_num(names, FIELD_WAITERS, one->waiters);
	put_num(names, FIELD_HANDOVERS, one->handovers);
	put_num(names, FIELD_OLDEST, one->oldest_ms);
	if (one->leaving)
		put_num(names, FIELD_LEAVING, 1);
	*name = (struct span){ one->key + 1, one->len };
	*fields = names->fields;
	*arena = buf_data(&names->arena);
	return names->nfields;
}

uint64_t
merge_names_total(const struct merge_names *names)
{
	return names->total;
}
