/*
 * See succession.h; heir.c starts the new process.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/log.h"
#include "base/now.h"
#include "base/parse.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge.h"
#include "daemon/broker.h"
#include "daemon/heir.h"
#include "daemon/leavers.h"
#include "daemon/resumption.h"
#include "daemon/succession.h"
#include "daemon/systemd.h"
#include "relay/channel.h"
#include "relay/packet.h"

#define REPORT_MS 1000	/* how often one that leaves tells how it is */
#define RETURN_MS 10000 /* for so long it may return */

/* Who has asked for a replacement. */
struct asker {
	uint64_t conn, ref; /* ref 0: nobody */
};

struct succession {
	struct broker *broker;
	const struct succession_hooks *hooks;
	struct systemd *notify;
	struct channel *before;	 /* to the process that we are to replace */
	struct channel *after;	 /* to the one that has replaced us */
	struct leavers *leavers; /* we, or those before us, replaced them */
	struct leavers *kept;	 /* handed on, and ours again if we return */
	struct event *return_over;
	struct heir *heir; /* it is to replace us */
	struct asker asker;
	struct resumption *resumption;
	struct event *report;
	struct buf told; /* what `before` was told last */
	uint64_t replaced_total;
	bool stop;     /* `after` says so */
	bool reload;   /* so does `after`, or `before` */
	bool reloaded; /* since the heir was started */
};

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
	/* Only the latest is of use. */
	if (channel_tell(s->before, &p, 0) == PACKET_OK) {
		buf_clear(&s->told);
		buf_add(&s->told, p.bytes, p.len);
	}
}

/* From now on this process is the broker. */
static void
take_over(struct succession *s)
{
	s->before = NULL;
	buf_fini(&s->told);
	leavers_listen(s->leavers);
	handed_drop();
	s->hooks->take_over(s->broker);
	/* What this one has read anew goes for them, too. */
	leavers_say(s->leavers, "reload");
}

static void
on_before(void *arg, struct packet *p)
{
	struct succession *s = arg;

	if (!packet_is(p, "go", 2))
		return;
	s->replaced_total = (uint64_t)packet_num(p, 1);
	LOG(NOTICE, "takes-over", LOG_N("from", packet_num(p, 2)));
	s->reload = packet_num(p, 3) != 0;
	leavers_add(s->leavers, s->before, packet_num(p, 2));
	take_over(s);
}

static void
before_gone(void *arg)
{
	struct succession *s = arg;
	struct channel *before = s->before;

	LOG(WARNING, "takes-over",
	    LOG_S("why", "the process that started this one has gone"));
	take_over(s);
	channel_free(before);
}

/* It is told how we are over and over. */
static void
no_room(void *arg)
{
	(void)arg;
}

static const struct channel_handler before_handler = { on_before, no_room,
	before_gone };

/* Asks all that leave, and the one that has replaced this one. */
static int
ask_others(struct broker *b, const struct packet *p)
{
	struct succession *s = b->succession;
	/* No client asks twice, but all are asked again if one has gone. */
	size_t most = 2 * (size_t)b->config->limits.clients;
	int n = leavers_tell(s->leavers, p, most);

	if (n < 0 || s->after == NULL)
		return n;
	return channel_tell(s->after, p, most) != PACKET_LATER ? n + 1 : -1;
}

struct leavers *
succession_leavers(const struct succession *s)
{
	return s->leavers;
}

struct resumption *
succession_resumption(const struct succession *s)
{
	return s->resumption;
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
	/* Only the latest is of use. */
	(void)channel_tell(s->after, &p, 0);
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

/* The process that has replaced this one. */

static void
on_after(void *arg, struct packet *p)
{
	struct succession *s = arg;

	if (resumption_hears(s->resumption, s->after, p))
		return;
	if (packet_is(p, "stop", 0))
		s->stop = true;
	else if (packet_is(p, "drain", 0))
		s->hooks->drain(s->broker);
	else if (packet_is(p, "drain-no-more", 0))
		s->hooks->drain_no_more(s->broker);
	else if (packet_is(p, "reload", 0))
		s->reload = true;
	else if (packet_is(p, "serve", 2) && p->fd >= 0)
		s->hooks->serve(s->broker, packet_take_fd(p), packet_text(p, 1),
		    packet_text(p, 2));
}

static void
after_room(void *arg)
{
	const struct succession *s = arg;

	resumption_room(s->resumption, s->after);
}

/* The way back is closed: the successor stays. */
static void
on_return_over(evutil_socket_t fd, short what, void *arg)
{
	struct succession *s = arg;

	(void)fd;
	(void)what;
	(void)event_del(s->return_over);
	if (s->kept == NULL)
		return;
	leavers_free(s->kept);
	s->kept = NULL;
	s->hooks->return_no_more(s->broker);
}

/* The successor has ended too early. */
static void
come_back(struct succession *s)
{
	LOG(WARNING, "returned",
	    LOG_N("clients", front_count(s->broker->front)));
	(void)event_del(s->return_over);
	(void)event_del(s->report);
	leavers_free(s->leavers);
	s->leavers = s->kept;
	s->kept = NULL;
	leavers_listen(s->leavers);
	s->hooks->come_back(s->broker);
}

static void
after_gone(void *arg)
{
	struct succession *s = arg;

	LOG(NOTICE, "successor-gone",
	    LOG_N("clients", front_count(s->broker->front)));
	channel_free(s->after);
	s->after = NULL;
	if (s->broker->may_return && !s->stop && !s->broker->stopping)
		come_back(s);
	resumption_gone(s->resumption, NULL);
	/* Else its server has gone with it, and never comes back. */
	if (s->broker->leaving_ms > 0 && !s->broker->server_stays)
		s->hooks->drain(s->broker);
}

static const struct channel_handler after_handler = { on_after, after_room,
	after_gone };

/* Handing over. */

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
	s->after = channel_new(b->base, heir_let_go(s->heir));
	channel_handle(s->after, &after_handler, s);
	systemd_send(s->notify, "MAINPID=%lld", (long long)pid);
	packet_begin(&p, "go");
	packet_add_num(&p, (int64_t)s->replaced_total + 1);
	packet_add_num(&p, getpid());
	packet_add_num(&p, s->reloaded);
	if (channel_tell(s->after, &p, 0) == PACKET_OK)
		return true;
	channel_free(s->after);
	s->after = NULL;
	systemd_send(s->notify, "MAINPID=%lld", (long long)getpid());
	s->hooks->hold_back(b, false);
	return false;
}

