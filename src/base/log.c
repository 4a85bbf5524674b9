/*
 * The logger, and with it the only global state of the program.
 *
 * A line is built in memory on the stack and written by one write(2), so that
 * lines of several processes on one pipe don't mix.  Whatever a value contains,
 * the line stays one line: bytes that could end it, forge a field or drive a
 * terminal are escaped.
 *
 * The log must not stop the broker: leases are renewed by the thread that
 * writes it.  If stderr can take nothing at the moment, or the system log is
 * not read, the line is lost and the broker continues.  Other processes share
 * stderr, so the logger does not make it non-blocking, but checks first whether
 * it can take a line.  A writable pipe takes PIPE_BUF bytes, and a line is no
 * longer than that.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/syslog_out.h"

/*
 * The bytes of a line with its end.  A longer line is cut, and ends with "...".
 */
#define LINE_BYTES_MAX PIPE_BUF

/*
 * Bytes reserved for "...", the closing quote, the closing brace and the end.
 */
#define LINE_RESERVE 8

enum log_stderr { STDERR_UNKNOWN, STDERR_PLAIN, STDERR_SOCKET, STDERR_JOURNAL };

/* A line under construction; lives on the stack of log_values(). */
struct line {
	size_t len;
	char mem[LINE_BYTES_MAX];
};

static struct {
	struct log_settings settings;
	enum log_stderr kind;
	bool torn; /* only part of the last line was written */
	struct syslog_out syslog;
	log_reader *reader; /* NULL: none */
	void *reader_arg;
	uint64_t dropped;
	char last_error[512];
} logger = {
	.settings = { .level = LOG_LEVEL_NOTICE },
	.syslog = { .path = "/dev/log", .fd = -1 },
};

static const struct {
	const char *word;
	int priority;
} levels[] = {
	[LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
	[LOG_LEVEL_INFO] = { "info", LOG_INFO },
	[LOG_LEVEL_NOTICE] = { "notice", LOG_NOTICE },
	[LOG_LEVEL_WARNING] = { "warning", LOG_WARNING },
	[LOG_LEVEL_ERROR] = { "error", LOG_ERR },
};

const char *
log_string(const char *s)
{
	return s ? s : "";
}

size_t
log_strlen(const char *s)
{
	return s ? strlen(s) : 0;
}

/*
 * Is stderr the stream that systemd connected to the journal?  JOURNAL_STREAM
 * alone does not show it: children with another stderr inherit it.
 */
static enum log_stderr
log_probe(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;

	if (fstat(STDERR_FILENO, &st) < 0)
		return STDERR_PLAIN;
	snprintf(own, sizeof(own), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino);
	if (stream && strcmp(stream, own) == 0)
		return STDERR_JOURNAL;
	return S_ISSOCK(st.st_mode) ? STDERR_SOCKET : STDERR_PLAIN;
}

void
log_setup(const struct log_settings *settings)
{
	logger.settings = *settings;
	logger.kind = log_probe();
	if (settings->to == LOG_TO_STDERR)
		syslog_out_close(&logger.syslog);
}

void
log_to(log_reader *reader, void *arg)
{
	logger.reader = reader;
	logger.reader_arg = arg;
}

bool
log_enabled(enum log_level level)
{
	return level >= logger.settings.level;
}

uint64_t
log_dropped(void)
{
	return logger.dropped;
}

const char *
log_last_error(void)
{
	return logger.last_error;
}

static size_t
line_room(const struct line *l)
{
	size_t end = sizeof(l->mem) - LINE_RESERVE;

	/* A truncated value ends within the reserve. */
	return l->len < end ? end - l->len : 0;
}

/* Requires room for the bytes. */
static void
line_add(struct line *l, const char *p, size_t n)
{
	assert(n <= sizeof(l->mem) - l->len);
	memcpy(l->mem + l->len, p, n);
	l->len += n;
}

static void
line_adds(struct line *l, const char *s)
{
	line_add(l, s, strlen(s));
}

static bool
is_plain(const char *s, size_t n)
{
	size_t i;
	char c;

	for (i = 0; i < n; i++) {
		c = s[i];
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9'))
			continue;
		if (c == '\0' || !strchr("_.,:/@+-", c))
			return false;
	}
	return n > 0;
}

/* Escapes one byte or character of a text.  Returns how many bytes it took. */
static size_t
escape_text(char *out, size_t *len, const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];

	(void)n;
	if (c == '"' || c == '\\')
		*len = (size_t)sprintf(out, "\\%c", c);
	else if (c < ' ' || c > '~')
		*len = (size_t)sprintf(out, "\\x%02x", c);
	else
		*len = (size_t)sprintf(out, "%c", c);
	return 1;
}

static void
line_quote(struct line *l, const char *s, size_t n)
{
	size_t (*escape)(char *out, size_t *len, const char *s, size_t n) =
	    logger.settings.format == LOG_FORMAT_JSON ? json_escape
						      : escape_text;
	char out[JSON_ESCAPE_SIZE];
	size_t i = 0, len = 0;

	line_add(l, "\"", 1);
	while (i < n) {
		i += escape(out, &len, s + i, n - i);
		if (len > line_room(l)) {
			line_add(l, "...", 3);
			break;
		}
		line_add(l, out, len);
	}
	line_add(l, "\"", 1);
}

