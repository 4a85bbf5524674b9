/*
 * The rules that several settings must obey together.
 */
#ifndef LOCKBROKER_CONFIG_RULES_H
#define LOCKBROKER_CONFIG_RULES_H

#include <stdbool.h>

#include "config/faults.h"
#include "config/fields.h"

struct config;
struct config_node;

/*
 * A configuration while it is loaded: the values, where they were given, and
 * which of them are invalid.  It is on the loader's stack and owns nothing.
 */
struct config_draft {
	struct config *config;
	struct config_faults *faults;
	const struct config_node *given[CONFIG_FIELDS]; /* NULL: the default */
	bool bad[CONFIG_FIELDS]; /* has a fault; the value is the default */
};

/*
 * Adds a fault of a setting at the place of its value; if it was not given, at
 * the place of `beside`, the setting that requires it.  Adds none if one of the
 * two has a fault already: then its value is not the intended one.
 */
void config_draft_fault(const struct config_draft *draft,
    enum config_field_id id, enum config_field_id beside, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds the faults of settings that contradict each other. */
void config_check(const struct config_draft *draft);

#endif
