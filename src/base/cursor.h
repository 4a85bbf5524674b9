/*
 * Cursors: positions in lists (list.h) whose elements may be removed during a
 * walk.  A cursor at an element that leaves its list moves to the next one.
 *
 *	cursor_begin(&owner->cursors, &c, TAILQ_FIRST(&owner->waiting),
 *	    offsetof(struct claim, in_owner));
 *	while ((claim = cursor_take(&c)) != NULL)
 *		...
 *
 * The owner of a list that may be walked keeps its cursors, too, and removes
 * elements by CURSOR_REMOVE().  A cursor at its end is in no list of cursors,
 * so lists without walks pay nothing.
 */
#ifndef LOCKBROKER_BASE_CURSOR_H
#define LOCKBROKER_BASE_CURSOR_H

#include <stdbool.h>
#include <string.h>

#include "base/list.h"

/* All zero, the cursor is at its end. */
struct cursor {
	LIST_ENTRY(cursor) in_cursors; /* unless it is at its end */
	void *at;		       /* the next element; NULL: the end */
	size_t link;		       /* offset of the element's TAILQ_ENTRY */
	bool back;		       /* it moves towards the head */
};
LIST_HEAD(cursors, cursor);

/* Returns the element after `thing`, whose TAILQ_ENTRY is at that offset;
 * `back`: the element before it. */
static inline void *
cursor_beyond(const void *thing, size_t link, bool back)
{
	struct {
		void *next;
		void *place; /* the link of the previous element, or the head */
	} entry;
	void *beyond;

	memcpy(&entry, (const char *)thing + link, sizeof(entry));
	if (!back)
		return entry.next;
	/* As in TAILQ_PREV(): an entry is laid out like a head. */
	memcpy(&entry, entry.place, sizeof(entry));
	memcpy(&beyond, entry.place, sizeof(beyond));
	return beyond;
}

static inline void
cursor_end(struct cursor *c)
{
	if (c->at != NULL)
		LIST_REMOVE(c, in_cursors);
	c->at = NULL;
}

/* Puts the cursor at `first`, whose TAILQ_ENTRY is at that offset; NULL: at the
 * end.  `all`: the cursors of that list. */
static inline void
cursor_begin(struct cursors *all, struct cursor *c, void *first, size_t link)
{
	cursor_end(c);
	c->at = first;
	c->link = link;
	c->back = false;
	if (first != NULL)
		LIST_INSERT_HEAD(all, c, in_cursors);
}

static inline void
cursor_pass(struct cursor *c)
{
	void *beyond = cursor_beyond(c->at, c->link, c->back);

	if (beyond == NULL)
		cursor_end(c);
	c->at = beyond;
}

/* Returns the element at the cursor, and moves on; NULL: at its end. */
static inline void *
cursor_take(struct cursor *c)
{
	void *at = c->at;

	if (at != NULL)
		cursor_pass(c);
	return at;
}

/* To be called before the element leaves the list of that link. */
static inline void
cursors_leave(const struct cursors *all, const void *thing, size_t link)
{
	struct cursor *c, *next;

	LIST_FOREACH_SAFE (c, all, in_cursors, next)
		if (c->at == thing && c->link == link)
			cursor_pass(c);
}

#define CURSOR_REMOVE(all, head, thing, field)               \
	do {                                                 \
		cursors_leave(all, thing,                    \
		    (size_t)((const char *)&(thing)->field - \
			     (const char *)(thing)));        \
		TAILQ_REMOVE(head, thing, field);            \
	} while (0)

#endif
