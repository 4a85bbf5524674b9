/*
 * Which parts have which hook.
 *
 * A step calls some twenty hooks, most of which one part has, or none.  So there
 * is a list for each function, made once: to look at all parts each time cost a
 * tenth of the core's instructions.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/turn/part.h"

#define ROWS (sizeof(struct lock_hooks) / sizeof(void (*)(void)))

_Static_assert(
    ROWS <= LOCK_HOOKS_MAX && sizeof(void *) == sizeof(void (*)(void)),
    "struct lock_hooks is a table of pointers");

static bool
has(const struct lock_hooks *hooks, size_t row)
{
	void (*fn)(void);

	memcpy(&fn, (const char *)hooks + row * sizeof(fn), sizeof(fn));
	return fn != NULL;
}

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
			if ((*part)->lock != NULL && has((*part)->lock, row))
				*at++ = (*part)->lock;
		at++; /* NULL */
	}
}
