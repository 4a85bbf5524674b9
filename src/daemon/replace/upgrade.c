/*
 * See upgrade.h: the old process.  upgrade_child.c starts the new one.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/log.h"
#include "base/now.h"
#include "base/parse.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/process/systemd.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/resume_elsewhere.h"
#include "daemon/replace/upgrade.h"
#include "daemon/replace/upgrade_child.h"
#include "daemon/replace/upgrade_state.h"
#include "relay/channel.h"
#include "relay/packet.h"

#define REPORT_MS 1000	/* how often an old process reports its state */
#define RETURN_MS 10000 /* it may return for this long */
#define KEEP_MS 30000	/* it accepts at places of its own for this long */

/* Asks all old processes, and the process that has replaced this one. */
static int
ask_others(struct broker *b, const struct packet *p)
{
	struct upgrade *s = b->upgrade;
	/* No client asks twice, but all are asked again if one has gone. */
	size_t most = 2 * (size_t)b->config->limits.clients;
	int n = leavers_tell(s->leavers, p, most);

	if (n < 0 || s->after == NULL)
		return n;
	return channel_tell(s->after, p, most) != PACKET_LATER ? n + 1 : -1;
}

struct leavers *
upgrade_leavers(const struct upgrade *s)
{
	return s->leavers;
}

struct resume_elsewhere *
upgrade_resume_elsewhere(const struct upgrade *s)
{
	return s->elsewhere;
}

uint64_t
upgrade_total(const struct upgrade *s)
{
	return s->replaced_total;
}

/* Reports to the process that has replaced this one. */
static void
on_report(evutil_socket_t fd, short what, void *arg)
{
	struct upgrade *s = arg;
	struct broker *b = s->broker;
	struct broker_counts n = broker_counts(b);
	char instance[LEAVER_INSTANCE_SIZE];
	struct packet p;

	(void)fd;
	(void)what;
	if (s->after == NULL)
		return;
	snprintf(instance, sizeof(instance), "%016" PRIx64, b->instance);
	packet_begin(&p, "report");
	packet_add_num(&p, getpid());
	packet_add_num(&p, b->leaving_ms);
	packet_add_num(&p, front_count(b->front));
	packet_add_num(&p, (int64_t)n.locks);
	packet_add_num(&p, (int64_t)n.waiters);
	packet_add(&p, instance);
	packet_add_num(&p, (int64_t)n.holds);
	/* Only the latest is of use. */
	(void)channel_tell(s->after, &p, 0);
}

static void
answer(struct upgrade *s, const char *why, pid_t pid)
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
refuse(struct upgrade *s, const char *why)
{
	LOG(ERROR, "replace-failed", LOG_S("why", why));
	answer(s, why, 0);
}

/* The process that has replaced this one. */

/* The sender may be a new process, which knows nothing of us. */
static void
on_reload(struct upgrade *s)
{
	s->reload = true;
	resume_elsewhere_hold(s->elsewhere, true);
	on_report(-1, 0, s);
}

static void
on_after(void *arg, struct packet *p)
{
	struct upgrade *s = arg;

	if (resume_elsewhere_hears(s->elsewhere, s->after, p))
		return;
	if (packet_is(p, "stop", 0))
		s->stop = true;
	else if (packet_is(p, "drain", 0))
		s->hooks->drain(s->broker);
	else if (packet_is(p, "drain-no-more", 0))
		s->hooks->drain_no_more(s->broker);
	else if (packet_is(p, "reload", 0))
		on_reload(s);
}

static void
after_room(void *arg)
{
	const struct upgrade *s = arg;

	resume_elsewhere_room(s->elsewhere, s->after);
}

/* The way back is closed: the successor stays. */
static void
on_return_over(evutil_socket_t fd, short what, void *arg)
{
	struct upgrade *s = arg;

	(void)fd;
	(void)what;
	(void)event_del(s->return_over);
	if (s->kept == NULL)
		return;
	leavers_free(s->kept);
	s->kept = NULL;
	s->hooks->return_no_more(s->broker);
}

/* Clients that look for the broker have found the successor by now. */
static void
on_keep_over(evutil_socket_t fd, short what, void *arg)
{
	struct upgrade *s = arg;

	(void)fd;
	(void)what;
	s->hooks->close_places(s->broker);
}

