/*
 * link.h over connections of the simulated network.
 *
 *	down -> greeting -> up      the states of src/redis/link.c, but that
 *	 ^--------------------+     a connection is there or breaks
 *
 * The greeting is one request, and its answer says who the server is.  What
 * src/redis/link*.c promises is kept here: every command is answered once, NULL
 * being an answer; the link says that it is down before it answers what was
 * under way; it is not given up under a callback of its own, but behind that.
 */
#include "config.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "lua/lua.h"
#include "redis/io.h"

#include "world.h"

/* As in src/redis/link.c and link_io.c. */
#define RETRY_MS_MIN 50
#define STEADY_MS 1000
#define STEADY_REFUSED_MS 30000
#define PATIENCE_MS 20
#define PATIENCE_MAX 50

#define WORDS_MAX 8 /* of a command that is no call */
#define WORD_SIZE 160

/* A command under way.  Owned by its link. */
struct errand {
	STAILQ_ENTRY(errand) entry;
	link_reply *done;
	void *arg;
	int64_t deadline_ms;
};
STAILQ_HEAD(errand_list, errand);

struct link {
	TAILQ_ENTRY(link) entry; /* among those of its broker */
	struct link_config config;
	const struct link_handler *handler;
	void *arg;
	struct broker *broker;
	bool up;
	struct conn *conn; /* NULL: down, or in the pause before a try */
	struct errand_list errands; /* in the order in which they were sent */
	unsigned depth; /* callbacks that need the connection to stay */
	bool doomed;	/* to be cut when that is 0 */
	bool refused;	/* cut because of a reply of the server */
	char why[160];
	const char *advice;
	struct timer *timer;   /* of the greeting, or of the pause */
	struct timer *overdue; /* the earliest deadline, or before it */
	int64_t overdue_ms;    /* when that fires; INT64_MAX: it is not set */
	unsigned patience;     /* how often it waited for a late reply */
	unsigned attempts;     /* since it was last up for a while */
	int64_t up_ms;
	struct info info;
	uint64_t client_id;
};

static const char *const shas[] = {
	[SCRIPT_KEEP] = "keep", [SCRIPT_ACQUIRE] = "acquire"
};

static int64_t
now_of(const struct link *l)
{
	return io_now_ms(l->config.io);
}

/* Up and down. */

static void
retry_later(struct link *l)
{
	int64_t ms = RETRY_MS_MIN;
	unsigned i;

	for (i = 0; i < l->attempts && ms < l->config.retry_ms_max; i++)
		ms *= 2;
	if (ms > l->config.retry_ms_max)
		ms = l->config.retry_ms_max;
	l->attempts++;
	timer_in(l->timer, prng_range(&l->broker->w->prng, ms / 2, ms));
}

static void
answer_all(struct link *l)
{
	struct errand *a;

	l->depth++; /* the last answers must not cut it */
	while ((a = STAILQ_FIRST(&l->errands)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->errands, entry);
		a->done(a->arg, NULL);
		free(a);
	}
	l->depth--;
}

static void
give_up(struct link *l)
{
	conn_abandon(l->conn);
	l->conn = NULL;
	l->up = l->doomed = false;
	timer_stop(l->overdue);
	l->overdue_ms = INT64_MAX;
}

static void
link_lost(struct link *l, const char *why, const char *advice)
{
	bool was_up = l->up;

	TRACE(l->broker->w, "%s: connection %llu to %s is lost: %s",
	    l->broker->name, (unsigned long long)l->conn->id,
	    l->conn->server->name, why);
	give_up(l);
	if (was_up && now_of(l) - l->up_ms >=
			  (l->refused ? STEADY_REFUSED_MS : STEADY_MS))
		l->attempts = 0;
	l->refused = false;
	retry_later(l);
	if (l->handler->down != NULL)
		l->handler->down(l->arg, l, was_up, why, advice);
	answer_all(l);
}

