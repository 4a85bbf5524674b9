/*
 * The ledger is a file to which lines are added (ledger_line.h); the last line
 * about a name counts.  It outlives the process, not a crash of the machine, so
 * it is not synchronized to a disk.
 *
 *	broker ----lines of a turn----> PATH.0
 *	                                   |  longer than twice what is held:
 *	broker ----lines of a turn----> PATH.1 <--the oldest lines, a few a turn
 *
 * When a file has become long, the broker goes on in the other one.  With each
 * line of its own it writes there two of those that it has written to the first
 * file and that still count, and then removes that: so no turn has to write
 * everything that is held.  A file tells by its number whether it is the later
 * one of two.
 *
 * A broker that begins, or that could not write for a while, writes all in one
 * piece, to PATH.new, which then takes the place of the earlier file.
 *
 * Only the last line of a file can be broken off: its broker was killed while
 * it wrote, and so has told nobody of what the line says.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/table.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "daemon/ledger.h"
#include "daemon/ledger_line.h"
#include "daemon/ledger_read.h"
#include "daemon/runtime.h"

#define SPARE_BYTES 65536 /* a file may be so much longer than it must */
#define MOVES 2		  /* lines that are moved for each line written */
#define MOVES_LEAST 16	  /* in a turn */
#define RETRY_MS 1000	  /* after nothing could be written */

/* A hold.  Owned by the ledger. */
struct entry {
	struct table_link by_name;
	TAILQ_ENTRY(entry) link; /* in ledger.entries */
	uint64_t number;	 /* of the file that has its last line */
	size_t bytes;		 /* of that line */
	struct token_hold hold;	 /* its texts are in mem */
	char mem[];
};

TAILQ_HEAD(entry_list, entry);

struct ledger {
	char *path; /* owned */
	char boot[BOOT_BYTES];
	int64_t floor_ms;
	int64_t day_off_ms; /* the time of day minus CLOCK_BOOTTIME */
	struct table by_name;
	struct entry_list entries; /* the oldest line first */
	size_t bytes;		   /* of the lines that count */
	struct buf out;		   /* lines that are not written yet */
	unsigned nlines;	   /* of them, without those that are moved */
	int fd;			   /* of the file; -1: there is none yet */
	uint64_t number;	   /* its number */
	size_t size;		   /* and its bytes */
	bool two;		   /* the file before it is still there */
	int64_t retry_ms; /* nothing can be written before; 0: it can */
};

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct entry *e = container_of_const(link, struct entry, by_name);

	*len = e->hold.name_len;
	return e->hold.name;
}

static char *
file_path(const struct ledger *l, const char *end)
{
	char *path;

	if (asprintf(&path, "%s.%s", l->path, end) < 0)
		abort();
	return path;
}

/* Returns the path of a file by its number; two in a row have two paths. */
static char *
numbered_path(const struct ledger *l, uint64_t number)
{
	return file_path(l, number % 2 == 0 ? "0" : "1");
}

/* Entries. */

static struct entry *
find(const struct ledger *l, const char *name, size_t len)
{
	struct table_link *link = table_find(&l->by_name, name, len);

	return link == NULL ? NULL : container_of(link, struct entry, by_name);
}

static void
forget(struct ledger *l, struct entry *e)
{
	table_remove(&l->by_name, &e->by_name);
	TAILQ_REMOVE(&l->entries, e, link);
	l->bytes -= e->bytes;
	free(e);
}

static struct entry *
remember(struct ledger *l, const struct token_hold *hold)
{
	struct entry *e = find(l, hold->name, hold->name_len);
	size_t bytes = hold->name_len + hold->client_len;

	if (e != NULL)
		forget(l, e);
	e = xcalloc(1, sizeof(*e) + bytes);
	memcpy(e->mem, hold->name, hold->name_len);
	memcpy(e->mem + hold->name_len, hold->client, hold->client_len);
	e->hold = *hold;
	e->hold.name = e->mem;
	e->hold.client = e->mem + hold->name_len;
	table_add(&l->by_name, &e->by_name);
	TAILQ_INSERT_TAIL(&l->entries, e, link);
	return e;
}

