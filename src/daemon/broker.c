/*
 * Carries out what the core decides, and tells it what happens.
 *
 * A session has the id of the connection that it began with, and may go on over
 * another connection.  Only ids cross from one turn to the next.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/alarm.h"
#include "daemon/audit.h"
#include "daemon/bridge.h"
#include "daemon/broker.h"
#include "daemon/identity.h"
#include "daemon/monitor.h"
#include "daemon/promise.h"
#include "daemon/resp.h"
#include "daemon/tls.h"
#include "resp/scripts.h"

/* Effects. */

bool
bridge_answer(
    struct broker *b, struct conn *c, uint64_t ref, struct wire_reply *reply)
{
	char mem[TAG_MAX_BYTES + 1];

	if (!conn_answered(c, ref, mem, reply))
		return false;
	if (!resp_told(b, c, reply))
		conn_reply(c, reply);
	/* The tag does not outlive this call. */
	reply->tag = (struct span){ NULL, 0 };
	return true;
}

static void
do_reply(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);

	if (c == NULL) {
		monitor_take(b->monitor, e, text);
		return;
	}
	(void)bridge_answer(b, c, e->ref,
	    &(struct wire_reply){ .status = e->status,
		.code = e->code,
		.text = { text + e->text, e->text_len },
		.fields = b->effects.fields + e->field,
		.nfields = e->nfields,
		.arena = text });
}

static void
do_event(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);

	if (c == NULL)
		return;
	conn_tell(c, &(struct wire_event){ .id = e->event,
			 .name = { text + e->name, e->name_len },
			 .fields = b->effects.fields + e->field,
			 .nfields = e->nfields,
			 .arena = text });
	if (e->event == EVENT_LOST || e->event == EVENT_SHUTDOWN)
		conn_hurry(c);
}

static void
do_queue(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	if (c == NULL || !conn_answered(c, e->ref, mem, &reply))
		return;
	lists_queue(b, c, &reply, (struct span){ text + e->name, e->name_len },
	    (size_t)e->limit,
	    &(struct core_row){ .word = "holder",
		.fields = b->effects.fields + e->field,
		.nfields = e->nfields,
		.text = text });
}

static void
do_token(struct broker *b, const struct effect *e, const char *text)
{
	struct conn *c = front_find(b->front, e->conn);

	if (c != NULL)
		resp_answer(c, e->ref, &b->effects.tokens[e->token], text);
}

/* Log events of the core (core/notice.h) and the keys of their fields. */
static const struct {
	enum log_level level;
	const char *name;
} notices[NOTICE_MAX] = {
#define ROW(id, level, name) [NOTICE_##id] = { LOG_LEVEL_##level, name },
	CORE_NOTICES(ROW)
#undef ROW
};

#define END_NUM ""
#define END_STR ""
#define END_MS "_ms"
static const char *const log_keys[FIELD_LOG_MAX] = {
#define FIELD(id, key, how) [FIELD_##id] = key END_##how,
	FIELDS(FIELD)
#undef FIELD
#define LOGFIELD(id, key, how) [FIELD_##id] = key END_##how,
	    LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
};

static bool
is_text(enum field_id id)
{
	enum { NUM, MS, STR };
	static const int how[FIELD_LOG_MAX] = {
#define FIELD(id, key, how) [FIELD_##id] = how,
		FIELDS(FIELD)
#undef FIELD
#define LOGFIELD(id, key, how) [FIELD_##id] = how,
		    LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
	};

	return how[id] == STR;
}

#define LOG_VALUES_MAX 16

/* The core knows shards by number; people know servers by address. */
static void
do_log(struct broker *b, const struct effect *e, const char *text)
{
	struct log_value v[LOG_VALUES_MAX];
	const struct field *f = b->effects.fields + e->field;
	size_t i;

	assert(e->nfields <= LOG_VALUES_MAX);
	if (!log_enabled(notices[e->notice].level))
		return;
	for (i = 0; i < e->nfields; i++, f++) {
		v[i] = (struct log_value)LOG_N(log_keys[f->id], f->num);
		if (f->id == FIELD_SHARD)
			v[i] = (struct log_value)LOG_S(log_keys[f->id],
			    redis_node(b->redis, (uint32_t)f->num));
		else if (is_text(f->id))
			v[i] = (struct log_value)LOG_B(
			    log_keys[f->id], text + f->str, f->len);
	}
	log_values(
	    notices[e->notice].level, notices[e->notice].name, v, e->nfields);
}

