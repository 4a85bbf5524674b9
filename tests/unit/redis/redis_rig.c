/*
 * Nothing here sleeps: it polls for what it awaits, or waits for an event.
 */
#include "config.h"

#include <check.h>
#include <glob.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "base/timeval.h"
#include "redis_rig.h"

#define PATIENCE_MS 30000
#define INSTANCE 0x1122334455667788u

/* The server. */

const char *
server_program(void)
{
	const char *program = getenv("REDIS_SERVER");

	return program && *program ? program : "redis-server";
}

static void
server_exec(const struct server *s, const char *const *more)
{
	const char *argv[64] = { server_program(), "--port", "0",
		"--unixsocket", s->path, "--save", "", "--appendonly", "no",
		"--logfile", "log", "--dir", s->dir };
	size_t n = 13;

	for (; *more; more++)
		argv[n++] = *more;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execvp(argv[0], (char **)(uintptr_t)argv);
	_exit(127);
}

static void
server_wait(struct server *s)
{
	int64_t until_ms = now_ms() + PATIENCE_MS;
	redisContext *c;
	redisReply *r;
	bool ready;

	do {
		c = redisConnectUnix(s->path);
		r = c->err ? NULL : redisCommand(c, "PING");
		ready = r != NULL;
		if (r)
			freeReplyObject(r);
		redisFree(c);
		if (!ready)
			usleep(2000);
	} while (!ready && now_ms() < until_ms);
	ck_assert_msg(ready, "%s did not start", server_program());
}

void
server_again(struct server *s, const char *const *more)
{
	s->pid = fork();
	ck_assert_int_ge(s->pid, 0);
	if (s->pid == 0)
		server_exec(s, more);
	server_wait(s);
}

