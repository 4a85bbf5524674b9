/*
 * The names of /status.json.  To find them, the core looks at all names, in
 * parts; so one list is made at a time, and each client that asks the same
 * within a second gets it, too.
 */
#include "config.h"

#include <string.h>

#include "base/now.h"
#include "config/config.h"
#include "daemon/monitor/monitor_state.h"
#include "http/path.h"

#define FRESH_MS 1000
#define TURN_US 500
#define NAMES 100 /* if the request gives no limit */
#define NAMES_MOST 1000

/* Returns false if the value is no limit. */
static bool
take_limit(struct names_wanted *w, const char *query)
{
	struct span value;
	size_t i;

	w->limit = NAMES;
	if (!query_find(query, "limit", &value))
		return true;
	w->limit = 0;
	for (i = 0; i < value.n && w->limit <= NAMES_MOST; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return false;
		w->limit = 10 * w->limit + (unsigned)(value.p[i] - '0');
	}
	return value.n > 0 && w->limit <= NAMES_MOST;
}

static bool
take_pattern(struct names_wanted *w, const char *query)
{
	struct span value;
	struct buf pattern;
	bool good;

	if (!query_find(query, "names", &value))
		return true;
	buf_init(&pattern);
	good = query_decode(&pattern, value) &&
	       buf_len(&pattern) <= sizeof(w->pattern);
	if (good && buf_len(&pattern) > 0)
		memcpy(w->pattern, buf_data(&pattern), buf_len(&pattern));
	w->pattern_len = good ? buf_len(&pattern) : 0;
	buf_fini(&pattern);
	return good;
}

const char *
monitor_names_wanted(struct names_wanted *w, const char *query)
{
	struct span value;

	if (!take_limit(w, query))
		return "limit= is a number of names, at most 1000";
	if (!take_pattern(w, query))
		return "names= is a name, or a prefix followed by an asterisk";
	if (!query_find(query, "sort", &value))
		return NULL;
	w->by_age = value.n == 3 && memcmp(value.p, "age", 3) == 0;
	return w->by_age ? NULL : "sort= must be age, or be left out";
}

static void
empty(struct names_list *l)
{
	buf_fini(&l->rows.text);
	json_begin(&l->rows);
	json_open(&l->rows, "names", '[');
}

/* NULL: the list begins all over again. */
static void
add_name(void *arg, const struct core_row *row)
{
	struct names_list *l = arg;

	if (row == NULL) {
		empty(l);
		return;
	}
	monitor_add_row(&l->rows, (struct span){ "", 0 },
	    (struct span){ row->name, row->name_len }, row->fields,
	    row->nfields, row->text);
}

static bool
may_show(void *arg, const char *name, size_t name_len)
{
	const struct monitor *m = arg;

	return monitor_shows(m, m->names.user, (struct span){ name, name_len });
}

static bool
is_same(const struct monitor *m, const struct question *q)
{
	const struct names_list *l = &m->names;

	return l->users == m->broker->config->users &&
	       strcmp(l->user, q->user) == 0 &&
	       l->wanted.limit == q->wanted.limit &&
	       l->wanted.by_age == q->wanted.by_age &&
	       l->wanted.pattern_len == q->wanted.pattern_len &&
	       memcmp(l->wanted.pattern, q->wanted.pattern,
		   q->wanted.pattern_len) == 0;
}

static void
begin(struct monitor *m, const struct question *q)
{
	struct names_list *l = &m->names;

	l->wanted = q->wanted;
	l->users = m->broker->config->users;
	memcpy(l->user, q->user, sizeof(l->user));
	empty(l);
	l->listing = core_names_begin(m->broker->core, l->wanted.limit);
	core_names_only(l->listing, may_show, m);
	if (l->wanted.pattern_len > 0)
		core_names_like(
		    l->listing, l->wanted.pattern, l->wanted.pattern_len);
	if (l->wanted.by_age)
		core_names_by_age(l->listing);
}

/* The request that began a list goes on with it, though its client may be
 * gone. */
bool
monitor_names(struct monitor *m, const struct question *q)
{
	int64_t until_us = now_awake_us() + TURN_US;
	struct names_list *l = &m->names;
	struct core *core = m->broker->core;

	if (l->listing == NULL && l->made_ms != 0 && is_same(m, q) &&
	    now_ms() - l->made_ms < FRESH_MS)
		return true;
	if (l->listing == NULL)
		begin(m, q);
	while (core_listing_part(core, l->listing, now_ms(), add_name, l)) {
		if (now_awake_us() < until_us)
			continue;
		front_wake(m->broker->front);
		return false;
	}
	json_shut(&l->rows, ']');
	l->total = core_listing_total(l->listing);
	core_listing_end(l->listing);
	l->listing = NULL;
	l->made_ms = now_ms();
	if (is_same(m, q))
		return true;
	front_wake(m->broker->front);
	return false;
}

void
monitor_names_fini(struct monitor *m)
{
	if (m->names.listing != NULL)
		core_listing_end(m->names.listing);
	buf_fini(&m->names.rows.text);
}
