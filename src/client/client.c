/*
 * One connection to a broker.
 *
 * A connection that is not established yet behaves like one whose socket takes
 * nothing: send and recv fail with EAGAIN, and later either work or report the
 * error. So it needs no state of its own.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/now.h"
#include "base/tcp.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "client/client.h"
#include "relay/spawn.h"

/* Far longer than any line of a broker. */
#define LINE_MAX_BYTES (1024 * 1024)
#define READ_BYTES 16384
#define READS_MAX 64

/* A name that there is time for, since no other address is left: name servers
 * are asked in turn, with some seconds for each. */
#define LOOKUP_ALONE_MS 30000

/* A wait is cut into slices, which show whether this process runs. */
#define SLICE_MS 250

void
client_init(struct client *c, const char *login)
{
	memset(c, 0, sizeof(*c));
	c->login = login;
	c->fd = -1;
	buf_init(&c->in);
	buf_init(&c->out);
}

void
client_close(struct client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
	buf_clear(&c->in);
	buf_clear(&c->out);
	message_fini(&c->partial);
	c->lines_left = 0;
	c->auth_due = false;
}

void
client_fini(struct client *c)
{
	client_close(c);
	lookup_forget(&c->lookups);
	buf_fini(&c->in);
	buf_fini(&c->out);
}

/* Makes the kernel notice a host that has vanished. */
static void
tcp_tune(int fd)
{
	static const struct tcp_patience patience = { 10, 5, 4, 30000 };

	tcp_nodelay(fd);
	tcp_keepalive(fd, &patience);
}

static void
client_ended(struct client *c, const char *why)
{
	if (c->why[0] == '\0')
		snprintf(c->why, sizeof(c->why), "%s", why);
}

/* Sends the first line of every connection, if there is one. */
static void
client_log_in(struct client *c)
{
	assert(c->fd >= 0 && buf_len(&c->out) == 0);
	if (c->login == NULL)
		return;
	buf_adds(&c->out, c->login);
	buf_addc(&c->out, '\n');
	c->auth_due = true;
}

/* Starts the process that speaks TLS, and gives it its end of the pair. */
static int
tls_start(struct client *c, char *ip, char *port, int end)
{
	const struct place *place = c->address;
	const struct tls_files *files = &place->files;
	char program[SPAWN_PATH_SIZE], word[] = "connect", none[] = "";
	char *argv[] = { program, word, ip, port, place->at.host,
		files->ca ? (char *)(uintptr_t)files->ca : none,
		files->cert ? (char *)(uintptr_t)files->cert : none,
		files->key ? (char *)(uintptr_t)files->key : none, NULL };

	return spawn_find(program) ? spawn(argv, end, true, &c->tls) : ENOENT;
}

static bool
tls_connect(struct client *c, const struct sockaddr *sa, socklen_t len)
{
	char ip[NI_MAXHOST], port[NI_MAXSERV];
	int ends[2], error;

	c->greeting.n = 0;
	if (getnameinfo(sa, len, ip, sizeof(ip), port, sizeof(port),
		NI_NUMERICHOST | NI_NUMERICSERV) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		ends) < 0) {
		client_ended(c, "cannot connect");
		return false;
	}
	error = tls_start(c, ip, port, ends[1]);
	(void)close(ends[1]);
	c->fd = ends[0];
	if (error == 0) {
		client_log_in(c);
		return true;
	}
	client_ended(c, error == ENOENT ? SPAWN_MISSING : strerror(error));
	client_close(c);
	return false;
}

static bool
client_connect(struct client *c, const struct sockaddr *sa, socklen_t len)
{
	assert(len <= sizeof(c->peer));
	client_close(c);
	c->why[0] = '\0';
	c->refused = false;
	c->tls = 0;
	memcpy(&c->peer, sa, len);
	c->peer_len = len;
	c->heard = false;
	c->greeted = c->address == NULL || !c->address->tls;
	if (!c->greeted)
		return tls_connect(c, sa, len);
	c->fd = socket(
	    sa->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd >= 0 && sa->sa_family != AF_UNIX)
		tcp_tune(c->fd);
	if (c->fd >= 0 &&
	    (connect(c->fd, sa, len) == 0 || errno == EINPROGRESS)) {
		client_log_in(c);
		return true;
	}
	client_ended(c, strerror(errno));
	client_close(c);
	return false;
}

