#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/freelist.h"
#include "base/xmalloc.h"

#ifdef __SANITIZE_ADDRESS__
#define KEEPS false
#else
#define KEEPS true
#endif

void
freelist_init(struct freelist *f, size_t size)
{
	f->size = size;
	f->n = 0;
}

void
freelist_fini(struct freelist *f)
{
	while (f->n > 0)
		free(f->kept[--f->n]);
}

void *
freelist_take(struct freelist *f)
{
	if (f->n == 0)
		return xcalloc(1, f->size);
	return memset(f->kept[--f->n], 0, f->size);
}

void
freelist_give(struct freelist *f, void *object)
{
	if (object == NULL)
		return;
	if (KEEPS && f->n < FREELIST_KEPT)
		f->kept[f->n++] = object;
	else
		free(object);
}
