/*
 * Reads the first line on a socket from relay_connect(), or from a
 * lockbroker-tls that was started for one connection.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "relay/relay.h"

static enum relay_answer
broken(struct relay_line *line, const char *why)
{
	snprintf(line->text, sizeof(line->text), "%s", why);
	return RELAY_UNREACHABLE;
}

static enum relay_answer
whole(struct relay_line *line)
{
	char kind = line->text[0];

	line->text[line->n] = '\0';
	if (kind == '+')
		return RELAY_YES;
	memmove(line->text, line->text + 1, line->n);
	return kind == '!' ? RELAY_REFUSED : RELAY_UNREACHABLE;
}

/*
 * Reads byte by byte, because the bytes after the line are not ours.  Usually
 * the line is "+".
 */
enum relay_answer
relay_greeting(int fd, struct relay_line *line)
{
	ssize_t n;

	assert(line->n < sizeof(line->text));
	while (line->n < sizeof(line->text) - 1) {
		n = recv(fd, line->text + line->n, 1, 0);
		if (n == 0)
			return broken(line, "the TLS process has ended");
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return RELAY_LATER;
		if (n < 0)
			return broken(line, strerror(errno));
		if (line->text[line->n] == '\n')
			return whole(line);
		line->n++;
	}
	return whole(line);
}
