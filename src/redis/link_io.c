/*
 * The socket of a link, and the commands on it.
 *
 * hiredis asks its event library to "add write" at every command.  Here that
 * only marks the link dirty: link_flush() then writes all commands of a turn
 * with one write(2), and an event is needed only for what the socket did not
 * take.  That saves two epoll_ctl(2) a turn.
 *
 * hiredis owns a context from connect to cleanup; ours ends in on_cleanup(),
 * whichever way it went.  While hiredis is on the stack (depth > 0) a context
 * is never freed from outside: link_cut() only marks it, and after_hiredis()
 * carries it out.  Commands of a dying context are answered NULL by hiredis,
 * one after the other; the first of them tells that the link is lost.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/timeval.h"
#include "base/xmalloc.h"
#include "redis/link_state.h"
#include "redis/now.h"

/* A reply that is being read when it is overdue gets 50 times 20 ms more. */
#define PATIENCE_MS 20
#define PATIENCE_MAX 50

/*
 * hiredis reads 16 KB at a time.  Were it only one a turn, a turn that takes
 * long because there is much to do would be the next one's reason.
 */
#define READS_MAX 16

/* Of one reply that is not whole yet; none comes near it. */
#define REPLY_BYTES_MAX ((size_t)4 << 20)

/* hiredis words this in two ways. */
static const char closed_text[] = "Redis closed the connection";

/* What has to wait until hiredis is off the stack. */
static void
after_hiredis(struct link *l)
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

/*
 * hiredis aborts the process when a reply comes that nobody asked for.  What
 * can be seen beforehand: something to read while nothing is under way.  (TLS
 * has things to say of its own.)
 */
