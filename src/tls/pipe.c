/*
 * Moving bytes.
 *
 * On each event, pipe_pump() tries every direction that is worth a try, a
 * limited number of times, and then sets the events to wait for.  OpenSSL may
 * have to write before it can read, or to read before it can write; so its
 * wishes are kept apart from ours.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/timeval.h"
#include "base/xmalloc.h"
#include "tls/pipe.h"

#define READ_BYTES ((size_t)16 * 1024)
#define ROOM ((size_t)64 * 1024) /* for each direction */
#define ROUNDS_MAX 4
/* The time that a client has to read the rest after the broker has ended ... */
#define FLUSH_MS 10000
/* ... and the time to end, too: a little longer than the broker waits. */
#define LINGER_MS 1500
/*
 * Limits messages without data, above all key updates: each costs more than any
 * data, and OpenSSL reads on as long as more of them come.
 */
#define RESTLESS_MAX 1000

struct event *
engine_event(struct engine *e, int fd, short what, event_callback_fn fn,
    void *arg, enum priority priority)
{
	struct event *event = event_new(e->base, fd, what, fn, arg);

	if (event == NULL || event_priority_set(event, priority) < 0)
		abort();
	return event;
}

static void on_net(evutil_socket_t fd, short what, void *arg);
static void on_local(evutil_socket_t fd, short what, void *arg);

static void
on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct pipe *p = arg;

	(void)fd;
	(void)what;
	if (p->stage == PIPE_MOVING)
		pipe_free(p);
	else
		p->class->late(p);
}

struct pipe *
pipe_new(struct engine *e, int net, const struct pipe_class *class)
{
	struct pipe *p = xcalloc(1, sizeof(*p));

	assert(net >= 0 && class->go_on != NULL && class->late != NULL);
	p->id = ++e->next_id;
	p->engine = e;
	p->class = class;
	p->net = net;
	p->local = -1;
	buf_init_secret(&p->in); /* passwords come with AUTH */
	buf_init(&p->out);
	if (evtimer_assign(&p->timer, e->base, on_timer, p) < 0)
		abort();
	TAILQ_INSERT_TAIL(&e->pipes, p, link);
	e->npipes++;
	return p;
}

void
pipe_free(struct pipe *p)
{
	assert(p->engine->npipes > 0);
	if (p->class->leave != NULL && p->stage != PIPE_MOVING)
		p->class->leave(p);
	TAILQ_REMOVE(&p->engine->pipes, p, link);
	p->engine->npipes--;
	(void)event_del(&p->timer);
	if (p->net_watch.armed)
		(void)event_del(&p->net_watch.event);
	if (p->local_watch.armed)
		(void)event_del(&p->local_watch.event);
	SSL_free(p->ssl);
	X509_free(p->refused);
	(void)close(p->net);
	if (p->local >= 0)
		(void)close(p->local);
	buf_fini(&p->in);
	buf_fini(&p->out);
	ERR_clear_error();
	free(p);
}

static void
watch(struct pipe *p, struct watch *w, int fd, short want, event_callback_fn fn)
{
	bool moving = p->stage == PIPE_MOVING;

	if (want == w->armed)
		return;
	if (w->armed)
		(void)event_del(&w->event);
	w->armed = want;
	if (!want)
		return;
	assert(fd >= 0);
	(void)event_assign(
	    &w->event, p->engine->base, fd, (short)(want | EV_PERSIST), fn, p);
	(void)event_priority_set(
	    &w->event, moving ? PRIORITY_MOVE : PRIORITY_SHAKE);
	if (event_add(&w->event, NULL) < 0)
		abort();
}

void
pipe_watch_net(struct pipe *p, short want)
{
	watch(p, &p->net_watch, p->net, want, on_net);
}

void
pipe_timer(struct pipe *p, int64_t ms)
{
	struct timeval tv = ms_to_timeval(ms);

	assert(ms >= 0);
	if (ms == 0)
		(void)event_del(&p->timer);
	else if (event_add(&p->timer, &tv) < 0)
		abort();
}

