/*
 * The bytes of one connection.
 *
 * Each connection has one `struct event`, which is always armed for reading, so
 * a request costs no epoll_ctl.  There are two exceptions: the socket takes no
 * more output, or enough input waits here already and no more is read.  In the
 * latter case the front must still see the end of the stream behind the unread
 * bytes.  EV_CLOSED shows it; it is edge-triggered, because unread bytes would
 * be reported again and again.  EV_READ stands beside it because libevent
 * reports an error as EV_READ, never as EV_CLOSED: without it, a reset would
 * make the loop spin.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "front/conn.h"
#include "front/sockopt.h"
#include "front/state.h"

/* The bytes that a client may still send between our last reply and its end. */
#define LINGER_BYTES ((size_t)1024 * 1024)

static size_t
input_bytes_max(const struct conn *c)
{
	return c->front->limits.line +
	       (c->stranger ? STRANGER_BYTES : FRONT_READ_BYTES);
}

/* What poll() says about the end: POLLERR, POLLRDHUP, POLLHUP. */
static short
conn_poll(const struct conn *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLRDHUP };
	short seen = poll(&p, 1, 0) > 0 ? p.revents : 0;

	/* A TLS process closes both directions at once only after a reset. */
	return c->relayed && (seen & POLLHUP) ? seen | POLLERR : seen;
}

/*
 * Handles the end of the stream.  Returns false if the whole connection is
 * lost.
 */
static bool
conn_ended(struct conn *c)
{
	if (c->relayed) {
		/*
		 * The TLS process has reported before what is known of the end.
		 */
		c->front->look(c->front->look_arg);
		if (conn_poll(c) & POLLERR) {
			front_end(c, CONN_END_DEAD);
			return false;
		}
	}
	c->eof = true;
	return true;
}

static void
conn_read(struct conn *c)
{
	size_t max = input_bytes_max(c);
	size_t len = buf_len(&c->in);
	size_t room = max > len ? max - len : 0;
	ssize_t n;

	if (room > FRONT_READ_BYTES)
		room = FRONT_READ_BYTES;
	if (room == 0) {
		c->full = true;
		return;
	}
	/* The TLS process may have made the socket a blocking one. */
	n = recv(c->fd, c->front->scratch, room, MSG_DONTWAIT);
	if (n < 0) {
		if (errno != EAGAIN && errno != EINTR)
			front_end(c, CONN_END_DEAD);
		return;
	}
	if (n == 0 && !conn_ended(c))
		return;
	c->front->stats.received += (uint64_t)n;
	buf_add(&c->in, c->front->scratch, (size_t)n);
	explicit_bzero(c->front->scratch, (size_t)n);
	c->full = buf_len(&c->in) >= max;
	front_heard(c);
}

/* Something happened to a connection that is not being read. */
static void
conn_look(struct conn *c)
{
	short seen = conn_poll(c);

	if (seen & POLLERR) {
		front_end(c, CONN_END_DEAD);
	} else if (seen) {
		c->hup = true;
		front_ready(c);
	}
}

static void
conn_event(evutil_socket_t fd, short what, void *arg)
{
	struct conn *c = arg;

	(void)fd;
	if (c->stage == CONN_LINGERING) {
		if (!conn_linger(c))
			front_end(c, CONN_END_DEAD);
		return;
	}
	if (what & EV_WRITE) {
		c->stuck = false;
		front_dirty(c);
	}
	if (c->stage != CONN_LIVE || !(what & (EV_READ | EV_CLOSED)))
		return;
	if (c->full)
		conn_look(c);
	else
		conn_read(c);
	conn_arm(c);
}

static short
conn_wanted(const struct conn *c)
{
	short want = c->stuck ? EV_WRITE : 0;

	if (c->stage == CONN_LINGERING)
		return EV_READ;
	if (c->stage == CONN_FLUSHING || c->eof || c->quit || c->end)
		return want;
	if (!c->full)
		return want | EV_READ;
	return c->hup ? want : want | EV_READ | EV_CLOSED | EV_ET;
}

void
conn_arm(struct conn *c)
{
	short want = conn_wanted(c);

	if (want == c->armed)
		return;
	if (c->armed)
		(void)event_del(&c->event);
	c->armed = want;
	if (!want)
		return;
	(void)event_assign(&c->event, c->front->base, c->fd,
	    (short)(want | EV_PERSIST), conn_event, c);
	if (event_add(&c->event, NULL) < 0)
		front_end(c, CONN_END_DEAD);
}

