/*
 * Verbs that answer `OK lines=N` and N lines: LIST, QUEUE, NAMES, HELP, STATS.
 * The lines are written to a scratch buffer first, because their number comes
 * before them.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "daemon/bridge.h"
#include "daemon/clock.h"
#include "wire/reply.h"

#define NAMES_LIMIT 100 /* where NAMES gives none */

/* Ends the first line, and puts the N lines behind it. */
static void
end_rows(struct broker *b, struct buf *out, size_t n)
{
	reply_end(out);
	if (n > 0)
		buf_add(out, buf_data(&b->rows), buf_len(&b->rows));
	buf_clear(&b->rows);
	buf_trim(&b->rows, 64 * 1024);
}

/* Sends the N lines that were written to b->rows. */
static void
send_rows(struct broker *b, struct conn *c, const struct request *r, size_t n)
{
	struct buf *out = conn_output(c);

	reply_begin(out, r->tag, STATUS_OK);
	reply_field_num(out, FIELD_LINES, n);
	end_rows(b, out, n);
}

static void
add_row(void *arg, const struct core_row *row)
{
	struct broker *b = arg;
	struct buf *out = &b->rows;

	if (row->word != NULL)
		buf_adds(out, row->word);
	if (row->word != NULL && row->name != NULL)
		buf_addc(out, ' ');
	if (row->name != NULL)
		buf_add(out, row->name, row->name_len);
	reply_fields(out, row->fields, row->nfields, row->text);
	reply_end(out);
}

void
handle_list(struct broker *b, struct conn *c, const struct request *r)
{
	send_rows(b, c, r,
	    core_list(b->core, clock_now_ms(), bridge_session(c), add_row, b));
}

void
lists_queue(struct broker *b, struct buf *out, struct span tag,
    struct span name, const struct core_row *elsewhere)
{
	size_t n = 0;

	if (elsewhere->nfields > 0) {
		add_row(b, elsewhere);
		n++;
	}
	n += core_queue(b->core, clock_now_ms(), name.p, name.n, add_row, b);
	reply_begin(out, tag, STATUS_OK);
	reply_field_num(out, FIELD_LINES, n);
	reply_field_num(
	    out, FIELD_WAITERS, core_waiting(b->core, name.p, name.n));
	end_rows(b, out, n);
}

void
handle_names(struct broker *b, struct conn *c, const struct request *r)
{
	size_t limit = NAMES_LIMIT;

	if (request_has(r, OPTION_LIMIT))
		limit = (size_t)r->num[OPTION_LIMIT];
	send_rows(
	    b, c, r, core_names(b->core, clock_now_ms(), limit, add_row, b));
}

void
handle_help(struct broker *b, struct conn *c, const struct request *r)
{
	size_t i;

	for (i = 0; i < VERB_MAX; i++) {
		buf_adds(&b->rows, verbs[i].usage);
		buf_adds(&b->rows, " - ");
		buf_adds(&b->rows, verbs[i].help);
		reply_end(&b->rows);
	}
	send_rows(b, c, r, VERB_MAX);
}

/* All that the statistics are taken from. */
struct sources {
	const struct broker *broker;
	const struct core_stats *core;
	struct core_gauges gauges;
	struct redis_stats redis;
	uint64_t clients, uptime_s;
};

/* STATISTIC("name", expression over `s`) */
/* clang-format off */
#define STATISTICS(STATISTIC) \
	STATISTIC("clients", s->clients) \
	STATISTIC("clients_total", s->broker->clients_total) \
	STATISTIC("sessions", s->gauges.sessions) \
	STATISTIC("names", s->gauges.names) \
	STATISTIC("locks_held", s->gauges.locks_held) \
	STATISTIC("waiters", s->gauges.waiters) \
	STATISTIC("permits_held", s->gauges.permits_held) \
	STATISTIC("semaphores", s->gauges.semaphores) \
	STATISTIC("latches", s->gauges.latches) \
	STATISTIC("barriers", s->gauges.barriers) \
	STATISTIC("redis_up", s->redis.nodes > 0 && s->redis.up == s->redis.nodes) \
	STATISTIC("redis_nodes", s->redis.nodes) \
	STATISTIC("redis_nodes_up", s->redis.up) \
	STATISTIC("redis_nodes_subscribed", s->redis.listening) \
	STATISTIC("redis_reconnects_total", s->redis.reconnects) \
	STATISTIC("redis_failovers_total", s->redis.failovers) \
	STATISTIC("redis_calls_total", s->redis.calls) \
	STATISTIC("redis_operations_total", s->redis.ops) \
	STATISTIC("redis_unknown_total", s->redis.unknown) \
	STATISTIC("redis_script_loads_total", s->redis.reloads) \
	STATISTIC("grants_ready", s->gauges.ready) \
	STATISTIC("grants_ready_in_ms", (uint64_t)s->gauges.grace_ms) \
	STATISTIC("log_dropped_bytes_total", log_dropped()) \
	STATISTIC("uptime_seconds", s->uptime_s)
/* clang-format on */

static void
add_statistic(struct buf *out, const char *name, uint64_t value)
{
	buf_adds(out, name);
	buf_addc(out, ' ');
	buf_add_u64(out, value);
	reply_end(out);
}

void
handle_stats(struct broker *b, struct conn *c, const struct request *r)
{
	struct sources sources, *s = &sources;
	int64_t now_ms = clock_now_ms();
	size_t n = 0;

	s->broker = b;
	s->core = core_stats(b->core);
	core_gauges(b->core, now_ms, &s->gauges);
	redis_stats(b->redis, &s->redis);
	s->clients = front_count(b->front);
	s->uptime_s = (uint64_t)(now_ms - b->start_ms) / 1000;
#define STATISTIC(name, value) add_statistic(&b->rows, name, value), n++;
	STATISTICS(STATISTIC)
#undef STATISTIC
#define STAT(id, name, help) add_statistic(&b->rows, name, s->core->id), n++;
	CORE_STATS(STAT)
#undef STAT
	send_rows(b, c, r, n);
}