/* Callback of OpenSSL: notes which certificates it refuses. */
static int
on_verify(int ok, X509_STORE_CTX *store)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(
	    store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct pipe *p = SSL_get_app_data(ssl);
	X509 *cert = X509_STORE_CTX_get_current_cert(store);

	if (ok || cert == NULL || p->refused)
		return ok;
	X509_up_ref(cert);
	p->refused = cert;
	p->refused_why = X509_STORE_CTX_get_error(store);
	return ok;
}

/* The same: notes alerts and messages without data. */
static void
on_info(const SSL *ssl, int where, int value)
{
	struct pipe *p = SSL_get_app_data(ssl);

	if (where == SSL_CB_READ_ALERT &&
	    (value & 0xff) == SSL3_AD_CLOSE_NOTIFY)
		p->notified = true;
	if (p->stage != PIPE_MOVING || !(where & SSL_CB_LOOP) ||
	    ++p->restless != RESTLESS_MAX)
		return;
	p->dead = true;
	(void)shutdown(p->net, SHUT_RDWR);
	p->engine->above->failed(
	    p->engine, p->peer, "it keeps sending new keys and no data");
}

void
pipe_secure(struct pipe *p, const struct context *context)
{
	assert(p->ssl == NULL && context->ssl != NULL);
	p->ssl = SSL_new(context->ssl);
	if (!p->ssl || SSL_set_fd(p->ssl, p->net) != 1)
		abort();
	SSL_set_app_data(p->ssl, p);
	SSL_set_verify(p->ssl, SSL_get_verify_mode(p->ssl), on_verify);
	SSL_set_info_callback(p->ssl, on_info);
	if (context->server)
		SSL_set_accept_state(p->ssl);
	else
		SSL_set_connect_state(p->ssl);
}

int
pipe_shake(struct pipe *p)
{
	int rc;

	assert(p->ssl != NULL && p->stage != PIPE_MOVING);
	ERR_clear_error();
	errno = 0;
	rc = SSL_do_handshake(p->ssl);
	if (rc == 1)
		return 1;
	switch (SSL_get_error(p->ssl, rc)) {
	case SSL_ERROR_WANT_READ:
		pipe_watch_net(p, EV_READ);
		return 0;
	case SSL_ERROR_WANT_WRITE:
		pipe_watch_net(p, EV_WRITE);
		return 0;
	default:
		return -1;
	}
}

/*
 * An error kills an accepted connection that has not ended yet; otherwise it
 * ends the rest of the connection.
 */
static void
net_failed(struct pipe *p)
{
	if (p->class->broken != NULL && !p->heard)
		p->class->broken(p);
	if (p->place && p->end == PIPE_OPEN) {
		p->dead = true;
		return;
	}
	p->deaf = true;
	p->net_in = p->net_out = false;
	p->in_wants_write = p->out_wants_read = false;
	if (p->end == PIPE_OPEN)
		p->end = PIPE_UNSIGNED;
}

static bool
net_read(struct pipe *p)
{
	int n;

	assert(p->ssl != NULL);
	if (!p->net_in || p->end != PIPE_OPEN || buf_len(&p->in) >= ROOM)
		return false;
	ERR_clear_error();
	errno = 0;
	p->in_wants_write = false;
	n = SSL_read(p->ssl, buf_reserve(&p->in, READ_BYTES), (int)READ_BYTES);
	if (n > 0) {
		buf_added(&p->in, (size_t)n);
		p->heard = true;
		p->restless = 0;
		if (p->local_gone)
			buf_clear(&p->in);
		return true;
	}
	switch (SSL_get_error(p->ssl, n)) {
	case SSL_ERROR_WANT_READ:
		p->net_in = false;
		return false;
	case SSL_ERROR_WANT_WRITE:
		p->net_in = false;
		p->in_wants_write = true;
		return false;
	case SSL_ERROR_ZERO_RETURN:
		if (p->broken && !p->notified)
			net_failed(p);
		else
			p->end = p->notified ? PIPE_SIGNED : PIPE_UNSIGNED;
		return true;
	default:
		net_failed(p);
		return true;
	}
}

