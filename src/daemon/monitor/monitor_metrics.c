/*
 * /metrics: all statistics, and what else Prometheus expects of a process.
 * lockbroker-metrics(7) has the names.
 */
#include "config.h"

#include <dirent.h>
#include <event2/event.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/users.h"
#include "base/now.h"
#include "config/config.h"
#include "core/parts/observe/measure.h"
#include "daemon/monitor/monitor_state.h"
#include "daemon/monitor/statistics.h"
#include "daemon/users/allowance.h"
#include "daemon/users/identity.h"
#include "http/exposition.h"
#include "http/path.h"

#define MS_SUFFIX "_ms"

/* Base units: what STATS has in milliseconds, Prometheus has in seconds. */
static void
add_statistic(void *arg, const struct statistic *s, uint64_t value)
{
	struct exposition *x = arg;
	size_t n = strlen(s->name), cut = n - (sizeof(MS_SUFFIX) - 1);
	char name[80], help[256];
	bool ms =
	    n > sizeof(MS_SUFFIX) && strcmp(s->name + cut, MS_SUFFIX) == 0;

	snprintf(name, sizeof(name), "%.*s%s", (int)(ms ? cut : n), s->name,
	    ms ? "_seconds" : "");
	snprintf(help, sizeof(help), "%s", s->help);
	if (ms && strncmp(help, "Milliseconds", 12) == 0)
		snprintf(help, sizeof(help), "Seconds%s", s->help + 12);
	exposition_family(x, EXPOSITION_PREFIX, name,
	    s->type == STATISTIC_COUNTER ? EXPOSITION_COUNTER
					 : EXPOSITION_GAUGE,
	    help);
	if (ms)
		exposition_ms(x, NULL, (int64_t)value);
	else
		exposition_number(x, NULL, value);
}

static void
add_build(struct exposition *x)
{
	char hiredis[32];
	const struct exposition_label labels[] = {
		{ "version", PACKAGE_VERSION },
		{ "libevent", event_get_version() },
		{ "hiredis", hiredis },
		{ NULL, NULL },
	};

	snprintf(hiredis, sizeof(hiredis), "%d.%d.%d", HIREDIS_MAJOR,
	    HIREDIS_MINOR, HIREDIS_PATCH);
	exposition_family(x, EXPOSITION_PREFIX, "build_info", EXPOSITION_INFO,
	    "Versions of the broker and of its libraries.");
	exposition_number(x, labels, 1);
}

static void
add_settings(struct exposition *x, const struct monitor *m)
{
	const struct config *config = m->broker->config;

	exposition_family(x, EXPOSITION_PREFIX, "lease_seconds",
	    EXPOSITION_GAUGE, "locks.lease of the configuration.");
	exposition_ms(x, NULL, config->locks.lease_ms);
	exposition_family(x, EXPOSITION_PREFIX, "clients_limit",
	    EXPOSITION_GAUGE, "limits.clients of the configuration.");
	exposition_number(x, NULL, config->limits.clients);
}

/* Measurements by class of names: families come together. */
struct measures {
	struct exposition *x;
	const struct measure_family *family; /* the present one */
};

static void
begin_measure(struct measures *all, const struct measure_family *f)
{
	static const enum exposition_type types[] = {
		[MEASURE_COUNTER] = EXPOSITION_COUNTER,
		[MEASURE_GAUGE] = EXPOSITION_GAUGE,
		[MEASURE_HISTOGRAM] = EXPOSITION_HISTOGRAM,
	};

	if (all->family == f)
		return;
	all->family = f;
	exposition_family(
	    all->x, EXPOSITION_PREFIX, f->name, types[f->type], f->help);
}

static void
add_measure(void *arg, const struct measure_row *row)
{
	struct measures *all = arg;
	const struct exposition_label labels[] = {
		{ "class", row->class },
		{ row->value != NULL ? row->family->label : NULL, row->value },
		{ NULL, NULL },
	};

	begin_measure(all, row->family);
	if (row->histogram != NULL)
		exposition_histogram(all->x, labels,
		    &(struct exposition_histogram){ .per_second = 1000,
			.le = row->histogram->scale->le_ms,
			.counts = row->histogram->counts,
			.nbuckets = row->histogram->scale->n + 1,
			.sum = row->histogram->sum_ms });
	else if (row->family->seconds)
		exposition_ms(all->x, labels, (int64_t)row->number);
	else
		exposition_number(all->x, labels, row->number);
}

static void
add_trips(struct exposition *x, const struct monitor *m)
{
	static const int64_t le_us[] = REDIS_TRIPS_US;
	struct redis_stats redis;

	redis_stats(m->broker->redis, &redis);
	exposition_family(x, EXPOSITION_PREFIX, "redis_call_seconds",
	    EXPOSITION_HISTOGRAM, "Round-trip time of script calls.");
	exposition_histogram(x, NULL,
	    &(struct exposition_histogram){ .per_second = 1000000,
		.le = le_us,
		.counts = redis.trips,
		.nbuckets = REDIS_TRIPS,
		.sum = redis.trips_us });
}

/* One family: the samples of all servers follow it. */
static void
add_nodes(struct exposition *x, struct monitor *m)
{
	static const struct {
		const char *name, *help;
	} families[] = {
		{ "redis_node_up", "1 if this server is reachable, 0 if not." },
		{ "redis_node_guards",
		    "Readiness records on this server: one, or in a cluster "
		    "one for each bucket." },
		{ "redis_node_guards_ready",
		    "Readiness records on this server that permit grants." },
	};
	struct monitor_node nodes[MONITOR_NODES];
	size_t f, i, n = monitor_nodes(m, nodes);
	struct exposition_label labels[] = { { "node", NULL }, { NULL, NULL } };

	for (f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		exposition_family(x, EXPOSITION_PREFIX, families[f].name,
		    EXPOSITION_GAUGE, families[f].help);
		for (i = 0; i < n; i++) {
			const unsigned values[] = { nodes[i].up,
				nodes[i].shards, nodes[i].ready };

			labels[0].value = nodes[i].address;
			exposition_number(x, labels, values[f]);
		}
	}
}

