/*
 * A connection to a server: TCP, the handshake, and then a pipe.
 *
 * In TLS 1.3 a server judges our certificate only after our side of the
 * handshake is complete.  So if the server ends the connection before its first
 * byte, we send the reason in place of its first reply.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/tcp.h"
#include "base/xmalloc.h"
#include "relay/relay.h"
#include "tls/dial.h"
#include "tls/pipe.h"
#include "tls/wording.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* Returns 0 if it is not a numeric address. */
static socklen_t
parse(union address *a, const char *ip, uint16_t port)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, ip, &a->in.sin_addr) == 1) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons(port);
		return sizeof(a->in);
	}
	if (inet_pton(AF_INET6, ip, &a->in6.sin6_addr) == 1) {
		a->in6.sin6_family = AF_INET6;
		a->in6.sin6_port = htons(port);
		return sizeof(a->in6);
	}
	return 0;
}

/* Makes the kernel notice a host that has vanished. */
static void
tune(int fd, int64_t timeout_ms)
{
	const struct tcp_patience patience = { 15, 5, 3, timeout_ms };

	tcp_nodelay(fd);
	tcp_keepalive(fd, &patience);
}

/* kind: '-' if the server cannot be reached, '!' if TLS with it fails. */
static void
refuse(int local, char kind, const char *why)
{
	char line[WORDING_WHY_SIZE + 4];
	int n = snprintf(line, sizeof(line), "%c%s\n", kind, why);

	(void)send(local, line, (size_t)n, MSG_NOSIGNAL);
}

static void
fail(struct pipe *p, char kind, const char *why)
{
	refuse(p->local, kind, why);
	pipe_free(p);
}

static void
be_late(struct pipe *p)
{
	if (p->stage == PIPE_CONNECTING)
		fail(p, '-', "connecting takes too long");
	else
		fail(p, '!',
		    "the server does not answer the TLS handshake: check "
		    "that the port is a TLS port");
}

static void
tell_broken(struct pipe *p)
{
	unsigned long error = ERR_peek_last_error();
	char why[WORDING_WHY_SIZE];

	if (ERR_GET_LIB(error) != ERR_LIB_SSL)
		return;
	wording_why(p, 0, why);
	buf_addf(&p->in, "-" RELAY_BROKEN "%s\r\n", why);
}

/* OpenSSL copies the name, although its parameter is not const. */
static void
send_name(struct pipe *p, const char *name)
{
	char *copy = xstrdup(name);

	(void)SSL_set_tlsext_host_name(p->ssl, copy);
	free(copy);
}

static void
check_name(struct pipe *p, const char *name)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(p->ssl);
	union address a;
	bool numeric = parse(&a, name, 0) != 0;

	/* RFC 6066: an address is not a server name. */
	if (!numeric)
		send_name(p, name);
	if (!p->engine->servers.names)
		return;
	X509_VERIFY_PARAM_set_hostflags(
	    param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	if ((numeric ? X509_VERIFY_PARAM_set1_ip_asc(param, name)
		     : X509_VERIFY_PARAM_set1_host(param, name, 0)) != 1)
		abort();
}

static void
shake(struct pipe *p)
{
	char why[WORDING_WHY_SIZE];
	int rc, err;

	rc = pipe_shake(p);
	err = errno;
	if (rc > 0) {
		buf_adds(&p->in, "+\n");
		pipe_move(p);
	} else if (rc < 0) {
		wording_why(p, err, why);
		fail(p, '!', why);
	}
}

static void
go_on(struct pipe *p)
{
	socklen_t len = sizeof(int);
	int error = 0;

	if (p->stage == PIPE_CONNECTING) {
		if (getsockopt(p->net, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
			error = errno;
		if (error != 0) {
			fail(p, '-', strerror(error));
			return;
		}
		p->stage = PIPE_SHAKING;
	}
	shake(p);
}

static const struct pipe_class dialed = {
	.go_on = go_on,
	.late = be_late,
	.broken = tell_broken,
};

void
dial(struct engine *e, int local, const char *ip, uint16_t port,
    const char *name)
{
	union address a;
	socklen_t len = parse(&a, ip, port);
	struct pipe *p;
	int fd = -1;

	if (len > 0)
		fd = socket(a.any.sa_family,
		    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		refuse(local, '-', len > 0 ? strerror(errno) : "no address");
		(void)close(local);
		return;
	}
	tune(fd, e->reply_timeout_ms);
	p = pipe_new(e, fd, &dialed);
	p->local = local;
	p->stage = PIPE_CONNECTING;
	snprintf(p->peer, sizeof(p->peer), "%s", ip);
	pipe_secure(p, &e->servers);
	check_name(p, name);
	pipe_timer(p, e->connect_timeout_ms / 10 * 9);
	if (connect(fd, &a.any, len) < 0 && errno != EINPROGRESS) {
		fail(p, '-', strerror(errno));
		return;
	}
	pipe_watch_net(p, EV_WRITE);
}
