/*
 * The states of a link, the pauses between attempts, and which address to try
 * next.
 *
 * Attempts go through all addresses of the name, one after the other; the pause
 * grows only when all of them have failed.  It is drawn from the upper half of
 * 50 ms, 100 ms ... retry_ms_max, so that many brokers don't come back in step.
 */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/now.h"
#include "base/small_file.h"
#include "base/xmalloc.h"
#include "redis/link_state.h"

#define RETRY_MS_MIN 50
/*
 * After a link was up for this long, the next pause is a short one.  A server
 * that lets us in and then refuses every call must not be asked without one.
 */
#define STEADY_MS 1000
#define STEADY_REFUSED_MS 30000

static const char *const words[] = {
#define STATE(id, word) [LINK_##id] = word,
	LINK_STATES(STATE)
#undef STATE
};

#define BIT(id) (1u << LINK_##id)

/* Which states may follow each. */
static const unsigned follows[] = {
	[LINK_DOWN] = BIT(RESOLVING) | BIT(CONNECTING),
	[LINK_RESOLVING] = BIT(DOWN) | BIT(CONNECTING),
	[LINK_CONNECTING] = BIT(DOWN) | BIT(GREETING),
	[LINK_GREETING] = BIT(DOWN) | BIT(UP),
	[LINK_UP] = BIT(DOWN),
};

static void on_timer(void *arg);

void
link_set_state(struct link *l, enum link_state state)
{
	assert(follows[l->state] & 1u << state);
	LOG(DEBUG, "redis-link", LOG_S("client", l->config.client_name),
	    LOG_S("from", words[l->state]), LOG_S("to", words[state]));
	l->state = state;
}

struct link *
link_new(const struct link_config *config, const struct link_handler *handler,
    void *arg)
{
	struct link *l = xcalloc(1, sizeof(*l));

	l->config = *config;
	l->password = xstrdup(config->password);
	l->handler = handler;
	l->arg = arg;
	l->timer = timer_new(config->io, on_timer, l);
	link_io_init(l);
	return l;
}

/* Sets the pause before the next attempt. */
static void
retry_later(struct link *l)
{
	int64_t ms = RETRY_MS_MIN;
	uint32_t random;
	unsigned i;

	assert(l->state == LINK_DOWN);
	for (i = 0; i < l->attempts && ms < l->config.retry_ms_max; i++)
		ms *= 2;
	if (ms > l->config.retry_ms_max)
		ms = l->config.retry_ms_max;
	io_random(l->config.io, &random, sizeof(random));
	ms = ms / 2 + (int64_t)(random % (uint64_t)(ms / 2 + 1));
	l->attempts++;
	timer_in(l->timer, ms);
}

void
link_lost(struct link *l, const char *why, const char *advice)
{
	bool was_up = l->state == LINK_UP;
	bool goes_on = !was_up && l->next_address < l->addresses.n;

	if (l->state == LINK_DOWN)
		return;
	assert(l->depth == 0);
	if (why != l->why)
		snprintf(l->why, sizeof(l->why), "%s", why);
	if (l->lookup != NULL) {
		resolver_cancel(l->lookup);
		l->lookup = NULL;
	}
	link_set_state(l, LINK_DOWN);
	if (was_up &&
	    now_ms() - l->up_ms >= (l->refused ? STEADY_REFUSED_MS : STEADY_MS))
		l->attempts = 0;
	l->refused = false;
	if (goes_on)
		timer_in(l->timer, 0); /* the name has another address */
	else
		retry_later(l);
	/* localhost is also ::1: if nobody listens there, that is no news. */
	if (l->handler->down != NULL && (!goes_on || advice != NULL))
		l->handler->down(l->arg, l, was_up, l->why, advice);
}

void
link_cut(struct link *l, const char *why, const char *advice)
{
	if (l->state == LINK_DOWN || l->doomed)
		return;
	snprintf(l->why, sizeof(l->why), "%s", why);
	l->advice = advice;
	if (l->depth > 0) {
		l->doomed = true;
		return;
	}
	link_lost(l, l->why, advice);
	link_detach(l);
}

void
link_refuse(struct link *l, const char *why, const char *advice)
{
	if (l->state == LINK_DOWN || l->doomed)
		return;
	l->refused = true;
	link_cut(l, why, advice);
}

