/*
 * The entry of the lockbroker command, and nothing else: no test can link what
 * is in here.
 */
#include "config.h"

#include "cli/cli.h"

int
main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
