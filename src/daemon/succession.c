/*
 * See succession.h; heir.c starts the new process.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/list.h"
#include "base/log.h"
#include "base/now.h"
#include "base/parse.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge.h"
#include "daemon/broker.h"
#include "daemon/heir.h"
#include "daemon/resumption.h"
#include "daemon/succession.h"
#include "daemon/systemd.h"
#include "relay/packet.h"

#define REPORT_MS 1000 /* how often one that leaves tells how it is */

/* Another process of this broker.  Owned by the succession. */
struct peer {
	struct succession *of;
	int fd; /* owned */
	struct event *readable;
	bool left; /* it has said that it ends */
	unsigned reports;
	int64_t pid, since_ms;
	uint64_t clients, locks, waiters;
	LIST_ENTRY(peer) link; /* if it leaves */
};

/* Who has asked for a replacement. */
struct asker {
	uint64_t conn, ref; /* ref 0: nobody */
};

struct succession {
	struct broker *broker;
	const struct succession_hooks *hooks;
	struct systemd *notify;
	struct peer *before;	   /* we are to replace it */
	struct peer *after;	   /* it has replaced us */
	LIST_HEAD(, peer) leaving; /* we, or those before us, replaced them */
	struct heir *heir;	   /* it is to replace us */
	struct asker asker;
	struct resumption *resumption;
	struct event *report;
	struct buf told; /* what `before` was told last */
	uint64_t replaced_total;
	bool stop; /* `after` says so */
};

/* Channels. */

static enum packet_end
tell(const struct peer *peer, const struct packet *p)
{
	return packet_send(peer->fd, p, -1);
}

static void
say(const struct peer *peer, const char *word)
{
	struct packet p;

	packet_begin(&p, word);
	(void)tell(peer, &p);
}

static struct peer *
peer_new(struct succession *s, int fd)
{
	struct peer *peer = xcalloc(1, sizeof(*peer));

	assert(fd >= 0);
	peer->of = s;
	peer->fd = fd;
	return peer;
}

static void
peer_free(struct peer *peer)
{
	if (peer == NULL)
		return;
	if (peer->readable)
		event_free(peer->readable);
	if (peer->fd >= 0)
		(void)close(peer->fd);
	free(peer);
}

static void on_readable(evutil_socket_t fd, short what, void *arg);

static void
listen_to(struct peer *peer)
{
	peer->readable = event_new(peer->of->broker->base, peer->fd,
	    EV_READ | EV_PERSIST, on_readable, peer);
	if (!peer->readable || event_add(peer->readable, NULL) < 0)
		abort();
}

/* The new process. */

void
succession_failed(const char *why)
{
	int fd = handed_next(HANDED_CHANNEL);
	struct packet p;

	if (fd < 0)
		return;
	packet_begin(&p, "failed");
	packet_add(&p, why);
	(void)!packet_send(fd, &p, -1);
	/* It stays open: its end is to be that of the process. */
}

/*
 * Clients of the old process and of the new one would not see each other's
 * locks if these differed.  Of a cluster, and of Sentinels, any nodes will do.
 */
static void
add_redis(struct buf *out, const struct config *config)
{
	const struct config_redis *r = &config->redis;
	char node[ADDRESS_SIZE];
	size_t i;

	buf_addf(out, "%d %u %s %s", (int)r->mode, r->database, r->prefix,
	    r->master);
	if (r->mode == CONFIG_MODE_STANDALONE || r->mode == CONFIG_MODE_QUORUM)
		for (i = 0; i < r->nodes.n; i++)
			buf_addf(
			    out, " %s", address_format(&r->nodes.v[i], node));
	buf_addc(out, '\0');
}

void
succession_turn(struct succession *s)
{
	struct core_gauges gauges;
	struct redis_stats redis;
	struct packet p;
	struct buf mine;

	if (s->before == NULL)
		return;
	core_gauges(s->broker->core, now_ms(), &gauges);
	redis_stats(s->broker->redis, &redis);
	buf_init(&mine);
	add_redis(&mine, s->broker->config);
	packet_begin(&p, "state");
	packet_add_num(&p, gauges.ready);
	packet_add_num(&p, gauges.grace_ms > 0);
	packet_add_num(&p, redis.up);
	packet_add(&p, buf_data(&mine));
	packet_add(&p, gauges.ready ? "" : gauges.why);
	buf_fini(&mine);
	if (p.len == buf_len(&s->told) &&
	    memcmp(p.bytes, buf_data(&s->told), p.len) == 0)
		return;
	if (tell(s->before, &p) == PACKET_OK) {
		buf_clear(&s->told);
		buf_add(&s->told, p.bytes, p.len);
	}
}

