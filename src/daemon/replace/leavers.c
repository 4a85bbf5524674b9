/*
 * See leavers.h.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/handed.h"
#include "base/list.h"
#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "daemon/bridge/bridge.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/resume_elsewhere.h"
#include "relay/channel.h"
#include "relay/packet.h"

/* Owned by the leavers. */
struct leaver {
	struct leavers *of;
	struct channel *channel; /* owned */
	bool left;		 /* it has said that it ends */
	unsigned reports;
	int64_t pid;
	struct leaver_told told;
	LIST_ENTRY(leaver) link;
};

struct leavers {
	struct broker *broker;
	struct resume_elsewhere *elsewhere;
	void (*inherit)(struct broker *b);
	LIST_HEAD(, leaver) list;
};

static void
leaver_free(struct leaver *one)
{
	LIST_REMOVE(one, link);
	channel_free(one->channel);
	free(one);
}

static void
on_heard(void *arg, struct packet *p)
{
	struct leaver *one = arg;

	if (resume_elsewhere_hears(one->of->elsewhere, one->channel, p))
		return;
	if (packet_is(p, "left", 0)) {
		one->left = true;
	} else if (packet_is(p, "report", 5)) {
		one->pid = packet_num(p, 1);
		one->told.since_ms = packet_num(p, 2);
		one->told.clients = (uint64_t)packet_num(p, 3);
		one->told.locks = (uint64_t)packet_num(p, 4);
		one->told.waiters = (uint64_t)packet_num(p, 5);
		snprintf(one->told.instance, sizeof(one->told.instance), "%s",
		    packet_text(p, 6));
		one->told.holds = (uint64_t)packet_num(p, 7);
		/* Two reports come at once, when Redis does not know yet. */
		if (++one->reports == 3)
			one->of->inherit(one->of->broker);
	}
}

static void
on_room(void *arg)
{
	const struct leaver *one = arg;

	resume_elsewhere_room(one->of->elsewhere, one->channel);
}

static void
on_gone(void *arg)
{
	struct leaver *one = arg;
	struct leavers *l = one->of;
	const struct channel *channel = one->channel;

	assert(l->broker != NULL && channel != NULL);
	/* An old process of which nothing was heard may have reported to the
	 * process before us. */
	if (!one->left && one->pid != 0 && !l->broker->stopping)
		LOG(WARNING, "leaving-died", LOG_N("pid", one->pid),
		    LOG_N("clients", one->told.clients),
		    LOG_N("locks", one->told.locks));
	leaver_free(one);
	resume_elsewhere_gone(l->elsewhere, channel);
}

static const struct channel_handler channel_handler = { on_heard, on_room,
	on_gone };

void
leavers_add(struct leavers *l, struct channel *channel, int64_t pid)
{
	struct leaver *one = xcalloc(1, sizeof(*one));

	one->of = l;
	one->channel = channel;
	one->pid = pid;
	one->told.since_ms = now_ms();
	channel_handle(channel, &channel_handler, one);
	LIST_INSERT_HEAD(&l->list, one, link);
}

void
leavers_listen(struct leavers *l)
{
	const struct leaver *one;

	LIST_FOREACH (one, &l->list, link)
		channel_listen(one->channel);
}

void
leavers_hand_over(const struct leavers *l, struct handed_list *out)
{
	const struct leaver *one;

	LIST_FOREACH (one, &l->list, link)
		handed_add(
		    out, HANDED_LEAVING, false, channel_fd(one->channel));
}

void
leavers_hush(struct leavers *l)
{
	struct leaver *one;

	LIST_FOREACH (one, &l->list, link) {
		channel_hush(one->channel);
		one->pid = 0; /* it may tell the other process that it ends */
	}
}

void
leavers_say(struct leavers *l, const char *word)
{
	struct packet p;

	packet_begin(&p, word);
	(void)leavers_tell(l, &p, SIZE_MAX);
}

int
leavers_tell(struct leavers *l, const struct packet *p, size_t most)
{
	const struct leaver *one;
	bool all = true;
	int n = 0;

	LIST_FOREACH (one, &l->list, link) {
		/* The end of a process is noticed, and the others are asked
		 * anew. */
		if (channel_tell(one->channel, p, most) == PACKET_LATER)
			all = false;
		n++;
	}
	return all ? n : -1;
}

struct leaver_told *
leavers_told(const struct leavers *l, size_t i)
{
	struct leaver *one;

	LIST_FOREACH (one, &l->list, link)
		if (i-- == 0)
			return &one->told;
	return NULL;
}

struct leavers_sum
leavers_sum(const struct leavers *l)
{
	struct leavers_sum out = { 0, 0, 0, 0, 0 };
	const struct leaver *one;

	LIST_FOREACH (one, &l->list, link) {
		out.processes++;
		out.clients += one->told.clients;
		out.locks += one->told.locks;
		out.waiters += one->told.waiters;
		if (out.since_ms == 0 || one->told.since_ms < out.since_ms)
			out.since_ms = one->told.since_ms;
	}
	return out;
}

struct leavers *
leavers_new(struct broker *b, struct resume_elsewhere *elsewhere,
    void (*inherit)(struct broker *b))
{
	struct leavers *l = xcalloc(1, sizeof(*l));

	assert(elsewhere != NULL && inherit != NULL);
	l->broker = b;
	l->elsewhere = elsewhere;
	l->inherit = inherit;
	LIST_INIT(&l->list);
	return l;
}

void
leavers_free(struct leavers *l)
{
	struct leaver *one;

	while ((one = LIST_FIRST(&l->list)) != NULL)
		leaver_free(one);
	free(l);
}