bool
client_open_like(struct client *c, const struct client *other)
{
	struct sockaddr_storage peer = other->peer;

	c->address = other->address;
	return client_connect(c, (struct sockaddr *)&peer, other->peer_len);
}

/*
 * A port that speaks TLS replies like this, and so does a broker that accepts
 * no more clients.
 */
static bool
is_no_use(struct client *c, const struct message *reply)
{
	static const char gone[] = "shutdown";
	const char *text = message_error(reply);

	if (message_error_is(reply, "bad-request"))
		snprintf(c->why, sizeof(c->why),
		    "%s (put tls:// in front of it)", text);
	else if (message_error_is(reply, gone))
		snprintf(c->why, sizeof(c->why), "%s",
		    text + strlen(gone) + strspn(text + strlen(gone), " "));
	else
		return false;
	return true;
}

/* Does the peer answer the first line in time? */
static enum client_got
client_try(struct client *c, const struct sockaddr *sa, socklen_t len,
    const struct client_probe *probe, struct message *reply)
{
	const int64_t deadline_ms =
	    min_ms(client_now_ms(c) + CLIENT_ANSWER_MS, probe->deadline_ms);
	enum client_got got;

	if (deadline_ms <= client_now_ms(c)) {
		client_close(c);
		c->why[0] = '\0';
		client_ended(c, "not tried, out of time");
		return CLIENT_NOTHING;
	}
	if (!client_connect(c, sa, len))
		return CLIENT_NOTHING;
	client_send(c, "%s", probe->line);
	c->stranger = CLIENT_GARBAGE_WHY;
	do {
		got = client_wait(c, deadline_ms, reply);
		if (got == CLIENT_MESSAGE && !reply->event &&
		    is_no_use(c, reply)) {
			message_fini(reply);
			client_close(c);
			return CLIENT_NOTHING;
		}
		if (got == CLIENT_MESSAGE && !reply->event &&
		    message_status(reply) != STATUS_MAX)
			return got;
		/* Other servers have other replies to an unknown command. */
		if (got == CLIENT_MESSAGE && !reply->event)
			got = CLIENT_GARBAGE;
		message_fini(reply);
	} while (got == CLIENT_MESSAGE);
	/* Perhaps a TLS alert: it is not a line, and nothing follows it. */
	if (buf_len(&c->in) > 0 && !c->refused)
		got = CLIENT_GARBAGE;
	if (got == CLIENT_GARBAGE)
		c->why[0] = '\0';
	client_ended(
	    c, got == CLIENT_GARBAGE ? c->stranger : "does not answer");
	client_close(c);
	return c->refused ? CLIENT_REFUSED : got;
}

static enum client_got
client_try_path(struct client *c, const char *path,
    const struct client_probe *probe, struct message *reply)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	assert(strlen(path) < sizeof(un.sun_path));
	memcpy(un.sun_path, path, strlen(path));
	return client_try(
	    c, (const struct sockaddr *)&un, sizeof(un), probe, reply);
}

/*
 * The deadline for one address while more follow: an address that hangs must
 * not use up the time of the next. The first address is the most likely to
 * answer.
 */
static int64_t
share_end(const struct client *c, const struct client_probe *probe, size_t left)
{
	const int64_t now = client_now_ms(c);

	assert(left > 0);
	if (probe->deadline_ms == NEVER_MS)
		return NEVER_MS;
	return now + (probe->deadline_ms - now) / (left > 1 ? 2 : 1);
}

static size_t
list_length(const struct addrinfo *ai)
{
	size_t n = 0;

	for (; ai != NULL; ai = ai->ai_next)
		n++;
	return n;
}

/*
 * If one of the host's addresses speaks another protocol, that is the reason
 * reported.
 */