static void
hand_over(struct succession *s)
{
	const struct timeval often = ms_to_timeval(REPORT_MS);
	const struct timeval soon = ms_to_timeval(RETURN_MS);
	struct broker *b = s->broker;
	pid_t pid = heir_pid(s->heir);
	int64_t began_ms = heir_began_ms(s->heir);
	struct broker_counts n;
	bool may_return;

	if (!pass_on(s)) {
		refuse(s, "the new process ended when it was ready");
		return;
	}
	/* A service manager would end all when the new process ends, and an
	 * embedded server is not handed back. */
	may_return =
	    s->notify->fd < 0 && b->config->redis.mode != CONFIG_MODE_EMBEDDED;
	s->hooks->leave(b, may_return);
	systemd_fini(s->notify);
	leavers_hush(s->leavers);
	s->kept = s->leavers;
	s->leavers = leavers_new(b, s->resumption, s->hooks->inherit);
	if (!may_return || event_add(s->return_over, &soon) < 0)
		on_return_over(-1, 0, s);
	channel_listen(s->after);
	resumption_gone(s->resumption, NULL);
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

	s->asker = (struct asker){ conn, ref };
	if (why != NULL) {
		refuse(s, why);
		s->asker = was;
		return;
	}
	s->reloaded = false;
	handed.n = 0;
	handed.full = false;
	leavers_hand_over(s->leavers, &handed);
	s->hooks->hand_over(s->broker, &handed);
	s->heir = heir_start(s->broker->base, &handed, &heir_handler, s, text);
	if (s->heir == NULL)
		refuse(s, text);
	else
		LOG(NOTICE, "replacing", LOG_N("pid", heir_pid(s->heir)));
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

void
succession_reload(struct succession *s)
{
	s->reloaded = true;
	if (s->before == NULL)
		leavers_say(s->leavers, "reload");
}

bool
succession_told_to_reload(struct succession *s)
{
	bool told = s->reload;

	s->reload = false;
	return told;
}

static void
tell_leaving(struct succession *s, const char *word)
{
	if (s->heir != NULL)
		on_over(s, "the broker is stopping");
	if (s->before == NULL)
		leavers_say(s->leavers, word);
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

void
succession_drain_no_more(struct succession *s)
{
	leavers_say(s->leavers, "drain-no-more");
}

bool
succession_stays(const struct succession *s)
{
	return s->after != NULL;
}

bool
succession_stopped(const struct succession *s)
{
	return s->before != NULL || leavers_none(s->leavers);
}

struct succession *
succession_new(struct broker *b, struct systemd *notify,
    const struct succession_hooks *hooks)
{
	struct succession *s = xcalloc(1, sizeof(*s));
	int fd;

	s->broker = b;
	s->hooks = hooks;
	s->notify = notify;
	s->resumption = resumption_new(b, ask_others);
	s->leavers = leavers_new(b, s->resumption, hooks->inherit);
	buf_init(&s->told);
	s->report = event_new(b->base, -1, EV_PERSIST, on_report, s);
	s->return_over = event_new(b->base, -1, 0, on_return_over, s);
	if (!s->report || !s->return_over)
		abort();
	fd = handed_next(HANDED_CHANNEL);
	if (fd >= 0) {
		s->before = channel_new(b->base, fd);
		channel_handle(s->before, &before_handler, s);
		channel_listen(s->before);
	}
	while ((fd = handed_next(HANDED_LEAVING)) >= 0)
		leavers_add(s->leavers, channel_new(b->base, fd), 0);
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
		(void)channel_tell(s->before, &p, SIZE_MAX);
		/* Its end is to be that of the process. */
		(void)fcntl(channel_fd(s->before), F_DUPFD_CLOEXEC, 0);
	}
	packet_begin(&p, "left");
	if (s->after != NULL)
		(void)channel_tell(s->after, &p, SIZE_MAX);
	heir_free(s->heir);
	channel_free(s->before);
	channel_free(s->after);
	leavers_free(s->leavers);
	if (s->kept != NULL)
		leavers_free(s->kept);
	event_free(s->return_over);
	resumption_free(s->resumption);
	event_free(s->report);
	buf_fini(&s->told);
	free(s);
}