void
link_greeted(struct link *l)
{
	timer_stop(l->timer);
	link_set_state(l, LINK_UP);
	l->up_ms = now_ms();
	l->addresses.n = 0; /* look the name up again after the next cut */
	l->handler->up(l->arg, l);
}

/* The TLS process connects for us and says in a line how that went. */
static redisContext *
connect_relayed(struct link *l, const char *ip)
{
	const struct address *a = l->config.address;
	int fd = relay_connect(l->config.io->relay, ip, a->port, a->host);
	redisContext *c;

	if (fd < 0)
		return NULL;
	c = redisConnectFd(fd);
	if (c == NULL)
		abort();
	c->flags &= ~REDIS_BLOCK;
	l->greeting.n = 0;
	return c;
}

/* Connects to a numeric address, or to the path of a Unix socket. */
static void
connect_to(struct link *l, const char *ip)
{
	const struct address *a = l->config.address;
	redisContext *c;

	assert(l->c == NULL && l->lookup == NULL);
	link_set_state(l, LINK_CONNECTING);
	timer_in(l->timer, l->config.connect_timeout_ms);
	if (l->config.io->relay)
		c = connect_relayed(l, ip);
	else
		c = a->path ? redisConnectUnixNonBlock(a->path)
			    : redisConnectNonBlock(ip, a->port);
	if (c == NULL) {
		link_lost(l, "no connection can be made", NULL);
		return;
	}
	if (c->err) {
		snprintf(l->why, sizeof(l->why), "%s", c->errstr);
		redisFree(c);
		link_lost(l, l->why, NULL);
		return;
	}
	link_attach(l, c);
	link_greet(l);
}

static void
connect_next(struct link *l)
{
	assert(l->next_address < l->addresses.n);
	connect_to(l, l->addresses.text[l->next_address++]);
}

static void
on_resolved(void *arg, const struct resolved *result, const char *why)
{
	struct link *l = arg;
	char text[160];

	assert(l->state == LINK_RESOLVING);
	l->lookup = NULL;
	if (result == NULL) {
		snprintf(text, sizeof(text), "cannot resolve %s: %s",
		    l->config.address->host, why);
		link_lost(l, text, "check redis.nodes");
		return;
	}
	l->addresses = *result;
	l->next_address = 0;
	connect_next(l);
}

static void
attempt(struct link *l)
{
	const struct address *a = l->config.address;
	struct in6_addr ip;

	assert(l->c == NULL);
	if (a->path) {
		connect_to(l, NULL);
		return;
	}
	if (inet_pton(AF_INET, a->host, &ip) == 1 ||
	    inet_pton(AF_INET6, a->host, &ip) == 1) {
		connect_to(l, a->host);
		return;
	}
	if (l->next_address < l->addresses.n) {
		connect_next(l);
		return;
	}
	link_set_state(l, LINK_RESOLVING);
	timer_in(l->timer, l->config.connect_timeout_ms);
	l->lookup =
	    resolver_start(l->config.io->resolver, a->host, on_resolved, l);
	if (l->lookup == NULL)
		link_lost(l, "cannot start a thread to resolve names", NULL);
}

static void
on_timer(void *arg)
{
	struct link *l = arg;
	char text[80];

	if (l->state == LINK_DOWN) {
		attempt(l);
		return;
	}
	snprintf(text, sizeof(text), "timed out while %s", words[l->state]);
	/* The kernel accepts for a process that does nothing. */
	link_cut(l, l->state == LINK_GREETING ? LINK_SILENT : text, NULL);
}

void
link_start(struct link *l)
{
	l->attempts = 0;
	if (l->state == LINK_DOWN)
		timer_in(l->timer, 0);
}

void
link_move(struct link *l, const char *why)
{
	assert(l->depth == 0);
	link_cut(l, why, NULL);
	assert(l->state == LINK_DOWN);
	l->addresses.n = 0;
	l->next_address = 0;
	link_start(l);
}

void
link_free(struct link *l)
{
	if (l == NULL)
		return;
	assert(l->depth == 0);
	if (l->state != LINK_DOWN) {
		if (l->lookup != NULL)
			resolver_cancel(l->lookup);
		link_set_state(l, LINK_DOWN);
		link_detach(l);
	}
	timer_free(l->timer);
	link_io_fini(l);
	small_file_wipe(l->password);
	free(l);
}

bool
link_is_up(const struct link *l)
{
	return l->state == LINK_UP && !l->doomed;
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
	return l->sha[script];
}
