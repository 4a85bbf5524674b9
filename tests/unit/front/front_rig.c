/*
 * The rig of the front's tests.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "front/conn.h"
#include "front_rig.h"
#include "wire/resp_value.h"

#define PATIENCE_S 30
#define SILENT_TURNS 20
#define CHUNK_BYTES 4000
#define CALM_MS 50
#define CALM_TURNS_MAX 5
#define CALM_TRIES 40

static int64_t
now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void
say(struct rig *rig, const char *word)
{
	if (buf_len(&rig->trace) > 0)
		buf_addc(&rig->trace, ' ');
	buf_adds(&rig->trace, word);
}

static void
answer(struct conn *c, uint64_t ref, enum status status)
{
	struct wire_reply reply = { .status = status };
	char mem[TAG_MAX_BYTES + 1];

	ck_assert(conn_answered(c, ref, mem, &reply));
	conn_reply(c, &reply);
}

static void
forget(struct rig *rig, size_t i)
{
	rig->ndeferred--;
	memmove(rig->deferred + i, rig->deferred + i + 1,
	    (rig->ndeferred - i) * sizeof(rig->deferred[0]));
}

static bool
cancel(struct rig *rig, struct conn *c, uint64_t ref)
{
	size_t i;

	for (i = 0; i < rig->ndeferred; i++) {
		if (rig->deferred[i].ref != ref)
			continue;
		forget(rig, i);
		answer(c, ref, STATUS_CANCELLED);
		return true;
	}
	return false;
}

static void
on_opened(void *arg, struct conn *c)
{
	struct rig *rig = arg;

	say(rig, "open");
	rig->last = conn_id(c);
	rig->admins += conn_is_admin(c);
	(void)snprintf(rig->peer, sizeof(rig->peer), "%s", conn_peer(c));
	conn_set_data(c, rig);
	conn_set_stranger(c, rig->strangers);
}

static void
on_lock(struct rig *rig, struct conn *c, const struct request *r)
{
	struct deferred *d = &rig->deferred[rig->ndeferred++];

	ck_assert(rig->ndeferred <= DEFERRED_MAX);
	d->conn = conn_id(c);
	d->ref = conn_defer(c, r);
}

static void
on_catch_up(void *arg)
{
	struct rig *rig = arg;

	rig->caught_up++;
	if (rig->overdue == NULL)
		return;
	conn_tell(rig->overdue,
	    &(struct wire_event){ .id = EVENT_LOST, .name = { "a", 1 } });
	rig->overdue = NULL;
}

static void
spend(int64_t us)
{
	int64_t until_us = now_us() + us;

	while (us > 0 && now_us() < until_us)
		;
}

static void
on_request(void *arg, struct conn *c, const struct request *r)
{
	struct wire_reply reply = { .tag = r->tag, .verb = r->verb };
	struct field label = { .id = FIELD_LABEL };
	struct rig *rig = arg;

	ck_assert_ptr_eq(conn_data(c), rig);
	ck_assert_ptr_eq(front_find(rig->front, conn_id(c)), c);
	ck_assert_uint_eq(c->reloads, rig->reloads);
	rig->requests++;
	rig->by = conn_id(c);
	spend(rig->costs_us);
	if (r->verb == VERB_NAMES) {
		ck_assert_uint_eq(rig->making, 0);
		rig->making = conn_id(c);
		conn_busy(c, true);
		return;
	}
	if (r->verb == VERB_LOCK) {
		on_lock(rig, c, r);
		return;
	}
	if (r->verb == VERB_CANCEL &&
	    !cancel(rig, c, conn_tag_ref(c, r->words[0]))) {
		conn_refuse(c, r, ERR_NOT_FOUND, "no such request");
		return;
	}
	if (r->verb == VERB_STATUS) {
		label.len = (uint32_t)r->words[0].n;
		reply.fields = &label;
		reply.nfields = 1;
		reply.arena = r->words[0].p;
	}
	conn_reply(c, &reply);
	if (r->verb == VERB_AUTH)
		conn_set_stranger(c, false);
	if (r->verb == VERB_QUIT)
		conn_quit(c);
}

static void
on_drain(void *arg, struct conn *c)
{
	struct rig *rig = arg;
	size_t i = 0;

	say(rig, "drain");
	while (rig->drain_cancels && i < rig->ndeferred) {
		if (rig->deferred[i].conn == conn_id(c))
			(void)cancel(rig, c, rig->deferred[i].ref);
		else
			i++;
	}
}

static void
on_pressed(void *arg, struct conn *c)
{
	struct rig *rig = arg;

	(void)c;
	say(rig, "pressed");
}

/* Any other line is echoed: its last word. */
static void
on_command(void *arg, struct conn *c, const struct request *r)
{
	(void)arg;
	resp_bulk(conn_output(c), r->words[r->nwords - 1]);
}

static void
on_gone(void *arg, struct conn *c, bool orderly)
{
	struct rig *rig = arg;
	size_t i = 0;

	say(rig, orderly ? "gone+" : "gone-");
	while (i < rig->ndeferred) {
		if (rig->deferred[i].conn == conn_id(c))
			forget(rig, i);
		else
			i++;
	}
}

