/*
 * What the mark `boot` says, and what follows when the broker starts:
 *
 *	the directory is new	whole: nothing was ever written
 *	closed			whole: a broker has stopped, and the disk has all
 *	the id of this boot	whole: the broker crashed, but not the machine
 *	that of another boot	the machine was off: the file is set aside
 *	there is none		not whole: an earlier fault is not over yet
 *
 * A server that can't read its file is started again with less each time:
 *
 *	all of it  -->  without a broken end  -->  without the file, set aside
 *	                                           fails, too: it is put back
 *
 * Only the end of the file can be broken off by a crash of the server, and
 * nobody was told of what that would have said.  But an end may also have gone
 * in other ways, so the server is not whole then.
 *
 * The mark is removed before the file may miss anything, and synchronized when
 * it takes the place of `closed`: a disk that goes back in time must not say so
 * of a file that was written since.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "redis/data_dir.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_BYTES 64
#define CLOSED "closed"
#define DESCRIPTORS 8 /* for walks over the directory */

/* Which byte of the lock file says that ... */
enum lock_byte {
	LOCK_BROKER, /* a broker has the directory */
	LOCK_SERVER, /* a server writes there */
};

/* What the server is to read. */
enum stage { STAGE_ALL, STAGE_CUT, STAGE_NOTHING };

struct data_dir {
	char *path; /* all paths are owned */
	char *data;
	char *aside;
	char *mark;
	char *fresh; /* the mark while it is written */
	char boot[BOOT_BYTES];
	int lock;
	enum stage stage;
	bool new; /* nothing was written yet */
	bool whole;
	bool stuck; /* the server can't write */
};

static char *
join(const char *path, const char *end)
{
	char *joined;

	if (asprintf(&joined, "%s%s", path, end) < 0)
		abort();
	return joined;
}

/* Files. */

/* Returns the first line of a file; "" if there is none. */
static void
read_line(const char *path, char out[BOOT_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, out, BOOT_BYTES - 1);

	if (fd >= 0)
		(void)close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

static bool
sync_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool ok = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		(void)close(fd);
	return ok;
}

static int
sync_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	return (type == FTW_F || type == FTW_DP) && !sync_path(path);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

