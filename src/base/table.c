/*
 * Chains of objects, at most two long on average.  The table grows or shrinks
 * only when an object is added, so a walk that removes objects finds the rest
 * in place.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/table.h"
#include "base/xmalloc.h"

#define SIZE_MIN 64
#define CHAIN_MAX 2 /* on average */
#define SPARSE 32   /* heads for each object */

void
table_init(struct table *t, table_name *name)
{
	memset(t, 0, sizeof(*t));
	t->name = name;
}

void
table_init_at(struct table *t, ptrdiff_t key, size_t key_size)
{
	table_init(t, NULL);
	t->key = key;
	t->key_size = key_size;
}

void
table_fini(struct table *t)
{
	free(t->heads);
	t->heads = NULL;
	t->size = t->n = 0;
}

static const char *
key_of(const struct table *t, const struct table_link *link, size_t *len)
{
	if (t->name != NULL)
		return t->name(link, len);
	*len = t->key_size;
	return (const char *)link + t->key;
}

static struct table_link **
head_of(const struct table *t, const char *name, size_t len)
{
	return &t->heads[hash_of(name, len) & (t->size - 1)];
}

static void
insert(struct table *t, struct table_link *link)
{
	struct table_link **head;
	const char *name;
	size_t len;

	name = key_of(t, link, &len);
	head = head_of(t, name, len);
	link->next = *head;
	*head = link;
}

static void
resize(struct table *t, uint32_t size)
{
	struct table old = *t;
	struct table_link *link, *next;
	uint32_t i;

	t->heads = xcalloc(size, sizeof(*t->heads));
	t->size = size;
	for (i = 0; i < old.size; i++)
		for (link = old.heads[i]; link != NULL; link = next) {
			next = link->next;
			insert(t, link);
		}
	free(old.heads);
}

struct table_link *
table_find(const struct table *t, const char *name, size_t len)
{
	struct table_link *link;
	const char *other;
	size_t other_len;

	if (t->n == 0)
		return NULL;
	link = *head_of(t, name, len);
	for (; link != NULL; link = link->next) {
		other = key_of(t, link, &other_len);
		if (other_len == len && memcmp(other, name, len) == 0)
			break;
	}
	return link;
}

struct table_link *
table_find_key(const struct table *t, const void *key)
{
	return table_find(t, key, t->key_size);
}

void
table_add(struct table *t, struct table_link *link)
{
	if (t->n >= CHAIN_MAX * t->size)
		resize(t, t->size > 0 ? 2 * t->size : SIZE_MIN);
	else if (t->size > SIZE_MIN && t->n < t->size / SPARSE)
		resize(t, t->size / 2);
	insert(t, link);
	t->n++;
}

void
table_remove(struct table *t, struct table_link *link)
{
	struct table_link **at;
	const char *name;
	size_t len;

	name = key_of(t, link, &len);
	assert(t->n > 0);
	for (at = head_of(t, name, len); *at != link; at = &(*at)->next)
		assert(*at != NULL);
	*at = link->next;
	t->n--;
}

struct table_link *
table_chain(const struct table *t, uint32_t i)
{
	assert(i < t->size);
	return t->heads[i];
}

struct table_link *
table_first(const struct table *t, struct table_walk *walk)
{
	table_rewind(t, walk);
	return table_next(walk);
}

void
table_rewind(const struct table *t, struct table_walk *walk)
{
	walk->table = t;
	walk->head = 0;
	walk->size = t->size;
	walk->next = NULL;
}

/*
 * If the table has grown, objects of the chains before this one are still
 * there, or in later chains.  If it has shrunk, later chains may have been
 * joined to those before this one.
 */
struct table_link *
table_go_on(struct table_walk *walk)
{
	assert(table_rests(walk));
	if (walk->table->size < walk->size)
		walk->head = 0;
	walk->size = walk->table->size;
	return table_next(walk);
}

struct table_link *
table_next(struct table_walk *walk)
{
	struct table_link *link = walk->next;

	while (link == NULL && walk->head < walk->table->size)
		link = walk->table->heads[walk->head++];
	walk->next = link != NULL ? link->next : NULL;
	return link;
}
