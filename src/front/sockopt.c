/*
 * Time limits of clients' sockets, and the names of clients.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/tcp.h"
#include "base/xmalloc.h"
#include "front/sockopt.h"

/* Room for "[V6]:PORT" with a zone, and for "unix:" and a path. */
#define NAME_BYTES_MAX 160

/*
 * The first probe goes out after a third of the time, then one every sixth.
 * With TCP_USER_TIMEOUT set Linux does not count probes: it gives up at the
 * first probe after the timeout.  So the timeout is a little shorter than the
 * probe at five sixths.
 */
void
sockopt_client(int fd, int64_t unreachable_ms)
{
	const struct tcp_patience patience = { .idle_s = unreachable_ms / 3000,
		.interval_s = unreachable_ms / 6000,
		.probes = 3,
		.unsent_ms = unreachable_ms / 4 * 3 };

	tcp_nodelay(fd);
	if (unreachable_ms > 0)
		tcp_keepalive(fd, &patience);
}

static char *
name_in(const struct sockaddr_in *sa)
{
	char host[INET_ADDRSTRLEN] = "?";
	char name[NAME_BYTES_MAX];

	(void)inet_ntop(AF_INET, &sa->sin_addr, host, sizeof(host));
	snprintf(
	    name, sizeof(name), "%s:%u", host, (unsigned)ntohs(sa->sin_port));
	return xstrdup(name);
}

static char *
name_in6(const struct sockaddr_in6 *sa)
{
	char host[INET6_ADDRSTRLEN] = "?";
	char name[NAME_BYTES_MAX];
	struct sockaddr_in v4;

	if (IN6_IS_ADDR_V4MAPPED(&sa->sin6_addr)) {
		memset(&v4, 0, sizeof(v4));
		v4.sin_port = sa->sin6_port;
		memcpy(&v4.sin_addr, &sa->sin6_addr.s6_addr[12],
		    sizeof(v4.sin_addr));
		return name_in(&v4);
	}
	(void)inet_ntop(AF_INET6, &sa->sin6_addr, host, sizeof(host));
	snprintf(name, sizeof(name), "[%s]:%u", host,
	    (unsigned)ntohs(sa->sin6_port));
	return xstrdup(name);
}

static char *
name_un(const struct sockaddr_un *sa, socklen_t len)
{
	char name[NAME_BYTES_MAX];
	size_t n = len - offsetof(struct sockaddr_un, sun_path);

	if (len <= offsetof(struct sockaddr_un, sun_path))
		return xstrdup("unix:");
	/* An abstract name begins with a NUL, which is usually written as @. */
	if (sa->sun_path[0] == '\0')
		snprintf(name, sizeof(name), "unix:@%.*s", (int)(n - 1),
		    sa->sun_path + 1);
	else
		snprintf(name, sizeof(name), "unix:%.*s", (int)n, sa->sun_path);
	return xstrdup(name);
}

char *
sockopt_name(const struct sockaddr_storage *sa, socklen_t len)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_un un;
	} u;

	memcpy(&u.any, sa, sizeof(u.any));
	if (u.any.ss_family == AF_INET)
		return name_in(&u.in);
	if (u.any.ss_family == AF_INET6)
		return name_in6(&u.in6);
	return name_un(&u.un, len);
}

char *
sockopt_peer_tcp(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	memset(&sa, 0, sizeof(sa));
	if (getpeername(fd, (struct sockaddr *)&sa, &len) < 0)
		return xstrdup("?");
	return sockopt_name(&sa, len);
}

char *
sockopt_peer_unix(int fd, bool *admin, int64_t *uid)
{
	struct ucred who;
	socklen_t len = sizeof(who);
	char name[NAME_BYTES_MAX];

	*admin = false;
	*uid = -1;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return xstrdup("pid:0");
	*uid = (int64_t)who.uid;
	*admin = who.uid == 0 || who.uid == geteuid();
	snprintf(name, sizeof(name), "pid:%ld", (long)who.pid);
	return xstrdup(name);
}

size_t
sockopt_peer_groups(int fd, gid_t *gids, size_t max)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	if (max == 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) < 0)
		return 0;
	gids[0] = who.gid;
	/*
	 * If there is too little room, the kernel gives no group at all
	 * (ERANGE).
	 */
	len = (socklen_t)((max - 1) * sizeof(*gids));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids + 1, &len) < 0)
		return 1;
	return 1 + len / sizeof(*gids);
}
