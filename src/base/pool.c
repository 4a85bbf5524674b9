#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/xmalloc.h"

#ifdef __SANITIZE_ADDRESS__
#define KEPT_MAX 0
#else
#define KEPT_MAX POOL_KEPT
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
	if (p->n < KEPT_MAX)
		p->kept[p->n++] = object;
	else
		free(object);
}