static void
on_reloaded(void *arg, struct conn *c)
{
	struct rig *rig = arg;

	ck_assert(front_find(rig->front, conn_id(c)) == c);
	rig->reloaded++;
}

static void
on_reload_over(void *arg)
{
	struct rig *rig = arg;

	rig->reloads_over++;
}

/* Small, so that a test needn't pile up megabytes to fill it. */
static void
limit_buffers(int fd)
{
	const int bytes = 128 * 1024;

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

static int
listening(int family, const void *sa, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM, 0);

	ck_assert_int_ge(fd, 0);
	limit_buffers(fd);
	ck_assert_int_eq(bind(fd, sa, len), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	return fd;
}

static void
rig_listen(struct rig *rig)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(in);
	struct buf why;
	int fd;

	buf_init(&why);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = listening(AF_INET, &in, sizeof(in));
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	rig->port = ntohs(in.sin_port);
	ck_assert(front_listen_fd(rig->front, fd, &why));
	memcpy(un.sun_path, rig->path, strlen(rig->path) + 1);
	fd = listening(AF_UNIX, &un, sizeof(un));
	ck_assert(front_listen_fd(rig->front, fd, &why));
	ck_assert_uint_eq(front_listeners(rig->front), 2);
	buf_fini(&why);
}

static void
on_refused(void *arg, struct conn *c)
{
	(void)arg, (void)c;
}

