/*
 * The life of lockbroker-tls, and the packets to and from it.
 *
 * The relay remembers what it has sent to the process, so that it can send the
 * same to a new one.  The listening sockets are ours: clients wait in them
 * while no process runs.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "relay/packet.h"
#include "relay/relay.h"
#include "relay/spawn.h"

#define RESTART_MS_MIN 20
#define RESTART_MS_MAX 5000
#define STEADY_MS 10000 /* after a run this long, the next pause is short */
#define ANSWER_MS 10000
#define LEAVE_MS 1000
#define PACKETS_PER_TURN 256
#define PACKETS_MAX 100000 /* more than a socket has room for */
#define WARN_S (14 * 24 * 3600)
#define VALUES_MAX 8
#define WORD_BYTES_MAX 40

/* Owned by the relay. */
struct place {
	unsigned number;
	int fd; /* owned */
	char *cert, *key, *client_ca;
	unsigned verify;
	bool tls_1_3;
	bool headed;
	TAILQ_ENTRY(place) link;
};

struct relay {
	struct event_base *base;
	const struct relay_handler *handler;
	void *arg;
	char program[SPAWN_PATH_SIZE];

	pid_t pid;   /* 0: it does not run */
	int control; /* -1: none */
	struct event *readable;
	struct event *restart;
	int64_t started_ms;
	int64_t pause_ms;
	uint32_t life; /* how often the process was started */

	TAILQ_HEAD(, place) places;
	bool serves;
	struct relay_servers servers; /* its texts are owned */
	bool accepting;
	bool closing; /* clients that came before may still shake hands */
	unsigned clients;
	int64_t unreachable_ms;
	int64_t header_ms;

	bool asked; /* the answer goes to: */
	bool answered;
	char why[RELAY_WHY_SIZE];
	struct relay_stats stats;
};

static void
restart_later(struct relay *r)
{
	struct timeval tv;

	assert(r->restart != NULL && r->pid == 0);
	if (now_awake_ms() - r->started_ms >= STEADY_MS)
		r->pause_ms = 0;
	r->pause_ms = r->pause_ms > 0 ? r->pause_ms * 2 : RESTART_MS_MIN;
	if (r->pause_ms > RESTART_MS_MAX)
		r->pause_ms = RESTART_MS_MAX;
	tv = ms_to_timeval(r->pause_ms);
	(void)evtimer_add(r->restart, &tv);
}

static int
reap(struct relay *r)
{
	int status = 0;

	assert(r->pid > 0);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	r->pid = 0;
	return status;
}

static void
let_go(struct relay *r)
{
	if (r->readable)
		event_free(r->readable);
	r->readable = NULL;
	if (r->control >= 0)
		(void)close(r->control);
	r->control = -1;
}

