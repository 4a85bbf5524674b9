/*
 * Reading a ledger.  What is damaged in files of this boot may have been about
 * any name.  In another boot it may be what a crash of the machine has left, of
 * which the ledger promises nothing.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/xmalloc.h"
#include "daemon/ledger_line.h"
#include "daemon/ledger_read.h"

#define READ_BYTES 65536

/* One file. */
struct source {
	char *path;	 /* owned */
	struct buf text; /* whole lines only */
	bool found;
	bool other_boot;
	struct ledger_line head;
};

static void note_fault(struct ledger_past *out, const struct source *s,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static void
note_fault(
    struct ledger_past *out, const struct source *s, const char *fmt, ...)
{
	char *what, *fault;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&what, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (asprintf(&fault, "%s: %s", s->path, what) < 0)
		abort();
	free(what);
	if (out->fault == NULL && !s->other_boot) {
		out->fault = fault;
		return;
	}
	if (s->other_boot)
		LOG(WARNING, "tokens-unreadable", LOG_S("why", fault),
		    LOG_N("wait_ms", 0));
	free(fault);
}

/* Returns 0, or an errno. */
static int
read_whole(struct source *s)
{
	int fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;
	int error;

	if (fd < 0)
		return errno;
	do {
		n = read(fd, buf_reserve(&s->text, READ_BYTES), READ_BYTES);
		error = n < 0 ? errno : 0;
		if (n > 0)
			buf_added(&s->text, (size_t)n);
	} while (n > 0 || error == EINTR);
	(void)close(fd);
	return error;
}

/* Cuts off a last line that was not written to its end. */
static void
cut(struct source *s)
{
	const char *text = buf_data(&s->text), *end;
	size_t n = buf_len(&s->text);

	end = n == 0 ? NULL : memrchr(text, '\n', n);
	s->text.tail -= end == NULL ? n : n - (size_t)(end + 1 - text);
}

/* Takes the next line.  Returns false if there is none. */
static bool
next_line(struct source *s, size_t *at, struct span *line)
{
	const char *text = buf_data(&s->text) + *at, *end;

	if (*at == buf_len(&s->text))
		return false;
	end = memchr(text, '\n', buf_len(&s->text) - *at);
	*line = (struct span){ text, (size_t)(end - text) };
	*at += line->n + 1;
	return true;
}

static void
load(struct source *s, const char *path, int which,
    const struct ledger_clock *clock, struct ledger_past *out)
{
	struct span line;
	size_t at = 0;
	int error;

	memset(s, 0, sizeof(*s));
	buf_init(&s->text);
	if (asprintf(&s->path, "%s.%d", path, which) < 0)
		abort();
	error = read_whole(s);
	if (error == ENOENT)
		return;
	s->found = out->found = true;
	if (error != 0) {
		note_fault(out, s, "%s", strerror(error));
		return;
	}
	cut(s);
	if (!next_line(s, &at, &line))
		return;
	if (!ledger_parse(line.p, line.n, &s->head) ||
	    s->head.word != LEDGER_HEAD) {
		note_fault(out, s, "line 1 is not understood");
		return;
	}
	s->other_boot =
	    s->head.boot.n != strlen(clock->boot) ||
	    memcmp(s->head.boot.p, clock->boot, s->head.boot.n) != 0;
}

/* Turns times of another boot into those of this one, by the time of day. */
static void
convert(struct ledger_line *line, const struct ledger_clock *clock)
{
	line->hold.since_ms = clock->now_ms;
	line->hold.until_ms = line->day_ms;
	if (line->day_ms != TOKEN_HOLD_ALWAYS)
		line->hold.until_ms += clock->now_ms - clock->day_ms;
}

static void
tell(struct source *s, const struct ledger_clock *clock,
    const struct ledger_reader *reader, struct ledger_past *out)
{
	struct ledger_line line;
	struct span text;
	unsigned number;
	size_t at = 0;

	for (number = 1; next_line(s, &at, &text); number++) {
		if (number == 1)
			continue;
		if (!ledger_parse(text.p, text.n, &line) ||
		    line.word == LEDGER_HEAD) {
			note_fault(out, s, "line %u is damaged", number);
			continue;
		}
		if (s->other_boot)
			convert(&line, clock);
		if (line.word == LEDGER_HELD &&
		    line.hold.until_ms > clock->now_ms)
			reader->held(reader->arg, &line.hold);
		else
			reader->over(
			    reader->arg, line.hold.name, line.hold.name_len);
	}
	if (s->head.number > out->number)
		out->number = s->head.number;
	if (!s->other_boot && s->head.floor_ms > clock->now_ms &&
	    s->head.floor_ms > out->floor_ms)
		out->floor_ms = s->head.floor_ms;
}

void
ledger_read(const char *path, const struct ledger_clock *clock,
    const struct ledger_reader *reader, struct ledger_past *out)
{
	struct source s[2];
	int first, i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < 2; i++)
		load(&s[i], path, i, clock, out);
	first = s[0].head.number > s[1].head.number;
	tell(&s[first], clock, reader, out);
	tell(&s[!first], clock, reader, out);
	for (i = 0; i < 2; i++) {
		buf_fini(&s[i].text);
		free(s[i].path);
	}
}