/* Users. */

enum user_value { CLIENTS, HOLDS, WAITERS, REFUSED, DENIED, USER_VALUES };

static const struct {
	const char *name;
	enum exposition_type type;
	const char *help;
} user_families[USER_VALUES] = {
	[CLIENTS] = { "user_clients", EXPOSITION_GAUGE,
	    "Connections of the user." },
	[HOLDS] = { "user_holds", EXPOSITION_GAUGE,
	    "Locks and permits that its sessions hold, and token holds." },
	[WAITERS] = { "user_waiters", EXPOSITION_GAUGE,
	    "Waiting requests of its sessions, and queued pollers." },
	[REFUSED] = { "user_refused_total", EXPOSITION_COUNTER,
	    "Requests and clients refused by auth.users[].limits." },
	[DENIED] = { "user_denied_total", EXPOSITION_COUNTER,
	    "Requests denied to the user for lack of a right." },
};

static uint64_t
value_of(const struct monitor *m, const struct user *user, enum user_value what)
{
	const struct allowance_counts counts =
	    allowance_counts(identity_allowances(m->broker->identity), user);
	const struct core_user_load load =
	    core_user_load(m->broker->core, user_name(user));
	const uint64_t values[USER_VALUES] = {
		[CLIENTS] = counts.clients,
		[HOLDS] = load.holds,
		[WAITERS] = load.waiting,
		[REFUSED] = counts.refused + load.refused,
		[DENIED] = counts.denied,
	};

	return values[what];
}

static void
add_users(struct exposition *x, const struct monitor *m)
{
	const struct users *users = m->broker->config->users;
	struct exposition_label labels[] = { { "user", NULL }, { NULL, NULL } };
	size_t i, n = users != NULL ? users_count(users) : 0;
	enum user_value what;

	for (what = 0; what < USER_VALUES; what++) {
		exposition_family(x, EXPOSITION_PREFIX,
		    user_families[what].name, user_families[what].type,
		    user_families[what].help);
		for (i = 0; i < n; i++) {
			labels[0].value = user_name(users_at(users, i));
			exposition_number(
			    x, labels, value_of(m, users_at(users, i), what));
		}
	}
}

/* The process, under the names that all clients of Prometheus use. */

static void
add_gauge(
    struct exposition *x, const char *name, const char *help, uint64_t value)
{
	exposition_family(x, "", name, EXPOSITION_GAUGE, help);
	exposition_number(x, NULL, value);
}

static void
add_memory(struct exposition *x)
{
	unsigned long size = 0, resident = 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	FILE *f = fopen("/proc/self/statm", "re");

	if (f == NULL)
		return;
	if (fscanf(f, "%lu %lu", &size, &resident) == 2) {
		add_gauge(x, "process_virtual_memory_bytes",
		    "Virtual memory of the process.", size * page);
		add_gauge(x, "process_resident_memory_bytes",
		    "Resident memory of the process.", resident * page);
	}
	(void)fclose(f);
}

/*
 * Counts the open descriptors.  From Linux 6.2 on that takes one call.  Before,
 * it reads the directory, unless that would take too long: then it returns the
 * number of connections, which is too low by a few.
 */
#define COUNT_MAX 2000

static uint64_t
open_descriptors(const struct monitor *m)
{
	uint64_t n = 0, clients = front_count(m->broker->front);
	struct stat st;
	DIR *d;

	if (stat("/proc/self/fd", &st) == 0 && st.st_size > 0)
		return (uint64_t)st.st_size;
	if (clients > COUNT_MAX)
		return clients;
	d = opendir("/proc/self/fd");
	if (d == NULL)
		return clients;
	while (readdir(d) != NULL)
		n++;
	(void)closedir(d);
	return n > 3 ? n - 3 : 0; /* "." and "..", and its own */
}

static void
add_process(struct exposition *x, const struct monitor *m)
{
	struct rusage usage;
	struct rlimit rl;

	memset(&usage, 0, sizeof(usage));
	(void)getrusage(RUSAGE_SELF, &usage);
	exposition_family(x, "", "process_cpu_seconds_total",
	    EXPOSITION_COUNTER, "CPU time of the process, in seconds.");
	exposition_us(x, NULL,
	    ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	add_memory(x);
	add_gauge(x, "process_open_fds", "Open file descriptors.",
	    open_descriptors(m));
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0)
		add_gauge(x, "process_max_fds",
		    "Limit of open file descriptors.", rl.rlim_cur);
	add_gauge(x, "process_start_time_seconds",
	    "Start time of the process, in seconds since 1970.",
	    (uint64_t)m->born_s);
}

void
monitor_metrics(
    struct monitor *m, const struct http_request *r, struct span name)
{
	bool openmetrics = accept_openmetrics(r->accept);
	struct exposition x;
	struct measures all = { &x, NULL };
	struct buf body;

	(void)name;
	buf_init(&body);
	exposition_begin(&x, &body, openmetrics);
	add_build(&x);
	add_settings(&x, m);
	statistics_each(m->broker, add_statistic, &x);
	measure_each(
	    core_measure(m->broker->core), now_ms(), add_measure, &all);
	add_trips(&x, m);
	add_nodes(&x, m);
	add_users(&x, m);
	add_process(&x, m);
	exposition_end(&x);
	monitor_send(
	    m, r->id, 200, exposition_content_type(openmetrics), &body);
}
