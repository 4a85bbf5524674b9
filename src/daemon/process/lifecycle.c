/*
 * Signals come through the loop, so everything here runs between turns and may
 * call any function.
 */
#include "config.h"

#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/broker.h"
#include "daemon/process/lifecycle.h"
#include "daemon/process/reread.h"
#include "daemon/process/settings.h"
#include "daemon/process/systemd.h"
#include "daemon/replace/upgrade.h"

/*
 * A stop may take 3 s: this part of it, and the rest for ending a redis-server.
 */
#define STOP_MS 2500

#define STATUS_SECONDS 2

/*
 * The order matters: later stages include the earlier.  HURRIED: a second
 * request to stop came.
 */
enum stage { STAGE_RUNNING, STAGE_STOPPING, STAGE_LATE, STAGE_HURRIED };

/* One for each process.  Owned by daemon_main(). */
struct lifecycle {
	struct broker *broker;
	struct config *config;
	struct reread *reread;
	const struct systemd *notify;
	enum stage stage;
	bool ready;	/* the start is over */
	bool signalled; /* a signal has asked for the stop */
	struct event *term;
	struct event *interrupt;
	struct event *hangup;
	struct event *replace;
	struct event *deadline; /* of the stop */
	struct event *watchdog;
	struct event *status;
	struct buf said; /* the last STATUS= that was sent */
};

static struct event *
event_or_abort(struct event *ev)
{
	if (ev == NULL)
		abort();
	return ev;
}

static void
every(struct event *ev, int64_t ms)
{
	struct timeval tv = ms_to_timeval(ms);

	(void)event_add(ev, &tv);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct lifecycle *l = arg;

	(void)fd;
	(void)what;
	LOG(WARNING, "stop-incomplete", LOG_N("after_ms", STOP_MS));
	l->stage = STAGE_LATE;
}

static void
stop(struct lifecycle *l)
{
	l->stage = STAGE_STOPPING;
	systemd_send(
	    l->notify, SYSTEMD_WAIT, "STOPPING=1\nSTATUS=Releasing locks");
	every(l->deadline, STOP_MS);
	upgrade_tell_leaving(broker_succession(l->broker), "stop");
	broker_stop(l->broker);
}

static void
tell_stopping(const struct lifecycle *l, const char *signal)
{
	struct broker_counts n = broker_counts(l->broker);

	LOG(NOTICE, "stopping", LOG_S("signal", signal),
	    LOG_N("sessions", (long long)n.sessions),
	    LOG_N("locks", (long long)n.locks),
	    LOG_N("waiters", (long long)n.waiters));
}

/* The second signal ends the process at once.  The first may come while a
 * broker that was drained stops by itself. */
static void
on_stop(evutil_socket_t number, short what, void *arg)
{
	struct lifecycle *l = arg;

	(void)what;
	tell_stopping(l, number == SIGTERM ? "TERM" : "INT");
	if (l->stage == STAGE_RUNNING)
		stop(l);
	else if (l->signalled)
		l->stage = STAGE_HURRIED;
	l->signalled = true;
}

/* Logs each setting that needs a restart; collects the names of the others. */
static void
on_changed(void *arg, const char *setting, bool copied, const char *from,
    const char *to)
{
	struct buf *names = arg;

	if (copied) {
		if (buf_len(names) > 0)
			buf_addc(names, ',');
		buf_adds(names, setting);
	} else if (strcmp(setting, "locks.lease") == 0) {
		LOG(WARNING, "setting-needs-restart", LOG_S("setting", setting),
		    LOG_S("from", from), LOG_S("to", to),
		    LOG_S("advice",
			"all brokers on one Redis need the same value; if "
			"only this one restarts, it grants nothing; see "
			"CHANGING THE LEASE in lockbroker-admin(7)"));
	} else if (from[0] == '\0' && to[0] == '\0') {
		LOG(WARNING, "setting-needs-restart",
		    LOG_S("setting", setting));
	} else {
		LOG(WARNING, "setting-needs-restart", LOG_S("setting", setting),
		    LOG_S("from", from), LOG_S("to", to));
	}
}

static void
tell_faults(const struct lifecycle *l, const struct config_faults *faults)
{
	size_t i;

	for (i = 0; i < faults->n; i++)
		LOG(ERROR, "reload-failed", LOG_S("fault", faults->lines[i]),
		    LOG_S("advice",
			broker_leaving(l->broker)
			    ? "an old process keeps the users and rights "
			      "that it has read"
			    : "the previous settings stay in use"));
	systemd_send(l->notify, SYSTEMD_WAIT, "STATUS=Reload failed: %s",
	    faults->n > 0 ? faults->lines[0] : "no configuration");
}

static void
reload(struct lifecycle *l, struct config *fresh)
{
	struct buf names;
	size_t changed;
	bool certificates;

	buf_init(&names);
	changed = config_reload_diff(l->config, fresh, on_changed, &names);
	log_setup(&l->config->log);
	settings_fit_descriptors(l->config);
	certificates = broker_reload(l->broker, l->config, fresh->users);
	fresh->users = NULL; /* the broker's, as clients point to them */
	upgrade_reload(broker_succession(l->broker), !reread_again(l->reread));
	LOG(NOTICE, "reloaded", LOG_N("changed", changed),
	    LOG_B("settings", buf_len(&names) > 0 ? buf_data(&names) : "",
		buf_len(&names)),
	    LOG_S("reread", fresh->shared  ? "auth,limits,log"
			    : certificates ? "configuration,certificates"
					   : "configuration"));
	buf_fini(&names);
	systemd_send(l->notify, SYSTEMD_WAIT, "STATUS=Reloaded");
	buf_clear(&l->said);
}

