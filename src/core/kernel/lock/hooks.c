/*
 * Which parts have which hook: lists like those of turn/part.c.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/turn/part.h"

#define ROWS (sizeof(struct lock_hooks) / sizeof(void (*)(void)))

_Static_assert(
    ROWS <= LOCK_HOOKS_MAX && sizeof(void *) == sizeof(void (*)(void)),
    "struct lock_hooks is a table of pointers");

void
hooks_init(struct core *core)
{
	const struct lock_hooks **at;
	const struct core_part *const *part;
	size_t row;

	at = xcalloc(ROWS * (PART_MAX + 1), sizeof(*at));
	core->locks->all_hooks = at;
	for (row = 0; row < ROWS; row++) {
		core->locks->hooks[row] = at;
		for (part = core->parts; *part != NULL; part++)
			if ((*part)->lock != NULL &&
			    part_has((*part)->lock, row))
				*at++ = (*part)->lock;
		at++; /* NULL */
	}
}
