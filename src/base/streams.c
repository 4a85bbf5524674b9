/* Opens /dev/null until all standard streams are open. */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/streams.h"

bool
streams_fill(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return false;
	} while (fd <= STDERR_FILENO);
	(void)close(fd);
	return true;
}