/* The successor has ended too early. */
static void
come_back(struct upgrade *s)
{
	assert(s->kept != NULL && s->after == NULL);
	LOG(WARNING, "returned",
	    LOG_N("clients", front_count(s->broker->front)));
	(void)event_del(s->return_over);
	(void)event_del(s->keep_over);
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
	struct upgrade *s = arg;

	LOG(NOTICE, "successor-gone",
	    LOG_N("clients", front_count(s->broker->front)));
	channel_free(s->after);
	s->after = NULL;
	if (s->broker->may_return && !s->stop && !s->broker->stopping)
		come_back(s);
	resume_elsewhere_gone(s->elsewhere, NULL);
	/* Otherwise its server has gone with it, and never comes back. */
	if (s->broker->leaving_ms > 0 && !s->broker->server_stays)
		s->hooks->drain(s->broker);
	s->hooks->seek(s->broker);
}

static const struct channel_handler after_handler = { on_after, after_room,
	after_gone };

/* Handing over. */

/*
 * No client is accepted between the two: clients that come meanwhile wait, for
 * as long as the packet takes.
 */
static bool
pass_on(struct upgrade *s)
{
	struct broker *b = s->broker;
	bool ours = upgrade_child_pid(s->child) != 0;
	const struct handed_list *handed;
	const bool *taken;
	struct packet p;

	assert(s->child != NULL && s->after == NULL);
	handed = upgrade_child_handed(s->child, &taken);
	if (!ours)
		s->hooks->keep(b, handed, taken);
	s->hooks->hold_back(b, true);
	s->after = channel_new(b->base, upgrade_child_let_go(s->child));
	channel_handle(s->after, &after_handler, s);
	if (ours)
		systemd_send(s->notify, SYSTEMD_WAIT, "MAINPID=%lld",
		    (long long)upgrade_child_pid(s->child));
	packet_begin(&p, "go");
	packet_add_num(&p, (int64_t)s->replaced_total + 1);
	packet_add_num(&p, getpid());
	packet_add_num(&p, s->reloaded);
	if (channel_tell(s->after, &p, 0) == PACKET_OK)
		return true;
	channel_free(s->after);
	s->after = NULL;
	if (ours)
		systemd_send(s->notify, SYSTEMD_WAIT, "MAINPID=%lld",
		    (long long)getpid());
	s->hooks->hold_back(b, false);
	return false;
}

static void
hand_over(struct upgrade *s)
{
	const struct timeval often = ms_to_timeval(REPORT_MS);
	const struct timeval soon = ms_to_timeval(RETURN_MS);
	const struct timeval later = ms_to_timeval(KEEP_MS);
	struct broker *b = s->broker;
	pid_t pid = upgrade_child_pid(s->child);
	int64_t began_ms = upgrade_child_began_ms(s->child);
	struct broker_counts n;
	bool may_return, ours = upgrade_child_pid(s->child) != 0;

	if (!pass_on(s)) {
		refuse(s, "the new process ended when it was ready");
		return;
	}
	/*
	 * A service manager would end all when the new process ends, unless it
	 * does not watch that process; and an embedded server is not handed
	 * back.
	 */
	may_return = (!ours || s->notify->fd < 0) &&
		     b->config->redis.mode != CONFIG_MODE_EMBEDDED;
	s->hooks->leave(b, may_return);
	if (ours)
		systemd_fini(s->notify);
	else if (event_add(s->keep_over, &later) < 0)
		on_keep_over(-1, 0, s);
	leavers_hush(s->leavers);
	s->kept = s->leavers;
	s->leavers = leavers_new(b, s->elsewhere, s->hooks->inherit);
	if (!may_return || event_add(s->return_over, &soon) < 0)
		on_return_over(-1, 0, s);
	channel_listen(s->after);
	resume_elsewhere_gone(s->elsewhere, NULL);
	(void)event_add(s->report, &often);
	on_report(-1, 0, s);
	n = broker_counts(b);
	LOG(NOTICE, "replaced", LOG_N("pid", pid),
	    LOG_N("clients", front_count(b->front)),
	    LOG_N("holds", (long long)n.locks),
	    LOG_N("took_ms", now_awake_ms() - began_ms));
	answer(s, NULL, pid);
}

