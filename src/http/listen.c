/*
 * See listen.h.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/handed.h"
#include "http/listen.h"

#define BACKLOG 128

static bool
is_loopback(const struct sockaddr_storage *sa)
{
	const struct sockaddr_in6 *six = (const void *)sa;
	const struct sockaddr_in *four = (const void *)sa;

	if (sa->ss_family == AF_INET)
		return ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return sa->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

/* Notes the address, with the port that the kernel has chosen. */
static void
describe(struct http_socket *out)
{
	char host[INET6_ADDRSTRLEN + 16], service[8];
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);

	memset(&sa, 0, sizeof(sa));
	(void)getsockname(out->fd, (struct sockaddr *)&sa, &len);
	out->loopback = is_loopback(&sa);
	if (getnameinfo((const struct sockaddr *)&sa, len, host, sizeof(host),
		service, sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	snprintf(out->name, sizeof(out->name),
	    sa.ss_family == AF_INET6 ? "[%.48s]:%s" : "%.48s:%s", host,
	    service);
}

/* Returns a socket that listens, or -1 with errno. */
static int
bind_tcp(const struct addrinfo *ai)
{
	const int one = 1;
	int fd = socket(
	    ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6) /* 0.0.0.0 may have its own socket */
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	err = errno;
	(void)close(fd);
	errno = err;
	return -1;
}

/* The same; or a socket that was handed to this process. */
static int
open_tcp(const struct addrinfo *ai)
{
	bool anew = handed_is_spare();
	int fd = anew ? bind_tcp(ai) : -1;

	if (fd < 0)
		fd = handed_claim(ai->ai_addr, ai->ai_addrlen, HANDED_HTTP);
	return fd < 0 && !anew ? bind_tcp(ai) : fd;
}

static bool
listen_at(struct http_socket *out, const struct addrinfo *ai)
{
	const struct sockaddr_in6 *six = (const void *)ai->ai_addr;
	const struct sockaddr_in *four = (const void *)ai->ai_addr;
	int fd = open_tcp(ai);

	if (fd < 0)
		return false;
	memset(out, 0, sizeof(*out));
	out->fd = fd;
	out->any_port =
	    (ai->ai_family == AF_INET6 ? six->sin6_port : four->sin_port) == 0;
	describe(out);
	return true;
}

size_t
http_sockets(struct http_socket out[LISTEN_SOCKETS], const char *host,
    uint16_t port, struct buf *why)
{
	struct addrinfo hints, *list, *ai;
	char service[8];
	size_t n = 0;
	int err;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM;
	hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
	snprintf(service, sizeof(service), "%u", (unsigned)port);
	err = getaddrinfo(host, service, &hints, &list);
	if (err == 0) {
		for (ai = list; ai != NULL && n < LISTEN_SOCKETS;
		     ai = ai->ai_next)
			n += listen_at(&out[n], ai);
		err = errno;
		freeaddrinfo(list);
		errno = err;
		err = 0;
	}
	if (n == 0)
		buf_addf(why,
		    strchr(host, ':')
			? "[%s]:%u: cannot listen on this address: %s"
			: "%s:%u: cannot listen on this "
			  "address: %s",
		    host, (unsigned)port,
		    err != 0 ? gai_strerror(err) : strerror(errno));
	return n;
}

bool
http_host_is_local(const char *host)
{
	static const char local[] = "localhost";
	size_t n = strcspn(host, ":"), tail = sizeof(local) - 1;
	char name[INET6_ADDRSTRLEN];
	struct in_addr four;

	/* Names have no brackets. */
	if (host[0] == '[')
		return strchr(host, ']') != NULL;
	if (n >= tail && strncasecmp(host + n - tail, local, tail) == 0)
		return n == tail || host[n - tail - 1] == '.';
	if (n >= sizeof(name))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return inet_pton(AF_INET, name, &four) == 1;
}
