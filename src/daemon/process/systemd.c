/*
 * sd_notify(3) and sd_listen_fds(3).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/parse.h"
#include "daemon/process/systemd.h"

/* More than one status line needs. */
#define MESSAGE_BYTES_MAX 1024
#define LISTEN_FDS_MAX 1024
#define SEND_WAIT_MS 100

/* Reads a number from the environment.  Returns false if there is none. */
static bool
env_number(const char *name, uint64_t *out)
{
	const char *value = getenv(name);

	return value != NULL &&
	       parse_number(value, strlen(value), INT64_MAX, out);
}

/* Are the variables meant for this process?  They are if there is no PID. */
static bool
env_pid_is_ours(const char *name)
{
	uint64_t pid;

	return !getenv(name) ||
	       (env_number(name, &pid) && pid == (uint64_t)getpid());
}

/* Takes a path, or '@' and an abstract name. */
static bool
notify_open(struct systemd *n, const char *path)
{
	size_t len = strlen(path);

	memset(&n->to, 0, sizeof(n->to));
	n->to.sun_family = AF_UNIX;
	if ((path[0] != '/' && path[0] != '@') || len >= sizeof(n->to.sun_path))
		return false;
	memcpy(n->to.sun_path, path, len);
	if (path[0] == '@')
		n->to.sun_path[0] = '\0';
	n->to_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return n->fd >= 0;
}

void
systemd_init(struct systemd *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	uint64_t watchdog_us = 0;

	n->fd = -1;
	n->watchdog_ms = 0;
	if (path != NULL && notify_open(n, path) &&
	    env_pid_is_ours("WATCHDOG_PID") &&
	    env_number("WATCHDOG_USEC", &watchdog_us))
		n->watchdog_ms = (int64_t)(watchdog_us / 1000);
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("WATCHDOG_USEC");
	(void)unsetenv("WATCHDOG_PID");
}

void
systemd_fini(struct systemd *n)
{
	if (n->fd >= 0)
		(void)close(n->fd);
	n->fd = -1;
}

void
systemd_send(const struct systemd *n, enum systemd_patience patience,
    const char *fmt, ...)
{
	struct pollfd p = { .fd = n->fd, .events = POLLOUT };
	const struct sockaddr *to = (const struct sockaddr *)&n->to;
	char text[MESSAGE_BYTES_MAX];
	size_t len;
	va_list ap;
	int rc;

	if (n->fd < 0)
		return;
	va_start(ap, fmt);
	rc = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (rc < 0)
		return;
	len = (size_t)rc < sizeof(text) ? (size_t)rc : sizeof(text) - 1;
	if (sendto(n->fd, text, len, MSG_NOSIGNAL, to, n->to_len) >= 0 ||
	    errno != EAGAIN || patience == SYSTEMD_TRY)
		return;
	(void)poll(&p, 1, SEND_WAIT_MS);
	(void)sendto(n->fd, text, len, MSG_NOSIGNAL, to, n->to_len);
}

size_t
systemd_listen_fds(void)
{
	uint64_t n = 0;
	uint64_t i;

	if (!getenv("LISTEN_PID") || !env_pid_is_ours("LISTEN_PID") ||
	    !env_number("LISTEN_FDS", &n) || n > LISTEN_FDS_MAX)
		n = 0;
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	for (i = 0; i < n; i++)
		(void)fcntl(
		    SYSTEMD_LISTEN_FD_FIRST + (int)i, F_SETFD, FD_CLOEXEC);
	return (size_t)n;
}