/* From now on this process is the broker. */
static void
take_over(struct succession *s)
{
	struct peer *peer;

	s->before = NULL;
	buf_fini(&s->told);
	LIST_FOREACH (peer, &s->leaving, link)
		if (peer->readable == NULL)
			listen_to(peer);
	handed_drop();
	s->hooks->take_over(s->broker);
}

static void
on_before(struct succession *s, const struct packet *p)
{
	struct peer *before = s->before;

	if (!packet_is(p, "go", 2))
		return;
	s->replaced_total = (uint64_t)packet_num(p, 1);
	before->pid = packet_num(p, 2);
	before->since_ms = now_ms();
	LOG(NOTICE, "takes-over", LOG_N("from", before->pid));
	LIST_INSERT_HEAD(&s->leaving, before, link);
	take_over(s);
}

static void
before_gone(struct succession *s)
{
	struct peer *before = s->before;

	LOG(WARNING, "takes-over",
	    LOG_S("why", "the process that started this one has gone"));
	take_over(s);
	peer_free(before);
}

/* Those that leave. */

static void
on_leaving(struct peer *peer, const struct packet *p)
{
	if (packet_is(p, "left", 0)) {
		peer->left = true;
	} else if (packet_is(p, "report", 5)) {
		peer->pid = packet_num(p, 1);
		peer->since_ms = packet_num(p, 2);
		peer->clients = (uint64_t)packet_num(p, 3);
		peer->locks = (uint64_t)packet_num(p, 4);
		peer->waiters = (uint64_t)packet_num(p, 5);
		/* The first comes at once, when Redis does not know yet. */
		if (++peer->reports == 2)
			peer->of->hooks->inherit(peer->of->broker);
	}
}

static void
leaving_gone(struct peer *peer)
{
	/* One of which nothing was heard may have told the process before us. */
	if (!peer->left && peer->pid != 0 && !peer->of->broker->stopping)
		LOG(WARNING, "leaving-died", LOG_N("pid", peer->pid),
		    LOG_N("clients", peer->clients),
		    LOG_N("locks", peer->locks));
	LIST_REMOVE(peer, link);
	resumption_gone(peer->of->resumption);
	peer_free(peer);
}

/* Tells all that leave, and the one that has replaced this one. */
static unsigned
ask_others(struct broker *b, const struct packet *p)
{
	const struct succession *s = b->succession;
	const struct peer *peer;
	unsigned n = 0;

	LIST_FOREACH (peer, &s->leaving, link)
		n += tell(peer, p) == PACKET_OK;
	if (s->after != NULL)
		n += tell(s->after, p) == PACKET_OK;
	return n;
}

bool
succession_ask_to_serve(int peer, int fd, const char *user, const char *line)
{
	struct packet p;

	packet_begin(&p, "serve");
	packet_add(&p, user);
	packet_add(&p, line);
	return !p.full && packet_send(peer, &p, fd) == PACKET_OK;
}

void
succession_each(const struct succession *s,
    void (*fn)(void *arg, int peer, int64_t pid), void *arg)
{
	const struct peer *peer;

	LIST_FOREACH (peer, &s->leaving, link)
		fn(arg, peer->fd, peer->pid);
}

struct resumption *
succession_resumption(const struct succession *s)
{
	return s->resumption;
}

struct succession_leaving
succession_leaving(const struct succession *s)
{
	struct succession_leaving out = { 0, 0, 0, 0, 0 };
	const struct peer *peer;

	LIST_FOREACH (peer, &s->leaving, link) {
		out.processes++;
		out.clients += peer->clients;
		out.locks += peer->locks;
		out.waiters += peer->waiters;
		if (out.since_ms == 0 || peer->since_ms < out.since_ms)
			out.since_ms = peer->since_ms;
	}
	return out;
}

uint64_t
succession_total(const struct succession *s)
{
	return s->replaced_total;
}

/* The old process. */

/* Tells the process that has replaced this one. */
static void
on_report(evutil_socket_t fd, short what, void *arg)
{
	struct succession *s = arg;
	struct broker_counts n = broker_counts(s->broker);
	struct packet p;

	(void)fd;
	(void)what;
	if (s->after == NULL)
		return;
	packet_begin(&p, "report");
	packet_add_num(&p, getpid());
	packet_add_num(&p, s->broker->leaving_ms);
	packet_add_num(&p, front_count(s->broker->front));
	packet_add_num(&p, (int64_t)n.locks);
	packet_add_num(&p, (int64_t)n.waiters);
	(void)tell(s->after, &p);
}

