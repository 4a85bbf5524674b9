/*
 * Collects what the broker knows as values for http/page.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/human.h"
#include "base/now.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "core/measure/measure.h"
#include "daemon/broker.h"
#include "daemon/monitor_state.h"

#define ROWS 100 /* of the queue of one name */
#define HOLDS 20 /* past holds */
#define CLASSES 24
#define NONCE_BYTES 16

/* All that a page points to.  It is too much for the stack. */
struct draft {
	struct page page;
	struct page_node nodes[MONITOR_NODES];
	struct monitor_node servers[MONITOR_NODES];
	struct page_name busiest[MONITOR_BUSY];
	struct page_class *classes; /* owned */
	struct page_hold losses[HOLDS], past[HOLDS];
	struct page_who holders[ROWS], waiters[ROWS];
	struct page_focus focus;
	char nonce[2 * NONCE_BYTES + 1];
	char now[32];
};

/* Classes. */

static void
fill_minutes(struct page_class *out, const struct measure *m, size_t class,
    int64_t at_ms)
{
	const struct measure_scale *scale = &measure_wait_scale;
	uint32_t counts[MEASURE_BUCKETS] = { 0 };
	const struct measure_minute *minute;
	unsigned i, j;

	for (i = 0; i < PAGE_MINUTES; i++) {
		minute = measure_minute(m, class, i, at_ms);
		if (minute == NULL)
			continue;
		out->minutes[i] = (struct page_minute){ minute->granted,
			minute->timeout, minute->lost, minute->wait_max_ms };
		for (j = 0; j < MEASURE_BUCKETS; j++)
			counts[j] += minute->waits[j];
	}
	out->median_ms = measure_percentile_ms(scale, counts, 50);
	out->slow_ms = measure_percentile_ms(scale, counts, 99);
}

static uint64_t
events(const struct page_class *c)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < PAGE_MINUTES; i++)
		n += c->minutes[i].granted + c->minutes[i].timeout +
		     1000 * (uint64_t)c->minutes[i].lost;
	return n;
}

/*
 * Puts the classes with the longest wait first, then those with most losses and
 * grants.
 */
static int
compare_classes(const void *a, const void *b)
{
	const struct page_class *one = a, *two = b;

	if (one->oldest_ms != two->oldest_ms)
		return one->oldest_ms > two->oldest_ms ? -1 : 1;
	if (events(one) != events(two))
		return events(one) > events(two) ? -1 : 1;
	return strcmp(one->name, two->name);
}

static void
fill_classes(struct draft *d, const struct measure *m, int64_t at_ms)
{
	size_t i, n = measure_classes(m);

	d->classes = xcalloc(n, sizeof(*d->classes));
	d->page.classes = d->classes;
	d->page.oldest_ms = PAGE_NONE;
	for (i = 0; i < n; i++) {
		struct measure_class of = measure_class(m, i, at_ms);
		struct page_class *c = &d->classes[i];

		c->name = of.name;
		c->waiters = of.waiters;
		c->held = of.held;
		c->oldest_ms = of.waiters > 0 ? of.oldest_ms : PAGE_NONE;
		fill_minutes(c, m, i, at_ms);
		if (c->oldest_ms > d->page.oldest_ms)
			d->page.oldest_ms = c->oldest_ms;
	}
	qsort(d->classes, n, sizeof(*d->classes), compare_classes);
	d->page.nclasses = n < CLASSES ? n : CLASSES;
}

/* Holds that are over. */

size_t
monitor_holds(const struct monitor *m, struct span name, struct page_hold *out,
    size_t max)
{
	const struct measure *measure = core_measure(m->broker->core);
	const void *place = NULL;
	struct measure_hold h;
	int64_t at_ms = now_ms();
	size_t n = 0;

	while (n < max && (name.n > 0 ? measure_past_of(
					    measure, name.p, name.n, &place, &h)
				      : measure_losses(measure, &place, &h))) {
		const char *label = h.label != NULL ? h.label : "";
		const char *peer = h.peer != NULL ? h.peer : "";

		out[n].name = (struct span){ h.name, h.name_len };
		monitor_who(out[n].who, sizeof(out[n].who),
		    (struct span){ label, strlen(label) },
		    (struct span){ peer, strlen(peer) }, h.session);
		out[n].permits = h.permits;
		out[n].ago_ms = at_ms - h.ended_ms;
		out[n].waited_ms = h.waited_ms;
		out[n].held_ms = h.ended_ms - h.granted_ms;
		out[n].end = h.end;
		out[n++].by = h.by;
	}
	return n;
}

/* One name. */

/* Puts into words what the core says of a name, unless it is held here. */
void
monitor_page_reply(struct monitor *m, struct question *q,
    const struct effect *e, const char *text)
{
	const struct field *f = m->broker->effects.fields + e->field;
	struct span broker, address, state;
	const char *ours = m->broker->config->broker.name;
	char left[HUMAN_SIZE];

	if (e->status != STATUS_OK) {
		snprintf(q->elsewhere, sizeof(q->elsewhere),
		    "Who has it can't be told now: %.*s", (int)e->text_len,
		    text + e->text);
		return;
	}
	broker = monitor_string(f, e->nfields, text, FIELD_BROKER);
	address = monitor_string(f, e->nfields, text, FIELD_ADDRESS);
	state = monitor_string(f, e->nfields, text, FIELD_STATE);
	human_ms(left, (int64_t)monitor_number(f, e->nfields, FIELD_TTL));
	if ((state.n == 4 && memcmp(state.p, "free", 4) == 0) ||
	    monitor_field(f, e->nfields, FIELD_AGE) != NULL)
		return;
	if (broker.n == 0)
		snprintf(q->elsewhere, sizeof(q->elsewhere),
		    "A client of Redis itself has it, for another %s at most",
		    left);
	else if (broker.n == strlen(ours) &&
		 memcmp(broker.p, ours, broker.n) == 0)
		snprintf(q->elsewhere, sizeof(q->elsewhere),
		    "Nobody has it, but it is kept for another %s (keep= or "
		    "delay=)",
		    left);
	else
		snprintf(q->elsewhere, sizeof(q->elsewhere),
		    "Somebody has it through the broker %.*s%s%.*s: look "
		    "there for who",
		    (int)broker.n, broker.p, address.n > 0 ? " at " : "",
		    (int)address.n, address.p);
}