void
server_start(struct server *s, const char *const *more)
{
	strcpy(s->dir, "/tmp/lockbroker-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(s->dir));
	(void)snprintf(s->path, sizeof(s->path), "%s/socket", s->dir);
	s->port = 0;
	server_again(s, more);
}

void
server_kill(struct server *s)
{
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	s->pid = 0;
}

void
server_stop(struct server *s)
{
	char pattern[96];
	glob_t found;
	size_t i;

	if (s->pid > 0)
		server_kill(s);
	(void)snprintf(pattern, sizeof(pattern), "%s/*", s->dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	ck_assert_int_eq(rmdir(s->dir), 0);
}

static redisReply *
server_vdo(struct server *s, const char *fmt, va_list ap)
{
	redisContext *c = redisConnectUnix(s->path);
	redisReply *r;

	ck_assert_msg(!c->err, "%s", c->errstr);
	r = redisvCommand(c, fmt, ap);
	redisFree(c);
	ck_assert_ptr_nonnull(r);
	return r;
}

redisReply *
server_do(struct server *s, const char *fmt, ...)
{
	redisReply *r;
	va_list ap;

	va_start(ap, fmt);
	r = server_vdo(s, fmt, ap);
	va_end(ap);
	return r;
}

void
server_ok(struct server *s, const char *fmt, ...)
{
	redisReply *r;
	va_list ap;

	va_start(ap, fmt);
	r = server_vdo(s, fmt, ap);
	va_end(ap);
	ck_assert_msg(r->type != REDIS_REPLY_ERROR, "%s: %s", fmt, r->str);
	freeReplyObject(r);
}

static int
free_port(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sin, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	close(fd);
	return ntohs(sin.sin_port);
}

/* Another process may take the port first; then the next one will do. */
int
server_listen(struct server *s)
{
	redisReply *r;
	bool listens;
	int port, left = 20;

	do {
		port = free_port();
		r = server_do(s, "CONFIG SET port %d", port);
		listens = r->type != REDIS_REPLY_ERROR;
		ck_assert_msg(listens || --left > 0, "%s", r->str);
		freeReplyObject(r);
	} while (!listens);
	return port;
}

long
server_info(struct server *s, const char *section, const char *key)
{
	redisReply *r = server_do(s, "INFO %s", section);
	const char *at = strstr(r->str, key);
	long n = at ? atol(at + strlen(key)) : 0;

	freeReplyObject(r);
	return n;
}

bool
server_says(struct server *s, const char *section, const char *text)
{
	redisReply *r = server_do(s, "INFO %s", section);
	bool found = strstr(r->str, text) != NULL;

	freeReplyObject(r);
	return found;
}

/* What is written down. */

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct rig *rig = arg;

	ck_assert_uint_eq(shard, 0);
	ck_assert_int_gt(sent_ms, 0);
	rig->guard = *report;
	rig->guards++;
	(void)snprintf(rig->pend, sizeof(rig->pend), "%.*s",
	    (int)report->text_len, report->text);
}

static void
on_outcome(
    void *arg, uint64_t id, int64_t sent_ms, const struct outcome *outcome)
{
	struct rig *rig = arg;

	ck_assert_uint_lt(id, RIG_OPS);
	rig->ops[id].times++;
	rig->ops[id].outcome = *outcome;
	rig->ops[id].sent_ms = sent_ms;
	(void)snprintf(rig->ops[id].text, RIG_TEXT, "%.*s",
	    (int)outcome->text_len, outcome->text ? outcome->text : "");
	rig->answered++;
	if (rig->on_outcome)
		rig->on_outcome(rig, id);
}

static void
on_link(void *arg, uint32_t shard, bool up, const char *why)
{
	struct rig *rig = arg;

	ck_assert_uint_eq(shard, 0);
	if (!up)
		(void)snprintf(rig->why, sizeof(rig->why), "%s", why);
	if (!up && !rig->up)
		return; /* still down: only the reason is new */
	ck_assert(rig->up != up);
	rig->up = up;
	if (up) {
		rig->ups++;
		return;
	}
	rig->downs++;
	rig->answered_at_down = rig->answered;
}

static void
on_message(void *arg, const char *text, size_t len, const char *history)
{
	struct rig *rig = arg;

	rig->messages++;
	(void)snprintf(
	    rig->message, sizeof(rig->message), "%.*s", (int)len, text);
	(void)snprintf(rig->history, sizeof(rig->history), "%s", history);
}

static void
on_resubscribed(void *arg)
{
	struct rig *rig = arg;

	rig->resubscribed++;
}

static void
on_fatal(void *arg, const char *why)
{
	struct rig *rig = arg;

	rig->fatals++;
	(void)snprintf(rig->why, sizeof(rig->why), "%s", why);
}

static const struct redis_handler handler = { on_guard, on_outcome, on_link,
	on_message, on_resubscribed, on_fatal };

/* The rig. */

void
rig_config(struct rig *rig, const char *path)
{
	struct config_redis *redis = &rig->config.redis;
	struct config_faults faults;

	memset(rig, 0, sizeof(*rig));
	config_faults_init(&faults);
	ck_assert(config_load(&rig->config, NULL, NULL, &faults));
	config_faults_fini(&faults);
	free(redis->server);
	redis->server = strdup(server_program());
	if (!path)
		return;
	redis->mode = CONFIG_MODE_STANDALONE;
	free(redis->nodes.v);
	redis->nodes.n = 1;
	redis->nodes.v = calloc(1, sizeof(*redis->nodes.v));
	redis->nodes.v[0].path = strdup(path);
}

void
rig_open(struct rig *rig)
{
	char why[256] = "";

	signal(SIGPIPE, SIG_IGN);
	rig->base = event_base_new();
	rig->redis = redis_new(rig->base, &rig->config, NULL, "b1", INSTANCE,
	    &handler, rig, why, sizeof(why));
	ck_assert_msg(rig->redis, "%s", why);
}

void
rig_close(struct rig *rig)
{
	unsigned answered = rig->answered;

	redis_free(rig->redis);
	ck_assert_uint_eq(rig->answered, answered);
	event_base_free(rig->base);
	config_free(&rig->config);
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

void
rig_until(struct rig *rig, rig_condition *condition, const char *what)
{
	int64_t until_ms = now_ms() + PATIENCE_MS;
	struct timeval tick = { 0, 100000 };
	struct event *e = event_new(rig->base, -1, EV_PERSIST, on_tick, NULL);

	event_add(e, &tick);
	while (!condition(rig)) {
		ck_assert_msg(now_ms() < until_ms, "in vain: %s", what);
		event_base_loop(rig->base, EVLOOP_ONCE);
	}
	event_free(e);
}

void
rig_for(struct rig *rig, int64_t ms)
{
	struct timeval tv = ms_to_timeval(ms);

	event_base_loopexit(rig->base, &tv);
	event_base_dispatch(rig->base);
}

bool
rig_is_up(struct rig *rig)
{
	return rig->up;
}

bool
rig_is_down(struct rig *rig)
{
	return !rig->up;
}

bool
rig_is_fatal(struct rig *rig)
{
	return rig->fatals > 0;
}

bool
rig_answered(struct rig *rig)
{
	return rig->answered >= rig->expected;
}

void
rig_op(struct rig *rig, uint64_t id, enum op_kind kind, const char *name)
{
	struct op op = { .id = id,
		.kind = kind,
		.name = name,
		.name_len = name ? strlen(name) : 0,
		.seq = id,
		.ttl_ms = 13000,
		.reserve = kind == OP_RENEW ? 0 : 1,
		.timeout_ms = 2000 };

	(void)snprintf(op.pend, sizeof(op.pend), "%.90s", rig->pend);
	rig->expected++;
	redis_submit(rig->redis, &op);
}

bool
rig_answered_in_turns(struct rig *rig)
{
	redis_flush(rig->redis);
	return rig_answered(rig);
}

void
rig_turn(struct rig *rig)
{
	unsigned answered = rig->answered;

	redis_flush(rig->redis);
	ck_assert_msg(!rig->up || rig->answered == answered,
	    "an answer before the loop ran");
	rig_until(rig, rig_answered_in_turns, "outcomes");
	ck_assert_uint_eq(rig->answered, rig->expected);
}

/* The last ids are reserved for the rig. */
void
rig_ready(struct rig *rig)
{
	redis_start(rig->redis);
	rig_until(rig, rig_is_up, "the link");
	rig_op(rig, RIG_OPS - 1, OP_HEARTBEAT, NULL);
	rig_turn(rig);
	ck_assert_int_eq(rig->guard.state, GUARD_PENDING);
	rig_op(rig, RIG_OPS - 2, OP_BLESS, NULL);
	rig_turn(rig);
	ck_assert_int_eq(rig->guard.state, GUARD_BLESSED);
}

void
rig_begin(struct rig *rig, struct server *server, const char *const *argv)
{
	static const char *const none[] = { NULL };

	server_start(server, argv != NULL ? argv : none);
	rig_config(rig, server->path);
}

void
rig_begin_ready(struct rig *rig, struct server *server)
{
	rig_begin(rig, server, NULL);
	rig_open(rig);
	rig_ready(rig);
}

void
rig_end(struct rig *rig, struct server *server)
{
	rig_close(rig);
	server_stop(server);
}
