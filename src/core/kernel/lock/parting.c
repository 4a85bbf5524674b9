/*
 * Partings: an UNLOCK is answered when Redis has confirmed that all its names
 * are free, or passed on.
 *
 * So a client that has its answer may notify another client, which then finds
 * the name free through any broker.  The session may be gone by then: the
 * answer reaches no client, and nothing else depends on it.
 */
#include "config.h"

#include <stdlib.h>

#include "core/kernel/lock/parting.h"
#include "core/kernel/turn/emit.h"

void
parting_drop(struct core *core, struct parting *p)
{
	unsigned i;

	assert(p->left > 0);
	p->left--;
	if (p->left > 0)
		return;
	if (core->fx == NULL) { /* in core_free(): no client is left */
		free(p);
		return;
	}
	emit_reply(core, p->session, p->ref, STATUS_OK);
	for (i = 0; i < p->n; i++)
		emit_num(core, FIELD_DEPTH, p->depth[i]);
	if (p->deferred)
		emit_num(core, FIELD_DEFERRED, 1);
	free(p);
}