static void
add_line(struct ledger *l, struct entry *e)
{
	size_t start = buf_len(&l->out);
	int64_t day_ms = e->hold.until_ms;

	if (day_ms != TOKEN_HOLD_ALWAYS)
		day_ms += l->day_off_ms;
	ledger_add_hold(&l->out, &e->hold, day_ms);
	l->bytes -= e->bytes;
	e->bytes = buf_len(&l->out) - start;
	l->bytes += e->bytes;
	e->number = l->number;
}

/* Writing. */

static void
drop_lines(struct ledger *l)
{
	buf_clear(&l->out);
	l->nlines = 0;
}

/* The lines are lost; later all that is held is written again. */
static void
fail(struct ledger *l, const char *path, int64_t now_ms)
{
	if (l->retry_ms == 0)
		LOG(ERROR, "tokens-unwritten", LOG_S("file", path),
		    LOG_S("error", strerror(errno)));
	l->retry_ms = now_ms + RETRY_MS;
	drop_lines(l);
}

static bool
write_all(int fd, const struct buf *out, size_t at)
{
	ssize_t n;

	do
		n = pwrite(fd, buf_data(out), buf_len(out), (off_t)at);
	while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n < buf_len(out))
		errno = ENOSPC;
	return n == (ssize_t)buf_len(out);
}

static int
create(const char *path)
{
	return open(path,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
	    0600);
}

static void
switch_to(struct ledger *l, int fd)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = fd;
	l->size = 0;
}

static void
add_head(struct ledger *l)
{
	ledger_add_head(&l->out, l->number, l->boot, l->floor_ms);
}

static void
remove_file(const struct ledger *l, const char *end)
{
	char *path = file_path(l, end);

	(void)unlink(path);
	free(path);
}

static void
remove_former(const struct ledger *l)
{
	remove_file(l, l->number % 2 == 0 ? "1" : "0");
}

/* Writes all that is held to a new file, and has it instead of all others. */
static void
write_anew(struct ledger *l, int64_t now_ms)
{
	char *fresh = file_path(l, "new"), *path;
	struct entry *e;
	bool ok;
	int fd;

	l->number++;
	path = numbered_path(l, l->number);
	buf_clear(&l->out);
	add_head(l);
	TAILQ_FOREACH (e, &l->entries, link)
		add_line(l, e);
	fd = create(fresh);
	ok = fd >= 0 && write_all(fd, &l->out, 0) && rename(fresh, path) == 0;
	if (ok) {
		switch_to(l, fd);
		l->size = buf_len(&l->out);
		l->two = false;
		l->retry_ms = 0;
		remove_former(l);
	} else {
		fail(l, fresh, now_ms);
		if (fd >= 0)
			(void)close(fd);
	}
	drop_lines(l);
	free(fresh);
	free(path);
}

/* Goes on in another file, which has only its first line so far. */
static void
begin_file(struct ledger *l, int64_t now_ms)
{
	char *path = numbered_path(l, l->number + 1);
	int fd = create(path);

	if (fd < 0) {
		fail(l, path, now_ms);
		free(path);
		return;
	}
	free(path);
	l->two = l->fd >= 0;
	switch_to(l, fd);
	l->number++;
	add_head(l);
}

/* Moves lines that count from the file before. */
static void
move_some(struct ledger *l, unsigned n)
{
	struct entry *e;

	for (; n > 0; n--) {
		e = TAILQ_FIRST(&l->entries);
		if (e == NULL || e->number == l->number)
			return;
		TAILQ_REMOVE(&l->entries, e, link);
		TAILQ_INSERT_TAIL(&l->entries, e, link);
		add_line(l, e);
	}
}

static bool
is_moved(const struct ledger *l)
{
	const struct entry *e = TAILQ_FIRST(&l->entries);

	return e == NULL || e->number == l->number;
}

static void
append(struct ledger *l, int64_t now_ms)
{
	char *path;

	if (l->two)
		move_some(l, MOVES * l->nlines + MOVES_LEAST);
	if (!write_all(l->fd, &l->out, l->size)) {
		path = numbered_path(l, l->number);
		fail(l, path, now_ms);
		free(path);
		(void)!ftruncate(l->fd, (off_t)l->size);
		return;
	}
	l->size += buf_len(&l->out);
	drop_lines(l);
	if (l->two && is_moved(l)) {
		l->two = false;
		remove_former(l);
	}
}

