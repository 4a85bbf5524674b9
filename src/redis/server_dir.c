#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "redis/data_dir.h"
#include "redis/server_dir.h"

#define STALE_S 5
#define DIR_NAME "lockbrokerd-"
#define SOCKET_NAME "redis.sock"
#define LIFE_NAME "life"
#define OUTPUT_NAME "output"

/*
 * Was this FIFO left by a broker that was killed?  No process has it open then,
 * not even its server.  A young one is left alone: it is about to be opened.
 */
static bool
is_left(const char *life)
{
	struct stat st;
	int fd, error;

	if (lstat(life, &st) < 0 || st.st_uid != geteuid() ||
	    !S_ISFIFO(st.st_mode) || time(NULL) - st.st_mtime < STALE_S)
		return false;
	fd = open(life, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		(void)close(fd);
	return fd < 0 && error == ENXIO;
}

static void
sweep(const char *parent)
{
	char pattern[256];
	glob_t found;
	size_t i;

	snprintf(
	    pattern, sizeof(pattern), "%s/" DIR_NAME "*/" LIFE_NAME, parent);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (i = 0; i < found.gl_pathc; i++)
		if (is_left(found.gl_pathv[i])) {
			*strrchr(found.gl_pathv[i], '/') = '\0';
			data_dir_remove(found.gl_pathv[i]);
		}
	globfree(&found);
}

/* Puts "DIR/NAME" into out.  Returns false if it is too long. */
static bool
join(char out[SERVER_PATH_SIZE], const char *dir, const char *name)
{
	int n = snprintf(out, SERVER_PATH_SIZE, "%s/%s", dir, name);

	return n > 0 && (size_t)n < SERVER_PATH_SIZE;
}

static bool
name_all(struct server_dir *d)
{
	return join(d->socket, d->path, SOCKET_NAME) &&
	       join(d->life, d->path, LIFE_NAME) &&
	       join(d->output, d->path, OUTPUT_NAME);
}

/* A FIFO that is open for reading, too, can be opened without a reader, and has
 * no end. */
static int
open_fifo(const char *path)
{
	return open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * systemd-tmpfiles(8) removes what is old from /tmp, and the FIFOs and parts of
 * the data never change; but it leaves a locked directory alone, with all that
 * is in it.
 */
static void
protect(struct server_dir *d)
{
	d->dir_fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->dir_fd >= 0)
		(void)flock(d->dir_fd, LOCK_SH | LOCK_NB);
}

/* mkdtemp() makes the directory for us alone (0700). */
static bool
make_in(struct server_dir *d, const char *parent)
{
	if (parent == NULL || parent[0] != '/' ||
	    !join(d->path, parent, DIR_NAME "XXXXXX") || !name_all(d))
		return false;
	sweep(parent);
	if (!mkdtemp(d->path))
		return false;
	protect(d);
	if (name_all(d) && mkfifo(d->life, 0600) == 0 &&
	    mkfifo(d->output, 0600) == 0) {
		d->life_fd = open_fifo(d->life);
		d->output_fd = open_fifo(d->output);
	}
	if (d->life_fd >= 0 && d->output_fd >= 0)
		return true;
	server_dir_close(d);
	data_dir_remove(d->path);
	return false;
}

void
server_dir_init(struct server_dir *d)
{
	memset(d, 0, sizeof(*d));
	d->life_fd = d->output_fd = d->dir_fd = -1;
}

bool
server_dir_make(struct server_dir *d, char *why, size_t why_size)
{
	const char *runtime = getenv("RUNTIME_DIRECTORY");
	char first[SERVER_PATH_SIZE];

	/* systemd lists several with colons between them. */
	if (runtime != NULL && strcspn(runtime, ":") < sizeof(first)) {
		snprintf(first, sizeof(first), "%.*s",
		    (int)strcspn(runtime, ":"), runtime);
		if (make_in(d, first))
			return true;
	}
	if (make_in(d, getenv("TMPDIR")) || make_in(d, "/tmp"))
		return true;
	snprintf(why, why_size,
	    "cannot make a directory for the socket of redis-server: %s",
	    strerror(errno));
	d->path[0] = '\0';
	return false;
}

bool
server_dir_inherit(
    struct server_dir *d, int life_fd, char *why, size_t why_size)
{
	char link[64];
	ssize_t n;

	d->life_fd = life_fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", life_fd);
	n = readlink(link, d->path, sizeof(d->path) - 1);
	d->path[n > 0 ? n : 0] = '\0';
	if (d->path[0] == '/') {
		*strrchr(d->path, '/') = '\0';
		protect(d);
		if (name_all(d))
			d->output_fd = open_fifo(d->output);
	}
	if (d->output_fd >= 0)
		return true;
	snprintf(why, why_size, "cannot find the directory of redis-server: %s",
	    strerror(errno));
	return false;
}

/* Its path was ours when it was noted: is it still, and in use? */
static bool
is_used(int dir_fd)
{
	struct stat st;

	return fstat(dir_fd, &st) == 0 && st.st_uid == geteuid() &&
	       (st.st_mode & 077) == 0 &&
	       flock(dir_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK &&
	       flock(dir_fd, LOCK_SH | LOCK_NB) == 0;
}

bool
server_dir_join(struct server_dir *d, const char *path)
{
	server_dir_init(d);
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d->dir_fd >= 0 && is_used(d->dir_fd) && name_all(d)) {
		d->life_fd = open_fifo(d->life);
		d->output_fd = open_fifo(d->output);
	}
	if (d->life_fd >= 0 && d->output_fd >= 0)
		return true;
	server_dir_close(d);
	server_dir_init(d);
	return false;
}

void
server_dir_leave(struct server_dir *d)
{
	if (d->output_fd >= 0)
		(void)close(d->output_fd);
	d->output_fd = -1;
}

bool
server_dir_alone(const struct server_dir *d)
{
	return d->dir_fd >= 0 && (flock(d->dir_fd, LOCK_EX | LOCK_NB) == 0 ||
				     errno != EWOULDBLOCK);
}

void
server_dir_close(struct server_dir *d)
{
	server_dir_leave(d);
	if (d->life_fd >= 0)
		(void)close(d->life_fd);
	if (d->dir_fd >= 0)
		(void)close(d->dir_fd);
	d->life_fd = d->dir_fd = -1;
}

void
server_dir_remove(struct server_dir *d)
{
	if (d->path[0] != '\0')
		data_dir_remove(d->path);
	d->path[0] = '\0';
}