void
rig_init(struct rig *rig)
{
	static const struct front_handler handler = {
		.opened = on_opened,
		.catch_up = on_catch_up,
		.request = on_request,
		.command = on_command,
		.refused = on_refused,
		.drain = on_drain,
		.pressed = on_pressed,
		.gone = on_gone,
		.reloaded = on_reloaded,
		.reload_over = on_reload_over,
	};

	memset(rig, 0, sizeof(*rig));
	(void)snprintf(rig->dir, sizeof(rig->dir), "/tmp/front.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	(void)snprintf(rig->path, sizeof(rig->path), "%s/s", rig->dir);
	rig->base = event_base_new();
	rig->limits = (struct client_limits){ .clients = 100,
		.line = 4096,
		.output = 1 << 20,
		.requests = 8,
		.unreachable_ms = 30000 };
	rig->drain_cancels = true;
	buf_init(&rig->trace);
	buf_init(&rig->none);
	rig->front = front_new(rig->base, &rig->limits, &handler, rig);
	rig_listen(rig);
}

void
rig_fini(struct rig *rig)
{
	front_free(rig->front);
	event_base_free(rig->base);
	buf_fini(&rig->trace);
	buf_fini(&rig->none);
	(void)unlink(rig->path);
	ck_assert_int_eq(rmdir(rig->dir), 0);
}

void
rig_set_limits(struct rig *rig)
{
	front_set_limits(rig->front, &rig->limits);
	rig->reloads++;
}

void
rig_turn(struct rig *rig)
{
	(void)event_base_loop(rig->base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	front_run(rig->front);
	front_flush(rig->front);
}

static int64_t
now_s(void)
{
	return now_us() / 1000000;
}

void
rig_expect_trace(struct rig *rig, const char *words)
{
	int64_t until = now_s() + PATIENCE_S;

	while (buf_len(&rig->trace) < strlen(words) && now_s() < until)
		rig_turn(rig);
	buf_addc(&rig->trace, '\0');
	ck_assert_str_eq(buf_data(&rig->trace), words);
	buf_clear(&rig->trace);
}

static void
on_calm(evutil_socket_t fd, short what, void *arg)
{
	bool *over = arg;

	(void)fd;
	(void)what;
	*over = true;
}

/* Returns how many turns the loop makes while nothing happens. */
static unsigned
turns_in_calm(struct rig *rig)
{
	const struct timeval tv = { 0, CALM_MS * 1000 };
	struct event *timer;
	bool over = false;
	unsigned turns = 0;

	timer = event_new(rig->base, -1, 0, on_calm, &over);
	(void)event_add(timer, &tv);
	while (!over) {
		(void)event_base_loop(rig->base, EVLOOP_ONCE);
		front_run(rig->front);
		front_flush(rig->front);
		turns++;
	}
	event_free(timer);
	return turns;
}

void
rig_expect_calm(struct rig *rig)
{
	unsigned turns = UINT_MAX;
	int i;

	for (i = 0; i < SILENT_TURNS; i++)
		rig_turn(rig);
	/* A kernel may take bytes for a while before it takes no more. */
	for (i = 0; i < CALM_TRIES && turns > CALM_TURNS_MAX; i++)
		turns = turns_in_calm(rig);
	ck_assert_uint_le(turns, CALM_TURNS_MAX);
}

void
rig_answer(struct rig *rig, enum status status)
{
	struct deferred d;
	struct conn *c;

	ck_assert_uint_gt(rig->ndeferred, 0);
	d = rig->deferred[0];
	forget(rig, 0);
	c = front_find(rig->front, d.conn);
	ck_assert_ptr_nonnull(c);
	answer(c, d.ref, status);
}

void
rig_made(struct rig *rig)
{
	struct conn *c = front_find(rig->front, rig->making);

	ck_assert_ptr_nonnull(c);
	conn_rows(c, &(struct wire_reply){ .verb = VERB_NAMES }, 0, &rig->none);
	conn_busy(c, false);
	rig->making = 0;
}

static void
connect_to(struct client *cl, int family, const void *sa, socklen_t len)
{
	cl->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(cl->fd, 0);
	limit_buffers(cl->fd);
	ck_assert(connect(cl->fd, sa, len) == 0 || errno == EINPROGRESS);
}

void
client_dial(struct client *cl, struct rig *rig, enum transport how)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	memset(cl, 0, sizeof(*cl));
	cl->rig = rig;
	buf_init(&cl->got);
	in.sin_port = htons(rig->port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memcpy(un.sun_path, rig->path, strlen(rig->path) + 1);
	if (how == OVER_TCP)
		connect_to(cl, AF_INET, &in, sizeof(in));
	else
		connect_to(cl, AF_UNIX, &un, sizeof(un));
}

void
client_open(struct client *cl, struct rig *rig, enum transport how)
{
	client_dial(cl, rig, how);
	rig_turn(rig);
	rig_turn(rig);
}

void
client_close(struct client *cl)
{
	if (cl->fd >= 0)
		(void)close(cl->fd);
	cl->fd = -1;
	buf_fini(&cl->got);
}

void
client_reset(struct client *cl)
{
	struct linger hard = { 1, 0 };

	(void)setsockopt(cl->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	client_close(cl);
}

void
client_send(struct client *cl, const char *text)
{
	size_t n = strlen(text);

	ck_assert_int_eq(send(cl->fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* Gives the network, which has threads of its own, a moment. */
static bool
can_send(const struct client *cl)
{
	struct pollfd p = { .fd = cl->fd, .events = POLLOUT };

	return poll(&p, 1, 1) > 0;
}

/* Fills a chunk with whole lines: sending many small pieces would cost the
 * most. */
static size_t
chunk_fill(char chunk[CHUNK_BYTES], const char *line)
{
	size_t len = strlen(line);
	size_t n = 0;

	ck_assert_uint_le(len, CHUNK_BYTES);
	for (n = 0; n + len <= CHUNK_BYTES; n += len)
		memcpy(chunk + n, line, len);
	return n;
}

size_t
client_pour(
    struct client *cl, const char *line, size_t bytes_max, unsigned turns)
{
	char chunk[CHUNK_BYTES];
	size_t len = chunk_fill(chunk, line);
	size_t sent = 0;
	unsigned idle = 0;
	ssize_t n;

	while (idle < turns && (sent < bytes_max || sent % len > 0)) {
		n = send(
		    cl->fd, chunk + sent % len, len - sent % len, MSG_NOSIGNAL);
		if (n > 0) {
			sent += (size_t)n;
			idle = 0;
			continue;
		}
		if (errno != EAGAIN)
			break;
		rig_turn(cl->rig);
		idle += !can_send(cl);
	}
	return sent;
}

void
client_shut(struct client *cl)
{
	ck_assert_int_eq(shutdown(cl->fd, SHUT_WR), 0);
}

static void
client_take(struct client *cl)
{
	ssize_t n;

	if (cl->eof || cl->reset)
		return;
	n = recv(cl->fd, buf_reserve(&cl->got, 65536), 65536, 0);
	if (n > 0)
		buf_added(&cl->got, (size_t)n);
	else if (n == 0)
		cl->eof = true;
	else if (errno != EAGAIN)
		cl->reset = true;
}

void
client_expect(struct client *cl, const char *text)
{
	int64_t until = now_s() + PATIENCE_S;
	size_t n = strlen(text);
	char *got;

	while (buf_len(&cl->got) < n && !cl->eof && !cl->reset &&
	       now_s() < until) {
		rig_turn(cl->rig);
		client_take(cl);
	}
	if (buf_len(&cl->got) < n)
		n = buf_len(&cl->got);
	got = strndup(n > 0 ? buf_data(&cl->got) : "", n);
	ck_assert_str_eq(got, text);
	free(got);
	buf_consume(&cl->got, n);
}

void
client_pump(struct client *cl)
{
	rig_turn(cl->rig);
	client_take(cl);
}

void
client_gather(struct client *cl)
{
	int64_t until = now_s() + PATIENCE_S;

	while (!cl->eof && !cl->reset && now_s() < until) {
		rig_turn(cl->rig);
		client_take(cl);
	}
	ck_assert(cl->eof);
	buf_addc(&cl->got, '\0');
}

void
client_expect_eof(struct client *cl)
{
	client_gather(cl);
	ck_assert_str_eq(buf_data(&cl->got), "");
}

void
client_expect_silence(struct client *cl)
{
	int i;

	for (i = 0; i < SILENT_TURNS; i++) {
		rig_turn(cl->rig);
		client_take(cl);
	}
	ck_assert_uint_eq(buf_len(&cl->got), 0);
	ck_assert(!cl->eof && !cl->reset);
}