/* Ends our side to the broker when the broker has all bytes. */
static bool
local_shut(struct pipe *p)
{
	if (p->end == PIPE_OPEN || p->local_shut || buf_len(&p->in) > 0)
		return false;
	if (p->place && p->end == PIPE_UNSIGNED &&
	    !p->engine->above->ended(p->engine, p->id, "unsigned")) {
		p->dead = true;
		return true;
	}
	p->local_shut = true;
	(void)shutdown(p->local, SHUT_WR);
	return true;
}

static bool
local_write(struct pipe *p)
{
	ssize_t n;

	assert(p->local >= 0);
	if (buf_len(&p->in) == 0)
		return local_shut(p);
	if (!p->local_out)
		return false;
	n = send(p->local, buf_data(&p->in), buf_len(&p->in), MSG_NOSIGNAL);
	if (n > 0) {
		buf_consume(&p->in, (size_t)n);
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		p->local_out = false;
		return false;
	}
	p->local_gone = true;
	buf_clear(&p->in);
	return true;
}

static bool
local_read(struct pipe *p)
{
	ssize_t n;

	assert(p->local >= 0);
	if (!p->local_in || p->local_ended || buf_len(&p->out) >= ROOM)
		return false;
	n = read(p->local, buf_reserve(&p->out, READ_BYTES), READ_BYTES);
	if (n > 0) {
		buf_added(&p->out, (size_t)n);
		if (p->deaf)
			buf_clear(&p->out);
		/*
		 * The events are level-triggered, so more bytes bring another
		 * event.
		 */
		p->local_in = (size_t)n == READ_BYTES;
		return true;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		p->local_in = false;
		return false;
	}
	p->local_ended = true;
	return true;
}

/* Sends close_notify and FIN when all is written. */
static bool
net_shut(struct pipe *p)
{
	int rc;

	if (!p->local_ended || p->net_shut || buf_len(&p->out) > 0 ||
	    !p->net_out)
		return false;
	assert(p->ssl != NULL);
	ERR_clear_error();
	rc = SSL_shutdown(p->ssl);
	if (rc < 0 && SSL_get_error(p->ssl, rc) == SSL_ERROR_WANT_WRITE) {
		p->net_out = false;
		return false;
	}
	p->net_shut = true;
	(void)shutdown(p->net, SHUT_WR);
	pipe_timer(p, LINGER_MS);
	return true;
}

static bool
net_write(struct pipe *p)
{
	int n;

	if (p->deaf) {
		buf_clear(&p->out);
		return false;
	}
	if (buf_len(&p->out) == 0)
		return net_shut(p);
	if (!p->net_out)
		return false;
	ERR_clear_error();
	errno = 0;
	p->out_wants_read = false;
	n = SSL_write(p->ssl, buf_data(&p->out), (int)buf_len(&p->out));
	if (n > 0) {
		buf_consume(&p->out, (size_t)n);
		return true;
	}
	switch (SSL_get_error(p->ssl, n)) {
	case SSL_ERROR_WANT_WRITE:
		p->net_out = false;
		return false;
	case SSL_ERROR_WANT_READ:
		p->net_out = false;
		p->out_wants_read = true;
		return false;
	default:
		/* The bytes that came before the reset can still be read. */
		p->broken = p->deaf = p->net_in = true;
		p->in_wants_write = p->out_wants_read = false;
		return true;
	}
}

static bool
is_over(const struct pipe *p)
{
	if (p->dead)
		return true;
	if (!p->local_ended)
		return false;
	/* A server's bytes have no reader after the broker has gone. */
	if (p->deaf || (p->net_shut && !p->place))
		return true;
	return p->net_shut && p->end != PIPE_OPEN &&
	       (p->local_shut || p->local_gone);
}

