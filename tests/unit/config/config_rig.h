/*
 * Loads configurations and shows their faults, for the tests of src/config.
 */
#ifndef LOCKBROKER_TESTS_CONFIG_RIG_H
#define LOCKBROKER_TESTS_CONFIG_RIG_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/* The least that these modes need. */
#define STANDALONE "redis:\n  mode: standalone\n  nodes: [\"r:1\"]\n"
#define SENTINEL                                         \
	"redis:\n  mode: sentinel\n  nodes: [\"r:1\"]\n" \
	"  master: m\n  replicas: 1\n"
#define CLUSTER "redis:\n  mode: cluster\n  nodes: [\"r:1\"]\n  replicas: 1\n"

/* Loads a text; a failure shows what the faults were. */
void config_rig_load(struct config *config, const char *yaml);

/* All fault lines as one text, which the caller frees. */
char *config_rig_join(const struct config_faults *faults);

/* Loads a text, which may have faults: returns their lines, which the caller
 * frees. */
char *config_rig_faults(const char *yaml, size_t length);

/* The configuration as text, which the caller frees. */
char *config_rig_dump(const struct config *config);

/* For config_reload_diff(): appends the settings that were not copied to the
 * text `arg`. */
void config_rig_refused(void *arg, const char *setting, bool copied,
    const char *from, const char *to);

#endif
