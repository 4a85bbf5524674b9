/*
 * The socket of a link, and the commands on it.
 *
 *	link_command() -> output buffer -> link_flush() -> socket
 *	socket -> bytes -> whole replies -> the oldest request, or a message
 *
 * hiredis makes the connection, formats commands, moves bytes and makes replies
 * of them.  This file, and not the asynchronous layer of hiredis, decides which
 * request a reply belongs to: that layer ends the process at a reply without a
 * request, or at a malformed message, and no server or proxy may be able to do
 * that.  Here such a reply only cuts the link.
 *
 * All commands of a turn leave with one write(2); only bytes that the socket
 * did not take need an event.
 *
 * While a callback handles a reply (depth > 0), the connection stays:
 * link_cut() only marks it, and after_work() cuts it.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/now.h"
#include "base/tcp.h"
#include "base/xmalloc.h"
#include "redis/link_state.h"

/* A reply that can be read when it is overdue gets up to 50 x 20 ms more. */
#define PATIENCE_MS 20
#define PATIENCE_MAX 50

/*
 * hiredis reads 16 KB at a time.  With only one read a turn, a long turn would
 * leave more unread, and so make the next turns long, too.
 */
#define READS_MAX 16

/* The limit of a reply that is not whole yet; ours are far smaller. */
#define REPLY_BYTES_MAX ((size_t)4 << 20)

/*
 * Limits the size of replies: hiredis allocates an array as soon as it is
 * announced.  2147483647 elements would take 16 GB, and seconds to walk, even
 * if none of them ever comes.
 */

#define READER_ELEMENTS_MAX 65536 /* in one array */

#ifdef HAVE_REDISREADER_MAXELEMENTS

static void
reader_limit(redisReader *reader)
{
	reader->maxelements = READER_ELEMENTS_MAX;
}

#else

/* The functions of hiredis, with one of ours among them. */
static redisReplyObjectFunctions functions;
static void *(*create_array)(const redisReadTask *task, int elements);

static void *
create_small_array(const redisReadTask *task, int elements)
{
	return elements > READER_ELEMENTS_MAX ? NULL
					      : create_array(task, elements);
}

static void
reader_limit(redisReader *reader)
{
	if (create_array == NULL) {
		functions = *reader->fn;
		create_array = functions.createArray;
		functions.createArray = create_small_array;
	}
	reader->fn = &functions;
}

#endif

static const char is_it_redis[] = "check that this address is a Redis server";
static const char is_it_trusted[] =
    "see redis.tls in lockbrokerd.yaml(5); lockbrokerd --probe asks every server";

/* Does the work that had to wait until no callback handles a reply. */
static void
after_work(struct link *l)
{
	if (l->depth > 0)
		return;
	if (l->doomed) {
		l->doomed = false;
		link_lost(l, l->why, l->advice);
		link_detach(l);
	} else if (l->dirty) {
		link_flush(l);
	}
}

static void tell_replies(struct link *l);

/* A server that does not let us in says so and closes, perhaps before it has
 * read what we sent: then writing fails first. */
static void
hear_last(struct link *l)
{
	char last[512];
	ssize_t n = recv(l->c->fd, last, sizeof(last), MSG_DONTWAIT);

	if (n > 0 && redisReaderFeed(l->c->reader, last, (size_t)n) == REDIS_OK)
		tell_replies(l);
}

/* hiredis has given the connection up, and knows why. */
static void
io_failed(struct link *l)
{
	const char *why = l->c->errstr;

	if (l->state == LINK_GREETING)
		hear_last(l);
	if (strstr(why, "closed the connection"))
		link_cut(l, "Redis closed the connection", NULL);
	else
		link_cut(l, why, NULL);
}

static void
request_done(struct link *l, struct request *request, const redisReply *reply)
{
	link_reply *done = request->done;
	void *done_arg = request->arg;

	assert(request == TAILQ_FIRST(&l->requests));
	l->patience = 0;
	TAILQ_REMOVE(&l->requests, request, entry);
	TAILQ_INSERT_HEAD(&l->spare, request, entry);
	done(done_arg, reply);
}