static void
do_audit(struct broker *b, const struct effect *e, const char *text)
{
	const struct field *f = b->effects.fields + e->field;
	char when[LOG_TIME_SIZE], number[24];
	struct json j;
	size_t i;

	log_time(when);
	json_begin(&j);
	json_str(&j, "time", when, strlen(when));
	for (i = 0; i < e->nfields; i++, f++) {
		if (is_text(f->id)) {
			json_str(&j, log_keys[f->id], text + f->str, f->len);
			continue;
		}
		snprintf(number, sizeof(number), "%" PRIu64, f->num);
		json_raw(&j, log_keys[f->id], number, strlen(number));
	}
	json_close(&j);
	audit_line(b->audit, buf_data(&j.text), buf_len(&j.text));
	buf_fini(&j.text);
}

static void
do_attach(struct broker *b, const struct effect *e)
{
	struct conn *c = front_find(b->front, e->conn);
	struct client *client;

	if (c == NULL)
		return;
	client = conn_data(c);
	client->session = e->session;
	conn_set_heartbeat(c, e->heartbeat_ms);
}

static void
do_close(struct broker *b, const struct effect *e)
{
	struct conn *c = front_find(b->front, e->conn);
	struct client *client;

	if (c == NULL)
		return;
	client = conn_data(c);
	client->session = 0;
	conn_kill(c);
}

/* No function called from here steps the core: see redis.h and front.h. */
static void
carry_out(struct broker *b)
{
	struct effects *fx = &b->effects;
	const struct effect *e;
	const char *text = buf_len(&fx->text) == 0 ? "" : buf_data(&fx->text);
	size_t i;

	for (i = 0; i < fx->n; i++) {
		e = &fx->v[i];
		switch (e->kind) {
		case EFFECT_REPLY:
			do_reply(b, e, text);
			break;
		case EFFECT_EVENT:
			do_event(b, e, text);
			break;
		case EFFECT_QUEUE:
			do_queue(b, e, text);
			break;
		case EFFECT_TOKEN:
			do_token(b, e, text);
			break;
		case EFFECT_OP:
			redis_submit(b->redis, effects_op(fx, e));
			break;
		case EFFECT_LOG:
			do_log(b, e, text);
			break;
		case EFFECT_AUDIT:
			do_audit(b, e, text);
			break;
		case EFFECT_ATTACH:
			do_attach(b, e);
			break;
		case EFFECT_CLOSE:
			do_close(b, e);
			break;
		}
	}
	effects_clear(fx);
}

static void
step(struct broker *b, struct core_event *ev)
{
	ev->now_ms = now_ms();
	core_step(b->core, ev, &b->effects);
	carry_out(b);
}

/* Has the core tell all losses before the event, however many there are. */
void
bridge_step(struct broker *b, struct core_event *ev)
{
	struct core_event time = { .kind = CORE_TIME };

	while (core_has_losses(b->core, now_ms()))
		step(b, &time);
	step(b, ev);
}

void
bridge_catch_up(struct broker *b)
{
	struct core_event ev = { .kind = CORE_TIME };

	if (core_deadline(b->core) <= now_ms())
		bridge_step(b, &ev);
}

/* From the front. */

static void
on_catch_up(void *arg)
{
	bridge_catch_up(arg);
}

uint64_t
bridge_session(const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->session;
}

int64_t
bridge_valid_ms(struct broker *b, const struct conn *c)
{
	int64_t valid_ms = core_ping(b->core, now_ms(), bridge_session(c));

	promise_cover(b->promise, core_promised_ms(b->core));
	return valid_ms;
}

static void
on_opened(void *arg, struct conn *c)
{
	struct broker *b = arg;
	struct core_event ev = { .kind = CORE_OPEN };
	struct client *client = xcalloc(1, sizeof(*client));

	client->session = conn_id(c);
	conn_set_data(c, client);
	b->clients_total++;
	ev.u.open.session = conn_id(c);
	ev.u.open.peer = conn_peer(c);
	ev.u.open.uid = conn_uid(c);
	ev.u.open.tcp = conn_is_tcp(c);
	ev.u.open.proxied = conn_is_proxied(c);
	bridge_step(b, &ev);
	identity_opened(b->identity, c);
}

