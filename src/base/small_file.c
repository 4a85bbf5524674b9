/*
 * Reads small files: the configuration and the passwords that it names.  It
 * trusts no size from the file system, and reads no more than it was told.
 *
 * File names may begin with the directory of credentials, which is different
 * for each unit and not known to the author of the configuration.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xmalloc.h"
#include "config/file.h"

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
	return S_ISREG(st.st_mode) ? NULL : "no regular file";
}

char *
config_file_read(const char *path, bool must_be_regular, size_t max,
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

void
config_file_free(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

bool
config_file_resolve(char **path, const char **why)
{
	size_t n = strlen(CONFIG_FILE_CREDENTIALS);
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	struct buf full;

	if (strncmp(*path, CONFIG_FILE_CREDENTIALS, n) != 0)
		return true;
	if (directory == NULL || directory[0] != '/') {
		*why = "CREDENTIALS_DIRECTORY is not set: LoadCredential= in "
		       "the unit sets it; to try it out, set it yourself";
		return false;
	}
	buf_init(&full);
	buf_addf(&full, "%s/%s", directory, *path + n);
	free(*path);
	*path = xstrndup(buf_data(&full), buf_len(&full));
	buf_fini(&full);
	return true;
}
