/*
 * Messages of the command to the user, on standard error.
 *
 * Each line is put together first and written at once, so that it does not mix
 * with the output of a command that we started. Bytes that could control a
 * terminal are replaced, because names and texts come from others.
 */
#include "config.h"

#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/say.h"
#include "cli/timespan.h"
#include "client/message.h"

#define SAY_MAX 1024

/* How long we wait for a reader that is only slow. */
#define SAY_WAIT_MS 100

static bool as_json, has_user;
static const char *about = "";

void
say_as_json(void)
{
	as_json = true;
}

void
say_has_user(void)
{
	has_user = true;
}

void
say_about(const char *command)
{
	about = command;
}

/* A writable pipe takes PIPE_BUF bytes, and no text is longer. */
void
say_bytes(const char *text, size_t n)
{
	struct pollfd pfd = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t rc;

	if (poll(&pfd, 1, SAY_WAIT_MS) != 1)
		return;
	rc = write(STDERR_FILENO, text, n);
	(void)rc; /* there is no reader left */
}

static void
line_json(const char *code, const char *text)
{
	struct json j;

	json_begin(&j);
	if (code != NULL)
		json_str(&j, "code", code, strlen(code));
	json_str(&j, "text", text, strlen(text));
	json_close(&j);
	say_bytes(buf_data(&j.text), buf_len(&j.text));
	buf_fini(&j.text);
}

static void
line_text(const char *text)
{
	char line[SAY_MAX + 16];
	int i, n;

	n = snprintf(line, sizeof(line), "lockbroker: %s", text);
	for (i = 0; i < n; i++) {
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
	}
	line[n++] = '\n';
	say_bytes(line, (size_t)n);
}

void
say_code(const char *code, const char *fmt, ...)
{
	char text[SAY_MAX];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (as_json)
		line_json(code, text);
	else
		line_text(text);
}

int
say_usage(const char *fmt, ...)
{
	const char *colon = about[0] != '\0' ? ": " : "";
	char text[SAY_MAX];
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	va_end(ap);
	say_code("usage", "%s%s%s", about, colon, text);
	if (!as_json)
		say("try 'lockbroker help%s%s'", about[0] != '\0' ? " " : "",
		    about);
	return CLI_EXIT_USAGE;
}

/* The broker's text is about clients' requests, not about our command line. */
static const char *
login_hint(const char *code)
{
	return strcmp(code, err_word(ERR_AUTH)) == 0 && !has_user
		   ? " (give --user and --password-file)"
		   : "";
}

void
say_error(const char *what, const struct message *m)
{
	const char *error = message_error(m);
	const size_t n = strcspn(error, " ");
	char code[64], text[SAY_MAX];

	what = what != NULL ? what : "";
	timespans_in_text(
	    error + n + strspn(error + n, " "), text, sizeof(text));
	snprintf(code, sizeof(code), "%.*s", (int)n, error);
	if (n == 0)
		say_code("protocol", "%s%sunexpected reply: %s", what,
		    what[0] != '\0' ? ": " : "", m->text);
	else if (as_json)
		say_code(code, "%s", text);
	else
		say("%s%s%s%s%s%s", what, what[0] != '\0' ? ": " : "", code,
		    text[0] != '\0' ? ": " : "", text, login_hint(code));
}