static bool
is_text(const redisReply *reply, const char *text)
{
	return reply->type == REDIS_REPLY_STRING &&
	       (size_t)reply->len == strlen(text) &&
	       memcmp(reply->str, text, strlen(text)) == 0;
}

/* A subscription brings replies that no request asked for. */
static void
on_message(struct link *l, const redisReply *reply)
{
	assert(l->config.channel != NULL);
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
	    !is_text(reply->element[0], "message") ||
	    !is_text(reply->element[1], l->config.channel) ||
	    reply->element[2]->type != REDIS_REPLY_STRING) {
		link_cut(l, "an unknown message", is_it_redis);
		return;
	}
	l->handler->message(
	    l->arg, reply->element[2]->str, (size_t)reply->element[2]->len);
}

/* The TLS process says so, in place of a first reply, if the server has refused
 * our certificate. */
static bool
is_refused(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       strncmp(reply->str, RELAY_BROKEN, strlen(RELAY_BROKEN)) == 0;
}

static void
on_reply(struct link *l, const redisReply *reply)
{
	struct request *request = TAILQ_FIRST(&l->requests);

	if (l->config.io->relay && !l->heard && is_refused(reply)) {
		link_cut(l, reply->str, is_it_trusted);
		return;
	}
	l->heard = true;
	if (request != NULL)
		request_done(l, request, reply);
	else if (l->config.channel && l->state == LINK_UP)
		on_message(l, reply);
	else
		link_cut(l, "an unexpected reply", is_it_redis);
}

/* Passes on the replies that are whole. */
static void
tell_replies(struct link *l)
{
	void *reply;

	while (!l->doomed) {
		reply = NULL;
		if (redisReaderGetReply(l->c->reader, &reply) != REDIS_OK) {
			link_cut(l, l->c->reader->errstr, is_it_redis);
			return;
		}
		if (reply == NULL)
			return;
		l->unfinished = 0;
		on_reply(l, reply);
		freeReplyObject(reply);
	}
}

static void
read_once(struct link *l)
{
	size_t before = l->c->reader->len;

	assert(l->c != NULL && l->depth > 0);
	if (redisBufferRead(l->c) != REDIS_OK) {
		io_failed(l);
		return;
	}
	l->unfinished += l->c->reader->len - before;
	tell_replies(l);
	/* Redis may announce 512 MB, and another server even more. */
	if (l->unfinished > REPLY_BYTES_MAX)
		link_cut(l, "a reply that is too long", is_it_redis);
}

/* Are there more bytes to read of replies that we asked for? */
static bool
has_more(const struct link *l)
{
	int waiting = 0;

	return !l->doomed && !TAILQ_EMPTY(&l->requests) &&
	       ioctl(l->c->fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

/* Reads the first line of the TLS process: is there a server to talk to? */
static void
on_greeting(struct link *l)
{
	enum relay_answer answer = relay_greeting(l->c->fd, &l->greeting);

	assert(l->config.io->relay != NULL);
	if (answer == RELAY_LATER)
		return;
	if (answer != RELAY_YES) {
		link_cut(l, l->greeting.text,
		    answer == RELAY_REFUSED ? is_it_trusted : NULL);
		return;
	}
	link_set_state(l, LINK_GREETING);
	l->dirty = true;
	link_flush(l);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;
	int reads = 0;

	(void)fd;
	(void)what;
	if (l->state == LINK_CONNECTING) {
		on_greeting(l);
		return;
	}
	l->depth++;
	do
		read_once(l);
	while (++reads < READS_MAX && has_more(l));
	l->depth--;
	after_work(l);
}

static void
write_out(struct link *l)
{
	int done = 0;

	assert(l->c != NULL && l->depth > 0);
	l->dirty = false;
	if (redisBufferWrite(l->c, &done) != REDIS_OK) {
		io_failed(l);
		return;
	}
	if (!done)
		(void)event_add(l->writable, NULL);
	else if (event_pending(l->writable, EV_WRITE, NULL))
		(void)event_del(l->writable);
}

void
link_flush(struct link *l)
{
	/* When it is connected, on_writable() or on_greeting() flushes. */
	if (!l->dirty || l->depth > 0 || l->c == NULL ||
	    l->state < LINK_GREETING)
		return;
	l->depth++;
	write_out(l);
	l->depth--;
	after_work(l);
}

/* Asked when the socket is first writable: is it connected? */
static bool
is_connected(struct link *l)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer), error_len = sizeof(int);
	int error = 0;

	if (getsockopt(l->c->fd, SOL_SOCKET, SO_ERROR, &error, &error_len) != 0)
		error = errno;
	/* A Unix socket whose server has no room is not in error either. */
	if (error == 0 &&
	    getpeername(l->c->fd, (struct sockaddr *)&peer, &len) != 0)
		error = errno == ENOTCONN ? EAGAIN : errno;
	if (error == 0)
		return true;
	link_cut(l, strerror(error), NULL);
	return false;
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;

	(void)fd;
	(void)what;
	if (l->state == LINK_CONNECTING) {
		if (!is_connected(l))
			return;
		link_set_state(l, LINK_GREETING);
		(void)event_add(l->readable, NULL);
	}
	l->dirty = true;
	link_flush(l);
}

