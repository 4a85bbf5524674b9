/*
 * The busiest names, for the page.  To find them, the core looks at all names,
 * in parts; so the list is made at most once a second, however many clients
 * ask.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/now.h"
#include "core/measure/measure.h"
#include "daemon/monitor_state.h"

#define FRESH_MS 1000
#define TURN_US 500

const struct field *
monitor_field(const struct field *f, size_t n, enum field_id id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (f[i].id == id)
			return &f[i];
	return NULL;
}

uint64_t
monitor_number(const struct field *f, size_t n, enum field_id id)
{
	f = monitor_field(f, n, id);
	return f != NULL ? f->num : 0;
}

struct span
monitor_string(
    const struct field *f, size_t n, const char *arena, enum field_id id)
{
	f = monitor_field(f, n, id);
	if (f == NULL)
		return (struct span){ "", 0 };
	return (struct span){ arena + f->str, f->len };
}

void
monitor_who(char *out, size_t size, struct span label, struct span peer,
    uint64_t session)
{
	if (label.n > 0 && peer.n > 0)
		snprintf(out, size, "%.*s (%.*s)", (int)label.n, label.p,
		    (int)peer.n, peer.p);
	else if (label.n > 0 || peer.n > 0)
		snprintf(out, size, "%.*s", (int)(label.n + peer.n),
		    label.n > 0 ? label.p : peer.p);
	else
		snprintf(
		    out, size, "session %llu", (unsigned long long)session);
}

void
monitor_row_who(struct page_who *out, const struct core_row *row)
{
	const struct field *f = row->fields;
	const struct field *away = monitor_field(f, row->nfields, FIELD_AWAY);
	struct span mode =
	    monitor_string(f, row->nfields, row->text, FIELD_MODE);

	memset(out, 0, sizeof(*out));
	out->session = monitor_number(f, row->nfields, FIELD_SESSION);
	out->age_ms = (int64_t)monitor_number(f, row->nfields, FIELD_AGE);
	out->away_ms = away != NULL ? (int64_t)away->num : PAGE_NONE;
	out->shared = mode.n > 0 && mode.p[0] == 's';
	monitor_who(out->text, sizeof(out->text),
	    monitor_string(f, row->nfields, row->text, FIELD_LABEL),
	    monitor_string(f, row->nfields, row->text, FIELD_PEER),
	    out->session);
}

/* NULL: the list begins all over again. */
static void
add_name(void *arg, const struct core_row *row)
{
	struct monitor *m = arg;
	struct busy_name *busy;
	struct page_name *p;
	struct span state;

	if (row == NULL) {
		m->nfresh = 0;
		return;
	}
	if (m->nfresh == MONITOR_BUSY || row->name_len > sizeof(busy->name))
		return;
	busy = &m->fresh[m->nfresh++];
	p = &busy->page;
	memset(busy, 0, sizeof(*busy));
	memcpy(busy->name, row->name, row->name_len);
	p->name.n = row->name_len;
	state =
	    monitor_string(row->fields, row->nfields, row->text, FIELD_STATE);
	snprintf(p->state, sizeof(p->state), "%.*s", (int)state.n, state.p);
	p->waiters = monitor_number(row->fields, row->nfields, FIELD_WAITERS);
	p->handovers =
	    monitor_number(row->fields, row->nfields, FIELD_HANDOVERS);
	p->oldest_ms = p->waiters == 0 ? PAGE_NONE
				       : (int64_t)monitor_number(row->fields,
					     row->nfields, FIELD_OLDEST);
}

/* Notes the first holder, if it has the name through this broker. */
static void
add_holder(void *arg, const struct core_row *row)
{
	struct page_name *p = arg;

	if (row == NULL) {
		p->has_holder = false;
		return;
	}
	if (p->has_holder || strcmp(row->word, "holder") != 0 ||
	    monitor_field(row->fields, row->nfields, FIELD_SESSION) == NULL)
		return;
	p->has_holder = true;
	monitor_row_who(&p->holder, row);
}

struct token_holder {
	struct page_who *who;
	bool found;
};

static void
add_token_holder(void *arg, const struct core_row *row)
{
	struct token_holder *h = arg;
	const struct field *f = row->fields;
	struct span end = monitor_string(f, row->nfields, row->text, FIELD_END);

	h->found = end.n == 4 && memcmp(end.p, "held", 4) == 0;
	if (!h->found)
		return;
	monitor_row_who(h->who, row);
	h->who->age_ms = (int64_t)monitor_number(f, row->nfields, FIELD_HELD);
	if (monitor_field(f, row->nfields, FIELD_SESSION) == NULL)
		snprintf(h->who->text, sizeof(h->who->text), "a Redis client");
}

bool
monitor_token_holder(
    const struct monitor *m, struct span name, struct page_who *out)
{
	struct core *core = m->broker->core;
	struct token_holder h = { out, false };
	struct listing *g = core_history_begin(core, name.p, name.n, 1);

	while (core_listing_part(core, g, now_ms(), add_token_holder, &h))
		;
	core_listing_end(g);
	return h.found;
}

/* Adds the oldest first; the measurements have the latest first. */
static void
add_waits(struct monitor *m, struct page_name *p)
{
	const struct measure *measure = core_measure(m->broker->core);
	const void *place = NULL;
	struct measure_hold h;
	int64_t waits_ms[PAGE_TRACE];
	size_t i, n = 0;

	while (n < PAGE_TRACE &&
	       measure_past_of(measure, p->name.p, p->name.n, &place, &h))
		waits_ms[n++] = h.waited_ms;
	for (i = 0; i < n; i++)
		p->waits_ms[i] = waits_ms[n - 1 - i];
	p->nwaits = n;
}

static void
complete(struct monitor *m)
{
	struct core *core = m->broker->core;
	struct listing *g;
	struct page_name *p;
	size_t i;

	memcpy(m->busy, m->fresh, sizeof(m->busy));
	m->nbusy = m->nfresh;
	m->busy_ms = now_ms();
	for (i = 0; i < m->nbusy; i++) {
		p = &m->busy[i].page;
		p->name.p = m->busy[i].name;
		g = core_queue_begin(core, p->name.p, p->name.n, 1);
		while (core_listing_part(core, g, now_ms(), add_holder, p))
			;
		core_listing_end(g);
		if (!p->has_holder)
			p->has_holder =
			    monitor_token_holder(m, p->name, &p->holder);
		add_waits(m, p);
	}
}

bool
monitor_busy(struct monitor *m)
{
	int64_t until_us = now_awake_us() + TURN_US;
	struct core *core = m->broker->core;

	if (m->busy_ms != 0 && now_ms() - m->busy_ms < FRESH_MS)
		return true;
	if (m->listing == NULL) {
		m->nfresh = 0;
		m->listing = core_names_begin(core, MONITOR_BUSY);
		core_names_of_locks(m->listing);
	}
	while (core_listing_part(core, m->listing, now_ms(), add_name, m)) {
		if (now_awake_us() < until_us)
			continue;
		front_wake(m->broker->front);
		return false;
	}
	core_listing_end(m->listing);
	m->listing = NULL;
	complete(m);
	return true;
}