static struct conn *
conn_make(struct front *f, int fd, bool tcp)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->id = ++f->next_id;
	c->front = f;
	c->reloads = f->reloads;
	c->protocol = &wire_lines;
	c->fd = fd;
	c->tcp = tcp;
	buf_init_secret(&c->in); /* passwords come with AUTH */
	buf_init(&c->out);
	LIST_INIT(&c->pending);
	return c;
}

static void
set_names(struct conn *c, const char *const *names, unsigned n)
{
	unsigned i;

	c->nnames = n;
	if (n > 0)
		c->names = xcalloc(n, sizeof(*c->names));
	for (i = 0; i < n; i++)
		c->names[i] = xstrdup(names[i]);
}

struct conn *
conn_new_relayed(struct front *f, const struct front_relayed *client)
{
	struct conn *c = conn_make(f, client->fd, true);

	assert(client->peer != NULL);
	c->relayed = true;
	c->peer_told = true;
	c->relay = client->id;
	c->proxied = client->proxied;
	c->uid = -1;
	c->peer = xstrdup(client->peer);
	set_names(c, client->names, client->nnames);
	return c;
}

struct conn *
conn_new(struct front *f, int fd, bool tcp)
{
	struct conn *c = conn_make(f, fd, tcp);
	bool admin;

	if (tcp) {
		sockopt_client(fd, f->limits.unreachable_ms);
		c->peer = sockopt_peer_tcp(fd);
		c->uid = -1;
	} else {
		c->peer = sockopt_peer_unix(fd, &admin, &c->uid);
		c->admin = admin;
	}
	return c;
}

struct conn *
conn_new_passed(struct front *f, const struct front_passed *passed)
{
	struct conn *c;

	if (passed->peer == NULL) {
		c = conn_new(f, passed->fd, passed->tcp);
	} else {
		c = conn_make(f, passed->fd, passed->tcp);
		c->peer = xstrdup(passed->peer);
		c->peer_told = true;
		c->uid = -1;
	}
	set_names(c, passed->names, passed->nnames);
	c->proxied = passed->proxied;
	c->protocol = passed->protocol;
	buf_add(&c->in, passed->in.p, passed->in.n);
	buf_add(&c->out, passed->out.p, passed->out.n);
	return c;
}

/* A TLS process reports this end, which a third party may have caused. */
void
conn_pass(struct conn *c, struct front_passed *out)
{
	*out = (struct front_passed){
		.fd = c->fd,
		.tcp = c->tcp,
		.proxied = c->proxied || c->relayed,
		.peer = c->peer_told ? c->peer : NULL,
		.names = (const char *const *)c->names,
		.nnames = c->nnames,
		.protocol = c->protocol,
		.in = { buf_data(&c->in), buf_len(&c->in) },
		.out = { buf_data(&c->out), buf_len(&c->out) },
	};
}

void
conn_passed(struct conn *c)
{
	assert(c->stage == CONN_LIVE);
	buf_fini(&c->out);
	front_end(c, CONN_END_DEAD);
	conn_arm(c);
}

void
conn_free(struct conn *c)
{
	unsigned i;

	assert(!c->dirty && !c->timed && c->counted == 0);
	assert(c->npending == 0 && !timer_armed(&c->beat));
	if (c->armed)
		(void)event_del(&c->event);
	(void)close(c->fd);
	buf_fini(&c->in);
	buf_fini(&c->out);
	for (i = 0; i < c->nnames; i++)
		free(c->names[i]);
	free(c->names);
	free(c->peer);
	free(c->untold);
	free(c);
}

enum frame_status
conn_frame(
    struct conn *c, struct wire_frame *f, enum err_code *code, struct buf *why)
{
	enum frame_status status;

	status = c->protocol->frame(f, buf_data(&c->in), buf_len(&c->in),
	    c->front->limits.line, &c->scanned, code, why);
	c->framed = f->size;
	return status;
}

void
conn_frame_done(struct conn *c)
{
	assert(c->framed <= buf_len(&c->in));
	buf_consume(&c->in, c->framed);
	c->scanned = 0;
	/* Wait until half of it is free: changing the watched events costs. */
	if (c->full && buf_len(&c->in) <= input_bytes_max(c) / 2)
		c->full = false;
}

/*
 * EPIPE after a clean close only means that the client does not want the
 * replies.  Requests that came before are still handled.
 */
static bool
conn_unheard(struct conn *c)
{
	short seen = c->eof ? 0 : conn_poll(c);

	if (errno != EPIPE || (!c->eof && !(seen & POLLRDHUP)) ||
	    (c->relayed && (seen & POLLERR)))
		return false;
	c->deaf = true;
	c->stuck = false;
	buf_fini(&c->out);
	return true;
}