void
data_dir_remove(const char *path)
{
	(void)nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

/* The mark. */

static bool
write_fresh(const struct data_dir *d, const char *text)
{
	size_t n = strlen(text);
	bool ok;
	int fd;

	fd = open(d->fresh,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	ok = write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
	return close(fd) == 0 && ok;
}

static void
unmark(const struct data_dir *d)
{
	(void)unlink(d->mark);
}

/* Without a mark the next broker has to wait, which is all that is lost. */
static void
mark(const struct data_dir *d, const char *text)
{
	if (text[0] == '\0')
		unmark(d);
	else if (!write_fresh(d, text) || rename(d->fresh, d->mark) != 0 ||
		 !sync_path(d->path)) {
		LOG(WARNING, "redis-server-mark", LOG_S("file", d->mark),
		    LOG_S("error", strerror(errno)));
		unmark(d);
	}
}

/* What the server may not read. */

static void
tell_aside(const struct data_dir *d, const char *why)
{
	LOG(WARNING, "redis-server-aside", LOG_S("why", why),
	    LOG_S("kept", d->aside));
}

static void
set_aside(struct data_dir *d, const char *why)
{
	d->whole = false;
	unmark(d);
	data_dir_remove(d->aside);
	if (rename(d->data, d->aside) == 0)
		tell_aside(d, why);
	(void)mkdir(d->data, 0700);
}

static void
put_back(struct data_dir *d)
{
	data_dir_remove(d->data);
	(void)rename(d->aside, d->data);
}

bool
data_dir_failed(struct data_dir *d)
{
	switch (d->stage) {
	case STAGE_ALL:
		d->stage = STAGE_CUT;
		d->whole = false;
		unmark(d);
		LOG(WARNING, "redis-server-cut", LOG_S("dir", d->data));
		return true;
	case STAGE_CUT:
		d->stage = STAGE_NOTHING;
		set_aside(d, "redis-server can't read it");
		return true;
	default:
		put_back(d);
		d->stage = STAGE_ALL;
		return false;
	}
}

void
data_dir_ready(struct data_dir *d)
{
	d->stage = STAGE_ALL;
}

bool
data_dir_may_cut(const struct data_dir *d)
{
	return d->stage != STAGE_ALL;
}

enum store_data
data_dir_begin(struct data_dir *d)
{
	if (d->stuck)
		d->whole = false;
	d->stuck = false;
	if (!d->whole)
		return STORE_DOUBTED;
	return d->new ? STORE_NEW : STORE_WHOLE;
}

void
data_dir_stuck(struct data_dir *d)
{
	if (d->stuck)
		return;
	d->stuck = true;
	unmark(d);
	LOG(ERROR, "redis-server-stuck", LOG_S("dir", d->data),
	    LOG_S("advice",
		"redis-server can't write there, and refuses all changes until"
		" it can: free some space, see log.level debug"));
}

void
data_dir_written(struct data_dir *d, bool grants)
{
	d->new = false;
	if (!d->stuck && (d->whole || !grants))
		return;
	if (d->stuck)
		LOG(NOTICE, "redis-server-writes", LOG_S("dir", d->data));
	d->stuck = false;
	d->whole = d->whole || grants;
	if (d->whole)
		mark(d, d->boot);
}

/* Locks. */

static struct flock
lock_of(enum lock_byte byte)
{
	return (struct flock){ .l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = byte,
		.l_len = 1 };
}

/* The lock belongs to the process, and outlives its exec(). */
int
data_dir_take(const struct data_dir *d)
{
	struct flock lock = lock_of(LOCK_SERVER);

	if (fcntl(d->lock, F_SETLK, &lock) < 0)
		return errno == EACCES ? EAGAIN : errno;
	return fcntl(d->lock, F_SETFD, 0) < 0 ? errno : 0;
}

/* In another namespace, such as a container's, its id is 0 here. */
void
data_dir_evict(const struct data_dir *d)
{
	struct flock lock = lock_of(LOCK_SERVER);

	if (fcntl(d->lock, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return;
	LOG(WARNING, "redis-server-left", LOG_N("pid", lock.l_pid));
	if (lock.l_pid > 0)
		(void)kill(lock.l_pid, SIGKILL);
}

/* Life. */

/* systemd lists several directories with colons between them. */
static char *
find_root(const char *broker, const char *temporary)
{
	static const char *const names[] = { "STATE_DIRECTORY",
		"RUNTIME_DIRECTORY" };
	const char *given;
	char *path;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		given = getenv(names[i]);
		if (given == NULL || given[0] != '/')
			continue;
		if (asprintf(&path, "%.*s/%s.redis", (int)strcspn(given, ":"),
			given, broker) < 0)
			abort();
		return path;
	}
	return join(temporary, "/data");
}

/* The unit tells which boot this is, because /proc is hidden there. */
static void
find_boot(char out[BOOT_BYTES])
{
	const char *given = getenv("LOCKBROKER_BOOT");

	if (given != NULL)
		snprintf(out, BOOT_BYTES, "%s", given);
	else
		read_line(BOOT_ID, out);
}

static bool
take_for_broker(struct data_dir *d, char *why, size_t why_size)
{
	struct flock lock = lock_of(LOCK_BROKER);
	char *path = join(d->path, "/lock");

	d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	free(path);
	if (d->lock < 0) {
		snprintf(why, why_size, "can't write to %s: %s", d->path,
		    strerror(errno));
		return false;
	}
	if (fcntl(d->lock, F_SETLK, &lock) == 0)
		return true;
	snprintf(why, why_size,
	    "another lockbrokerd uses %s; stop it, or give this one another"
	    " broker.name or $STATE_DIRECTORY",
	    d->path);
	return false;
}

/* Finds whether the file is whole; `made`: the directory is new. */
static void
judge(struct data_dir *d, bool made)
{
	char last[BOOT_BYTES];

	read_line(d->mark, last);
	d->new = made;
	d->whole = made || strcmp(last, CLOSED) == 0 ||
		   (d->boot[0] != '\0' && strcmp(last, d->boot) == 0);
	if (!d->whole && last[0] != '\0' && d->boot[0] != '\0')
		set_aside(d, "the machine was off while it was in use");
	else if (!d->whole)
		LOG(WARNING, "redis-server-doubt", LOG_S("dir", d->data));
	if (d->whole)
		mark(d, d->boot);
}

static bool
make(const char *path, bool *made)
{
	*made = mkdir(path, 0700) == 0;
	return *made || errno == EEXIST;
}

struct data_dir *
data_dir_open(
    const char *broker, const char *temporary, char *why, size_t why_size)
{
	struct data_dir *d = xcalloc(1, sizeof(*d));
	bool made, data_made = false;

	d->lock = -1;
	d->path = find_root(broker, temporary);
	d->data = join(d->path, "/data");
	d->aside = join(d->path, "/aside");
	d->mark = join(d->path, "/boot");
	d->fresh = join(d->path, "/boot.new");
	find_boot(d->boot);
	if (!make(d->path, &made)) {
		snprintf(why, why_size, "can't make the directory %s: %s",
		    d->path, strerror(errno));
	} else if (take_for_broker(d, why, why_size)) {
		if (make(d->data, &data_made)) {
			judge(d, made);
			return d;
		}
		snprintf(why, why_size, "can't make the directory %s: %s",
		    d->data, strerror(errno));
	}
	if (d->lock >= 0)
		(void)close(d->lock);
	d->lock = -1;
	data_dir_close(d);
	return NULL;
}

const char *
data_dir_path(const struct data_dir *d)
{
	return d->data;
}

void
data_dir_close(struct data_dir *d)
{
	if (d == NULL)
		return;
	if (d->lock >= 0 && d->whole && !d->stuck &&
	    nftw(d->data, sync_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0)
		mark(d, CLOSED);
	if (d->lock >= 0)
		(void)close(d->lock);
	free(d->path);
	free(d->data);
	free(d->aside);
	free(d->mark);
	free(d->fresh);
	free(d);
}
