/*
 * The rules that several settings must obey together.
 */
#ifndef LOCKBROKER_CONFIG_CHECK_H
#define LOCKBROKER_CONFIG_CHECK_H

#include <stdbool.h>

#include "config/faults.h"
#include "config/fields.h"

struct config;
struct config_node;

/*
 * A configuration while it is loaded: the values, where they were given, and
 * which of them are unusable.  It lives on the loader's stack and owns nothing.
 */
struct config_draft {
	struct config *config;
	struct config_faults *faults;
	const struct config_node *given[CONFIG_FIELDS]; /* NULL: the default */
	bool bad[CONFIG_FIELDS]; /* has a fault; the value is the default */
};

/*
 * Returns the place of a setting's value; if it was not given, that of
 * `beside`, the setting that asks for it.
 */
struct config_mark config_draft_mark(const struct config_draft *draft,
    enum config_field_id id, enum config_field_id beside);

/* Adds a fault of a setting there. */
#define config_draft_fault(draft, id, beside, ...)      \
	config_faults_at((draft)->faults,               \
	    config_draft_mark((draft), (id), (beside)), \
	    config_fields[(id)].path, __VA_ARGS__)

/* Adds the faults of settings that contradict each other. */
void config_check(const struct config_draft *draft);

#endif