static enum client_got
client_try_host(struct client *c, const struct address *a, bool last,
    const struct client_probe *probe, struct message *reply)
{
	const int64_t late_ms =
	    client_now_ms(c) + (last ? LOOKUP_ALONE_MS : CLIENT_ANSWER_MS);
	struct addrinfo *all, *ai;
	struct client_probe one = *probe;
	enum client_got got = CLIENT_NOTHING;
	const char *stranger = NULL;
	int rc;

	rc = lookup_host(&c->lookups, a, min_ms(late_ms, probe->deadline_ms),
	    c->stop, &c->still_ms, &all);
	if (rc != 0) {
		c->why[0] = '\0';
		client_ended(c, rc == LOOKUP_LATE ? "no name server answers"
						  : gai_strerror(rc));
		return CLIENT_NOTHING;
	}
	for (ai = all;
	     ai != NULL && got != CLIENT_MESSAGE && got != CLIENT_REFUSED;
	     ai = ai->ai_next) {
		one.deadline_ms = share_end(c, probe, list_length(ai));
		got = client_try(c, ai->ai_addr, ai->ai_addrlen, &one, reply);
		if (got == CLIENT_GARBAGE)
			stranger = c->stranger;
	}
	freeaddrinfo(all);
	if (got == CLIENT_MESSAGE || got == CLIENT_REFUSED || stranger == NULL)
		return got;
	snprintf(c->why, sizeof(c->why), "%s", stranger);
	return CLIENT_GARBAGE;
}

enum client_got
client_open(struct client *c, const struct address_list *list,
    const struct client_probe *probe, struct message *reply, struct buf *errors)
{
	enum client_got got, all = CLIENT_GARBAGE;
	struct client_probe one = *probe;
	const struct place *a;
	size_t i;

	assert(list->n > 0 && probe->line != NULL);
	for (i = 0; i < list->n; i++) {
		a = &list->items[(probe->first + i) % list->n];
		c->address = a;
		one.deadline_ms = share_end(c, probe, list->n - i);
		got = a->at.path != NULL
			  ? client_try_path(c, a->at.path, &one, reply)
			  : client_try_host(
				c, &a->at, i + 1 == list->n, &one, reply);
		if (got == CLIENT_MESSAGE)
			return got;
		if (got == CLIENT_REFUSED ||
		    (got == CLIENT_NOTHING && all == CLIENT_GARBAGE))
			all = got;
		if (errors != NULL)
			buf_addf(errors, "%s%s: %s", i > 0 ? "; " : "", a->text,
			    c->why);
	}
	return all;
}

static bool
again(void)
{
	return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
}

static void
client_flush(struct client *c)
{
	ssize_t n = 1;

	while (c->fd >= 0 && buf_len(&c->out) > 0) {
		n = send(
		    c->fd, buf_data(&c->out), buf_len(&c->out), MSG_NOSIGNAL);
		if (n <= 0)
			break;
		buf_consume(&c->out, (size_t)n);
	}
	/* recv decides whether this is the end; this only notes the reason. */
	if (n <= 0 && !again() && errno != EPIPE)
		client_ended(c, strerror(errno));
}

void
client_send(struct client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&c->out, fmt, ap);
	va_end(ap);
	buf_adds(&c->out, "\n");
	client_flush(c);
}

short
client_events(const struct client *c)
{
	return (short)(POLLIN | (buf_len(&c->out) > 0 ? POLLOUT : 0));
}

int64_t
client_now_ms(const struct client *c)
{
	return now_ms() - c->still_ms;
}

bool
client_poll(struct client *c, int64_t wait_ms)
{
	struct pollfd fd = { .fd = c->fd, .events = client_events(c) };
	const int64_t ms = max_ms(min_ms(wait_ms, SLICE_MS), 0);
	const int64_t due_ms = now_ms() + ms;
	const bool any = poll(&fd, 1, (int)ms) > 0;

	c->still_ms += still_ms(now_ms() - due_ms);
	return any;
}

/* Over TLS: reads the first line, which is not the broker's. */
static bool
client_greeted(struct client *c, bool *open)
{
	enum relay_answer answer = relay_greeting(c->fd, &c->greeting);

	c->greeted = answer == RELAY_YES;
	*open = c->greeted || answer == RELAY_LATER;
	if (!*open)
		client_ended(c, c->greeting.text);
	return c->greeted;
}

/* Over TLS: has the broker refused our certificate? */
static bool
client_refused(struct client *c)
{
	static const char broken[] = "-" RELAY_BROKEN;
	const size_t n = sizeof(broken) - 1;
	char *data = buf_data(&c->in);

	if (c->heard || c->address == NULL || !c->address->tls ||
	    buf_len(&c->in) < n || memcmp(data, broken, n) != 0) {
		c->heard = true;
		return false;
	}
	buf_addc(&c->in, '\0');
	data = buf_data(&c->in) + n;
	data[strcspn(data, "\r\n")] = '\0';
	client_ended(c, data);
	buf_clear(&c->in);
	return true;
}

/*
 * A failed connection attempt shows as an error of recv; so does a reset. One
 * call makes a limited number of reads, so that a flood cannot delay timers.
 */
