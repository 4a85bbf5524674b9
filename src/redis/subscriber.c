/*
 * Only one probe is under way at a time.  A probe published before this
 * connection was up proves nothing.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "redis/io.h"
#include "redis/subscriber.h"

#define PROBE_WORD "probe "

struct subscriber {
	struct link *link;
	const char *node; /* for the log; not owned */
	const struct subscriber_handler *handler;
	void *arg;
	struct io *io;
	int64_t reply_timeout_ms;
	uint64_t next;	   /* number of the last probe sent */
	uint64_t awaited;  /* the probe that must come back; 0: none */
	int64_t probed_ms; /* when it was sent */
	bool listening;
	bool told; /* it was logged that it is down */
	char why[160];
	const char *advice;
};

static void
set_listening(struct subscriber *s, bool on)
{
	if (on == s->listening)
		return;
	s->listening = on;
	s->handler->listening(s->arg, on);
}

static void
on_up(void *arg, struct link *l)
{
	struct subscriber *s = arg;

	(void)l;
	s->awaited = 0;
	if (s->told)
		LOG(NOTICE, "redis-subscribed", LOG_S("node", s->node));
	s->told = false;
	s->why[0] = '\0';
	set_listening(s, true);
}

static void
on_down(
    void *arg, struct link *l, bool was_up, const char *why, const char *advice)
{
	struct subscriber *s = arg;

	(void)l;
	(void)was_up;
	s->awaited = 0;
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->advice = advice;
	set_listening(s, false);
}

/* The command links are up, so it is news that the subscriber is down. */
static void
log_down(struct subscriber *s)
{
	if (s->told || s->why[0] == '\0')
		return;
	s->told = true;
	LOG(WARNING, "redis-unsubscribed", LOG_S("node", s->node),
	    LOG_S("why", s->why), LOG_IF("advice", s->advice));
}

static void
on_message(void *arg, const char *text, size_t len)
{
	const size_t word_len = sizeof(PROBE_WORD) - 1;
	struct subscriber *s = arg;
	char number[24];

	if (len < word_len || memcmp(text, PROBE_WORD, word_len) != 0) {
		s->handler->message(s->arg, text, len);
		return;
	}
	snprintf(number, sizeof(number), "%" PRIu64, s->awaited);
	if (len - word_len == strlen(number) &&
	    memcmp(text + word_len, number, len - word_len) == 0)
		s->awaited = 0;
}

static const struct link_handler link_handler = { on_up, on_down, on_message };

struct subscriber *
subscriber_new(const struct link_config *config, const char *node,
    const struct subscriber_handler *handler, void *arg)
{
	struct subscriber *s = xcalloc(1, sizeof(*s));

	s->node = node;
	s->handler = handler;
	s->arg = arg;
	s->io = config->io;
	s->reply_timeout_ms = config->reply_timeout_ms;
	s->link = link_new(config, &link_handler, s);
	return s;
}

struct link *
subscriber_link(const struct subscriber *s)
{
	return s->link;
}

void
subscriber_free(struct subscriber *s)
{
	if (s == NULL)
		return;
	link_free(s->link);
	set_listening(s, false);
	free(s);
}

bool
subscriber_probe(struct subscriber *s, char *text, size_t size)
{
	if (!link_is_up(s->link)) {
		log_down(s);
		return false;
	}
	if (s->awaited != 0) {
		if (io_now_ms(s->io) - s->probed_ms < s->reply_timeout_ms)
			return false;
		link_cut(s->link, "messages do not arrive", NULL);
		return false;
	}
	s->awaited = ++s->next;
	s->probed_ms = io_now_ms(s->io);
	snprintf(text, size, PROBE_WORD "%" PRIu64, s->awaited);
	return true;
}

void
subscriber_published(struct subscriber *s, bool heard)
{
	if (!heard && s->awaited != 0 && link_is_up(s->link))
		link_cut(s->link, "the channel has no subscriber", NULL);
}
