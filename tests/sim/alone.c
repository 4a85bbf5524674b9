/*
 * What brokers of the kernel alone are asked, and how their counters are read:
 * core_gauges() is a part's.
 */
#include "config.h"

#include <string.h>

#include "core/dump.h"
#include "core/kernel/lock/state.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/step.h"

#include "alone.h"
#include "world.h"

/* SESSION grace= is left out, because a part keeps events for who comes back. */
#define USES_OF_KERNEL (USE_HEARTBEAT | USE_KEEPS)

void
alone_draw(struct world *w)
{
	if (!w->o->alone)
		return;
	w->uses.on &= USES_OF_KERNEL;
	memset(w->permits, 0, sizeof(w->permits));
}

struct core *
alone_core(const struct core_config *config)
{
	static const struct core_part *const none[] = { NULL };

	return core_begin(config, none, NULL);
}

void
alone_gauges(const struct core *core, struct core_gauges *gauges)
{
	memset(gauges, 0, sizeof(*gauges));
	gauges->sessions = core->owners->by_id.n;
	gauges->names = core->leases->n;
	gauges->locks_held = core->locks->nholds;
	gauges->waiters = core->locks->nwaiting;
	gauges->unowned = core->owners->nunowned;
	gauges->bound = core->owners->ncounted;
}