/* A vanished host goes unnoticed for about the reply timeout. */
static void
set_options(struct link *l, int fd)
{
	const struct tcp_patience patience = { 15, 5, 3,
		l->config.reply_timeout_ms };

	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (l->config.address->path || l->config.io->relay)
		return;
	tcp_nodelay(fd);
	tcp_keepalive(fd, &patience);
}

void
link_attach(struct link *l, redisContext *c)
{
	assert(l->c == NULL && TAILQ_EMPTY(&l->requests));
	l->c = c;
	l->dirty = l->doomed = l->heard = false;
	l->unfinished = 0;
	reader_limit(c->reader);
	set_options(l, c->fd);
	l->readable = event_new(
	    l->config.io->base, c->fd, EV_READ | EV_PERSIST, on_readable, l);
	l->writable = event_new(
	    l->config.io->base, c->fd, EV_WRITE | EV_PERSIST, on_writable, l);
	if (l->readable == NULL || l->writable == NULL)
		abort();
	(void)event_add(l->config.io->relay ? l->readable : l->writable, NULL);
}

void
link_detach(struct link *l)
{
	struct request *request;

	assert(l->depth == 0);
	if (l->c == NULL)
		return;
	event_free(l->readable);
	event_free(l->writable);
	l->readable = l->writable = NULL;
	redisFree(l->c);
	l->c = NULL;
	l->dirty = l->doomed = false;
	l->depth++; /* the last answers must not cut or flush it */
	while ((request = TAILQ_FIRST(&l->requests)) != NULL)
		request_done(l, request, NULL);
	l->depth--;
}

static void
overdue_set(struct link *l, int64_t at_ms, int64_t in_ms)
{
	l->overdue_ms = at_ms;
	timer_in(l->overdue, in_ms > 0 ? in_ms : 0);
}

/*
 * The timer is set for the earliest deadline when a command goes out, and only
 * looks again when it fires: most commands have been answered long before.
 */
static void
on_overdue(void *arg)
{
	int64_t first_ms = INT64_MAX, now = now_ms();
	struct link *l = arg;
	struct request *request;
	int waiting = 0;

	l->overdue_ms = INT64_MAX;
	/* About a thousand (pool_calls.c), and renewals; once a timeout. */
	TAILQ_FOREACH (request, &l->requests, entry)
		if (request->deadline_ms < first_ms)
			first_ms = request->deadline_ms;
	if (first_ms == INT64_MAX || l->c == NULL)
		return;
	if (first_ms > now) {
		overdue_set(l, first_ms, first_ms - now);
		return;
	}
	/* If there is something to read, we are late, and not the server. */
	if (ioctl(l->c->fd, FIONREAD, &waiting) == 0 && waiting > 0 &&
	    l->patience++ < PATIENCE_MAX) {
		overdue_set(l, now + PATIENCE_MS, PATIENCE_MS);
		return;
	}
	link_cut(l, "Redis does not answer in time", NULL);
}