static void
on_drain(void *arg, struct conn *c)
{
	struct core_event ev = { .kind = CORE_DRAIN };

	ev.u.gone.session = bridge_session(c);
	if (ev.u.gone.session == 0)
		return;
	bridge_step(arg, &ev);
}

static void
on_gone(void *arg, struct conn *c, bool orderly)
{
	struct core_event ev = { .kind = CORE_GONE };
	struct client *client = conn_data(c);

	ev.u.gone.session = client->session;
	ev.u.gone.orderly = orderly && !conn_is_unsigned(c);
	ev.u.gone.quit = client->quit;
	resp_free(client->resp);
	free(client);
	conn_set_data(c, NULL);
	if (ev.u.gone.session != 0)
		bridge_step(arg, &ev);
}

static const struct front_handler front_handler = {
	.opened = on_opened,
	.catch_up = on_catch_up,
	.request = handler_request,
	.command = resp_command,
	.drain = on_drain,
	.gone = on_gone,
};

/* From Redis. */

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct core_event ev = { .kind = CORE_GUARD };

	ev.u.guard.shard = shard;
	ev.u.guard.sent_ms = sent_ms;
	ev.u.guard.report = report;
	bridge_step(arg, &ev);
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	struct core_event ev = { .kind = CORE_OUTCOME };

	ev.u.outcome.op = op;
	ev.u.outcome.sent_ms = sent_ms;
	ev.u.outcome.outcome = outcome;
	bridge_step(arg, &ev);
}

static void
on_link(void *arg, uint32_t shard, bool up, const char *why)
{
	struct core_event ev = { .kind = CORE_LINK };

	ev.u.link.shard = shard;
	ev.u.link.up = up;
	ev.u.link.why = why;
	bridge_step(arg, &ev);
}

static void
on_message(void *arg, const char *text, size_t len)
{
	struct core_event ev = { .kind = CORE_MESSAGE };

	ev.u.message.text = text;
	ev.u.message.len = len;
	bridge_step(arg, &ev);
}

static void
on_resubscribed(void *arg)
{
	struct core_event ev = { .kind = CORE_RESUBSCRIBED };

	bridge_step(arg, &ev);
}

static void
on_fatal(void *arg, const char *why)
{
	struct broker *b = arg;

	LOG(ERROR, "redis-impossible", LOG_S("why", why));
	b->failed = true;
}

static const struct redis_handler redis_handler = {
	.guard = on_guard,
	.outcome = on_outcome,
	.link = on_link,
	.message = on_message,
	.resubscribed = on_resubscribed,
	.fatal = on_fatal,
};

/* The turn. */

#define ACCEPT_MS 3000 /* the longest that clients wait for our own Redis */

static void
on_alarm(void *arg)
{
	struct core_event ev = { .kind = CORE_TIME };

	bridge_step(arg, &ev);
}

static void
set_alarm(struct broker *b)
{
	int64_t at_ms = core_deadline(b->core);

	if (b->accept_ms > 0 && b->accept_ms < at_ms)
		at_ms = b->accept_ms;
	alarm_set(b->alarm, at_ms);
}

static void
accept_when_ready(struct broker *b)
{
	struct core_gauges gauges;

	core_gauges(b->core, now_ms(), &gauges);
	/* If the length of the wait is known, clients may as well hear it. */
	if (!gauges.ready && gauges.grace_ms == 0 && now_ms() < b->accept_ms)
		return;
	b->accept_ms = 0;
	front_hold_back(b->front, false);
	tls_accept(b);
}

bool
broker_accepts(const struct broker *b)
{
	return b->accept_ms == 0;
}

/*
 * Clients that have lost something hear of it before Redis does, from which
 * others would hear, and before any other client here.  front_hurry() tells
 * them; it comes before each redis_flush(), and first of all in front_flush().
 */
