/*
 * The entry of the lockbroker command, and nothing else: whatever is in here
 * can't be linked into a test.
 */
#include "config.h"

#include "cli/cli.h"

int
main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
