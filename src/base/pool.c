#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/xmalloc.h"

#ifdef __SANITIZE_ADDRESS__
#define KEEPS false
#else
#define KEEPS true
#endif

void
pool_init(struct pool *p, size_t size)
{
	p->size = size;
	p->n = 0;
}

void
pool_fini(struct pool *p)
{
	while (p->n > 0)
		free(p->kept[--p->n]);
}

void *
pool_take(struct pool *p)
{
	if (p->n == 0)
		return xcalloc(1, p->size);
	return memset(p->kept[--p->n], 0, p->size);
}

void
pool_give(struct pool *p, void *object)
{
	if (object == NULL)
		return;
	if (KEEPS && p->n < POOL_KEPT)
		p->kept[p->n++] = object;
	else
		free(object);
}