static short
net_wanted(const struct pipe *p)
{
	bool room = buf_len(&p->in) < ROOM;
	bool sends = buf_len(&p->out) > 0 || (p->local_ended && !p->net_shut);
	short want = 0;

	if (p->deaf)
		return p->end == PIPE_OPEN && room ? EV_READ : 0;
	if (p->in_wants_write || (sends && !p->net_out && !p->out_wants_read))
		want |= EV_WRITE;
	if (p->out_wants_read ||
	    (p->end == PIPE_OPEN && room && !p->in_wants_write))
		want |= EV_READ;
	/* Look for the end even behind bytes that cannot be read yet. */
	else if (p->end == PIPE_OPEN && !p->told_hup)
		want |= EV_READ | EV_CLOSED | EV_ET;
	return want;
}

static short
local_wanted(const struct pipe *p)
{
	short want = 0;

	if (buf_len(&p->in) > 0 && !p->local_out && !p->local_gone)
		want |= EV_WRITE;
	if (p->local_ended)
		return want;
	return buf_len(&p->out) < ROOM
		   ? want | EV_READ
		   : (short)(want | EV_READ | EV_CLOSED | EV_ET);
}

static void
pipe_pump(struct pipe *p)
{
	bool ended = p->local_ended;
	bool moved;
	int rounds = 0;

	assert(p->stage == PIPE_MOVING);
	do {
		moved = net_read(p);
		moved = local_write(p) || moved;
		moved = local_read(p) || moved;
		moved = net_write(p) || moved;
	} while (moved && !p->dead && ++rounds < ROUNDS_MAX);
	if (is_over(p)) {
		pipe_free(p);
		return;
	}
	if (p->local_ended && !ended && !p->net_shut)
		pipe_timer(p, FLUSH_MS);
	buf_trim(&p->in, 0);
	buf_trim(&p->out, 0);
	watch(p, &p->local_watch, p->local, local_wanted(p), on_local);
	pipe_watch_net(p, net_wanted(p));
	/* No event reports bytes that OpenSSL has decrypted already. */
	if (moved && p->net_watch.armed)
		event_active(&p->net_watch.event, EV_READ, 1);
}

static short
look_at(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0 ? poll_fd.revents : 0;
}

/* Checks for an event behind unread bytes. */
static void
look_behind(struct pipe *p)
{
	short seen = look_at(p->net);

	assert(p->place != NULL && p->stage == PIPE_MOVING);
	if (seen & POLLERR) {
		p->dead = true;
	} else if (seen && !p->told_hup) {
		p->told_hup = true;
		if (!p->engine->above->ended(p->engine, p->id, "behind"))
			p->dead = true;
	}
}

static void
on_net(evutil_socket_t fd, short what, void *arg)
{
	struct pipe *p = arg;

	(void)fd;
	if (p->stage != PIPE_MOVING) {
		p->class->go_on(p);
		return;
	}
	if (what & EV_WRITE)
		p->net_out = true;
	if (what & (EV_READ | EV_CLOSED))
		p->net_in = true;
	if (p->in_wants_write && (what & EV_WRITE))
		p->net_in = true;
	if (p->out_wants_read && (what & EV_READ))
		p->net_out = true;
	if (p->place && buf_len(&p->in) >= ROOM)
		look_behind(p);
	pipe_pump(p);
}

static void
on_local(evutil_socket_t fd, short what, void *arg)
{
	struct pipe *p = arg;

	if (what & EV_WRITE)
		p->local_out = true;
	if (what & (EV_READ | EV_CLOSED))
		p->local_in = true;
	/*
	 * The broker has abandoned the connection, and the client does not
	 * read.
	 */
	if (buf_len(&p->out) >= ROOM && (look_at(fd) & POLLHUP) &&
	    !p->local_gone) {
		p->local_gone = true;
		buf_clear(&p->in);
		pipe_timer(p, FLUSH_MS);
	}
	pipe_pump(p);
}

void
pipe_move(struct pipe *p)
{
	assert(p->stage != PIPE_MOVING && p->local >= 0 && p->ssl != NULL);
	pipe_watch_net(p, 0);
	pipe_timer(p, 0);
	p->stage = PIPE_MOVING;
	p->net_in = p->net_out = p->local_in = p->local_out = true;
	pipe_pump(p);
}
