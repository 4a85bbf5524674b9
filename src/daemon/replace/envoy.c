/*
 * See envoy.h.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "config/config.h"
#include "daemon/replace/envoy.h"
#include "daemon/replace/upgrade.h"

/* Room for one descriptor, aligned as the kernel wants it. */
union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static enum envoy_end
refused(struct envoy *e, const char *what)
{
	snprintf(e->text, sizeof(e->text), "%s: %s", what, strerror(errno));
	return ENVOY_REFUSED;
}

/* Names have no spaces in a request, and options no `=`. */
static void
add_word(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++)
		if (*text > ' ' && *text < 127 && *text != '%' && *text != '=')
			buf_addc(out, *text);
		else
			buf_addf(out, "%%%02x", (unsigned char)*text);
}

void
envoy_add_redis(struct buf *out, const struct config *config)
{
	struct buf text;

	buf_init(&text);
	upgrade_add_redis(&text, config);
	add_word(out, buf_data(&text));
	buf_fini(&text);
}

static bool
send_line(struct envoy *e, const struct config *config, bool leaves)
{
	struct buf line;
	bool ok;

	buf_init(&line);
	buf_addf(&line,
	    "TAKEOVER name=%s version=%s%s redis=", config->broker.name,
	    PACKAGE_VERSION, leaves ? " leaves=yes" : "");
	envoy_add_redis(&line, config);
	buf_adds(&line, "\r\n");
	ok = send(e->fd, buf_data(&line), buf_len(&line), MSG_NOSIGNAL) ==
	     (ssize_t)buf_len(&line);
	buf_fini(&line);
	return ok;
}

enum envoy_end
envoy_send(
    struct envoy *e, const struct config *config, const char *path, bool leaves)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	*e = (struct envoy){ .fd = -1, .channel = -1 };
	if (strlen(path) >= sizeof(sa.sun_path))
		return ENVOY_NOBODY;
	memcpy(sa.sun_path, path, strlen(path));
	e->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (e->fd < 0)
		return refused(e, "socket");
	if (connect(e->fd, (const struct sockaddr *)&sa, sizeof(sa)) == 0)
		return send_line(e, config, leaves) ? ENVOY_LATER
						    : refused(e, "cannot ask");
	return errno == ENOENT || errno == ECONNREFUSED
		   ? ENVOY_NOBODY
		   : refused(e, "cannot connect");
}

static void
take_descriptor(struct envoy *e, struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	if (c != NULL && c->cmsg_level == SOL_SOCKET &&
	    c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)) && e->channel < 0)
		memcpy(&e->channel, CMSG_DATA(c), sizeof(e->channel));
}

/* Returns ENVOY_LATER if nothing but events has come. */
static enum envoy_end
judge(struct envoy *e)
{
	char *line = e->text, *end;

	while ((end = strchr(line, '\n')) != NULL && line[0] == '!')
		line = end + 1;
	if (end == NULL)
		return ENVOY_LATER;
	end[end > line && end[-1] == '\r' ? -1 : 0] = '\0';
	if (strncmp(line, "OK", 2) == 0 && e->channel >= 0)
		return ENVOY_OK;
	if (strncmp(line, "ERR ", 4) == 0)
		line += 4; /* a code, and a text for users */
	memmove(e->text, line, strlen(line) + 1);
	return ENVOY_REFUSED;
}

enum envoy_end
envoy_hear(struct envoy *e)
{
	struct iovec iov = { e->text + e->n, sizeof(e->text) - 1 - e->n };
	enum envoy_end how;
	union control control;
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(e->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return ENVOY_LATER;
	if (n < 0)
		return refused(e, "no answer");
	take_descriptor(e, &msg);
	e->n += (size_t)n;
	e->text[e->n] = '\0';
	how = judge(e);
	if (n > 0 || how != ENVOY_LATER)
		return how;
	snprintf(e->text, sizeof(e->text), "it ends the connection");
	return ENVOY_REFUSED;
}

bool
envoy_answer(int socket, struct span bytes, int fd)
{
	struct iovec iov = { (void *)(uintptr_t)bytes.p, bytes.n };
	union control control;
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)bytes.n;
}

void
envoy_end(struct envoy *e)
{
	if (e->fd >= 0)
		(void)close(e->fd);
	if (e->channel >= 0)
		(void)close(e->channel);
	e->fd = e->channel = -1;
}
