/*
 * Opens listeners: TCP addresses, Unix sockets, and sockets that the service
 * manager or an old process has passed.  listener.c serves them from then on.
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "front/front.h"
#include "front/listener.h"
#include "front/sockopt.h"

#define BACKLOG 4096

static char *
socket_name(int fd)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	memset(&sa, 0, sizeof(sa));
	(void)getsockname(fd, (struct sockaddr *)&sa, &len);
	return sockopt_name(&sa, len);
}

static bool
fail(struct buf *why, const char *what)
{
	buf_addf(why, "%s: %s", what, strerror(errno));
	return false;
}

static int
socket_new(int family)
{
	return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* How the clients of a listener are treated. */
struct treatment {
	enum proxied proxied;
	int place; /* another process accepts there; -1: we do */
};

static enum handed_kind
kind_of(const struct treatment *as)
{
	return as->place >= 0 ? HANDED_TLS : HANDED_LINES;
}

static void
treat(struct listener *l, const struct treatment *as)
{
	l->proxied = as->proxied;
	if (as->place < 0)
		return;
	l->place = as->place;
	(void)event_del(l->event);
}

static in_port_t
tcp_port(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *six = (const void *)sa;
	const struct sockaddr_in *four = (const void *)sa;

	return sa->sa_family == AF_INET6 ? six->sin6_port : four->sin_port;
}

/* It is no failure if a passed socket listens on the address already. */
static bool
listen_at(struct front *f, const struct addrinfo *ai,
    const struct treatment *as, struct buf *why)
{
	struct sockaddr_storage sa;
	struct listener *there;
	char *name;
	int fd;

	memset(&sa, 0, sizeof(sa));
	memcpy(&sa, ai->ai_addr, ai->ai_addrlen);
	name = sockopt_name(&sa, ai->ai_addrlen);
	there = listener_find(f, name);
	free(name);
	if (there != NULL) {
		treat(there, as);
		if (as->place >= 0)
			listener_tell(there); /* of another protocol */
		return true;
	}
	fd = handed_listen(ai, kind_of(as), BACKLOG);
	if (fd < 0)
		return fail(why, "cannot listen on this address");
	there = listener_add(f, fd, true, socket_name(fd), NULL);
	treat(there, as);
	there->any_port = tcp_port(ai->ai_addr) == 0;
	listener_tell(there);
	return true;
}

/* A host name may stand for several addresses; one that works is enough. */
static bool
listen_host(struct front *f, const char *host, uint16_t port,
    const struct treatment *as, struct buf *why)
{
	struct addrinfo hints, *list, *ai;
	struct buf each;
	char service[8];
	bool ok = false;
	int err;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
	snprintf(service, sizeof(service), "%u", (unsigned)port);
	err = getaddrinfo(host, service, &hints, &list);
	if (err != 0) {
		buf_adds(why, gai_strerror(err));
		return false;
	}
	buf_init(&each);
	for (ai = list; ai; ai = ai->ai_next) {
		buf_clear(&each);
		if (listen_at(f, ai, as, &each))
			ok = true;
	}
	if (!ok)
		buf_add(why, buf_data(&each), buf_len(&each));
	buf_fini(&each);
	freeaddrinfo(list);
	return ok;
}

static bool
listen_tcp(struct front *f, const char *host, uint16_t port,
    const struct treatment *as, struct buf *why)
{
	struct buf inner;
	bool ok;

	buf_init(&inner);
	ok = listen_host(f, host, port, as, &inner);
	if (!ok) {
		buf_addf(why, strchr(host, ':') ? "[%s]:%u: " : "%s:%u: ", host,
		    (unsigned)port);
		buf_add(why, buf_data(&inner), buf_len(&inner));
	}
	buf_fini(&inner);
	return ok;
}

bool
front_listen_tcp(struct front *f, const char *host, uint16_t port,
    enum proxied proxied, struct buf *why)
{
	const struct treatment as = { proxied, -1 };

	return listen_tcp(f, host, port, &as, why);
}

bool
front_listen_place(struct front *f, const char *host, uint16_t port,
    unsigned place, struct buf *why)
{
	const struct treatment as = { PROXIED_NO, (int)place };

	return listen_tcp(f, host, port, &as, why);
}

/* Removes a socket on which no process listens any more, and no other file. */
static bool
remove_stale(const struct sockaddr_un *sa, struct buf *why)
{
	struct stat st;
	int fd, rc;

	if (lstat(sa->sun_path, &st) < 0)
		return fail(why, "cannot inspect the socket");
	if (!S_ISSOCK(st.st_mode)) {
		buf_adds(why, "the path exists and is not a socket");
		return false;
	}
	fd = socket_new(AF_UNIX);
	if (fd < 0)
		return fail(why, "socket");
	rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa));
	if (rc == 0 || errno != ECONNREFUSED) {
		buf_adds(why, "another process is listening there");
		(void)close(fd);
		return false;
	}
	(void)close(fd);
	if (unlink(sa->sun_path) < 0)
		return fail(why, "cannot remove the old socket");
	return true;
}

