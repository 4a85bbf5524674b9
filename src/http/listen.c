/* See listen.h. */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

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
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);

	(void)getsockname(out->fd, (struct sockaddr *)&sa, &len);
	out->loopback = is_loopback(&sa);
	if (getnameinfo((const struct sockaddr *)&sa, len, host, sizeof(host),
		service, sizeof(service), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	snprintf(out->name, sizeof(out->name),
	    sa.ss_family == AF_INET6 ? "[%.48s]:%s" : "%.48s:%s", host,
	    service);
}

static bool
listen_at(struct http_socket *out, const struct addrinfo *ai)
{
	const struct sockaddr_in6 *six = (const void *)ai->ai_addr;
	const struct sockaddr_in *four = (const void *)ai->ai_addr;
	int fd = handed_listen(ai, HANDED_HTTP, BACKLOG);

	if (fd < 0)
		return false;
	*out = (struct http_socket){ .fd = fd };
	out->any_port =
	    (ai->ai_family == AF_INET6 ? six->sin6_port : four->sin_port) == 0;
	describe(out);
	return true;
}

size_t
http_sockets(struct http_socket out[LISTEN_SOCKETS], const char *host,
    uint16_t port, struct buf *why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list, *ai;
	char service[8];
	size_t n = 0;
	int err;

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
