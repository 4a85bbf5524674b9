/*
 * RESP2 and RESP3, as far as their framing goes.
 */
#include "config.h"

#include "resp.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peer.h"

static size_t
line_length(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', n);

	return end == NULL ? 0 : (size_t)(end - text) + 1;
}

/* What follows a line: bytes, or elements. */
static void
follows(const char *text, size_t *bytes, size_t *elements)
{
	long count = strtol(text + 1, NULL, 10);

	*bytes = 0;
	*elements = 0;
	if (count < 0)
		return;
	if (text[0] == '$' || text[0] == '=')
		*bytes = (size_t)count + 2;
	else if (text[0] == '*' || text[0] == '>' || text[0] == '~')
		*elements = (size_t)count;
	else if (text[0] == '%')
		*elements = 2 * (size_t)count;
}

size_t
resp_frame(const char *text, size_t n)
{
	size_t used = 0, due = 1, line, bytes, elements;

	for (; due > 0; due--) {
		line = line_length(text + used, n - used);
		if (line == 0)
			return 0;
		follows(text + used, &bytes, &elements);
		used += line + bytes;
		due += elements;
		if (used > n)
			return 0;
	}
	return used;
}

void
resp_begin(struct buf *out, unsigned words)
{
	buf_addc(out, '*');
	buf_add_u64(out, words);
	buf_add(out, "\r\n", 2);
}

void
resp_word(struct buf *out, const char *text, size_t n)
{
	buf_addc(out, '$');
	buf_add_u64(out, n);
	buf_add(out, "\r\n", 2);
	buf_add(out, text, n);
	buf_add(out, "\r\n", 2);
}

void
resp_str(struct buf *out, const char *text)
{
	resp_word(out, text, strlen(text));
}

void
resp_words(struct buf *out, const char *fmt, ...)
{
	char text[1024], *p = text;
	unsigned words = 1;
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (n = 0; text[n] != '\0'; n++)
		words += text[n] == ' ';
	resp_begin(out, words);
	for (; words > 0; words--) {
		n = strcspn(p, " ");
		resp_word(out, p, n);
		p += n + 1;
	}
}

void
resp_call(int fd, struct buf *command, struct buf *reply)
{
	ssize_t n = send(fd, buf_data(command), buf_len(command), MSG_NOSIGNAL);

	if (n != (ssize_t)buf_len(command))
		fail("Redis: %s", strerror(errno));
	buf_clear(command);
	buf_clear(reply);
	while (buf_len(reply) == 0 ||
	       resp_frame(buf_data(reply), buf_len(reply)) == 0) {
		n = recv(fd, buf_reserve(reply, 4096), 4096, 0);
		if (n <= 0)
			fail("Redis: no answer");
		buf_added(reply, (size_t)n);
	}
	buf_addc(reply, '\0');
	if (buf_data(reply)[0] == '-')
		fail("Redis: %s", buf_data(reply));
}
