/*
 * What the mark `boot` says, and what follows when the broker starts:
 *
 *	the directory is new	whole: nothing was ever written
 *	closed			whole: a broker stopped, and the disk has all
 *	the id of this boot	whole: the broker crashed, but not the machine
 *	the id of another boot	the machine was off: the file is set aside
 *	no mark			not whole: an earlier fault is not over yet
 *
 * A server that cannot read its file is started again with less each time:
 *
 *	all of it  -->  without a broken end  -->  without the file, set aside
 *	                                           fails, too: it is put back
 *
 * A crash of the server can break off only the end of the file, and nobody was
 * told of the writes that are missing there.  But an end may also have been
 * lost in other ways, so the server is not whole then.
 *
 * The mark is removed before the file may miss a write, and synchronized when
 * it replaces `closed`: a disk that goes back in time must not say `closed` of
 * a file that was written to since.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "redis/data_dir.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define BOOT_BYTES 64
#define CLOSED "closed"
#define DESCRIPTORS 8 /* for walks over the directory */

/* Redis reports once in 30 s that it cannot write, and retries each second. */
#define UNTOLD_MS 35000
#define LITTLE_BYTES 65536 /* with less room the disk may be full */

/* Which byte of the lock file says that ... */
enum lock_byte {
	LOCK_BROKER, /* a broker has the directory */
	LOCK_SERVER, /* a server writes there */
};

/* What the server is to read. */
enum stage { STAGE_ALL, STAGE_CUT, STAGE_NOTHING };

struct data_dir {
	char *path; /* all paths are owned */
	char *file; /* the file whose bytes are locked */
	char *data;
	char *aside;
	char *mark;
	char *fresh; /* the mark while it is written */
	char *server;
	char boot[BOOT_BYTES];
	int lock; /* -1: another process of this broker has the directory */
	enum stage stage;
	bool stays;
	bool new; /* nothing was written yet */
	bool whole;
	bool stuck;	  /* the server cannot write, and that was logged */
	int64_t stuck_ms; /* when it last could not; 0: never */
};

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

/* Without a mark the next broker must wait; nothing else is lost. */
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
		set_aside(d, "redis-server cannot read it");
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

/* Shows that the disk is full if the server, because it is not Redis, does not
 * report that. */
static bool
is_full(const struct data_dir *d)
{
	struct statvfs fs;

	return statvfs(d->data, &fs) == 0 &&
	       (uint64_t)fs.f_bavail * fs.f_frsize < LITTLE_BYTES;
}

enum store_data
data_dir_begin(struct data_dir *d)
{
	if (is_full(d))
		d->whole = false;
	if (!d->whole) {
		unmark(d);
		return STORE_DOUBTED;
	}
	return d->new ? STORE_NEW : STORE_WHOLE;
}

void
data_dir_stuck(struct data_dir *d)
{
	d->stuck_ms = now_ms();
	d->whole = false;
	unmark(d);
	if (d->stuck)
		return;
	d->stuck = true;
	LOG(ERROR, "redis-server-stuck", LOG_S("dir", d->data),
	    LOG_S("advice",
		"redis-server cannot write there, and refuses all changes: "
		"free some space, see log.level debug"));
}

void
data_dir_writes(struct data_dir *d)
{
	if (d->stuck)
		LOG(NOTICE, "redis-server-writes", LOG_S("dir", d->data));
	d->stuck = false;
}