void
broker_turn(struct broker *b)
{
	struct core_event flush = { .kind = CORE_FLUSH };

	if (b->accept_ms > 0)
		accept_when_ready(b);
	bridge_catch_up(b);
	front_hurry(b->front);
	front_run(b->front);
	lists_run(b);
	monitor_run(b->monitor);
	bridge_catch_up(b);
	front_hurry(b->front);
	redis_flush(b->redis);
	if (!core_has_grants(b->core))
		bridge_catch_up(b);
	while (core_has_grants(b->core)) {
		bridge_step(b, &flush);
		front_hurry(b->front);
	}
	front_flush(b->front);
	redis_flush(b->redis);
	front_hurry(b->front);
	set_alarm(b);
}

/* Life. */

/*
 * How many fences come with a lease: so often a name passes on here while Redis
 * is away.  With more, fences could overtake the time in microseconds, from
 * which they begin again after Redis has lost everything: Redis makes some
 * 100000 grants a second at most.
 */
#define FENCES 8

static void
core_settings(struct core_config *out, const struct config *config)
{
	memset(out, 0, sizeof(*out));
	out->broker = config->broker.name;
	out->address = config->broker.address;
	out->shards = redis_shards(config);
	out->lanes = config->redis.connections;
	out->trust_new = config->redis.trust_new;
	out->owned = config->redis.mode == CONFIG_MODE_EMBEDDED;
	out->failover = config->redis.mode == CONFIG_MODE_SENTINEL ||
			config->redis.mode == CONFIG_MODE_CLUSTER;
	out->quorum = config->redis.mode == CONFIG_MODE_QUORUM;
	out->lease_ms = config->locks.lease_ms;
	out->replicas = config->redis.replicas;
	out->fences = FENCES;
	out->reply_timeout_ms = config->redis.reply_timeout_ms;
	out->audit = config->log.audit[0] != '\0';
	out->debug = config->log.level == LOG_LEVEL_DEBUG;
	out->locks = config->locks.limits;
	out->limits = config->limits;
	out->metrics = &config->metrics;
}

static void
draw(void *out, size_t n)
{
	if (getrandom(out, n, 0) != (ssize_t)n)
		abort();
}

/* Returns texts in one allocation; the caller frees it. */
static const char **
node_texts(const struct config_nodes *nodes)
{
	const char **v =
	    xcalloc(1, nodes->n * (sizeof(char *) + ADDRESS_SIZE) + 1);
	char *text = (char *)(v + nodes->n);
	size_t i;

	for (i = 0; i < nodes->n; i++, text += ADDRESS_SIZE)
		v[i] = address_format(&nodes->v[i], text);
	return v;
}

struct broker *
broker_new(struct event_base *base, const struct config *config)
{
	struct broker *b = xcalloc(1, sizeof(*b));
	struct core_config core_config;
	const char **nodes = NULL;
	uint64_t random[4];
	char why[256];

	draw(random, sizeof(random));
	hash_seed(random[0], random[1]);
	draw(random, sizeof(random));
	b->base = base;
	b->config = config;
	b->start_ms = now_ms();
	effects_init(&b->effects);
	buf_init(&b->rows);
	b->scripts = scripts_new();
	TAILQ_INIT(&b->jobs);
	core_settings(&core_config, config);
	if (core_config.owned) {
		b->promise = promise_new(
		    config->broker.name, config->locks.lease_ms, b->start_ms);
		core_config.floor_ms = promise_floor_ms(b->promise);
	}
	core_config.instance = random[0];
	core_config.seed[0] = random[1];
	core_config.seed[1] = random[2];
	if (core_config.quorum)
		nodes = node_texts(&config->redis.nodes);
	core_config.nodes = nodes;
	b->core = core_new(&core_config);
	b->audit = audit_new();
	audit_open(b->audit, config->log.audit);
	free(nodes);
	b->front = front_new(base, &config->limits, &front_handler, b);
	b->identity = identity_new(b);
	identity_load(b->identity, config->users);
	b->monitor = monitor_new(b);
	b->alarm = alarm_new(base, on_alarm, b);
	if (b->alarm == NULL) {
		LOG(ERROR, "loop-failed", LOG_S("why", strerror(errno)));
		broker_free(b);
		return NULL;
	}
	if (!tls_begin(b)) {
		broker_free(b);
		return NULL;
	}
	b->redis = redis_new(base, config, config->redis.tls ? b->relay : NULL,
	    config->broker.name, random[0], &redis_handler, b, why,
	    sizeof(why));
	if (b->redis != NULL)
		return b;
	LOG(ERROR, "redis-impossible", LOG_S("why", why));
	broker_free(b);
	return NULL;
}