/* A server that is not known to both cannot be compared. */
static bool
same_servers(const struct upgrade *s, const char *theirs)
{
	const char *ours;
	struct buf mine;
	size_t n, m;
	bool same = true;

	buf_init(&mine);
	upgrade_next_add_histories(&mine, s->broker);
	ours = buf_data(&mine);
	while (same && *ours != '\0' && *theirs != '\0') {
		n = strcspn(ours, " ");
		m = strcspn(theirs, " ");
		same = ours[0] == '-' || theirs[0] == '-' ||
		       (n == m && memcmp(ours, theirs, n) == 0);
		ours += n + strspn(ours + n, " ");
		theirs += m + strspn(theirs + m, " ");
	}
	buf_fini(&mine);
	return same;
}

static const char *
unfit(void *arg, const struct upgrade_child_state *state, bool *for_good)
{
	const struct upgrade *s = arg;
	struct core_gauges gauges;
	struct redis_stats redis;
	struct buf mine;

	buf_init(&mine);
	upgrade_add_redis(&mine, s->broker->config);
	*for_good = strcmp(buf_data(&mine), state->redis) != 0;
	buf_fini(&mine);
	if (*for_good)
		return SUCCESSION_OTHER_REDIS;
	/* A process that this process has started is in the same network. */
	if (upgrade_child_pid(s->child) == 0 &&
	    !same_servers(s, state->histories))
		return "it reaches another server at the address of ours";
	if (state->ready || state->grace_ms > 0)
		return NULL;
	core_gauges(s->broker->core, now_ms(), &gauges);
	redis_stats(s->broker->redis, &redis);
	/* It is no worse off than we are. */
	if (!gauges.ready && state->up > 0 && state->up >= redis.up)
		return NULL;
	return "it cannot grant yet";
}

static void
on_over(void *arg, const char *why)
{
	struct upgrade *s = arg;

	if (why == NULL) {
		hand_over(s);
	} else {
		upgrade_child_refuse(s->child, why);
		refuse(s, why);
	}
	upgrade_child_free(s->child);
	s->child = NULL;
}

static const struct upgrade_child_handler upgrade_child_handler = { unfit,
	on_over };

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
obstacle(const struct upgrade *s)
{
	const struct broker *b = s->broker;

	if (b->stopping || b->draining)
		return "the broker is stopping";
	if (b->leaving_ms > 0)
		return "another process has already replaced this one";
	if (s->before != NULL)
		return "this process has not yet finished taking over";
	if (s->child != NULL)
		return "a replacement is already in progress";
	return NULL;
}

/* The same for a process that this one would start. */
static const char *
obstacle_to_start(const struct upgrade *s)
{
	const char *why = obstacle(s);

	if (why != NULL)
		return why;
	if (getpid() == 1)
		return "the broker is process 1, so its container ends with "
		       "it: start it under an init, for example by docker "
		       "run --init";
	if (is_watched_blindly(s->notify))
		return "systemd cannot be notified of the new process: the "
		       "unit needs Type=notify";
	return NULL;
}

static void
list_handed(const struct upgrade *s, struct handed_list *out)
{
	out->n = 0;
	out->full = false;
	leavers_hand_over(s->leavers, out);
	s->hooks->hand_over(s->broker, out);
}

void
upgrade_begin(struct upgrade *s, uint64_t conn, uint64_t ref)
{
	const char *why = obstacle_to_start(s);
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
	list_handed(s, &handed);
	s->child = upgrade_child_start(
	    s->broker->base, &handed, &upgrade_child_handler, s, text);
	if (s->child == NULL)
		refuse(s, text);
	else
		LOG(NOTICE, "replacing",
		    LOG_N("pid", upgrade_child_pid(s->child)));
}

/* The other process does not have the service manager of this process. */
static void
tell_as_places(struct handed_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].kind == HANDED_PASSED)
			list->v[i].kind = HANDED_LINES;
}

int
upgrade_adopt(struct upgrade *s, char *why, size_t why_size)
{
	const char *not = obstacle(s);
	struct handed_list handed;
	char text[HEIR_WHY_SIZE];
	int theirs;

	if (s->broker->config->redis.mode == CONFIG_MODE_EMBEDDED)
		not = "its Redis is embedded and ends with it";
	if (not != NULL) {
		snprintf(why, why_size, "%s", not );
		return -1;
	}
	s->asker.ref = 0;
	s->reloaded = false;
	list_handed(s, &handed);
	tell_as_places(&handed);
	s->child = upgrade_child_adopt(
	    s->broker->base, &handed, &upgrade_child_handler, s, &theirs, text);
	if (s->child != NULL)
		return theirs;
	snprintf(why, why_size, "%s", text);
	return -1;
}