void
data_dir_written(struct data_dir *d, bool grants)
{
	d->new = false;
	if (d->stuck_ms != 0 && now_ms() - d->stuck_ms < UNTOLD_MS)
		return;
	data_dir_writes(d);
	if (d->whole || !grants)
		return;
	d->whole = true;
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

/*
 * The lock of the server belongs to its process, and outlives its exec(); but
 * it ends when any other descriptor of the file is closed.
 */
int
data_dir_take(const struct data_dir *d)
{
	struct flock lock = lock_of(LOCK_SERVER);
	int fd;

	(void)close(d->lock);
	fd = open(d->file, O_RDWR | O_NOFOLLOW);
	if (fd < 0)
		return errno;
	if (fcntl(fd, F_SETLK, &lock) < 0)
		return errno == EACCES ? EAGAIN : errno;
	return 0;
}

bool
data_dir_stays(const struct data_dir *d)
{
	return d->stays;
}

void
data_dir_note(const struct data_dir *d, const char *server_dir)
{
	(void)unlink(d->server);
	if (symlink(server_dir, d->server) < 0)
		LOG(WARNING, "redis-server-mark", LOG_S("file", d->server),
		    LOG_S("error", strerror(errno)));
}

void
data_dir_noted(const struct data_dir *d, char *out, size_t size)
{
	ssize_t n = readlink(d->server, out, size - 1);

	out[n > 0 ? n : 0] = '\0';
}

/* Returns the lock of a server; its type is F_UNLCK if there is none. */
static struct flock
find_server(const struct data_dir *d)
{
	struct flock lock = lock_of(LOCK_SERVER);

	if (fcntl(d->lock, F_GETLK, &lock) < 0)
		lock.l_type = F_UNLCK;
	return lock;
}

pid_t
data_dir_server(const struct data_dir *d)
{
	struct flock lock = find_server(d);

	return lock.l_type != F_UNLCK && lock.l_pid > 0 ? lock.l_pid : 0;
}

/* In another namespace, such as a container's, its id is 0 here. */
void
data_dir_evict(const struct data_dir *d)
{
	struct flock lock = find_server(d);

	if (lock.l_type == F_UNLCK)
		return;
	LOG(WARNING, "redis-server-left", LOG_N("pid", lock.l_pid));
	if (lock.l_pid > 0)
		(void)kill(lock.l_pid, SIGKILL);
}

/* Life. */

/* systemd lists several directories with colons between them.  Returns NULL if
 * none is given. */
static char *
find_root(const char *broker)
{
	static const char *const names[] = { "STATE_DIRECTORY",
		"RUNTIME_DIRECTORY" };
	const char *given;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		given = getenv(names[i]);
		if (given == NULL || given[0] != '/')
			continue;
		return xformat(
		    "%.*s/%s.redis", (int)strcspn(given, ":"), given, broker);
	}
	return NULL;
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

/* The lock of the broker belongs to whichever process has or inherits this
 * descriptor. */
static bool
take_for_broker(struct data_dir *d, char *why, size_t why_size)
{
	struct flock lock = lock_of(LOCK_BROKER);

	d->lock =
	    open(d->file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock < 0) {
		snprintf(why, why_size, "cannot write to %s: %s", d->path,
		    strerror(errno));
		return false;
	}
	if (fcntl(d->lock, F_OFD_SETLK, &lock) == 0)
		return true;
	snprintf(why, why_size,
	    "another lockbrokerd uses %s; stop it, or set another "
	    "broker.name or $STATE_DIRECTORY",
	    d->path);
	return false;
}

/* Was the mark made since the machine was started? */
static bool
is_boot(const struct data_dir *d, const char *last)
{
	return d->boot[0] != '\0' && strcmp(last, d->boot) == 0;
}

/* Finds whether the file is whole; `made`: the directory is new. */
static void
judge(struct data_dir *d, bool made)
{
	char last[BOOT_BYTES];

	read_line(d->mark, last);
	d->new = made;
	d->whole = made || strcmp(last, CLOSED) == 0 || is_boot(d, last);
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

/* Returns d, or frees it. */
static struct data_dir *
open_all(struct data_dir *d, char *why, size_t why_size)
{
	bool made, data_made = false;

	if (!make(d->path, &made)) {
		snprintf(why, why_size, "cannot make the directory %s: %s",
		    d->path, strerror(errno));
	} else if (take_for_broker(d, why, why_size)) {
		if (make(d->data, &data_made)) {
			judge(d, made);
			return d;
		}
		snprintf(why, why_size, "cannot make the directory %s: %s",
		    d->data, strerror(errno));
	}
	data_dir_leave(d);
	data_dir_close(d);
	return NULL;
}

static struct data_dir *
data_dir_new(const char *broker, const char *temporary, int lock)
{
	struct data_dir *d = xcalloc(1, sizeof(*d));

	d->lock = lock;
	d->path = find_root(broker);
	d->stays = d->path != NULL;
	if (!d->stays)
		d->path = xformat("%s/data", temporary);
	d->file = xformat("%s/lock", d->path);
	d->data = xformat("%s/data", d->path);
	d->aside = xformat("%s/aside", d->path);
	d->mark = xformat("%s/boot", d->path);
	d->fresh = xformat("%s/boot.new", d->path);
	d->server = xformat("%s/server", d->path);
	find_boot(d->boot);
	return d;
}

struct data_dir *
data_dir_open(
    const char *broker, const char *temporary, char *why, size_t why_size)
{
	return open_all(data_dir_new(broker, temporary, -1), why, why_size);
}

struct data_dir *
data_dir_inherit(const char *broker, const char *temporary, int lock, char *why,
    size_t why_size)
{
	struct data_dir *d = data_dir_new(broker, temporary, lock);
	struct stat ours, theirs;

	if (fstat(lock, &theirs) == 0 && stat(d->file, &ours) == 0 &&
	    ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		return d;
	snprintf(why, why_size,
	    "the embedded Redis does not keep its data in %s, as broker.name "
	    "requires: stop and start the broker",
	    d->path);
	data_dir_close(d);
	return NULL;
}

void
data_dir_own(struct data_dir *d)
{
	char last[BOOT_BYTES];

	read_line(d->mark, last);
	d->whole = is_boot(d, last);
	d->stuck_ms = d->whole ? 0 : now_ms();
}

void
data_dir_leave(struct data_dir *d)
{
	if (d->lock >= 0)
		(void)close(d->lock);
	d->lock = -1;
}

int
data_dir_lock(const struct data_dir *d)
{
	return d->lock;
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
	if (d->lock >= 0 && d->whole &&
	    nftw(d->data, sync_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0)
		mark(d, CLOSED);
	data_dir_leave(d);
	free(d->path);
	free(d->file);
	free(d->data);
	free(d->aside);
	free(d->mark);
	free(d->fresh);
	free(d->server);
	free(d);
}