static void
add_queue_row(void *arg, const struct core_row *row)
{
	struct draft *d = arg;
	struct page_focus *f = &d->focus;

	if (row == NULL) {
		f->nholders = f->nwaiters = 0;
		return;
	}
	if (monitor_field(row->fields, row->nfields, FIELD_SESSION) == NULL)
		return;
	if (strcmp(row->word, "holder") == 0 && f->nholders < ROWS)
		monitor_row_who(&d->holders[f->nholders++], row);
	else if (strcmp(row->word, "waiter") == 0 && f->nwaiters < ROWS)
		monitor_row_who(&d->waiters[f->nwaiters++], row);
}

static void
fill_focus(struct draft *d, struct monitor *m, const struct question *q)
{
	struct core *core = m->broker->core;
	struct page_focus *f = &d->focus;
	struct listing *g;

	d->page.focus = f;
	f->name = (struct span){ q->name, q->name_len };
	f->fault = text_name_why(f->name, NAME_MAX_BYTES);
	if (f->fault == NULL && !monitor_shows(m, q->user, f->name))
		f->fault = "may not be looked at by you";
	if (f->fault != NULL)
		return;
	f->elsewhere = q->elsewhere;
	f->holders = d->holders;
	f->waiters = d->waiters;
	g = core_queue_begin(core, q->name, q->name_len, ROWS);
	while (core_listing_part(core, g, now_ms(), add_queue_row, d))
		;
	f->all_waiters = core_listing_waiters(g);
	core_listing_end(g);
	if (f->nholders == 0)
		f->nholders = monitor_token_holder(m, f->name, d->holders);
	f->npast = monitor_holds(m, f->name, d->past, HOLDS);
	f->past = d->past;
}

/* The rest. */

static void
fill_nodes(struct draft *d, struct monitor *m)
{
	size_t i, n = monitor_nodes(m, d->servers);

	for (i = 0; i < n; i++) {
		const struct monitor_node *s = &d->servers[i];

		d->nodes[i] = (struct page_node){ s->address, s->up, s->shards,
			s->ready, s->why };
	}
	d->page.nodes = d->nodes;
	d->page.nnodes = n;
}

static void
fill_broker(
    struct draft *d, const struct monitor *m, const struct core_gauges *gauges)
{
	const struct config *config = m->broker->config;
	struct page *p = &d->page;

	p->broker = config->broker.name;
	p->address = config->broker.address;
	p->version = PACKAGE_VERSION;
	p->uptime_ms = now_ms() - m->broker->start_ms;
	p->stopping = broker_stopping(m->broker);
	p->ready = gauges->ready;
	p->why = gauges->why;
	p->left_ms = gauges->grace_ms;
	p->held = gauges->locks_held;
	p->waiters = gauges->waiters;
	p->names = gauges->names;
	p->clients = front_count(m->broker->front);
}

static void
fill_texts(struct draft *d)
{
	unsigned char random[NONCE_BYTES];
	time_t now = time(NULL);
	struct tm tm;
	unsigned i;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort();
	for (i = 0; i < NONCE_BYTES; i++)
		snprintf(d->nonce + 2 * i, 3, "%02x", random[i]);
	d->page.nonce = d->nonce;
	d->page.now = d->now;
	if (gmtime_r(&now, &tm) != NULL)
		(void)strftime(d->now, sizeof(d->now), "%H:%M:%S UTC", &tm);
}

/* Leaves out what who asks may not look at; returns how many are left. */
static size_t
shown(const struct monitor *m, const struct question *q, struct page_hold *v,
    size_t n)
{
	size_t i, left = 0;

	for (i = 0; i < n; i++)
		if (monitor_shows(m, q->user, v[i].name))
			v[left++] = v[i];
	return left;
}

void
monitor_render(struct monitor *m, struct question *q)
{
	struct http_answer answer = { .status = 200,
		.type = "text/html; charset=utf-8" };
	struct draft *d = xcalloc(1, sizeof(*d));
	char policy[PAGE_POLICY_SIZE];
	struct core_gauges gauges;
	struct buf body;
	size_t i;

	core_gauges(m->broker->core, now_ms(), &gauges);
	fill_texts(d);
	fill_broker(d, m, &gauges);
	fill_nodes(d, m);
	for (i = 0; i < m->nbusy; i++)
		if (monitor_shows(m, q->user, m->busy[i].page.name))
			d->busiest[d->page.nbusiest++] = m->busy[i].page;
	d->page.busiest = d->busiest;
	fill_classes(d, core_measure(m->broker->core), now_ms());
	d->page.nlosses = shown(m, q, d->losses,
	    monitor_holds(m, (struct span){ "", 0 }, d->losses, HOLDS));
	d->page.losses = d->losses;
	if (q->name_len > 0)
		fill_focus(d, m, q);
	buf_init(&body);
	page_write(&body, &d->page);
	page_policy(policy, d->nonce);
	answer.policy = policy;
	http_answer(m->http, q->request, &answer, &body);
	q->done = true;
	free(d->classes);
	free(d);
}
