/*
 * One hop more, and nothing else: copies bytes between clients and a server, to
 * compare a broker with.
 *
 * usage: hop PORT SERVER-PORT, both of 127.0.0.1.  A process a connection.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

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

static int
new_socket(void)
{
	const int on = 1;
	int fd = check(socket(AF_INET, SOCK_STREAM, 0), "socket");

	check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)),
	    "setsockopt");
	return fd;
}

/* Until one of the two closes. */
static void
copy(struct pollfd fds[2])
{
	char data[65536];
	ssize_t n;
	int i;

	for (;;) {
		check(poll(fds, 2, -1), "poll");
		for (i = 0; i < 2; i++) {
			if (fds[i].revents == 0)
				continue;
			n = recv(fds[i].fd, data, sizeof(data), 0);
			if (n <= 0 ||
			    send(fds[1 - i].fd, data, (size_t)n, 0) != n)
				return;
		}
	}
}

static void
serve(int client, const struct sockaddr_in *server)
{
	struct pollfd fds[2] = { { .fd = client, .events = POLLIN },
		{ .fd = new_socket(), .events = POLLIN } };
	const int on = 1;

	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	check(connect(
		  fds[1].fd, (const struct sockaddr *)server, sizeof(*server)),
	    "connect");
	copy(fds);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in here, server;
	int listener, client;

	if (argc != 3)
		return 2;
	here = loopback(argv[1]);
	server = loopback(argv[2]);
	(void)signal(SIGCHLD, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	listener = new_socket();
	check(bind(listener, (const struct sockaddr *)&here, sizeof(here)),
	    "bind");
	check(listen(listener, 64), "listen");
	for (;;) {
		client = check(accept(listener, NULL, NULL), "accept");
		if (check(fork(), "fork") == 0) {
			(void)close(listener);
			serve(client, &server);
			return 0;
		}
		(void)close(client);
	}
}
