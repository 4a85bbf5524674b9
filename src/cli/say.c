/*
 * What the command tells people, on standard error.
 *
 * A line is put together first and written at once, so that it does not mix
 * with what a command that was started writes there. Bytes that could steer a
 * terminal are replaced: names and texts come from others.
 */
#include "config.h"

#include "cli/say.h"

#include "cli/exit.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define SAY_MAX 1024

/* How long it is waited for a reader who is only slow. */
#define SAY_WAIT_MS 100

/* A pipe that takes anything takes PIPE_BUF bytes, and no text is longer. */
void
say_bytes(const char *text, size_t n)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t rc;

	if (poll(&pfd, 1, SAY_WAIT_MS) != 1)
		return;
	rc = write(STDERR_FILENO, text, n);
	(void)rc; /* There is nobody left to tell. */
}

static void __attribute__((format(printf, 1, 0)))
say_v(const char *fmt, va_list ap)
{
	char line[SAY_MAX];
	size_t i, n;
	int len, text;

	len = snprintf(line, sizeof(line), "lockbroker: ");
	text = vsnprintf(line + len, sizeof(line) - (size_t)len - 1, fmt, ap);
	if (text < 0)
		return;
	n = (size_t)len + (size_t)text;
	if (n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	for (i = 0; i < n; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	}
	line[n++] = '\n';
	say_bytes(line, n);
}

void
say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_v(fmt, ap);
	va_end(ap);
}

int
say_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_v(fmt, ap);
	va_end(ap);
	say("try 'lockbroker help'");
	return CLI_EXIT_USAGE;
}
