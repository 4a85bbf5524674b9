/*
 * One read for each readiness and one write for each request: a driver that
 * did more would measure itself.
 */
#include "config.h"

#include "peer.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "measure.h"
#include "secure.h"

#define TLS "tls://"
#define READ_BYTES 4096
#define EVENTS_MAX 256

void
fail(const char *fmt, ...)
{
	va_list ap;

	fputs("loadgen: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

/* ---- connections ---- */

static int
connect_unix(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(sun.sun_path))
		fail("%s: too long", path);
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

static int
connect_tcp(const char *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	const char *colon = strrchr(address, ':');
	int fd, rc, on = 1;
	char *host;

	if (colon == NULL)
		fail("%s: neither HOST:PORT nor /PATH", address);
	host = xstrndup(address, (size_t)(colon - address));
	rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc != 0)
		fail("%s: %s", address, gai_strerror(rc));
	free(host);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) < 0)
		fail("%s: %s", address, strerror(errno));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	freeaddrinfo(found);
	return fd;
}

static bool
is_secure(const char *address)
{
	return strncmp(address, TLS, strlen(TLS)) == 0;
}

int
peer_connect(const char *address)
{
	if (is_secure(address))
		address += strlen(TLS);
	return address[0] == '/' ? connect_unix(address) : connect_tcp(address);
}

static void
watch(struct peers *peers, int op, int fd, uint32_t events, void *ptr)
{
	struct epoll_event ev = { .events = events, .data.ptr = ptr };

	if (epoll_ctl(peers->epoll, op, fd, &ev) < 0)
		fail("epoll_ctl: %s", strerror(errno));
}

struct peers *
peers_new(unsigned n, char *const *addresses, size_t naddresses,
    const struct peer_handler *handler, void *arg)
{
	struct peers *peers = xcalloc(1, sizeof(*peers));
	unsigned i;

	peers->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (peers->epoll < 0)
		fail("epoll_create1: %s", strerror(errno));
	peers->n = n;
	peers->v = xcalloc(n, sizeof(*peers->v));
	peers->handler = handler;
	peers->arg = arg;
	for (i = 0; i < PAUSE_MAX; i++) {
		peers->pauses[i].timer = -1;
		peers->pauses[i].end = &peers->pauses[i].first;
	}
	for (i = 0; i < n; i++) {
		struct peer *p = &peers->v[i];

		p->peers = peers;
		p->id = i;
		buf_init(&p->in);
		buf_init(&p->out);
		p->fd = peer_connect(addresses[i % naddresses]);
		if (is_secure(addresses[i % naddresses]))
			p->secure = secure_new(p->fd);
		watch(peers, EPOLL_CTL_ADD, p->fd, EPOLLIN, p);
	}
	return peers;
}

void
peers_free(struct peers *peers)
{
	unsigned i;

	for (i = 0; i < peers->n; i++) {
		secure_free(peers->v[i].secure);
		close(peers->v[i].fd);
		buf_fini(&peers->v[i].in);
		buf_fini(&peers->v[i].out);
		free(peers->v[i].own);
	}
	for (i = 0; i < PAUSE_MAX; i++)
		if (peers->pauses[i].timer >= 0)
			close(peers->pauses[i].timer);
	close(peers->epoll);
	free(peers->v);
	free(peers);
}

/* ---- pauses ---- */

/* A timer of its own, because epoll_wait() counts in milliseconds. */
void
peers_pause_length(struct peers *peers, enum pause which, uint64_t ns)
{
	struct pause_queue *q = &peers->pauses[which];

	q->ns = ns;
	if (ns == 0 || q->timer >= 0)
		return;
	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	q->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (q->timer < 0)
		fail("timerfd_create: %s", strerror(errno));
	watch(peers, EPOLL_CTL_ADD, q->timer, EPOLLIN, q);
}

