/*
 * Datagrams of texts, which may carry a descriptor.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay/packet.h"

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

void
packet_begin(struct packet *p, const char *word)
{
	p->len = 0;
	p->n = 0;
	p->fd = -1;
	p->full = false;
	packet_add(p, word);
}

void
packet_add(struct packet *p, const char *text)
{
	size_t n = strlen(text) + 1;

	assert(p->len <= sizeof(p->bytes) && p->n <= PACKET_TEXTS_MAX);
	if (p->n == PACKET_TEXTS_MAX || n > sizeof(p->bytes) - p->len) {
		p->full = true;
		return;
	}
	memcpy(p->bytes + p->len, text, n);
	p->len += n;
	p->n++;
}

void
packet_add_num(struct packet *p, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, n);
	packet_add(p, text);
}

enum packet_end
packet_send(int socket, const struct packet *p, int fd)
{
	struct iovec iov = { (void *)(uintptr_t)p->bytes, p->len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control;
	struct cmsghdr *c;

	assert(p->n > 0 && p->len <= sizeof(p->bytes));
	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	while (sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		if (errno == EINTR)
			continue;
		return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM ||
			       errno == ETOOMANYREFS
			   ? PACKET_LATER
			   : PACKET_GONE;
	}
	return PACKET_OK;
}

static void
take_descriptor(struct packet *p, struct msghdr *msg)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(&p->fd, CMSG_DATA(c), sizeof(p->fd));
}

/* Returns false if the last text has no NUL. */
static bool
find_texts(struct packet *p)
{
	char *at = p->bytes, *end = p->bytes + p->len;

	if (p->len == 0 || end[-1] != '\0')
		return false;
	for (p->n = 0; at < end && p->n < PACKET_TEXTS_MAX; p->n++) {
		p->text[p->n] = at;
		at += strlen(at) + 1;
	}
	return at == end;
}

/* If the other process has gone and left something unread, Linux reports
 * ECONNRESET once, before the data that the process has sent. */
enum packet_end
packet_receive(int socket, struct packet *p)
{
	struct iovec iov = { p->bytes, sizeof(p->bytes) };
	union control control;
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t n;

	p->fd = -1;
	p->n = 0;
	do
		n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0 && errno == EAGAIN)
		return PACKET_LATER;
	if (n <= 0)
		return PACKET_GONE;
	p->len = (size_t)n;
	take_descriptor(p, &msg);
	if (!(msg.msg_flags & MSG_TRUNC) && find_texts(p))
		return PACKET_OK;
	packet_drop_fd(p);
	return PACKET_GONE;
}

bool
packet_is(const struct packet *p, const char *word, unsigned texts)
{
	assert(p->n <= PACKET_TEXTS_MAX);
	return p->n >= texts + 1 && strcmp(p->text[0], word) == 0;
}

const char *
packet_text(const struct packet *p, unsigned i)
{
	return i < p->n ? p->text[i] : "";
}

int64_t
packet_num(const struct packet *p, unsigned i)
{
	return strtoll(packet_text(p, i), NULL, 10);
}

int
packet_take_fd(struct packet *p)
{
	int fd = p->fd;

	p->fd = -1;
	return fd;
}

void
packet_drop_fd(struct packet *p)
{
	if (p->fd >= 0)
		(void)close(p->fd);
	p->fd = -1;
}
