/*
 * The daemon's entry, and nothing else: whatever is in here can't be linked
 * into a test.
 */
#include "config.h"

#include "daemon/process/daemon.h"

int
main(int argc, char **argv)
{
	return daemon_main(argc, argv);
}