static void
answer(struct succession *s, const char *why, pid_t pid)
{
	const struct field field = { .id = FIELD_PID, .num = (uint64_t)pid };
	struct conn *c = front_find(s->broker->front, s->asker.conn);
	struct wire_reply reply = {
		.status = STATUS_OK, .fields = &field, .nfields = 1
	};

	if (why != NULL)
		reply = (struct wire_reply){ .status = STATUS_ERR,
			.code = ERR_UNAVAILABLE,
			.text = { why, strlen(why) } };
	if (s->asker.ref != 0 && c != NULL)
		(void)bridge_answer(s->broker, c, s->asker.ref, &reply);
	s->asker.ref = 0;
}

static void
refuse(struct succession *s, const char *why)
{
	LOG(ERROR, "replace-failed", LOG_S("why", why));
	answer(s, why, 0);
}

/* Those that leave are the new process' now. */
static void
forget_leaving(struct succession *s)
{
	struct peer *peer;

	while ((peer = LIST_FIRST(&s->leaving)) != NULL) {
		LIST_REMOVE(peer, link);
		peer_free(peer);
	}
}

/*
 * Nobody is accepted between the two: clients that come meanwhile wait, for as
 * long as the packet takes.
 */
static bool
pass_on(struct succession *s)
{
	struct broker *b = s->broker;
	pid_t pid = heir_pid(s->heir);
	struct packet p;

	s->hooks->hold_back(b, true);
	s->after = peer_new(s, heir_let_go(s->heir));
	systemd_send(s->notify, "MAINPID=%lld", (long long)pid);
	packet_begin(&p, "go");
	packet_add_num(&p, (int64_t)s->replaced_total + 1);
	packet_add_num(&p, getpid());
	if (tell(s->after, &p) == PACKET_OK)
		return true;
	peer_free(s->after);
	s->after = NULL;
	systemd_send(s->notify, "MAINPID=%lld", (long long)getpid());
	s->hooks->hold_back(b, false);
	return false;
}

static void
hand_over(struct succession *s)
{
	const struct timeval often = ms_to_timeval(REPORT_MS);
	struct broker *b = s->broker;
	pid_t pid = heir_pid(s->heir);
	int64_t began_ms = heir_began_ms(s->heir);
	struct broker_counts n;

	if (!pass_on(s)) {
		refuse(s, "the new process ended when it was ready");
		return;
	}
	s->hooks->leave(b);
	systemd_fini(s->notify);
	forget_leaving(s);
	listen_to(s->after);
	resumption_gone(s->resumption);
	(void)event_add(s->report, &often);
	on_report(-1, 0, s);
	n = broker_counts(b);
	LOG(NOTICE, "replaced", LOG_N("pid", pid),
	    LOG_N("clients", front_count(b->front)),
	    LOG_N("holds", (long long)n.locks),
	    LOG_N("took_ms", now_awake_ms() - began_ms));
	answer(s, NULL, pid);
}

static const char *
unfit(void *arg, const struct heir_state *state, bool *for_good)
{
	const struct succession *s = arg;
	struct core_gauges gauges;
	struct redis_stats redis;
	struct buf mine;

	buf_init(&mine);
	add_redis(&mine, s->broker->config);
	*for_good = strcmp(buf_data(&mine), state->redis) != 0;
	buf_fini(&mine);
	if (*for_good)
		return SUCCESSION_OTHER_REDIS;
	if (state->ready || state->grace_ms > 0)
		return NULL;
	core_gauges(s->broker->core, now_ms(), &gauges);
	redis_stats(s->broker->redis, &redis);
	/* It is no worse off than we are. */
	if (!gauges.ready && state->up > 0 && state->up >= redis.up)
		return NULL;
	return "it can't grant yet";
}

static void
on_over(void *arg, const char *why)
{
	struct succession *s = arg;

	if (why == NULL)
		hand_over(s);
	else
		refuse(s, why);
	heir_free(s->heir);
	s->heir = NULL;
}

static const struct heir_handler heir_handler = { unfit, on_over };

/* Would a service manager take the end of this process for its own? */
static bool
is_watched_blindly(const struct systemd *notify)
{
	const char *text = getenv("SYSTEMD_EXEC_PID");
	uint64_t pid;

	return notify->fd < 0 && text != NULL &&
	       parse_number(text, strlen(text), INT64_MAX, &pid) &&
	       pid == (uint64_t)getpid();
}

/* Returns why there can be no replacement; NULL: there can. */
static const char *
obstacle(const struct succession *s)
{
	const struct broker *b = s->broker;

	if (b->stopping || b->draining)
		return "the broker is stopping";
	if (b->leaving_ms > 0)
		return "another process has replaced this one already";
	if (s->before != NULL)
		return "this process has not taken over itself yet";
	if (s->heir != NULL)
		return "a replacement is under way already";
	if (getpid() == 1)
		return "the broker is process 1 of a container, which ends"
		       " when that ends: start it under an init, as by docker"
		       " run --init";
	if (is_watched_blindly(s->notify))
		return "systemd can't be told of the new process: the unit"
		       " needs Type=notify";
	return NULL;
}

