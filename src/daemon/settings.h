/*
 * Where the daemon's configuration comes from, and whether the process may use
 * as many descriptors as it says.
 */
#ifndef LOCKBROKER_DAEMON_SETTINGS_H
#define LOCKBROKER_DAEMON_SETTINGS_H

#include <stdbool.h>

struct config;
struct config_faults;

/*
 * file: what -c named; NULL: the default file where it exists, else the
 * defaults.  As config_load().
 */
bool settings_load(struct config *config, const char *file,
    struct config_faults *faults) __attribute__((warn_unused_result));

/* The default file. */
const char *settings_default_file(void);

/*
 * Raises the bound on open files to what is allowed.  Where that is not enough
 * for limits.clients, that limit is lowered, and the log says so: the
 * connections to Redis must not be those that find no descriptor.
 */
void settings_fit_descriptors(struct config *config);

#endif
