/*
 * A hash table of objects that have a name: any bytes.
 *
 * Intrusive, and one pointer is all that it costs an object: of some there are
 * hundreds of thousands.  The name is asked for when it is needed.  The hash is
 * keyed (base/hash.h), because names come from clients.
 *
 * A walk comes by every object once, in no order that means anything, but the
 * same in runs that do the same.
 */
#ifndef LOCKBROKER_BASE_TABLE_H
#define LOCKBROKER_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In each object. */
struct table_link {
	struct table_link *next;
};

typedef const char *table_name(const struct table_link *link, size_t *len);

struct table {
	struct table_link **heads; /* owned; the objects are not */
	uint32_t size;		   /* heads, a power of two; 0: none yet */
	uint32_t n;		   /* objects */
	table_name *name;
};

/* How far a walk has come. */
struct table_walk {
	const struct table *table;
	uint32_t head;		 /* the next one */
	uint32_t size;		 /* of the table; see table_go_on() */
	struct table_link *next; /* behind the present object */
};

void table_init(struct table *t, table_name *name);
void table_fini(struct table *t); /* the objects in it are only forgotten */

struct table_link *table_find(
    const struct table *t, const char *name, size_t len);

/* There must be none of this name. */
void table_add(struct table *t, struct table_link *link);

/* It must be in there. */
void table_remove(struct table *t, struct table_link *link);

/*
 * The objects of one chain, of `size`.  When the table doubles, what was in
 * chain i is in i, or in i and the old size together.
 */
struct table_link *table_chain(const struct table *t, uint32_t i);

/*
 * NULL at the end.  During a walk the object that it is at may be removed, but
 * no other, and none may be added.
 */
struct table_link *table_first(const struct table *t, struct table_walk *walk);
struct table_link *table_next(struct table_walk *walk);

/*
 * A walk in parts.  It may rest where table_rests() says so; then any object
 * may be added or removed, and table_go_on() goes on, from the beginning where
 * the table was rewound.  It comes by all objects that are there all the time,
 * by some of them twice.
 */
void table_rewind(const struct table *t, struct table_walk *walk);
struct table_link *table_go_on(struct table_walk *walk);

/* The walk rests, and will come by the chain of the present object again. */
static inline void
table_stay(struct table_walk *walk)
{
	walk->head--;
	walk->next = NULL;
}

static inline bool
table_rests(const struct table_walk *walk)
{
	return walk->next == NULL;
}

#endif