static void
line_value(struct line *l, const struct log_value *v)
{
	char digits[24];
	bool plain;

	if (v->str == NULL) {
		snprintf(digits, sizeof(digits), "%" PRId64, v->num);
		line_adds(l, digits);
		return;
	}
	plain = logger.settings.format == LOG_FORMAT_TEXT &&
		is_plain(v->str, v->len);
	if (plain && v->len <= line_room(l))
		line_add(l, v->str, v->len);
	else
		line_quote(l, v->str, v->len);
}

#define TIME_SIZE 40

static void
write_time(char out[TIME_SIZE])
{
	struct timespec now;
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(out, TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(
	    out + n, TIME_SIZE - n, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

/*
 * Writes everything before the values.  The journal and syslog add the time
 * themselves.
 */
static void
line_head(struct line *l, enum log_level level, const char *event)
{
	bool to_stderr = logger.settings.to == LOG_TO_STDERR;
	bool journal = to_stderr && logger.kind == STDERR_JOURNAL;
	bool json = logger.settings.format == LOG_FORMAT_JSON;
	char when[TIME_SIZE] = "", priority[16] = "", head[128];
	int n;

	if (journal)
		snprintf(
		    priority, sizeof(priority), "<%d>", levels[level].priority);
	else if (to_stderr)
		write_time(when);
	if (json && when[0] != '\0')
		n = snprintf(head, sizeof(head),
		    "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\"", when,
		    levels[level].word, event);
	else if (json)
		n = snprintf(head, sizeof(head),
		    "%s{\"level\":\"%s\",\"event\":\"%s\"", priority,
		    levels[level].word, event);
	else
		n = snprintf(head, sizeof(head), "%s%s%s%s %s", priority, when,
		    when[0] != '\0' ? " " : "", levels[level].word, event);
	assert(n > 0 && (size_t)n < sizeof(head));
	line_add(l, head, (size_t)n);
}

static void
line_build(struct line *l, enum log_level level, const char *event,
    const struct log_value *values, size_t n)
{
	bool json = logger.settings.format == LOG_FORMAT_JSON;
	size_t i;

	line_head(l, level, event);
	for (i = 0; i < n; i++) {
		/* Needs room for ` key=` or `,"key":`, and for a number. */
		if (line_room(l) < strlen(values[i].key) + 32)
			break;
		line_adds(l, json ? ",\"" : " ");
		line_adds(l, values[i].key);
		line_adds(l, json ? "\":" : "=");
		line_value(l, &values[i]);
	}
	if (json)
		line_add(l, "}", 1);
}

/*
 * Makes one system call that does not wait.  Returns the bytes written, or -1.
 */
static ssize_t
stderr_write(const char *p, size_t n)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t done;

	if (logger.kind == STDERR_SOCKET || logger.kind == STDERR_JOURNAL) {
		done = send(STDERR_FILENO, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (done >= 0 || errno != ENOTSOCK)
			return done;
	}
	errno = EAGAIN; /* poll() sets no errno if the stream is full */
	if (poll(&pfd, 1, 0) != 1 || !(pfd.revents & POLLOUT))
		return -1;
	return write(STDERR_FILENO, p, n);
}

static void
line_to_stderr(struct line *l)
{
	ssize_t done;
	size_t from = 1;

	/* mem[0] is reserved for the end of an earlier, torn line. */
	l->mem[0] = '\n';
	l->mem[l->len++] = '\n';
	if (logger.torn)
		from = 0;
	do
		done = stderr_write(l->mem + from, l->len - from);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		done = 0;
	if (done > 0)
		logger.torn = (size_t)done < l->len - from;
	logger.dropped += l->len - from - (size_t)done;
}

void
log_values(enum log_level level, const char *event,
    const struct log_value *values, size_t n)
{
	struct line l;
	int saved = errno;

	while (n > 0 && values[n - 1].key == NULL)
		n--;
	if (level == LOG_LEVEL_ERROR)
		snprintf(logger.last_error, sizeof(logger.last_error),
		    "%s: %.*s", event,
		    n > 0 && values[0].str != NULL ? (int)values[0].len : 0,
		    n > 0 && values[0].str != NULL ? values[0].str : "");
	if (logger.reader != NULL) {
		logger.reader(logger.reader_arg, level, event, values, n);
		return;
	}
	l.len = 1;
	if (logger.kind == STDERR_UNKNOWN)
		logger.kind = log_probe();
	line_build(&l, level, event, values, n);
	if (logger.settings.to == LOG_TO_STDERR)
		line_to_stderr(&l);
	else if (!syslog_out_send(&logger.syslog, levels[level].priority,
		     l.mem + 1, l.len - 1))
		logger.dropped += l.len - 1;
	errno = saved;
}