/* The process has gone, or sent garbage: kills it and starts it again later. */
static void
lost(struct relay *r)
{
	char how[40];
	int status;

	if (r->pid == 0)
		return;
	let_go(r);
	r->closing = false;
	(void)kill(r->pid, SIGKILL);
	status = reap(r);
	snprintf(how, sizeof(how), "%s %d",
	    WIFSIGNALED(status) ? "signal" : "status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (!r->restart)
		return;
	LOG(WARNING, "tls-process-died", LOG_S("how", how));
	r->stats.restarts_total++;
	restart_later(r);
}

static void
on_client(struct relay *r, struct packet *p)
{
	struct relay_client client = {
		.place = (unsigned)packet_num(p, 1),
		.id = (uint64_t)r->life << 40 | (uint64_t)packet_num(p, 2),
		.peer = packet_text(p, 3),
		.names = p->text + 4,
		.nnames = p->n - 4,
	};

	assert(p->n >= 4 && p->fd >= 0);
	if (!r->handler)
		return;
	r->stats.handshakes_total++;
	client.fd = packet_take_fd(p);
	r->handler->client(r->arg, &client);
}

static void
on_end(struct relay *r, struct packet *p)
{
	uint64_t id = (uint64_t)r->life << 40 | (uint64_t)packet_num(p, 1);

	if (!r->handler)
		return;
	r->handler->ended(r->arg, id,
	    strcmp(packet_text(p, 2), "behind") == 0 ? RELAY_BEHIND
						     : RELAY_UNSIGNED);
}

/* Can the text stand in a log line unescaped?  That process is not trusted. */
static bool
is_word(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= WORD_BYTES_MAX && text[n] == '\0';
}

static void
on_log(struct relay *r, struct packet *p)
{
	struct log_value values[VALUES_MAX];
	enum log_level level = strcmp(packet_text(p, 1), "warning") == 0
				   ? LOG_LEVEL_WARNING
				   : LOG_LEVEL_INFO;
	size_t n = 0;
	unsigned i;

	(void)r;
	for (i = 2; i < p->n; i += i == 2 ? 1 : 2)
		if (!is_word(p->text[i]))
			return;
	for (i = 3; i + 1 < p->n && n < VALUES_MAX; i += 2)
		values[n++] = (struct log_value){ p->text[i], p->text[i + 1],
			strlen(p->text[i + 1]), 0 };
	if (log_enabled(level))
		log_values(level, packet_text(p, 2), values, n);
}

static void
on_failed(struct relay *r, struct packet *p)
{
	r->stats.failed_total += (uint64_t)packet_num(p, 1);
}

/* Notes when certificates expire, which every answer reports. */
static void
note_until(struct relay *r, const struct packet *p)
{
	int64_t left, until = packet_num(p, 2);

	if (until == 0 || until == r->stats.until)
		return;
	r->stats.until = until;
	left = until - (int64_t)time(NULL);
	if (r->base && left < WARN_S)
		LOG(WARNING, "tls-certificate-expires", LOG_N("seconds", left));
}

static void
on_done(struct relay *r, struct packet *p)
{
	const char *why = packet_text(p, 1);

	note_until(r, p);
	if (r->asked) {
		r->answered = true;
		snprintf(r->why, sizeof(r->why), "%s", why);
	} else if (why[0] != '\0') {
		LOG(ERROR, "tls-failed", LOG_S("why", why));
	}
}

static void
on_reloaded(struct relay *r, struct packet *p)
{
	const char *why = packet_text(p, 1);

	note_until(r, p);
	if (why[0] != '\0')
		LOG(ERROR, "tls-reload-failed", LOG_S("why", why),
		    LOG_S("advice", "the previous settings stay in use"));
	else
		LOG(NOTICE, "tls-reloaded");
}

static void
on_closed(struct relay *r, struct packet *p)
{
	(void)p;
	r->closing = false;
}

static const struct {
	const char *word;
	unsigned texts;
	bool fd;
	void (*fn)(struct relay *r, struct packet *p);
} handlers[] = {
	{ "client", 3, true, on_client },
	{ "end", 2, false, on_end },
	{ "log", 2, false, on_log },
	{ "failed", 1, false, on_failed },
	{ "done", 2, false, on_done },
	{ "reloaded", 2, false, on_reloaded },
	{ "closed", 0, false, on_closed },
};

static bool
handle(struct relay *r, struct packet *p)
{
	size_t i;

	for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		if (!packet_is(p, handlers[i].word, handlers[i].texts))
			continue;
		/*
		 * If no descriptor is left here, none is received, and the
		 * client is lost.
		 */
		if (handlers[i].fd == (p->fd >= 0))
			handlers[i].fn(r, p);
		packet_drop_fd(p);
		return true;
	}
	packet_drop_fd(p);
	return false;
}

static void
take_in(struct relay *r, int max)
{
	struct packet p;
	enum packet_end end;
	int i;

	for (i = 0; i < max && r->control >= 0; i++) {
		end = packet_receive(r->control, &p);
		if (end == PACKET_LATER)
			return;
		if (end == PACKET_GONE || !handle(r, &p))
			lost(r);
	}
}

/* Reads every packet: one of them may report how a connection has ended. */
void
relay_look(struct relay *r)
{
	take_in(r, PACKETS_MAX);
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	take_in(arg, PACKETS_PER_TURN);
}

/* Sends a packet to the process.  A process that does not read is of no use. */
static bool
tell(struct relay *r, const struct packet *p, int fd)
{
	if (r->control < 0)
		return false;
	if (packet_send(r->control, p, fd) == PACKET_OK)
		return true;
	lost(r);
	return false;
}