static void
arm(struct pause_queue *q)
{
	struct itimerspec at = { .it_value = { 0, 0 } };

	if (q->first == NULL)
		return;
	at.it_value.tv_sec = (time_t)(q->first->due_ns / 1000000000);
	at.it_value.tv_nsec = (long)(q->first->due_ns % 1000000000);
	if (timerfd_settime(q->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0)
		fail("timerfd_settime: %s", strerror(errno));
}

void
peer_pause(struct peer *p, enum pause which)
{
	struct pause_queue *q = &p->peers->pauses[which];
	bool was_empty = q->first == NULL;

	if (q->ns == 0) {
		p->peers->handler->resume(p);
		return;
	}
	p->due_ns = now_ns() + q->ns;
	p->next = NULL;
	*q->end = p;
	q->end = &p->next;
	if (was_empty)
		arm(q);
}

static void
resume_due(struct peers *peers, struct pause_queue *q)
{
	uint64_t expirations, now = now_ns();
	struct peer *p;

	if (read(q->timer, &expirations, sizeof(expirations)) < 0)
		return;
	while ((p = q->first) != NULL && p->due_ns <= now) {
		q->first = p->next;
		if (q->first == NULL)
			q->end = &q->first;
		peers->handler->resume(p);
	}
	arm(q);
}

/* ---- bytes ---- */

static ssize_t
put(struct peer *p, const char *text, size_t n)
{
	if (p->secure != NULL)
		return secure_send(p->secure, text, n);
	return send(p->fd, text, n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t
get(struct peer *p, char *room, size_t n)
{
	if (p->secure != NULL)
		return secure_recv(p->secure, room, n);
	return recv(p->fd, room, n, MSG_DONTWAIT);
}

static void
flush(struct peer *p)
{
	ssize_t n;

	n = put(p, buf_data(&p->out), buf_len(&p->out));
	if (n < 0 && errno != EAGAIN)
		fail("client %u: %s", p->id, strerror(errno));
	if (n > 0)
		buf_consume(&p->out, (size_t)n);
	watch(p->peers, EPOLL_CTL_MOD, p->fd,
	    buf_len(&p->out) > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN, p);
}

void
peer_send(struct peer *p, const char *text, size_t n)
{
	ssize_t sent = 0;

	if (buf_len(&p->out) == 0)
		sent = put(p, text, n);
	if (sent < 0 && errno != EAGAIN)
		fail("client %u: %s", p->id, strerror(errno));
	if (sent < 0)
		sent = 0;
	if ((size_t)sent == n)
		return;
	buf_add(&p->out, text + sent, n - (size_t)sent);
	watch(p->peers, EPOLL_CTL_MOD, p->fd, EPOLLIN | EPOLLOUT, p);
}

static void
receive(struct peer *p)
{
	const struct peer_handler *handler = p->peers->handler;
	char *room = buf_reserve(&p->in, READ_BYTES);
	size_t n;
	ssize_t got = get(p, room, READ_BYTES);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0)
		fail("client %u: %s", p->id,
		    got == 0 ? "the connection was closed" : strerror(errno));
	buf_added(&p->in, (size_t)got);
	while ((n = handler->frame(buf_data(&p->in), buf_len(&p->in))) > 0) {
		handler->answer(p, buf_data(&p->in), n);
		buf_consume(&p->in, n);
	}
}

static void
serve(struct peers *peers, const struct epoll_event *ev)
{
	struct pause_queue *q = ev->data.ptr;
	struct peer *p = ev->data.ptr;

	if (q >= peers->pauses && q < peers->pauses + PAUSE_MAX) {
		resume_due(peers, q);
		return;
	}
	if (ev->events & EPOLLOUT)
		flush(p);
	if (!(ev->events & (EPOLLIN | EPOLLERR | EPOLLHUP)))
		return;
	do
		receive(p);
	while (p->secure != NULL && secure_pending(p->secure));
}

void
peers_run(struct peers *peers, uint64_t until_ns)
{
	struct epoll_event events[EVENTS_MAX];
	uint64_t now;
	int i, n;

	while ((now = now_ns()) < until_ns) {
		n = epoll_wait(peers->epoll, events, EVENTS_MAX,
		    (int)((until_ns - now) / 1000000) + 1);
		if (n < 0 && errno != EINTR)
			fail("epoll_wait: %s", strerror(errno));
		for (i = 0; i < n; i++)
			serve(peers, &events[i]);
	}
}
