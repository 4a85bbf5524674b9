/*
 * The runtime directory, and the boot.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/runtime.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

char *
runtime_path(const char *broker, const char *end)
{
	const char *directory = getenv("RUNTIME_DIRECTORY");
	char *path;

	if (directory == NULL || directory[0] != '/')
		return NULL;
	if (asprintf(&path, "%.*s/%s%s", (int)strcspn(directory, ":"),
		directory, broker, end) < 0)
		abort();
	return path;
}

ssize_t
runtime_read(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, out, size - 1);
	(void)close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n;
}

void
runtime_boot(char out[BOOT_BYTES])
{
	if (runtime_read(BOOT_ID, out, BOOT_BYTES) <= 0)
		strcpy(out, "-");
	out[strcspn(out, " \n")] = '\0';
}