void
ledger_write(struct ledger *l, int64_t now_ms, int64_t day_ms)
{
	l->day_off_ms = day_ms - now_ms;
	if (l->retry_ms > now_ms) {
		drop_lines(l);
		return;
	}
	if (l->retry_ms > 0 || l->fd < 0) {
		write_anew(l, now_ms);
		return;
	}
	append(l, now_ms);
	if (!l->two && l->size > 2 * l->bytes + SPARE_BYTES)
		begin_file(l, now_ms);
}

bool
ledger_has_more(const struct ledger *l)
{
	return l != NULL && (l->nlines > 0 || l->retry_ms > 0);
}

void
ledger_hold(struct ledger *l, const struct token_hold *hold)
{
	if (l == NULL)
		return;
	add_line(l, remember(l, hold));
	l->nlines++;
}

void
ledger_over(struct ledger *l, const char *name, size_t name_len)
{
	struct entry *e = l == NULL ? NULL : find(l, name, name_len);

	if (e == NULL)
		return;
	ledger_add_over(&l->out, name, name_len);
	l->nlines++;
	forget(l, e);
}

/* Life. */

static void
on_held(void *arg, const struct token_hold *hold)
{
	(void)remember(arg, hold);
}

static void
on_over(void *arg, const char *name, size_t name_len)
{
	struct entry *e = find(arg, name, name_len);

	if (e != NULL)
		forget(arg, e);
}

/* Something can't be read: any name may be held.  Returns false if nobody knows
 * for how long. */
static bool
wait_out(struct ledger *l, const char *fault, const struct ledger_clock *clock,
    int64_t most_ms, struct buf *why)
{
	if (most_ms <= 0) {
		buf_addf(why,
		    "%s; it says which names Redis clients hold, and until"
		    " when: remove the file if none of them counts on that",
		    fault);
		return false;
	}
	LOG(WARNING, "tokens-unreadable", LOG_S("why", fault),
	    LOG_N("wait_ms", most_ms));
	l->floor_ms = max_ms(l->floor_ms, clock->now_ms + most_ms);
	return true;
}

static void
ledger_free(struct ledger *l)
{
	while (!TAILQ_EMPTY(&l->entries))
		forget(l, TAILQ_FIRST(&l->entries));
	table_fini(&l->by_name);
	buf_fini(&l->out);
	if (l->fd >= 0)
		(void)close(l->fd);
	free(l->path);
	free(l);
}

static void
remove_all(const struct ledger *l)
{
	remove_file(l, "new");
	remove_file(l, "0");
	remove_file(l, "1");
}

static bool
is_empty(const struct ledger *l, int64_t now_ms)
{
	return TAILQ_EMPTY(&l->entries) && l->floor_ms <= now_ms;
}

struct ledger *
ledger_open(const char *path, const struct ledger_clock *clock, int64_t most_ms,
    struct buf *why)
{
	struct ledger *l = xcalloc(1, sizeof(*l));
	struct ledger_reader reader = { on_held, on_over, l };
	struct ledger_past past;
	bool ok = true;

	l->path = xstrdup(path);
	snprintf(l->boot, sizeof(l->boot), "%s", clock->boot);
	l->day_off_ms = clock->day_ms - clock->now_ms;
	l->fd = -1;
	buf_init(&l->out);
	table_init(&l->by_name, name_of);
	TAILQ_INIT(&l->entries);
	ledger_read(path, clock, &reader, &past);
	l->number = past.number;
	l->floor_ms = past.floor_ms;
	if (past.fault != NULL)
		ok = wait_out(l, past.fault, clock, most_ms, why);
	free(past.fault);
	if (!ok) {
		ledger_free(l);
		return NULL;
	}
	if (!is_empty(l, clock->now_ms))
		write_anew(l, clock->now_ms);
	else if (past.found)
		remove_all(l);
	return l;
}

void
ledger_close(struct ledger *l, int64_t now_ms)
{
	if (l == NULL)
		return;
	if (is_empty(l, now_ms))
		remove_all(l);
	else if (ledger_has_more(l))
		ledger_write(l, now_ms, now_ms + l->day_off_ms);
	ledger_free(l);
}

int64_t
ledger_floor_ms(const struct ledger *l)
{
	return l == NULL ? 0 : l->floor_ms;
}

void
ledger_each(struct ledger *l, ledger_fn *fn, void *arg)
{
	struct entry *e;

	if (l == NULL)
		return;
	TAILQ_FOREACH (e, &l->entries, link)
		fn(arg, &e->hold);
}
