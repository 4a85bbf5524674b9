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

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define SAY_MAX 1024

static void __attribute__((format(printf, 1, 0)))
say_v(const char *fmt, va_list ap)
{
	char line[SAY_MAX];
	size_t i, n;
	int len, text;
	ssize_t rc;

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
	rc = write(STDERR_FILENO, line, n);
	(void)rc; /* There is nobody left to tell. */
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