void
succession_begin(struct succession *s, uint64_t conn, uint64_t ref)
{
	const char *why = obstacle(s);
	struct asker was = s->asker;
	struct handed_list handed;
	char text[HEIR_WHY_SIZE];
	struct peer *peer;

	s->asker = (struct asker){ conn, ref };
	if (why != NULL) {
		refuse(s, why);
		s->asker = was;
		return;
	}
	handed.n = 0;
	handed.full = false;
	LIST_FOREACH (peer, &s->leaving, link)
		handed_add(&handed, HANDED_LEAVING, false, peer->fd);
	s->hooks->hand_over(s->broker, &handed);
	s->heir = heir_start(s->broker->base, &handed, &heir_handler, s, text);
	if (s->heir == NULL)
		refuse(s, text);
	else
		LOG(NOTICE, "replacing", LOG_N("pid", heir_pid(s->heir)));
}

/* The process that has replaced this one. */

static void
on_after(struct succession *s, struct packet *p)
{
	if (packet_is(p, "stop", 0))
		s->stop = true;
	else if (packet_is(p, "drain", 0))
		s->hooks->drain(s->broker);
	else if (packet_is(p, "serve", 2) && p->fd >= 0)
		s->hooks->serve(s->broker, packet_take_fd(p), packet_text(p, 1),
		    packet_text(p, 2));
}

static void
after_gone(struct succession *s)
{
	LOG(NOTICE, "successor-gone",
	    LOG_N("clients", front_count(s->broker->front)));
	peer_free(s->after);
	s->after = NULL;
	/* Else its server has gone with it, and never comes back. */
	if (!s->broker->server_stays)
		s->hooks->drain(s->broker);
}

/* All of them. */

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct peer *peer = arg;
	struct succession *s = peer->of;
	enum packet_end how;
	struct packet p;

	(void)what;
	while ((how = packet_receive(fd, &p)) == PACKET_OK) {
		if (resumption_hears(s->resumption, fd, &p))
			continue;
		else if (peer == s->before)
			on_before(s, &p);
		else if (peer == s->after)
			on_after(s, &p);
		else
			on_leaving(peer, &p);
		packet_drop_fd(&p);
	}
	if (how != PACKET_GONE)
		return;
	if (peer == s->before)
		before_gone(s);
	else if (peer == s->after)
		after_gone(s);
	else
		leaving_gone(peer);
}

bool
succession_pending(const struct succession *s)
{
	return s->before != NULL;
}

bool
succession_told_to_stop(const struct succession *s)
{
	return s->stop;
}

static void
tell_leaving(struct succession *s, const char *word)
{
	const struct peer *peer;

	if (s->heir != NULL)
		on_over(s, "the broker is stopping");
	LIST_FOREACH (peer, &s->leaving, link)
		if (s->before == NULL)
			say(peer, word);
}

void
succession_stop(struct succession *s)
{
	tell_leaving(s, "stop");
}

void
succession_drain(struct succession *s)
{
	tell_leaving(s, "drain");
}

bool
succession_stopped(const struct succession *s)
{
	return s->before != NULL || LIST_EMPTY(&s->leaving);
}

struct succession *
succession_new(struct broker *b, struct systemd *notify,
    const struct succession_hooks *hooks)
{
	struct succession *s = xcalloc(1, sizeof(*s));
	struct peer *peer;
	int fd;

	s->broker = b;
	s->hooks = hooks;
	s->notify = notify;
	LIST_INIT(&s->leaving);
	s->resumption = resumption_new(b, ask_others);
	buf_init(&s->told);
	s->report = event_new(b->base, -1, EV_PERSIST, on_report, s);
	if (!s->report)
		abort();
	fd = handed_next(HANDED_CHANNEL);
	if (fd >= 0) {
		s->before = peer_new(s, fd);
		listen_to(s->before);
	}
	while ((fd = handed_next(HANDED_LEAVING)) >= 0) {
		peer = peer_new(s, fd);
		LIST_INSERT_HEAD(&s->leaving, peer, link);
	}
	return s;
}

void
succession_free(struct succession *s)
{
	struct packet p;

	if (s == NULL)
		return;
	if (s->before != NULL) {
		packet_begin(&p, "failed");
		packet_add(&p, log_last_error());
		(void)tell(s->before, &p);
		s->before->fd = -1; /* its end is to be that of the process */
	}
	if (s->after != NULL)
		say(s->after, "left");
	heir_free(s->heir);
	peer_free(s->before);
	peer_free(s->after);
	forget_leaving(s);
	resumption_free(s->resumption);
	event_free(s->report);
	buf_fini(&s->told);
	free(s);
}
