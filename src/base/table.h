/*
 * A hash table of objects that have a name: any bytes.
 *
 * Intrusive: it costs an object only one pointer, because there may be hundreds
 * of thousands.  The table asks the object for its name when it needs it.  The
 * hash is keyed (base/hash.h), because names come from clients.
 *
 * A walk visits every object once.  The order means nothing, but is the same in
 * two runs that do the same.
 */
#ifndef LOCKBROKER_BASE_TABLE_H
#define LOCKBROKER_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Embedded in each object. */
struct table_link {
	struct table_link *next;
};

typedef const char *table_name(const struct table_link *link, size_t *len);

struct table {
	struct table_link **heads; /* owned; the objects are not */
	uint32_t size;		   /* heads, a power of two; 0: none yet */
	uint32_t n;		   /* objects */
	table_name *name;	   /* NULL: the name is a key ... */
	ptrdiff_t key;	 /* ... at this offset from the link, and ... */
	size_t key_size; /* ... of this size */
};

/* The state of a walk. */
struct table_walk {
	const struct table *table;
	uint32_t head;		 /* the next one to visit */
	uint32_t size;		 /* of the table; see table_go_on() */
	struct table_link *next; /* after the present object */
};

void table_init(struct table *t, table_name *name);

/* For objects whose name is a field of one size, without padding. */
#define table_init_key(t, type, link, field)     \
	table_init_at((t),                       \
	    (ptrdiff_t)offsetof(type, field) -   \
		(ptrdiff_t)offsetof(type, link), \
	    sizeof(((type *)NULL)->field))
void table_init_at(struct table *t, ptrdiff_t key, size_t key_size);

void table_fini(struct table *t); /* forgets the objects in it */

struct table_link *table_find(
    const struct table *t, const char *name, size_t len);

struct table_link *table_find_key(const struct table *t, const void *key);

/* Requires that no object in it has this name. */
void table_add(struct table *t, struct table_link *link);

/* Requires that it is in the table. */
void table_remove(struct table *t, struct table_link *link);

/*
 * Returns the objects of chain i, out of `size` chains.  When the table
 * doubles, the objects of chain i go to chain i and to chain i plus the old
 * size.
 */
struct table_link *table_chain(const struct table *t, uint32_t i);

/*
 * Both return NULL at the end.  During a walk the present object may be
 * removed, but no other, and none may be added.
 */
struct table_link *table_first(const struct table *t, struct table_walk *walk);
struct table_link *table_next(struct table_walk *walk);

/*
 * A walk in parts.  It may pause if table_rests() says so.  Then any object may
 * be added or removed; table_go_on() continues, from the beginning if the table
 * was rewound.  The walk visits all objects that are in the table all the time,
 * some of them twice.
 */
void table_rewind(const struct table *t, struct table_walk *walk);
struct table_link *table_go_on(struct table_walk *walk);

static inline bool
table_rests(const struct table_walk *walk)
{
	return walk->next == NULL;
}

#endif