void
link_cut(struct link *l, const char *why, const char *advice)
{
	if (l->conn == NULL || l->doomed)
		return;
	if (strcmp(why, "a malformed reply") == 0 &&
	    !l->broker->w->faults.garbled)
		world_fail(l->broker->w, "P7", "a reply was not understood");
	snprintf(l->why, sizeof(l->why), "%s", why);
	l->advice = advice;
	if (l->depth > 0)
		l->doomed = true;
	else
		link_lost(l, l->why, advice);
}

void
link_refuse(struct link *l, const char *why, const char *advice)
{
	if (l->conn == NULL || l->doomed)
		return;
	l->refused = true;
	link_cut(l, why, advice);
}

static void
after_work(struct link *l)
{
	if (--l->depth == 0 && l->doomed)
		link_lost(l, l->why, l->advice);
}

/* Where an address leads to now. */
static struct server *
locate(struct world *w, const struct address *a)
{
	if (a->path != NULL)
		return &w->servers[0];
	if (a->port >= NET_SENTINEL)
		return &w->sentinels.v[a->port - NET_SENTINEL].node;
	if (a->port >= NET_SERVER)
		return &w->servers[a->port - NET_SERVER];
	return w->sentinels.v[0].says;
}

static void
attempt(struct link *l)
{
	const char *words[2] = { "HELLO", NULL };
	size_t lens[2] = { 5, 0 };
	int n = 1;

	l->conn = conn_open(l, locate(l->broker->w, l->config.address));
	if (l->config.channel != NULL) {
		words[0] = "SUBSCRIBE";
		words[1] = l->config.channel;
		lens[0] = 9;
		lens[1] = strlen(words[1]);
		n = 2;
	}
	conn_send(l->conn, request_new(REQUEST_COMMAND, 0, n, words, lens));
	timer_in(l->timer, l->config.connect_timeout_ms);
}

static void
on_timer(void *arg)
{
	struct link *l = arg;

	if (l->conn == NULL)
		attempt(l);
	else
		link_cut(l, LINK_SILENT, NULL);
}

static void
greeted(struct link *l)
{
	struct conn *c = l->conn;

	TRACE(l->broker->w, "%s: connection %llu to %s is up", l->broker->name,
	    (unsigned long long)c->id, c->server->name);
	timer_stop(l->timer);
	l->up = true;
	l->up_ms = now_of(l);
	l->client_id = c->id;
	memset(&l->info, 0, sizeof(l->info));
	l->info.version[0] = 7;
	l->info.replica = !c->server->db.master;
	/* A link that tells no run_id is taken for another link to the same
	 * server. */
	if (!world_ablated(l->broker->w, ABLATE_LEAVE))
		snprintf(l->info.run_id, sizeof(l->info.run_id), "%llu",
		    (unsigned long long)c->run);
	l->handler->up(l->arg, l);
}

static void
on_reply(struct link *l, const redisReply *reply)
{
	struct errand *a = STAILQ_FIRST(&l->errands);

	if (!l->up) {
		greeted(l);
		return;
	}
	assert(a != NULL);
	l->patience = 0;
	STAILQ_REMOVE_HEAD(&l->errands, entry);
	a->done(a->arg, reply);
	free(a);
}

void
net_packet(struct conn *c, const redisReply *reply, const char *message)
{
	struct link *l = c->link;

	if (l == NULL || l->conn != c)
		return;
	l->depth++;
	if (message == NULL)
		on_reply(l, reply);
	else
		l->handler->message(l->arg, message, strlen(message));
	after_work(l);
}

void
net_broken(struct conn *c)
{
	if (c->link != NULL && c->link->conn == c)
		link_cut(c->link, "Redis closed the connection", NULL);
}

/* Commands. */

static void
overdue_at(struct link *l, int64_t at_ms)
{
	l->overdue_ms = at_ms;
	timer_in(l->overdue, at_ms - now_of(l));
}

