/*
 * The data of an embedded server ends with the broker, so the server can't tell
 * the next broker what clients still count on.  A note in the runtime directory
 * does: until when, by CLOCK_BOOTTIME, any client was told a valid=, and in
 * which boot.  The broker writes it before it tells the client, a third of a
 * lease ahead, so at most once in that time; a clean stop removes it.
 *
 * The note outlives the process, not the machine: it is not synchronized to a
 * disk, and a note of another boot says nothing.  If the broker can't tell the
 * boot (ProcSubset=pid hides it), it takes the directory to be as short-lived
 * as the boot: /run is.
 *
 * A note that can't be read or understood may have promised as much as any.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/parse.h"
#include "base/xmalloc.h"
#include "daemon/promise.h"
#include "daemon/runtime.h"

#define NOTE_BYTES 128

/* A lease lasts a day at most. */
#define UNTIL_MS_MAX (INT64_C(2) * 24 * 3600 * 1000)

/* One for each process.  Owned by the broker. */
struct promise {
	char *path;  /* owned; NULL: there is no place for a note */
	char *fresh; /* owned; where the next one is written */
	char boot[BOOT_BYTES];
	int64_t floor_ms; /* the promises of brokers before this one */
	int64_t noted_ms; /* what the note says */
	int64_t ahead_ms;
	int64_t
	    most_ms; /* a note that says nothing may have promised so much */
	bool failed;
};

/* Reads "BOOT UNTIL\n".  Returns false if the text has another form. */
static bool
parse_note(const char *text, char boot[BOOT_BYTES], uint64_t *until_ms)
{
	size_t n = strcspn(text, " ");
	const char *number = text + n + 1;

	if (n == 0 || n >= BOOT_BYTES || text[n] != ' ')
		return false;
	memcpy(boot, text, n);
	boot[n] = '\0';
	n = strcspn(number, "\n");
	return number[n] == '\n' &&
	       parse_number(number, n, INT64_MAX, until_ms);
}

/*
 * Returns until when clients may count on something by the note; 0: none does.
 */
static int64_t
read_note(const struct promise *p, int64_t now_ms)
{
	char text[NOTE_BYTES] = "", boot[BOOT_BYTES];
	ssize_t n = runtime_read(p->path, text, sizeof(text));
	const char *why = "it is not understood";
	uint64_t until_ms;

	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0) {
		why = strerror(errno);
	} else if (parse_note(text, boot, &until_ms)) {
		if (strcmp(boot, p->boot) != 0)
			return 0;
		if ((int64_t)until_ms <= now_ms + UNTIL_MS_MAX)
			return (int64_t)until_ms;
		why = "it tells a time that is too far away";
	}
	LOG(WARNING, "promise-unreadable", LOG_S("file", p->path),
	    LOG_S("why", why), LOG_N("wait_ms", p->most_ms));
	return now_ms + p->most_ms;
}

struct promise *
promise_new(const char *broker, int64_t lease_ms, int64_t now_ms)
{
	struct promise *p = xcalloc(1, sizeof(*p));

	p->ahead_ms = lease_ms / 3;
	p->most_ms = lease_ms + p->ahead_ms;
	p->path = runtime_path(broker, ".promised");
	p->fresh = runtime_path(broker, ".promised.new");
	runtime_boot(p->boot);
	if (p->path == NULL)
		return p;
	p->noted_ms = p->floor_ms = read_note(p, now_ms);
	if (p->floor_ms > now_ms)
		LOG(NOTICE, "promise-kept",
		    LOG_N("wait_ms", p->floor_ms - now_ms));
	return p;
}

void
promise_free(struct promise *p)
{
	if (p == NULL)
		return;
	free(p->path);
	free(p->fresh);
	free(p);
}

int64_t
promise_floor_ms(const struct promise *p)
{
	return p->floor_ms;
}

static bool
write_fresh(const struct promise *p, int64_t until_ms)
{
	char text[NOTE_BYTES];
	int fd, n = snprintf(
		    text, sizeof(text), "%s %" PRId64 "\n", p->boot, until_ms);
	bool ok;

	fd = open(p->fresh,
	    O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	ok = write(fd, text, (size_t)n) == n;
	return close(fd) == 0 && ok;
}

/* Writes the note as a whole or not at all. */
static void
write_note(struct promise *p, int64_t until_ms)
{
	bool ok = write_fresh(p, until_ms) && rename(p->fresh, p->path) == 0;

	p->noted_ms = until_ms;
	if (!ok && !p->failed)
		LOG(ERROR, "promise-unwritten", LOG_S("file", p->path),
		    LOG_S("error", strerror(errno)));
	p->failed = !ok;
}

void
promise_cover(struct promise *p, int64_t until_ms)
{
	if (p == NULL || p->path == NULL || until_ms <= p->noted_ms)
		return;
	write_note(p, until_ms + p->ahead_ms);
}

void
promise_close(struct promise *p, int64_t until_ms, int64_t now_ms)
{
	if (p == NULL || p->path == NULL)
		return;
	if (until_ms < p->floor_ms)
		until_ms = p->floor_ms;
	if (until_ms > now_ms)
		write_note(p, until_ms);
	else
		(void)unlink(p->path);
}
