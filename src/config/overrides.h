/*
 * Settings of the command line, `-o section.key=value`.
 */
#ifndef LOCKBROKER_CONFIG_OVERRIDES_H
#define LOCKBROKER_CONFIG_OVERRIDES_H

#include "config/faults.h"
#include "config/node.h"

struct config_options;

/*
 * Puts the options into the tree of a file, which may be NULL: an empty file.
 * options may be NULL.  Adds faults only for options that are not settings; the
 * loader finds other faults.
 */
void config_options_apply(struct config_node **root,
    const struct config_options *options, struct config_faults *faults);

#endif
