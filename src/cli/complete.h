/*
 * `lockbroker complete`: candidates for the word under the cursor, for the
 * completion of shells.
 */
#ifndef LOCKBROKER_CLI_COMPLETE_H
#define LOCKBROKER_CLI_COMPLETE_H

#include "cli/cli.h"

int complete_main(struct cli *cli);

#endif