static bool
is_unsolicited(struct link *l)
{
	char byte;

	return l->state == LINK_UP && !l->config.channel && !l->config.tls &&
	       TAILQ_EMPTY(&l->requests) &&
	       recv(l->ac->c.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 1;
}

/* Redis may announce 512 MB, and something else even more. */
static bool
is_endless(const struct link *l)
{
	return l->ac && l->ac->c.reader->len > REPLY_BYTES_MAX;
}

/* Is there more to be read of what was asked for? */
static bool
has_more(const struct link *l)
{
	int waiting = 0;

	return l->ac && !l->doomed && !TAILQ_EMPTY(&l->requests) &&
	       ioctl(l->ac->c.fd, FIONREAD, &waiting) == 0 && waiting > 0;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;
	int reads = 0;

	(void)fd;
	(void)what;
	if (is_unsolicited(l)) {
		link_cut(l, "a reply that was not asked for",
		    "is this address a Redis server?");
		return;
	}
	l->depth++;
	do {
		redisAsyncHandleRead(l->ac);
		if (is_endless(l))
			link_cut(l, "a reply that is too long",
			    "is this address a Redis server?");
	} while (++reads < READS_MAX && has_more(l));
	l->depth--;
	after_hiredis(l);
}

static void
handle_write(struct link *l)
{
	l->dirty = false;
	l->writing = true;
	l->depth++;
	redisAsyncHandleWrite(l->ac);
	l->depth--;
	l->writing = false;
	after_hiredis(l);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	handle_write(arg);
}

void
link_flush(struct link *l)
{
	/* Before it is connected, the event for that is set anyway. */
	if (l->dirty && l->depth == 0 && l->ac && l->state >= LINK_GREETING)
		handle_write(l);
}

/* The hooks of hiredis; privdata is the link. */

static void
on_add_read(void *arg)
{
	struct link *l = arg;

	if (!event_pending(l->readable, EV_READ, NULL))
		(void)event_add(l->readable, NULL);
}

static void
on_del_read(void *arg)
{
	struct link *l = arg;

	(void)event_del(l->readable);
}

static void
on_add_write(void *arg)
{
	struct link *l = arg;

	if (l->writing || l->state < LINK_GREETING)
		(void)event_add(l->writable, NULL);
	else
		l->dirty = true;
}

static void
on_del_write(void *arg)
{
	struct link *l = arg;

	if (event_pending(l->writable, EV_WRITE, NULL))
		(void)event_del(l->writable);
}

/* The end of every context. */
static void
on_cleanup(void *arg)
{
	struct link *l = arg;

	event_free(l->readable);
	event_free(l->writable);
	l->readable = l->writable = NULL;
	l->ac = NULL;
	l->dirty = false;
}

static const char *
context_error(const redisAsyncContext *ac)
{
	if (!ac->err || !ac->errstr || !*ac->errstr)
		return closed_text;
	return strstr(ac->errstr, "closed the connection") ? closed_text
							   : ac->errstr;
}

/* Never free or cut here: hiredis 0.14 goes on to use the context. */
static void
on_connect(const redisAsyncContext *ac, int status)
{
	struct link *l = ac->data;

	if (status != REDIS_OK)
		link_lost(l, context_error(ac), NULL);
	else if (l->state == LINK_CONNECTING)
		link_set_state(l, LINK_GREETING);
}

static void
on_disconnect(const redisAsyncContext *ac, int status)
{
	(void)status;
	link_lost(ac->data, context_error(ac), NULL);
}

static void
on_reply(redisAsyncContext *ac, void *r, void *arg)
{
	struct request *request = arg;
	struct link *l = request->link;
	link_reply *done = request->done;
	void *done_arg = request->arg;

	if (!r || l->doomed) {
		link_lost(l, l->doomed ? l->why : context_error(ac),
		    l->doomed ? l->advice : NULL);
		r = NULL;
	}
	l->patience = 0;
	TAILQ_REMOVE(&l->requests, request, entry);
	TAILQ_INSERT_HEAD(&l->spare, request, entry);
	done(done_arg, r);
}

/* A subscription answers again and again, so it is no request. */
static void
on_push(redisAsyncContext *ac, void *r, void *arg)
{
	const redisReply *reply = r;
	struct link *l = arg;
	const char *kind;

	if (!r) {
		link_lost(l, context_error(ac), NULL);
		return;
	}
	if (l->doomed || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements != 3 ||
	    reply->element[0]->type != REDIS_REPLY_STRING)
		return;
	kind = reply->element[0]->str;
	if (strcmp(kind, "subscribe") == 0 && l->state == LINK_GREETING)
		link_greeted(l);
	else if (strcmp(kind, "message") == 0 && l->state == LINK_UP &&
		 reply->element[2]->type == REDIS_REPLY_STRING)
		l->handler->message(l->arg, reply->element[2]->str,
		    (size_t)reply->element[2]->len);
}

bool
link_subscribe(struct link *l)
{
	return redisAsyncCommand(l->ac, on_push, l, "SUBSCRIBE %s",
		   l->config.channel) == REDIS_OK;
}

/* How long a vanished host goes unnoticed: the reply timeout, roughly. */
static void
set_options(struct link *l, int fd)
{
	unsigned ms = (unsigned)l->config.reply_timeout_ms;
	int on = 1, idle_s = 15, interval_s = 5, count = 3;

	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (l->config.address->path)
		return;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	(void)setsockopt(
	    fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
}

void
link_attach(struct link *l, redisAsyncContext *ac)
{
	assert(!l->ac && TAILQ_EMPTY(&l->requests));
	l->ac = ac;
	l->dirty = l->doomed = false;
	ac->data = l;
	set_options(l, ac->c.fd);
	l->readable = event_new(
	    l->config.base, ac->c.fd, EV_READ | EV_PERSIST, on_readable, l);
	l->writable = event_new(
	    l->config.base, ac->c.fd, EV_WRITE | EV_PERSIST, on_writable, l);
	if (!l->readable || !l->writable)
		abort();
	ac->ev.addRead = on_add_read;
	ac->ev.delRead = on_del_read;
	ac->ev.addWrite = on_add_write;
	ac->ev.delWrite = on_del_write;
	ac->ev.cleanup = on_cleanup;
	ac->ev.data = l;
	(void)redisAsyncSetConnectCallback(ac, on_connect);
	(void)redisAsyncSetDisconnectCallback(ac, on_disconnect);
	(void)event_add(l->readable, NULL);
	(void)event_add(l->writable, NULL);
}

void
link_detach(struct link *l)
{
	assert(l->depth == 0);
	if (!l->ac)
		return;
	l->depth++; /* its last answers must not cut or flush it */
	redisAsyncFree(l->ac);
	l->depth--;
	l->doomed = false;
	assert(!l->ac && TAILQ_EMPTY(&l->requests));
}

static void
overdue_set(struct link *l, int64_t at_ms, int64_t in_ms)
{
	struct timeval tv = ms_to_timeval(in_ms > 0 ? in_ms : 0);

	l->overdue_ms = at_ms;
	(void)evtimer_add(l->overdue, &tv);
}

/*
 * Set for the earliest deadline when a command goes out, and looked at only
 * when it fires: most commands are long answered by then.
 */
static void
on_overdue(evutil_socket_t fd, short what, void *arg)
{
	int64_t first_ms = INT64_MAX, now = now_ms();
	struct link *l = arg;
	struct request *request;
	int waiting = 0;

	(void)fd;
	(void)what;
	l->overdue_ms = INT64_MAX;
	TAILQ_FOREACH (request, &l->requests, entry)
		if (request->deadline_ms < first_ms)
			first_ms = request->deadline_ms;
	if (first_ms == INT64_MAX || !l->ac)
		return;
	if (first_ms > now) {
		overdue_set(l, first_ms, first_ms - now);
		return;
	}
	/* It was us who were late, if something is there to be read. */
	if (ioctl(l->ac->c.fd, FIONREAD, &waiting) == 0 && waiting > 0 &&
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

	if (request)
		TAILQ_REMOVE(&l->spare, request, entry);
	else
		request = xmalloc(sizeof(*request));
	if (timeout_ms <= 0 || timeout_ms > l->config.reply_timeout_ms)
		timeout_ms = l->config.reply_timeout_ms;
	request->link = l;
	request->done = done;
	request->arg = arg;
	/* A greeting has no deadline for each reply but one for all: timer. */
	request->deadline_ms =
	    l->state == LINK_UP ? now + timeout_ms : INT64_MAX;
	TAILQ_INSERT_TAIL(&l->requests, request, entry);
	if (request->deadline_ms < l->overdue_ms)
		overdue_set(l, request->deadline_ms, timeout_ms);
	return request;
}

/* A command that hiredis did not take is never answered. */
static bool
request_sent(struct link *l, struct request *request, int rc)
{
	if (rc == REDIS_OK)
		return true;
	TAILQ_REMOVE(&l->requests, request, entry);
	TAILQ_INSERT_HEAD(&l->spare, request, entry);
	return false;
}

bool
link_command(struct link *l, int64_t timeout_ms, link_reply *done, void *arg,
    int argc, const char **argv, const size_t *argvlen)
{
	struct request *request;

	assert(l->ac);
	request = request_new(l, timeout_ms, done, arg);
	return request_sent(l, request,
	    redisAsyncCommandArgv(
		l->ac, on_reply, request, argc, argv, argvlen));
}

bool
link_send(struct link *l, int argc, const char **argv, const size_t *argvlen,
    int64_t timeout_ms, link_reply *done, void *arg)
{
	if (!link_is_up(l))
		return false;
	return link_command(l, timeout_ms, done, arg, argc, argv, argvlen);
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
	rc = redisvAsyncCommand(l->ac, on_reply, request, fmt, ap);
	va_end(ap);
	return request_sent(l, request, rc);
}

void
link_io_init(struct link *l)
{
	TAILQ_INIT(&l->requests);
	TAILQ_INIT(&l->spare);
	l->overdue_ms = INT64_MAX;
	l->overdue = evtimer_new(l->config.base, on_overdue, l);
	if (!l->overdue)
		abort();
}

void
link_io_fini(struct link *l)
{
	struct request *request, *next;

	assert(!l->ac && TAILQ_EMPTY(&l->requests));
	event_free(l->overdue);
	TAILQ_FOREACH_SAFE (request, &l->spare, entry, next)
		free(request);
}
