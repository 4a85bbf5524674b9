/*
 * Where the daemon's configuration comes from, and whether the process may use
 * as many descriptors as the configuration asks for.
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_SETTINGS_H
#define LOCKBROKER_DAEMON_PROCESS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct config;
struct config_faults;

/*
 * Notes the settings of the command line, before anything is loaded: they
 * override the file at the start and at each reload.  Borrowed without end.
 */
void settings_options(const char *const *v, size_t n);

/*
 * file: what -c named; NULL: the default file if it exists, otherwise the
 * defaults.  As config_load(); shared: see struct config_options.
 */
bool settings_load(struct config *config, const char *file, bool shared,
    struct config_faults *faults) __attribute__((warn_unused_result));

/* The default file. */
const char *settings_default_file(void);

/* The file that settings_load() reads; NULL: none. */
const char *settings_file(const char *file);

/* Logs what the broker was started with. */
void settings_tell(const struct config *config, const char *file);

/*
 * Raises the limit on open files to the maximum allowed.  If that is not enough
 * for limits.clients, it lowers that limit and logs it: no connection to Redis
 * may be left without a descriptor.
 */
void settings_fit_descriptors(struct config *config);

#endif
