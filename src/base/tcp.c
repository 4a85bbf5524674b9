/*
 * Options of TCP connections.  An option that a socket does not accept is left
 * as it is: a connection is worth more than its tuning.
 */
#include "config.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/tcp.h"

#define SECONDS_MAX 32767 /* the limit of the kernel */

static void
set(int fd, int level, int option, int64_t value, int64_t max)
{
	int number = (int)(value < 1 ? 1 : value > max ? max : value);

	(void)setsockopt(fd, level, option, &number, sizeof(number));
}

void
tcp_nodelay(int fd)
{
	set(fd, IPPROTO_TCP, TCP_NODELAY, 1, 1);
}

void
tcp_keepalive(int fd, const struct tcp_patience *p)
{
	set(fd, SOL_SOCKET, SO_KEEPALIVE, 1, 1);
	set(fd, IPPROTO_TCP, TCP_KEEPIDLE, p->idle_s, SECONDS_MAX);
	set(fd, IPPROTO_TCP, TCP_KEEPINTVL, p->interval_s, SECONDS_MAX);
	set(fd, IPPROTO_TCP, TCP_KEEPCNT, p->probes, SECONDS_MAX);
	set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, p->unsent_ms, INT32_MAX);
}