int
upgrade_take_in(struct upgrade *s, char *why, size_t why_size)
{
	struct channel *channel;
	int ends[2];

	if (s->before != NULL || s->broker->leaving_ms > 0 ||
	    s->broker->stopping) {
		snprintf(why, why_size, "it is not the process that continues");
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		0, ends) < 0) {
		snprintf(why, why_size, "%s", strerror(errno));
		return -1;
	}
	channel = channel_new(s->broker->base, ends[0]);
	leavers_add(s->leavers, channel, 0);
	channel_listen(channel);
	return ends[1];
}

bool
upgrade_seeks(const struct upgrade *s)
{
	const struct broker *b = s->broker;

	return s->after == NULL && b->leaving_ms > 0 && !b->keeps_local &&
	       b->server_stays && !s->stop && !b->stopping;
}

void
upgrade_taken_in(struct upgrade *s, int fd)
{
	assert(s->after == NULL && fd >= 0);
	s->after = channel_new(s->broker->base, fd);
	channel_handle(s->after, &after_handler, s);
	channel_listen(s->after);
	LOG(NOTICE, "taken-in");
	on_report(-1, 0, s);
}

bool
upgrade_pending(const struct upgrade *s)
{
	return s->before != NULL;
}

bool
upgrade_told_to_stop(const struct upgrade *s)
{
	return s->stop;
}

void
upgrade_reload(struct upgrade *s, bool latest)
{
	s->reloaded = true;
	resume_elsewhere_hold(s->elsewhere,
	    resume_elsewhere_holds(s->elsewhere) && (s->reload || !latest));
	if (s->before == NULL)
		leavers_say(s->leavers, "reload");
}

void
upgrade_not_reloaded(struct upgrade *s)
{
	resume_elsewhere_hold(s->elsewhere, s->reload);
}

bool
upgrade_told_to_reload(struct upgrade *s)
{
	bool told = s->reload;

	s->reload = false;
	return told;
}

void
upgrade_tell_leaving(struct upgrade *s, const char *word)
{
	if (s->child != NULL)
		on_over(s, "the broker is stopping");
	if (s->before == NULL)
		leavers_say(s->leavers, word);
}

bool
upgrade_stays(const struct upgrade *s)
{
	return s->after != NULL;
}

bool
upgrade_stopped(const struct upgrade *s)
{
	return s->before != NULL || leavers_told(s->leavers, 0) == NULL;
}

struct upgrade *
upgrade_new(
    struct broker *b, struct systemd *notify, const struct upgrade_hooks *hooks)
{
	struct upgrade *s = xcalloc(1, sizeof(*s));
	int fd;

	s->broker = b;
	s->hooks = hooks;
	s->notify = notify;
	s->elsewhere = resume_elsewhere_new(b, ask_others);
	s->leavers = leavers_new(b, s->elsewhere, hooks->inherit);
	s->report = event_new(b->base, -1, EV_PERSIST, on_report, s);
	s->return_over = event_new(b->base, -1, 0, on_return_over, s);
	s->keep_over = event_new(b->base, -1, 0, on_keep_over, s);
	if (!s->report || !s->return_over || !s->keep_over)
		abort();
	upgrade_next_begin(s);
	while ((fd = handed_next(HANDED_LEAVING)) >= 0)
		leavers_add(s->leavers, channel_new(b->base, fd), 0);
	return s;
}

void
upgrade_free(struct upgrade *s)
{
	struct packet p;

	if (s == NULL)
		return;
	if (s->before != NULL) {
		packet_begin(&p, "failed");
		packet_add(&p, log_last_error());
		(void)channel_tell(s->before, &p, SIZE_MAX);
		/* It must stay open until the process ends. */
		(void)fcntl(channel_fd(s->before), F_DUPFD_CLOEXEC, 0);
	}
	packet_begin(&p, "left");
	if (s->after != NULL)
		(void)channel_tell(s->after, &p, SIZE_MAX);
	upgrade_child_free(s->child);
	channel_free(s->before);
	channel_free(s->after);
	leavers_free(s->leavers);
	if (s->kept != NULL)
		leavers_free(s->kept);
	event_free(s->return_over);
	event_free(s->keep_over);
	resume_elsewhere_free(s->elsewhere);
	event_free(s->report);
	buf_fini(&s->told);
	free(s);
}