static void
on_reread(void *arg, struct config *fresh, const struct config_faults *faults)
{
	struct lifecycle *l = arg;

	if (l->stage != STAGE_RUNNING)
		return;
	if (fresh != NULL)
		reload(l, fresh);
	else {
		tell_faults(l, faults);
		upgrade_not_reloaded(broker_succession(l->broker));
	}
	/* Otherwise READY=1 comes later: a reload does not end the start. */
	if (l->ready)
		systemd_send(l->notify, SYSTEMD_WAIT, "READY=1");
}

static void
on_hangup(evutil_socket_t fd, short what, void *arg)
{
	struct lifecycle *l = arg;

	(void)fd;
	(void)what;
	if (l->stage != STAGE_RUNNING)
		return;
	if (l->ready)
		systemd_send(l->notify, SYSTEMD_WAIT,
		    "RELOADING=1\nMONOTONIC_USEC=%lld",
		    (long long)now_awake_us());
	reread_start(l->reread, broker_leaving(l->broker));
}

static void
on_replace(evutil_socket_t fd, short what, void *arg)
{
	const struct lifecycle *l = arg;

	(void)fd;
	(void)what;
	upgrade_begin(broker_succession(l->broker), 0, 0);
}

static void
on_watchdog(evutil_socket_t fd, short what, void *arg)
{
	const struct lifecycle *l = arg;

	(void)fd;
	(void)what;
	systemd_send(l->notify, SYSTEMD_TRY, "WATCHDOG=1");
}

/* Sends the status to the service manager if it has changed. */
static void
on_status(evutil_socket_t fd, short what, void *arg)
{
	struct lifecycle *l = arg;
	struct buf now;

	(void)fd;
	(void)what;
	if (l->stage != STAGE_RUNNING)
		return;
	buf_init(&now);
	broker_status(l->broker, &now);
	if (buf_len(&now) != buf_len(&l->said) ||
	    memcmp(buf_data(&now), buf_data(&l->said), buf_len(&now)) != 0) {
		systemd_send(l->notify, SYSTEMD_TRY, "STATUS=%.*s",
		    (int)buf_len(&now), buf_data(&now));
		buf_clear(&l->said);
		buf_add(&l->said, buf_data(&now), buf_len(&now));
	}
	buf_fini(&now);
}

static struct event *catch (
    struct event_base *base, int number, event_callback_fn fn, void *arg)
{
	struct event *ev = event_or_abort(evsignal_new(base, number, fn, arg));

	if (event_add(ev, NULL) < 0)
		abort();
	return ev;
}

struct lifecycle *
lifecycle_new(struct event_base *base, struct broker *broker,
    struct config *config, const char *file, const struct systemd *notify)
{
	struct lifecycle *l = xcalloc(1, sizeof(*l));

	l->broker = broker;
	l->config = config;
	l->reread = reread_new(base, file, on_reread, l);
	l->notify = notify;
	buf_init(&l->said);
	l->term = catch (base, SIGTERM, on_stop, l);
	l->interrupt = catch (base, SIGINT, on_stop, l);
	l->hangup = catch (base, SIGHUP, on_hangup, l);
	l->replace = catch (base, SIGUSR2, on_replace, l);
	l->deadline = event_or_abort(event_new(base, -1, 0, on_deadline, l));
	l->watchdog =
	    event_or_abort(event_new(base, -1, EV_PERSIST, on_watchdog, l));
	l->status =
	    event_or_abort(event_new(base, -1, EV_PERSIST, on_status, l));
	return l;
}

void
lifecycle_free(struct lifecycle *l)
{
	if (l == NULL)
		return;
	reread_free(l->reread);
	event_free(l->term);
	event_free(l->interrupt);
	event_free(l->hangup);
	event_free(l->replace);
	event_free(l->deadline);
	event_free(l->watchdog);
	event_free(l->status);
	buf_fini(&l->said);
	free(l);
}

void
lifecycle_ready(struct lifecycle *l)
{
	l->ready = true;
	systemd_send(l->notify, SYSTEMD_WAIT, "READY=1");
	if (l->notify->fd < 0)
		return;
	on_status(-1, 0, l);
	every(l->status, STATUS_SECONDS * 1000);
	if (l->notify->watchdog_ms < 2)
		return;
	on_watchdog(-1, 0, l);
	every(l->watchdog, l->notify->watchdog_ms / 2);
}

bool
lifecycle_over(struct lifecycle *l, int *status)
{
	switch (l->stage) {
	case STAGE_RUNNING:
		if (broker_left(l->broker)) {
			broker_tell_left(l->broker);
			stop(l);
		} else if (upgrade_told_to_stop(broker_succession(l->broker))) {
			tell_stopping(l, "none");
			stop(l);
		} else if (upgrade_told_to_reload(
			       broker_succession(l->broker))) {
			on_hangup(-1, 0, l);
		}
		return false;
	case STAGE_STOPPING:
		*status = EXIT_SUCCESS;
		return broker_stopped(l->broker) &&
		       upgrade_stopped(broker_succession(l->broker));
	case STAGE_LATE:
		*status = EXIT_SUCCESS;
		return true;
	case STAGE_HURRIED:
		*status = EXIT_FAILURE;
		return true;
	}
	abort();
}