static void
free_client(void *arg, struct conn *c)
{
	struct client *client = conn_data(c);

	(void)arg;
	if (client != NULL)
		resp_free(client->resp);
	free(client);
}

void
broker_free(struct broker *b)
{
	if (b == NULL)
		return;
	lists_fini(b);
	monitor_free(b->monitor);
	identity_free(b->identity);
	front_each(b->front, free_client, b);
	front_free(b->front);
	redis_free(b->redis);
	relay_free(b->relay);
	if (core_stopped(b->core))
		promise_close(b->promise, core_promised_ms(b->core), now_ms());
	promise_free(b->promise);
	core_free(b->core);
	audit_free(b->audit);
	alarm_free(b->alarm);
	effects_fini(&b->effects);
	buf_fini(&b->rows);
	scripts_free(b->scripts);
	free(b);
}

static bool
listen_one(struct broker *b, size_t number, struct buf *why)
{
	const struct config_endpoint *e = &b->config->listen.v[number];
	const struct address *a = &e->address;

	switch (e->place) {
	case CONFIG_PLACE_TCP:
		return front_listen_tcp(
		    b->front, a->host, a->port, e->proxied, why);
	case CONFIG_PLACE_TLS:
		return front_listen_place(
		    b->front, a->host, a->port, (unsigned)number, why);
	case CONFIG_PLACE_UNIX:
		return front_listen_unix(
		    b->front, a->path, e->mode, e->group, why);
	default: /* the monitor's */
		return true;
	}
}

bool
broker_listen(struct broker *b, int first, size_t n)
{
	const struct config_listen *listen = &b->config->listen;
	struct buf why;
	bool ok = true;
	size_t i;

	buf_init(&why);
	if (b->config->redis.mode == CONFIG_MODE_EMBEDDED) {
		b->accept_ms = now_ms() + ACCEPT_MS;
		front_hold_back(b->front, true);
	}
	for (i = 0; ok && i < n; i++)
		ok = front_listen_fd(b->front, first + (int)i, &why);
	for (i = 0; ok && i < listen->n; i++)
		ok = listen_one(b, i, &why);
	ok = ok && tls_listen(b, &why) && monitor_listen(b->monitor, &why);
	if (ok && front_listeners(b->front) == 0) {
		buf_adds(&why, "nothing to listen on: give `listen` an address"
			       " or start the socket unit");
		ok = false;
	}
	if (!ok)
		LOG(ERROR, "listen-failed",
		    LOG_B("why", buf_data(&why), buf_len(&why)));
	buf_fini(&why);
	if (ok && b->accept_ms == 0)
		tls_accept(b);
	if (ok)
		redis_start(b->redis);
	return ok;
}

void
broker_reload(struct broker *b, const struct config *config)
{
	core_reconfigure(b->core, &config->locks.limits, &config->limits,
	    &config->metrics, config->log.audit[0] != '\0',
	    config->log.level == LOG_LEVEL_DEBUG);
	audit_open(b->audit, config->log.audit);
	front_set_limits(b->front, &config->limits);
	identity_load(b->identity, config->users);
	tls_reload(b);
}

void
broker_stop(struct broker *b)
{
	struct core_event ev = { .kind = CORE_STOP };

	b->stopping = true;
	front_stop_listening(b->front);
	tls_stop_listening(b);
	bridge_step(b, &ev);
}

bool
broker_stopped(const struct broker *b)
{
	return core_stopped(b->core);
}

bool
broker_stopping(const struct broker *b)
{
	return b->stopping;
}

bool
broker_failed(const struct broker *b)
{
	return b->failed;
}

void
broker_status(struct broker *b, struct buf *out)
{
	struct core_gauges gauges;

	core_gauges(b->core, now_ms(), &gauges);
	buf_addf(out, "%s; %" PRIu64 " locks held, %" PRIu64 " waiters",
	    gauges.ready ? "Redis up" : gauges.why, gauges.locks_held,
	    gauges.waiters);
}