static struct request *
request_new(struct link *l, int64_t timeout_ms, link_reply *done, void *arg)
{
	struct request *request = TAILQ_FIRST(&l->spare);
	int64_t now = now_ms();

	assert(l->c != NULL && done != NULL);
	if (request != NULL)
		TAILQ_REMOVE(&l->spare, request, entry);
	else
		request = xmalloc(sizeof(*request));
	if (timeout_ms <= 0 || timeout_ms > l->config.reply_timeout_ms)
		timeout_ms = l->config.reply_timeout_ms;
	request->done = done;
	request->arg = arg;
	/* Replies of a greeting have one deadline together: the timer. */
	request->deadline_ms =
	    l->state == LINK_UP ? now + timeout_ms : INT64_MAX;
	TAILQ_INSERT_TAIL(&l->requests, request, entry);
	if (request->deadline_ms < l->overdue_ms)
		overdue_set(l, request->deadline_ms, timeout_ms);
	return request;
}

/* Marks a command as queued, or takes its request back if hiredis failed. */
static bool
request_sent(struct link *l, struct request *request, int rc)
{
	if (rc == REDIS_OK) {
		l->dirty = true;
		return true;
	}
	TAILQ_REMOVE(&l->requests, request, entry);
	TAILQ_INSERT_HEAD(&l->spare, request, entry);
	return false;
}

bool
link_command(struct link *l, int64_t timeout_ms, link_reply *done, void *arg,
    int argc, const char **argv, const size_t *argvlen)
{
	struct request *request;

	assert(l->c);
	request = request_new(l, timeout_ms, done, arg);
	return request_sent(
	    l, request, redisAppendCommandArgv(l->c, argc, argv, argvlen));
}

#define LENGTH_MAX 24 /* bytes of *N or $N, with the end of the line */

static char *
put_length(char *p, char mark, size_t n)
{
	char digits[LENGTH_MAX];
	size_t i = sizeof(digits);

	do
		digits[--i] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	*p++ = mark;
	memcpy(p, digits + i, sizeof(digits) - i);
	p += sizeof(digits) - i;
	*p++ = '\r';
	*p++ = '\n';
	return p;
}

/*
 * A call has up to several hundred short arguments.  hiredis calls a function
 * for each part of each of them, a sixth of the cost of a lock and its unlock.
 */
static void
put_command(struct buf *out, int argc, const char **argv, const size_t *argvlen)
{
	size_t room = LENGTH_MAX;
	char *begin, *p;
	int i;

	for (i = 0; i < argc; i++)
		room += LENGTH_MAX + argvlen[i] + 2;
	buf_clear(out);
	begin = buf_reserve(out, room);
	p = put_length(begin, '*', (size_t)argc);
	for (i = 0; i < argc; i++) {
		p = put_length(p, '$', argvlen[i]);
		memcpy(p, argv[i], argvlen[i]);
		p += argvlen[i];
		*p++ = '\r';
		*p++ = '\n';
	}
	assert((size_t)(p - begin) <= room);
	buf_added(out, (size_t)(p - begin));
}

bool
link_send(struct link *l, int argc, const char **argv, const size_t *argvlen,
    int64_t timeout_ms, link_reply *done, void *arg)
{
	struct request *request;

	if (!link_is_up(l))
		return false;
	request = request_new(l, timeout_ms, done, arg);
	put_command(&l->command, argc, argv, argvlen);
	return request_sent(l, request,
	    redisAppendFormattedCommand(
		l->c, buf_data(&l->command), buf_len(&l->command)));
}

bool
link_sendf(struct link *l, int64_t timeout_ms, link_reply *done, void *arg,
    const char *fmt, ...)
{
	struct request *request;
	va_list ap;
	int rc;

	if (!link_is_up(l))
		return false;
	request = request_new(l, timeout_ms, done, arg);
	va_start(ap, fmt);
	rc = redisvAppendCommand(l->c, fmt, ap);
	va_end(ap);
	return request_sent(l, request, rc);
}

void
link_io_init(struct link *l)
{
	TAILQ_INIT(&l->requests);
	TAILQ_INIT(&l->spare);
	buf_init(&l->command);
	l->overdue_ms = INT64_MAX;
	l->overdue = timer_new(l->config.io, on_overdue, l);
}

void
link_io_fini(struct link *l)
{
	struct request *request, *next;

	assert(l->c == NULL && TAILQ_EMPTY(&l->requests));
	timer_free(l->overdue);
	buf_fini(&l->command);
	TAILQ_FOREACH_SAFE (request, &l->spare, entry, next)
		free(request);
}
