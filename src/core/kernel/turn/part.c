/*
 * Which parts have which function.
 *
 * A step calls some twenty functions of parts, most of which one part has, or
 * none.  So there is a list for each, made once: looking at all parts each time
 * cost a tenth of the core's instructions.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/turn/part.h"

#define ROWS (sizeof(struct core_part) / sizeof(void *))

bool
part_has(const void *table, size_t row)
{
	void *p;

	memcpy(&p, (const char *)table + row * sizeof(p), sizeof(p));
	return p != NULL;
}

void
parts_init(struct core *core)
{
	const struct core_part *const *part;
	const struct core_part **at;
	size_t row;

	_Static_assert(
	    ROWS <= PART_ROWS_MAX && sizeof(void *) == sizeof(void (*)(void)),
	    "struct core_part is a table of pointers, but for its first row");
	at = xcalloc(ROWS * (PART_MAX + 1), sizeof(struct core_part *));
	core->with_all = at;
	for (row = 0; row < ROWS; row++) {
		core->with[row] = at;
		for (part = core->parts; *part != NULL; part++)
			if (part_has(*part, row))
				*at++ = *part;
		at++; /* NULL */
	}
}

void
parts_fini(struct core *core)
{
	free(core->with_all);
}