static void
on_overdue(void *arg)
{
	struct link *l = arg;
	int64_t first_ms = INT64_MAX;
	const struct errand *a;

	l->overdue_ms = INT64_MAX;
	STAILQ_FOREACH (a, &l->errands, entry)
		if (a->deadline_ms < first_ms)
			first_ms = a->deadline_ms;
	if (first_ms == INT64_MAX || l->conn == NULL)
		return;
	if (first_ms > now_of(l))
		overdue_at(l, first_ms);
	else if (l->conn->unread > 0 && l->patience++ < PATIENCE_MAX)
		overdue_at(l, now_of(l) + PATIENCE_MS);
	else
		link_cut(l, "Redis does not answer in time", NULL);
}

static void
ask(struct link *l, struct request *r, int64_t timeout_ms, link_reply *done,
    void *arg)
{
	struct errand *a = xmalloc(sizeof(*a));

	if (timeout_ms <= 0 || timeout_ms > l->config.reply_timeout_ms)
		timeout_ms = l->config.reply_timeout_ms;
	a->done = done;
	a->arg = arg;
	a->deadline_ms = now_of(l) + timeout_ms;
	STAILQ_INSERT_TAIL(&l->errands, a, entry);
	if (a->deadline_ms < l->overdue_ms)
		overdue_at(l, a->deadline_ms);
	conn_send(l->conn, r);
}

/* The number of the bucket that a key belongs to: PREFIX{N}:NAME. */
static uint32_t
bucket_of(const char *key)
{
	const char *brace = strchr(key, '{');

	return brace != NULL ? (uint32_t)strtoul(brace + 1, NULL, 10) : 0;
}

static struct request *
call_request(
    const struct link *l, int argc, const char **argv, const size_t *argvlen)
{
	int nkeys = atoi(argv[2]);
	struct request *r = request_new(REQUEST_CALL, nkeys,
	    argc - CALL_HEAD - nkeys, argv + CALL_HEAD, argvlen + CALL_HEAD);

	r->script = SCRIPT_KEEP;
	if (strcmp(argv[1], shas[SCRIPT_ACQUIRE]) == 0)
		r->script = SCRIPT_ACQUIRE;
	r->earlier = (l->broker->w->uses.earlier >> l->broker->index & 1) != 0;
	if (l->broker->w->tagged)
		r->shard = bucket_of(argv[CALL_HEAD]);
	return r;
}

/* The text of a script plays no part: the server has it. */
static struct request *
load_request(struct link *l, const char *text)
{
	const char *words[] = { "SCRIPT", "LOAD" };
	size_t lens[] = { 6, 4 };
	struct request *r = request_new(REQUEST_COMMAND, 0, 2, words, lens);

	r->script = SCRIPT_KEEP;
	if (text == link_script(l, SCRIPT_ACQUIRE))
		r->script = SCRIPT_ACQUIRE;
	return r;
}

bool
link_send(struct link *l, int argc, const char **argv, const size_t *argvlen,
    int64_t timeout_ms, link_reply *done, void *arg)
{
	struct request *r;

	if (!link_is_up(l))
		return false;
	r = strcmp(argv[0], "EVALSHA") == 0
		? call_request(l, argc, argv, argvlen)
		: load_request(l, argv[2]);
	ask(l, r, timeout_ms, done, arg);
	return true;
}

/* Writes one word of a format, with its argument if it has one, as hiredis
 * would: a text may contain spaces, and is one word all the same. */
static size_t
put_word(char out[WORD_SIZE], const char *fmt, size_t n, va_list *ap)
{
	char one[16];

	assert(n < sizeof(one) || fmt[0] != '%');
	if (fmt[0] != '%')
		return (size_t)snprintf(out, WORD_SIZE, "%.*s", (int)n, fmt);
	memcpy(one, fmt, n);
	one[n] = '\0';
	if (strcmp(one, "%s") == 0)
		return (size_t)snprintf(
		    out, WORD_SIZE, "%s", va_arg(*ap, const char *));
	if (strcmp(one, "%u") == 0)
		return (size_t)snprintf(
		    out, WORD_SIZE, "%u", va_arg(*ap, unsigned));
	assert(strcmp(one, "%lld") == 0 || strcmp(one, "%llu") == 0);
	return (size_t)snprintf(out, WORD_SIZE, "%lld", va_arg(*ap, long long));
}

