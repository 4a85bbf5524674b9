/*
 * One hop more, and nothing else: copies bytes between clients and a server, at
 * once or some time later, to compare a broker with, or to have Redis far away.
 *
 * usage: hop PORT SERVER-PORT [US], both of 127.0.0.1; US is how much later each
 * way.  One process for all connections, as a broker is.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 256

/* A client, and its connection to the server. */
struct pair {
	SLIST_ENTRY(pair) link; /* of those that have closed */
	int fds[2];
	unsigned waiting; /* chunks; it is freed behind them */
	bool closed;
};

/* Bytes on their way. */
struct chunk {
	STAILQ_ENTRY(chunk) link;
	struct pair *pair;
	int to;
	int64_t due_us;
	size_t len;
	char data[];
};

static STAILQ_HEAD(, chunk) chunks = STAILQ_HEAD_INITIALIZER(chunks);
static SLIST_HEAD(, pair) closed = SLIST_HEAD_INITIALIZER(closed);
static struct sockaddr_in server;
static int epoll_fd, timer_fd;
static int64_t delay_us;

static struct sockaddr_in
loopback(const char *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static int
check(int result, const char *what)
{
	if (result >= 0)
		return result;
	perror(what);
	exit(1);
}

static void *
memory(size_t size)
{
	void *p = calloc(1, size);

	check(p != NULL ? 0 : -1, "calloc");
	return p;
}

static int64_t
now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
no_delay(int fd)
{
	const int on = 1;

	check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)),
	    "setsockopt");
}

/* The low bit of what an event is about is the side. */
static void
watch(int fd, uintptr_t about)
{
	struct epoll_event e = { .events = EPOLLIN,
		.data.u64 = (uint64_t)about };

	check(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e), "epoll_ctl");
}

static void
pair_close(struct pair *p)
{
	if (p->closed)
		return;
	p->closed = true;
	(void)close(p->fds[0]);
	(void)close(p->fds[1]);
	SLIST_INSERT_HEAD(&closed, p, link);
}

/* Of this batch no event is left that could be about them. */
static void
free_closed(void)
{
	struct pair *p, *next, *kept = NULL;

	for (p = SLIST_FIRST(&closed); p != NULL; p = next) {
		next = SLIST_NEXT(p, link);
		if (p->waiting == 0) {
			free(p);
			continue;
		}
		SLIST_NEXT(p, link) = kept;
		kept = p;
	}
	SLIST_FIRST(&closed) = kept;
}

static void
pass_on(struct pair *p, int to, const char *data, size_t len)
{
	ssize_t n;

	for (; !p->closed && len > 0; data += n, len -= (size_t)n) {
		n = send(p->fds[to], data, len, 0);
		if (n <= 0) {
			pair_close(p);
			return;
		}
	}
}

static void
arm(void)
{
	const struct chunk *c = STAILQ_FIRST(&chunks);
	struct itimerspec at = { 0 };

	if (c == NULL)
		return;
	at.it_value.tv_sec = (time_t)(c->due_us / 1000000);
	at.it_value.tv_nsec = (long)(c->due_us % 1000000) * 1000;
	check(timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL),
	    "timerfd_settime");
}

static void
pass_due(void)
{
	struct chunk *c;

	while ((c = STAILQ_FIRST(&chunks)) != NULL && c->due_us <= now_us()) {
		STAILQ_REMOVE_HEAD(&chunks, link);
		pass_on(c->pair, c->to, c->data, c->len);
		c->pair->waiting--;
		free(c);
	}
	arm();
}

static void
copy(struct pair *p, int from)
{
	static char data[65536];
	struct chunk *c;
	ssize_t n;

	if (p->closed)
		return;
	n = recv(p->fds[from], data, sizeof(data), MSG_DONTWAIT);
	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			pair_close(p);
		return;
	}
	if (delay_us == 0) {
		pass_on(p, 1 - from, data, (size_t)n);
		return;
	}
	c = memory(sizeof(*c) + (size_t)n);
	c->pair = p;
	c->to = 1 - from;
	c->due_us = now_us() + delay_us;
	c->len = (size_t)n;
	memcpy(c->data, data, c->len);
	p->waiting++;
	STAILQ_INSERT_TAIL(&chunks, c, link);
	if (STAILQ_FIRST(&chunks) == c)
		arm();
}

static void
serve(int listener)
{
	struct pair *p = memory(sizeof(*p));
	int i;

	p->fds[0] = check(accept(listener, NULL, NULL), "accept");
	p->fds[1] = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
	check(connect(
		  p->fds[1], (const struct sockaddr *)&server, sizeof(server)),
	    "connect");
	for (i = 0; i < 2; i++) {
		no_delay(p->fds[i]);
		watch(p->fds[i], (uintptr_t)p | (uintptr_t)i);
	}
}

static int
listen_at(const char *port)
{
	struct sockaddr_in here = loopback(port);
	const int on = 1;
	int fd = check(socket(AF_INET, SOCK_STREAM, 0), "socket");

	check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)),
	    "setsockopt");
	check(bind(fd, (const struct sockaddr *)&here, sizeof(here)), "bind");
	check(listen(fd, 4096), "listen");
	return fd;
}

static void
turn(int listener)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(epoll_fd, events, EVENTS_MAX, -1), i;
	uintptr_t about;
	uint64_t ticks;

	for (i = 0; i < n; i++) {
		about = (uintptr_t)events[i].data.u64;
		if (about == 0)
			serve(listener);
		else if (about == 1)
			(void)!read(timer_fd, &ticks, sizeof(ticks));
		else
			copy((struct pair *)(about & ~(uintptr_t)1),
			    (int)(about & 1));
	}
	if (delay_us > 0)
		pass_due();
	free_closed();
}

int
main(int argc, char **argv)
{
	struct rlimit most;
	int listener;

	if (argc != 3 && argc != 4)
		return 2;
	server = loopback(argv[2]);
	delay_us = argc == 4 ? strtol(argv[3], NULL, 10) : 0;
	(void)signal(SIGPIPE, SIG_IGN);
	check(getrlimit(RLIMIT_NOFILE, &most), "getrlimit");
	most.rlim_cur = most.rlim_max;
	check(setrlimit(RLIMIT_NOFILE, &most), "setrlimit");
	epoll_fd = check(epoll_create1(0), "epoll_create1");
	timer_fd = check(
	    timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), "timerfd_create");
	listener = listen_at(argv[1]);
	watch(listener, 0);
	watch(timer_fd, 1);
	for (;;)
		turn(listener);
}
