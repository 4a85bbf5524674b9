/*
 * The configuration as the process finds it.
 */
#include "config.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "config/config.h"
#include "daemon/settings.h"

/* Kept for listening, Redis, the log, and clients on their way out. */
#define DESCRIPTORS_KEPT 64

const char *
settings_default_file(void)
{
	return LOCKBROKER_SYSCONFDIR "/lockbroker/lockbrokerd.yaml";
}

bool
settings_load(
    struct config *config, const char *file, struct config_faults *faults)
{
	/* One that is there but can't be read is a fault. */
	if (!file && access(settings_default_file(), F_OK) == 0)
		file = settings_default_file();
	return config_load(config, file, faults);
}

void
settings_fit_descriptors(struct config *config)
{
	struct rlimit rl;
	rlim_t room;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	if (rl.rlim_cur != rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
		(void)getrlimit(RLIMIT_NOFILE, &rl);
	}
	if (rl.rlim_cur == RLIM_INFINITY)
		return;
	room = rl.rlim_cur > 2 * DESCRIPTORS_KEPT
		   ? rl.rlim_cur - DESCRIPTORS_KEPT
		   : rl.rlim_cur / 2;
	if (config->limits.clients <= room)
		return;
	LOG(WARNING, "descriptors-few", LOG_N("descriptors", rl.rlim_cur),
	    LOG_N("limits.clients", config->limits.clients),
	    LOG_N("lowered_to", room));
	config->limits.clients = (unsigned)room;
}
