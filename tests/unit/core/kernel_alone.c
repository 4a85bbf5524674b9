/*
 * A core without parts, for the stories that the kernel plays alone; with
 * WITH_QUORUM, the servers of a quorum.
 */
#include "config.h"

#include <check.h>

#include "core/dump.h"
#include "core/kernel/step.h"
#include "core/parts/ids.h"

#include "kernel_alone.h"

static const struct core_part *const parts[] = {
#ifdef WITH_QUORUM
	&quorum_part,
#endif
	NULL,
};

const struct core_part *const *kernel_parts = parts;

struct core *
core_new(const struct core_config *config)
{
	return core_begin(config, kernel_parts, NULL);
}

/* What a story asks of parts, which are not there: no story here may. */

static void
no_parts(const char *what)
{
	ck_abort_msg("a story of the kernel asks for %s", what);
}

void
core_gauges(struct core *core __attribute__((unused)),
    int64_t now_ms __attribute__((unused)),
    struct core_gauges *gauges __attribute__((unused)))
{
	no_parts("gauges");
}

struct listing *
core_brokers_begin(struct core *core __attribute__((unused)))
{
	no_parts("BROKERS");
	return NULL;
}

bool
core_listing_part(struct core *core __attribute__((unused)),
    struct listing *g __attribute__((unused)),
    int64_t now_ms __attribute__((unused)),
    core_row_fn row __attribute__((unused)), void *arg __attribute__((unused)))
{
	no_parts("a list");
	return false;
}

void
core_listing_end(struct listing *g __attribute__((unused)))
{
	no_parts("a list");
}

bool
core_holds(const struct core *core __attribute__((unused)),
    uint64_t session __attribute__((unused)),
    const char *name __attribute__((unused)),
    size_t name_len __attribute__((unused)))
{
	no_parts("what a session holds");
	return false;
}

bool
core_is_idle(const struct core *core __attribute__((unused)),
    uint64_t session __attribute__((unused)))
{
	no_parts("an idle session");
	return false;
}

/* Nothing is kept to be told again. */
void
core_written(struct core *core __attribute__((unused)))
{
}