bool
link_sendf(struct link *l, int64_t timeout_ms, link_reply *done, void *arg,
    const char *fmt, ...)
{
	char text[WORDS_MAX][WORD_SIZE];
	const char *words[WORDS_MAX];
	size_t lens[WORDS_MAX], n;
	va_list ap;
	int argc = 0;

	if (!link_is_up(l))
		return false;
	va_start(ap, fmt);
	for (; *fmt != '\0'; fmt += n + (fmt[n] == ' ')) {
		assert(argc < WORDS_MAX);
		n = strcspn(fmt, " ");
		lens[argc] = put_word(text[argc], fmt, n, &ap);
		assert(lens[argc] < WORD_SIZE);
		words[argc] = text[argc];
		argc++;
	}
	va_end(ap);
	ask(l, request_new(REQUEST_COMMAND, 0, argc, words, lens), timeout_ms,
	    done, arg);
	return true;
}

/* A command that was sent is on its way at once. */
void
link_flush(struct link *l)
{
	(void)l;
}

/* Life. */

struct link *
link_new(const struct link_config *config, const struct link_handler *handler,
    void *arg)
{
	struct link *l = xcalloc(1, sizeof(*l));

	l->config = *config;
	l->handler = handler;
	l->arg = arg;
	l->broker = net_broker(config->io);
	STAILQ_INIT(&l->errands);
	l->timer = timer_new(config->io, on_timer, l);
	l->overdue = timer_new(config->io, on_overdue, l);
	l->overdue_ms = INT64_MAX;
	TAILQ_INSERT_TAIL(&l->broker->net.links, l, entry);
	return l;
}

void
link_start(struct link *l)
{
	l->attempts = 0;
	if (l->conn == NULL)
		timer_in(l->timer, 0);
}

void
link_move(struct link *l, const char *why)
{
	assert(l->depth == 0);
	link_cut(l, why, NULL);
	link_start(l);
}

void
link_free(struct link *l)
{
	if (l == NULL)
		return;
	assert(l->depth == 0);
	if (l->conn != NULL) {
		give_up(l);
		answer_all(l);
	}
	timer_free(l->timer);
	timer_free(l->overdue);
	TAILQ_REMOVE(&l->broker->net.links, l, entry);
	free(l);
}

/* Its properties. */

bool
link_is_up(const struct link *l)
{
	return l->up && !l->doomed;
}

const struct info *
link_info(const struct link *l)
{
	return &l->info;
}

uint64_t
link_client_id(const struct link *l)
{
	return l->client_id;
}

const char *
link_sha(const struct link *l, enum script_id script)
{
	(void)l;
	return shas[script];
}

const char *
link_script(const struct link *l, enum script_id script)
{
	(void)l;
	return script == SCRIPT_KEEP ? lua_keep : lua_acquire;
}

struct broker *
link_broker(const struct link *l)
{
	return l->broker;
}

/* Faults. */

static bool
may_strike(const struct link *l, bool messages, int most)
{
	return l->conn != NULL && (l->config.channel != NULL) == messages &&
	       (l->conn->server->sentinel != NULL ||
		   l->conn->server->index < most);
}

struct conn *
net_some_conn(struct broker *b, bool messages, int most)
{
	struct conn *found = NULL;
	struct link *l;
	uint64_t n = 0;

	TAILQ_FOREACH (l, &b->net.links, entry)
		if (may_strike(l, messages, most) &&
		    prng_below(&b->w->prng, ++n) == 0)
			found = l->conn;
	return found;
}