static bool
tell_limits(struct relay *r)
{
	struct packet p;

	packet_begin(&p, "limits");
	packet_add_num(&p, r->clients);
	packet_add_num(&p, r->unreachable_ms);
	packet_add_num(&p, r->header_ms);
	return tell(r, &p, -1);
}

static bool
tell_place(struct relay *r, const struct place *place)
{
	struct packet p;

	packet_begin(&p, "place");
	packet_add_num(&p, place->number);
	packet_add(&p, place->cert);
	packet_add(&p, place->key);
	packet_add(&p, place->client_ca);
	packet_add_num(&p, place->verify);
	packet_add_num(&p, place->tls_1_3);
	packet_add_num(&p, place->headed);
	return tell(r, &p, place->fd);
}

static bool
tell_servers(struct relay *r)
{
	struct packet p;

	assert(r->serves);
	packet_begin(&p, "servers");
	packet_add(&p, r->servers.ca);
	packet_add(&p, r->servers.cert);
	packet_add(&p, r->servers.key);
	packet_add_num(&p, r->servers.names);
	packet_add_num(&p, r->servers.connect_timeout_ms);
	packet_add_num(&p, r->servers.reply_timeout_ms);
	return tell(r, &p, -1);
}

static bool
tell_accept(struct relay *r)
{
	struct packet p;

	packet_begin(&p, "accept");
	packet_add_num(&p, r->accepting);
	return tell(r, &p, -1);
}

/* Waits for the answer to the last packet. */
static bool
answered(struct relay *r, char why[RELAY_WHY_SIZE])
{
	int64_t until = now_awake_ms() + ANSWER_MS, left;
	struct pollfd poll_fd = { .fd = r->control, .events = POLLIN };

	assert(!r->asked);
	r->asked = true;
	r->answered = false;
	while (!r->answered && r->control >= 0) {
		left = until - now_awake_ms();
		if (left <= 0)
			break;
		if (poll(&poll_fd, 1, (int)left) > 0)
			relay_look(r);
	}
	r->asked = false;
	if (!r->answered)
		snprintf(
		    why, RELAY_WHY_SIZE, "%.500s does not answer", r->program);
	else
		snprintf(why, RELAY_WHY_SIZE, "%s", r->why);
	return r->answered && r->why[0] == '\0';
}

static int
start(struct relay *r)
{
	char word[] = "broker";
	char *argv[] = { r->program, word, NULL };
	int ends[2], error;

	assert(r->pid == 0 && r->control < 0);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		0, ends) < 0)
		return errno;
	r->started_ms = now_awake_ms();
	error = spawn(argv, ends[1], false, &r->pid);
	(void)close(ends[1]);
	if (error != 0) {
		(void)close(ends[0]);
		return error;
	}
	r->life++;
	r->control = ends[0];
	if (!r->base)
		return 0;
	r->readable = event_new(
	    r->base, r->control, EV_READ | EV_PERSIST, on_readable, r);
	if (!r->readable || event_add(r->readable, NULL) < 0)
		abort();
	return 0;
}

static void
on_restart(evutil_socket_t fd, short what, void *arg)
{
	struct relay *r = arg;
	const struct place *place;
	int error = start(r);

	assert(r->base != NULL);
	(void)fd;
	(void)what;
	if (error != 0) {
		LOG(ERROR, "tls-process-start", LOG_S("program", r->program),
		    LOG_S("why", strerror(error)));
		restart_later(r);
		return;
	}
	(void)tell_limits(r);
	if (r->serves)
		(void)tell_servers(r);
	TAILQ_FOREACH (place, &r->places, link)
		(void)tell_place(r, place);
	(void)tell_accept(r);
}

struct relay *
relay_new(struct event_base *base, const struct relay_handler *handler,
    void *arg, char why[RELAY_WHY_SIZE])
{
	struct relay *r = xcalloc(1, sizeof(*r));
	int error;

	r->base = base;
	r->handler = handler;
	r->arg = arg;
	r->control = -1;
	TAILQ_INIT(&r->places);
	if (base != NULL &&
	    (r->restart = evtimer_new(base, on_restart, r)) == NULL)
		abort();
	if (spawn_find(r->program) == NULL)
		snprintf(why, RELAY_WHY_SIZE, SPAWN_MISSING);
	else if ((error = start(r)) != 0)
		snprintf(why, RELAY_WHY_SIZE, "cannot start %.500s: %s",
		    r->program, strerror(error));
	else
		return r;
	relay_free(r);
	return NULL;
}