bool
conn_write(struct conn *c)
{
	size_t len = buf_len(&c->out);
	ssize_t n;

	if (c->deaf)
		buf_fini(&c->out);
	if (len == 0 || c->deaf)
		return true;
	n = send(c->fd, buf_data(&c->out), len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return conn_unheard(c);
	if (n > 0) {
		c->front->stats.sent += (uint64_t)n;
		buf_consume(&c->out, (size_t)n);
	}
	c->stuck = buf_len(&c->out) > 0;
	buf_trim(&c->out, 0);
	return true;
}

bool
conn_linger(struct conn *c)
{
	ssize_t n;

	if (c->stage != CONN_LINGERING) {
		c->stage = CONN_LINGERING;
		c->discard = LINGER_BYTES;
		if (c->eof || shutdown(c->fd, SHUT_WR) < 0)
			return false;
	}
	n = recv(c->fd, c->front->scratch, FRONT_READ_BYTES, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	explicit_bzero(c->front->scratch, (size_t)n);
	if (n == 0 || (size_t)n > c->discard)
		return false;
	c->discard -= (size_t)n;
	return true;
}

bool
conn_behind(const struct conn *c)
{
	return buf_len(&c->out) >
	       (c->stranger ? 0 : c->front->limits.output / 2);
}

uint64_t
conn_id(const struct conn *c)
{
	return c->id;
}

const char *
conn_peer(const struct conn *c)
{
	return c->peer;
}

int64_t
conn_uid(const struct conn *c)
{
	return c->uid;
}

size_t
conn_groups(const struct conn *c, gid_t *gids, size_t max)
{
	return c->tcp ? 0 : sockopt_peer_groups(c->fd, gids, max);
}

bool
conn_is_tcp(const struct conn *c)
{
	return c->tcp;
}

bool
conn_is_proxied(const struct conn *c)
{
	return c->proxied;
}

const char *const *
conn_names(const struct conn *c, unsigned *n)
{
	*n = c->nnames;
	return (const char *const *)c->names;
}

bool
conn_is_admin(const struct conn *c)
{
	return c->admin;
}

void *
conn_data(const struct conn *c)
{
	return c->data;
}

void
conn_set_data(struct conn *c, void *data)
{
	c->data = data;
}

struct buf *
conn_output(struct conn *c)
{
	front_dirty(c);
	return &c->out;
}

const struct wire_protocol *
conn_protocol(const struct conn *c)
{
	return c->protocol;
}

void
conn_set_protocol(struct conn *c, const struct wire_protocol *protocol)
{
	c->protocol = protocol;
}

void
conn_reply(struct conn *c, const struct wire_reply *reply)
{
	c->protocol->reply(conn_output(c), reply);
}

/* Such a client has no lock to lose, so at most one event matters: the broker
 * drains or stops. */
static void
keep_event(struct conn *c, const struct wire_event *event)
{
	assert(event->nfields <= 1 && event->name.n == 0);
	free(c->untold);
	c->untold = xcalloc(1, sizeof(*c->untold));
	c->untold->id = event->id;
	c->untold->has_field = event->nfields > 0;
	if (event->nfields > 0)
		c->untold->field = event->fields[0];
}

void
conn_tell(struct conn *c, const struct wire_event *event)
{
	if (c->spoke)
		c->protocol->event(conn_output(c), event);
	else
		keep_event(c, event);
}

void
conn_speaks(struct conn *c)
{
	struct untold *u = c->untold;

	c->spoke = true;
	if (u == NULL)
		return;
	c->untold = NULL;
	conn_tell(
	    c, &(struct wire_event){
		   .id = u->id, .fields = &u->field, .nfields = u->has_field });
	free(u);
}

void
conn_rows(struct conn *c, const struct wire_reply *reply, size_t nrows,
    const struct buf *rows)
{
	c->protocol->rows(conn_output(c), reply, nrows, rows);
}

void
conn_refuse_with(struct conn *c, const struct request *r, enum err_code code,
    const struct buf *text)
{
	struct wire_reply reply = { .verb = VERB_MAX,
		.status = STATUS_ERR,
		.code = code,
		.text = { buf_data(text), buf_len(text) } };

	if (r != NULL) {
		reply.tag = r->tag;
		reply.verb = r->verb;
	}
	conn_reply(c, &reply);
}

void
conn_refuse(struct conn *c, const struct request *r, enum err_code code,
    const char *fmt, ...)
{
	struct buf *text = &c->front->text;
	va_list ap;

	va_start(ap, fmt);
	buf_clear(text);
	buf_addv(text, fmt, ap);
	va_end(ap);
	conn_refuse_with(c, r, code, text);
}

void
conn_quit(struct conn *c)
{
	c->quit = true;
	front_ready(c);
}

void
conn_kill(struct conn *c)
{
	front_end(c, CONN_END_DEAD);
}
