/*
 * The protocol of /dev/log: `<PRIORITY>TIME NAME[PID]: TEXT`, one datagram for
 * each line; on a stream, a NUL ends the line.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/syslog_out.h"

void
syslog_out_close(struct syslog_out *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
}

static bool
open_as(struct syslog_out *s, int type)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int error;

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", s->path);
	s->fd = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return false;
	s->stream = type == SOCK_STREAM;
	if (connect(s->fd, (const struct sockaddr *)&to, sizeof(to)) == 0)
		return true;
	error = errno;
	syslog_out_close(s);
	errno = error;
	return false;
}

static size_t
head_format(char *out, size_t size, int priority)
{
	time_t now = time(NULL);
	char when[32] = "";
	struct tm tm;
	int n;

	if (localtime_r(&now, &tm))
		(void)strftime(when, sizeof(when), "%b %e %H:%M:%S", &tm);
	n = snprintf(out, size,
	    "<%d>%s lockbrokerd[%ld]: ", LOG_DAEMON | priority, when,
	    (long)getpid());
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static bool
connected(struct syslog_out *s)
{
	return s->fd >= 0 || open_as(s, SOCK_DGRAM) ||
	       (errno == EPROTOTYPE && open_as(s, SOCK_STREAM));
}

/*
 * Returns false if the line was not sent.  If a part was sent, the rest cannot
 * follow later, so that ends a stream.
 */
static bool
send_parts(struct syslog_out *s, struct iovec *parts)
{
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t n = parts[0].iov_len + parts[1].iov_len;
	ssize_t sent;

	if (s->stream) {
		message.msg_iovlen = 3;
		n += parts[2].iov_len;
	}
	sent = sendmsg(s->fd, &message, MSG_NOSIGNAL);
	if (sent == (ssize_t)n)
		return true;
	if (sent >= 0 || errno != EAGAIN)
		syslog_out_close(s);
	return false;
}

bool
syslog_out_send(struct syslog_out *s, int priority, const char *text, size_t n)
{
	char head[96], end = '\0';
	struct iovec parts[] = { { head, 0 }, { (void *)(uintptr_t)text, n },
		{ &end, 1 } };

	parts[0].iov_len = head_format(head, sizeof(head), priority);
	if (!connected(s))
		return false;
	if (send_parts(s, parts))
		return true;
	/* Tries once more, in case the log daemon was restarted. */
	return s->fd < 0 && connected(s) && send_parts(s, parts);
}