/* Ends the process, and gives it a moment to send clients its last output. */
static void
leave(struct relay *r)
{
	const struct timespec pause = { 0, 5 * 1000 * 1000 };
	int64_t until = now_awake_ms() + LEAVE_MS;

	assert(r->pid > 0);
	let_go(r);
	while (now_awake_ms() < until) {
		if (waitpid(r->pid, NULL, WNOHANG) != 0)
			return;
		(void)nanosleep(&pause, NULL);
	}
	(void)kill(r->pid, SIGKILL);
	(void)reap(r);
}

void
relay_free(struct relay *r)
{
	if (r == NULL)
		return;
	if (r->pid > 0)
		leave(r);
	relay_close_places(r);
	if (r->restart)
		event_free(r->restart);
	free((void *)(uintptr_t)r->servers.ca);
	free((void *)(uintptr_t)r->servers.cert);
	free((void *)(uintptr_t)r->servers.key);
	free(r);
}

void
relay_limits(struct relay *r, unsigned clients, int64_t unreachable_ms,
    int64_t header_ms)
{
	r->clients = clients;
	r->unreachable_ms = unreachable_ms;
	r->header_ms = header_ms;
	(void)tell_limits(r);
}

bool
relay_listen(struct relay *r, unsigned number,
    const struct relay_place *settings, int fd, char why[RELAY_WHY_SIZE])
{
	struct place *place = xcalloc(1, sizeof(*place));

	assert(fd >= 0);
	place->number = number;
	place->fd = fd;
	place->cert = xstrdup(settings->cert);
	place->key = xstrdup(settings->key);
	place->client_ca = xstrdup(settings->client_ca);
	place->verify = settings->verify;
	place->tls_1_3 = settings->tls_1_3;
	place->headed = settings->headed;
	TAILQ_INSERT_TAIL(&r->places, place, link);
	r->closing = false;
	(void)tell_place(r, place);
	return answered(r, why);
}

bool
relay_serve(struct relay *r, const struct relay_servers *settings,
    char why[RELAY_WHY_SIZE])
{
	r->serves = true;
	r->servers = *settings;
	r->servers.ca = xstrdup(settings->ca);
	r->servers.cert = xstrdup(settings->cert);
	r->servers.key = xstrdup(settings->key);
	(void)tell_servers(r);
	return answered(r, why);
}

void
relay_accept(struct relay *r, bool on)
{
	r->accepting = on;
	(void)tell_accept(r);
}

void
relay_close_places(struct relay *r)
{
	struct packet p;
	struct place *place;

	packet_begin(&p, "close");
	r->closing = tell(r, &p, -1);
	while ((place = TAILQ_FIRST(&r->places)) != NULL) {
		TAILQ_REMOVE(&r->places, place, link);
		(void)close(place->fd);
		free(place->cert);
		free(place->key);
		free(place->client_ca);
		free(place);
	}
}

bool
relay_shakes(const struct relay *r)
{
	return r->closing;
}

void
relay_reload(struct relay *r)
{
	struct packet p;

	packet_begin(&p, "reload");
	(void)tell(r, &p, -1);
}

int
relay_connect(struct relay *r, const char *ip, uint16_t port, const char *name)
{
	enum packet_end end = PACKET_GONE;
	struct packet p;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		ends) < 0)
		return -1;
	packet_begin(&p, "dial");
	packet_add(&p, ip);
	packet_add_num(&p, port);
	packet_add(&p, name);
	if (r->control >= 0)
		end = packet_send(r->control, &p, ends[1]);
	(void)close(ends[1]);
	if (end == PACKET_OK)
		return ends[0];
	(void)close(ends[0]);
	/*
	 * Many packets may wait to be sent: that is no reason to end the
	 * process.
	 */
	if (end == PACKET_GONE)
		lost(r);
	return -1;
}

void
relay_stats(const struct relay *r, struct relay_stats *out)
{
	*out = r->stats;
}