bool
client_pump(struct client *c)
{
	bool open = true;
	ssize_t n;
	int i;

	if (c->fd < 0)
		return false;
	client_flush(c);
	if (!c->greeted && !client_greeted(c, &open))
		return open;
	for (i = 0; i < READS_MAX; i++) {
		n = recv(c->fd, buf_reserve(&c->in, READ_BYTES), READ_BYTES, 0);
		if (n > 0) {
			buf_added(&c->in, (size_t)n);
			if (client_refused(c))
				return false;
			continue;
		}
		if (n < 0 && again())
			return true;
		client_ended(
		    c, n == 0 ? "the connection was closed" : strerror(errno));
		return false;
	}
	return true;
}

/*
 * Finds one line without its end, in place; `*taken` is what to consume after
 * it.
 */
static bool
line_find(struct client *c, const char **line, size_t *n, size_t *taken)
{
	const char *data, *end;

	if (buf_len(&c->in) == 0)
		return false;
	data = buf_data(&c->in);
	end = memchr(data, '\n', buf_len(&c->in));
	if (end == NULL)
		return false;
	*line = data;
	*n = (size_t)(end - data);
	*taken = *n + 1;
	if (*n > 0 && data[*n - 1] == '\r')
		(*n)--;
	return true;
}

static void
partial_add(struct client *c, const char *line, size_t n)
{
	struct message *m = &c->partial;

	assert(c->lines_left > 0);
	/* The array doubles at each power of two. */
	if ((m->lines_n & (m->lines_n - 1)) == 0)
		m->lines =
		    xrealloc(m->lines, (m->lines_n == 0 ? 1 : 2 * m->lines_n) *
					   sizeof(m->lines[0]));
	m->lines[m->lines_n++] = xstrndup(line, n);
	c->lines_left--;
}

/* Takes a line: the next of a reply under way, or the first of a message. */
static bool
line_add(struct client *c, const char *line, size_t n)
{
	if (c->lines_left > 0) {
		partial_add(c, line, n);
		return true;
	}
	if (!message_parse(&c->partial, line, n)) {
		if (n > 0 && (line[0] == '-' || line[0] == '+'))
			c->stranger = CLIENT_REDIS_WHY;
		return false;
	}
	c->lines_left = message_lines_due(&c->partial);
	return true;
}

/*
 * Takes the reply to our AUTH, which no caller waits for. Returns false if the
 * broker has refused our user; then it ends the connection, because the broker
 * would treat us as another user.
 */
static bool
client_logged_in(struct client *c)
{
	struct message *m = &c->partial;
	const bool ok = message_status(m) == STATUS_OK;

	c->auth_due = false;
	if (!ok) {
		c->refused = true;
		c->why[0] = '\0';
		client_ended(c, m->text);
		(void)close(c->fd);
		c->fd = -1;
	}
	message_fini(m);
	return ok;
}

enum client_got
client_next(struct client *c, struct message *m)
{
	const char *line;
	size_t n, taken;
	bool ok;

	memset(m, 0, sizeof(*m));
	while (line_find(c, &line, &n, &taken)) {
		ok = line_add(c, line, n);
		buf_consume(&c->in, taken);
		if (!ok)
			return CLIENT_GARBAGE;
		if (c->auth_due && !c->partial.event) {
			if (!client_logged_in(c))
				return CLIENT_NOTHING;
			continue;
		}
		if (c->lines_left == 0) {
			*m = c->partial;
			memset(&c->partial, 0, sizeof(c->partial));
			return CLIENT_MESSAGE;
		}
	}
	return buf_len(&c->in) > LINE_MAX_BYTES ? CLIENT_GARBAGE
						: CLIENT_NOTHING;
}

enum client_got
client_wait(struct client *c, int64_t deadline_ms, struct message *m)
{
	enum client_got got;
	int64_t left_ms = NEVER_MS;
	bool open = true;

	for (;;) {
		got = client_next(c, m);
		if (got != CLIENT_NOTHING || !open)
			return got;
		if (c->fd < 0 || (c->stop != NULL && *c->stop != 0))
			return CLIENT_NOTHING;
		if (deadline_ms != NEVER_MS)
			left_ms = deadline_ms - client_now_ms(c);
		if (left_ms <= 0)
			return CLIENT_NOTHING;
		if (client_poll(c, left_ms))
			open = client_pump(c);
	}
}