/*
 * Binds without any permission: no client can connect before the socket has its
 * configured permissions.
 */
static bool
bind_closed(int fd, const struct sockaddr_un *sa, struct buf *why)
{
	const struct sockaddr *addr = (const struct sockaddr *)sa;
	mode_t old = umask(0777);
	int rc = bind(fd, addr, sizeof(*sa));

	if (rc < 0 && errno == EADDRINUSE) {
		if (!remove_stale(sa, why)) {
			(void)umask(old);
			return false;
		}
		rc = bind(fd, addr, sizeof(*sa));
	}
	(void)umask(old);
	return rc == 0 ? true : fail(why, "cannot bind");
}

static bool
open_up(int fd, const char *path, unsigned mode, gid_t gid, struct buf *why)
{
	if (gid != (gid_t)-1 && lchown(path, (uid_t)-1, gid) < 0)
		return fail(why, "cannot set its group");
	if (chmod(path, (mode_t)mode) < 0)
		return fail(why, "cannot set its mode");
	if (listen(fd, BACKLOG) < 0)
		return fail(why, "cannot listen on this address");
	return true;
}

/*
 * Removes the socket if its permissions cannot be set: clients could not even
 * see that no broker listens.
 */
static bool
bind_unix(int fd, const struct sockaddr_un *sa, unsigned mode, gid_t gid,
    struct buf *why)
{
	if (!bind_closed(fd, sa, why))
		return false;
	if (open_up(fd, sa->sun_path, mode, gid, why))
		return true;
	(void)unlink(sa->sun_path);
	return false;
}

static bool
find_group(const char *group, gid_t *gid, struct buf *why)
{
	const struct group *g;

	*gid = (gid_t)-1;
	if (group == NULL || !*group)
		return true;
	g = getgrnam(group);
	if (g == NULL) {
		buf_adds(why, "the group does not exist");
		return false;
	}
	*gid = g->gr_gid;
	return true;
}

static bool
listen_unix(struct front *f, const char *path, unsigned mode, const char *group,
    struct buf *why)
{
	struct sockaddr_un sa;
	struct listener *l;
	struct buf name;
	gid_t gid;
	bool there, handed;
	int fd;

	memset(&sa, 0, sizeof(sa));
	sa.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(sa.sun_path)) {
		buf_adds(why, "the path is too long for a socket");
		return false;
	}
	memcpy(sa.sun_path, path, strlen(path));
	buf_init(&name);
	buf_addf(&name, "unix:%s", path);
	buf_addc(&name, '\0');
	there = listener_find(f, buf_data(&name)) != NULL;
	buf_fini(&name);
	if (there)
		return true;
	if (!find_group(group, &gid, why))
		return false;
	/* If the two processes do not share the directory, the path is free. */
	fd = handed_is_spare() && access(path, F_OK) < 0
		 ? -1
		 : handed_claim(
		       (const struct sockaddr *)&sa, sizeof(sa), HANDED_LINES);
	handed = fd >= 0;
	if (fd < 0)
		fd = socket_new(AF_UNIX);
	if (fd < 0)
		return fail(why, "socket");
	if (!(handed ? open_up(fd, path, mode, gid, why)
		     : bind_unix(fd, &sa, mode, gid, why))) {
		(void)close(fd);
		return false;
	}
	l = listener_add(f, fd, false, socket_name(fd), xstrdup(path));
	l->shared = handed;
	listener_tell(l);
	return true;
}

bool
front_listen_unix(struct front *f, const char *path, unsigned mode,
    const char *group, struct buf *why)
{
	struct buf inner;
	bool ok;

	buf_init(&inner);
	ok = listen_unix(f, path, mode, group, &inner);
	if (!ok)
		buf_addf(why, "%s: %.*s", path, (int)buf_len(&inner),
		    buf_data(&inner));
	buf_fini(&inner);
	return ok;
}

static bool
get_int(int fd, int option, int *value)
{
	socklen_t len = sizeof(*value);

	return getsockopt(fd, SOL_SOCKET, option, value, &len) == 0;
}

bool
front_listen_fd(struct front *f, int fd, struct buf *why)
{
	int type = 0, accepts = 0, domain = 0;
	struct listener *l;
	int flags;

	if (!get_int(fd, SO_TYPE, &type) ||
	    !get_int(fd, SO_ACCEPTCONN, &accepts) ||
	    !get_int(fd, SO_DOMAIN, &domain) || type != SOCK_STREAM ||
	    !accepts ||
	    (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX)) {
		buf_adds(why, "is not a listening stream socket");
		(void)close(fd);
		return false;
	}
	flags = fcntl(fd, F_GETFL);
	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	l = listener_add(f, fd, domain != AF_UNIX, socket_name(fd), NULL);
	l->passed = true;
	listener_tell(l);
	return true;
}
