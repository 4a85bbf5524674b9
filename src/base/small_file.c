/*
 * Reads small files.  It trusts no size from the file system, and reads no more
 * than the given maximum.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/small_file.h"
#include "base/xmalloc.h"

#define PASSWORD_MAX_BYTES 4096

/* Fills buf.  More than size - 1 bytes are an error of their own. */
static const char *
read_all(int fd, char *buf, size_t size, size_t *length)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return strerror(errno);
		if (n == 0)
			break;
		used += (size_t)n;
	}
	if (used == size)
		return "too large";
	buf[used] = '\0';
	*length = used;
	return NULL;
}

static const char *
check_regular(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return strerror(errno);
	return S_ISREG(st.st_mode) ? NULL : "not a regular file";
}

char *
small_file_read(const char *path, bool must_be_regular, size_t max,
    size_t *length, const char **why)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY;
	char *buf;
	int fd;

	fd = open(path, must_be_regular ? flags | O_NONBLOCK : flags);
	if (fd < 0) {
		*why = strerror(errno);
		return NULL;
	}
	*why = must_be_regular ? check_regular(fd) : NULL;
	buf = xmalloc(max + 1);
	if (*why == NULL)
		*why = read_all(fd, buf, max + 1, length);
	close(fd);
	if (*why == NULL)
		return buf;
	free(buf);
	return NULL;
}

char *
small_file_password(const char *path, const char **why)
{
	size_t length, n;
	char *text =
	    small_file_read(path, true, PASSWORD_MAX_BYTES, &length, why);

	if (text == NULL)
		return NULL;
	n = strcspn(text, "\r\n");
	if (strlen(text) != length)
		*why = "contains a NUL character";
	else if (n == 0)
		*why = length == 0 ? "empty" : "its first line is empty";
	explicit_bzero(text + n, length - n);
	if (*why == NULL)
		return text;
	small_file_wipe(text);
	return NULL;
}

void
small_file_wipe(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}
