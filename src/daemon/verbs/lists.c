/*
 * Verbs that answer `OK lines=N` and N lines: LIST, QUEUE, WHY, HISTORY, NAMES,
 * BROKERS, HELP, STATS.  The lines are written to a scratch buffer first,
 * because their number comes before them.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "core/parts/observe/measure.h"
#include "daemon/bridge/bridge.h"
#include "daemon/monitor/statistics.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/upgrade.h"
#include "daemon/users/identity.h"

#define LIMIT 100 /* rows, if the request gives no limit */
#define BROKER_FIELDS 16
#define TURN_US 500 /* for lists in a turn */

/*
 * A list that is made in parts, in turn with other lists: 100,000 rows take
 * their time, and other clients get theirs meanwhile.  Its connection waits.
 */
struct job {
	TAILQ_ENTRY(job) link;
	struct broker *broker;
	uint64_t conn; /* id */
	const struct wire_protocol *protocol;
	struct wire_reply
	    reply; /* which request is answered; its tag is below */
	struct listing *listing; /* owned; NULL: it has not begun */
	struct buf rows;
	size_t nrows;
	size_t limit;
	enum kind kind; /* QUEUE */
	size_t name_len;
	char tag[TAG_MAX_BYTES];
	char name[];
};

/* Answers with the N rows that were written to b->rows. */
static void
send_rows(struct broker *b, struct conn *c, const struct request *r, size_t n)
{
	conn_rows(c,
	    &(struct wire_reply){
		.tag = r->tag, .verb = r->verb, .status = STATUS_OK },
	    n, &b->rows);
	buf_clear(&b->rows);
	buf_trim(&b->rows, 64 * 1024);
}

/* NULL: the list begins all over again. */
static void
add_row(void *arg, const struct core_row *row)
{
	struct job *job = arg;

	if (row == NULL) {
		buf_clear(&job->rows);
		job->nrows = 0;
		return;
	}
	job->protocol->row(&job->rows,
	    &(struct wire_row){
		.word = { row->word, row->word ? strlen(row->word) : 0 },
		.name = { row->name, row->name ? row->name_len : 0 },
		.fields = row->fields,
		.nfields = row->nfields,
		.arena = row->text });
	job->nrows++;
}

/* BROKERS. */

static struct leaver_told *
leaver_of(const struct broker *b, const struct core_row *row)
{
	const struct leavers *l = upgrade_leavers(b->upgrade);
	struct leaver_told *told;
	const struct field *f = row->fields;
	size_t i;

	while (f < row->fields + row->nfields && f->id != FIELD_INSTANCE)
		f++;
	if (f == row->fields + row->nfields)
		return NULL;
	for (i = 0; (told = leavers_told(l, i)) != NULL; i++)
		if (strlen(told->instance) == f->len &&
		    memcmp(row->text + f->str, told->instance, f->len) == 0)
			return told;
	return NULL;
}

static bool
has_field(const struct core_row *row, enum field_id id)
{
	size_t i = 0;

	while (i < row->nfields && row->fields[i].id != id)
		i++;
	return i < row->nfields;
}

/* An old process of this broker has reported more than Redis has. */
static void
add_broker(void *arg, const struct core_row *row)
{
	struct field fields[BROKER_FIELDS];
	const struct job *job = arg;
	struct leaver_told *told = leaver_of(job->broker, row);
	struct core_row more = *row;

	if (told == NULL) {
		add_row(arg, row);
		return;
	}
	assert(row->nfields + 3 <= BROKER_FIELDS);
	memcpy(fields, row->fields, row->nfields * sizeof(*fields));
	more.fields = fields;
	if (!has_field(row, FIELD_LEAVING))
		fields[more.nfields++] =
		    (struct field){ .id = FIELD_LEAVING, .num = 1 };
	fields[more.nfields++] =
	    (struct field){ .id = FIELD_CLIENTS, .num = told->clients };
	fields[more.nfields++] =
	    (struct field){ .id = FIELD_HOLDS, .num = told->holds };
	told->listed = true;
	add_row(arg, &more);
}

/* Redis may know of it later. */
static void
add_unlisted(struct job *job)
{
	const struct broker *b = job->broker;
	struct leaver_told *told;
	struct field field = { .id = FIELD_INSTANCE };
	size_t i;

	for (i = 0;
	     (told = leavers_told(upgrade_leavers(b->upgrade), i)) != NULL;
	     i++) {
		field.len = (uint32_t)strlen(told->instance);
		if (!told->listed && field.len > 0)
			add_broker(job,
			    &(struct core_row){ .name = b->config->broker.name,
				.name_len = strlen(b->config->broker.name),
				.fields = &field,
				.nfields = 1,
				.text = told->instance });
		told->listed = false;
	}
}

static void
job_free(struct broker *b, struct job *job)
{
	TAILQ_REMOVE(&b->jobs, job, link);
	if (job->listing != NULL)
		core_listing_end(job->listing);
	buf_fini(&job->rows);
	free(job);
}

/* Asks for each row: a reload may change the rights between two parts. */
static bool
may_show(void *arg, const char *name, size_t name_len)
{
	const struct job *job = arg;

	return identity_may_watch(job->broker->identity,
	    front_find(job->broker->front, job->conn),
	    (struct span){ name, name_len });
}

static struct listing *
job_begin(struct broker *b, struct job *job, const struct conn *c)
{
	struct listing *g;

	if (job->reply.verb == VERB_LIST)
		return core_list_begin(b->core, bridge_session(c));
	if (job->reply.verb == VERB_QUEUE && job->kind > KIND_LOCK)
		return core_line_begin(
		    b->core, job->kind, job->name, job->name_len, job->limit);
	if (job->reply.verb == VERB_QUEUE)
		return core_queue_begin(
		    b->core, job->name, job->name_len, job->limit);
	if (job->reply.verb == VERB_HISTORY)
		return core_history_begin(
		    b->core, job->name, job->name_len, job->limit);
	if (job->reply.verb == VERB_BROKERS)
		return core_brokers_begin(b->core);
	g = core_names_begin(b->core, job->limit);
	core_names_only(g, may_show, job);
	if (job->name_len > 0)
		core_names_like(g, job->name, job->name_len);
	return g;
}

static void
job_answer(const struct broker *b, struct job *job, struct conn *c)
{
	struct field field = { .id = FIELD_WAITERS };
	bool stale =
	    job->reply.verb == VERB_BROKERS && core_brokers_stale(b->core);

	assert(job->listing != NULL);
	if (stale) {
		field.id = FIELD_ASOF;
		field.num = (uint64_t)max_ms(
		    now_ms() - core_brokers_told_ms(b->core), 0);
	} else if (job->reply.verb == VERB_QUEUE) {
		field.num = core_listing_waiters(b->core, job->listing);
	} else if (job->reply.verb == VERB_NAMES) {
		field.id = FIELD_TOTAL;
		field.num = core_listing_total(job->listing);
	}
	if (job->reply.verb == VERB_QUEUE || job->reply.verb == VERB_NAMES ||
	    stale) {
		job->reply.fields = &field;
		job->reply.nfields = 1;
	}
	conn_rows(c, &job->reply, job->nrows, &job->rows);
	conn_busy(c, false);
}

static void
job_go_on(struct broker *b, struct job *job)
{
	struct conn *c = front_find(b->front, job->conn);
	bool brokers;

	if (c == NULL) {
		job_free(b, job);
		return;
	}
	bridge_catch_up(b);
	conn_note_reload(c);
	if (job->listing == NULL)
		job->listing = job_begin(b, job, c);
	brokers = job->reply.verb == VERB_BROKERS;
	if (core_listing_part(b->core, job->listing, now_ms(),
		brokers ? add_broker : add_row, job))
		return;
	if (brokers)
		add_unlisted(job);
	job_answer(b, job, c);
	job_free(b, job);
}

void
lists_run(struct broker *b)
{
	int64_t until_us = now_awake_us() + TURN_US;
	struct job *job;

	while ((job = TAILQ_FIRST(&b->jobs)) != NULL) {
		assert(job->broker == b);
		job_go_on(b, job);
		if (now_awake_us() >= until_us)
			break;
	}
	if (!TAILQ_EMPTY(&b->jobs))
		front_wake(b->front);
}

void
lists_fini(struct broker *b)
{
	while (!TAILQ_EMPTY(&b->jobs))
		job_free(b, TAILQ_FIRST(&b->jobs));
}

static struct job *
job_new(struct broker *b, struct conn *c, enum verb_id verb, struct span tag,
    struct span name)
{
	struct job *job = xcalloc(1, sizeof(*job) + name.n);

	assert(tag.n <= TAG_MAX_BYTES);
	job->broker = b;
	job->conn = conn_id(c);
	job->protocol = conn_protocol(c);
	job->reply.verb = verb;
	job->reply.status = STATUS_OK;
	job->reply.tag = (struct span){ job->tag, tag.n };
	if (tag.n > 0)
		memcpy(job->tag, tag.p, tag.n);
	job->name_len = name.n;
	if (name.n > 0)
		memcpy(job->name, name.p, name.n);
	buf_init(&job->rows);
	TAILQ_INSERT_TAIL(&b->jobs, job, link);
	front_wake(b->front); /* lists_run() may have run in this turn */
	conn_busy(c, true);
	return job;
}

void
handle_list(struct broker *b, struct conn *c, const struct request *r)
{
	(void)job_new(b, c, r->verb, r->tag, (struct span){ "", 0 });
}

void
handle_names(struct broker *b, struct conn *c, const struct request *r)
{
	struct span pattern = { "", 0 };
	struct job *job;

	if (r->nwords > 0)
		pattern = r->words[0];
	job = job_new(b, c, r->verb, r->tag, pattern);
	job->limit = LIMIT;
	if (request_has(r, OPTION_LIMIT))
		job->limit = (size_t)r->num[OPTION_LIMIT];
}

void
handle_history(struct broker *b, struct conn *c, const struct request *r)
{
	struct job *job = job_new(b, c, r->verb, r->tag, r->words[0]);

	job->limit = LIMIT;
	if (request_has(r, OPTION_LIMIT))
		job->limit = (size_t)r->num[OPTION_LIMIT];
}

void
lists_queue(struct broker *b, struct conn *c, const struct wire_reply *reply,
    struct span name, enum kind kind, size_t limit,
    const struct core_row *elsewhere)
{
	struct job *job = job_new(b, c, reply->verb, reply->tag, name);

	job->kind = kind;
	job->limit = limit > 0 ? limit : LIMIT;
	if (elsewhere->nfields == 0)
		return;
	add_row(job, elsewhere);
	assert(job->limit > 0);
	job->limit--;
}

void
lists_brokers(struct broker *b, struct conn *c, const struct wire_reply *reply)
{
	(void)job_new(b, c, reply->verb, reply->tag, (struct span){ "", 0 });
}

/* A chain ends before the first name that the client may not watch. */
void
lists_why(struct broker *b, struct conn *c, const struct wire_reply *reply,
    const struct effect *e, const char *text)
{
	const struct effect *link = e + 1, *end = link + e->limit;
	struct span name = { text + link->name, link->name_len };
	size_t n = 0;
	bool shows = true;

	while (shows) {
		struct wire_row row = { .name = name,
			.fields = b->effects.fields + link->field,
			.nfields = link->nfields,
			.arena = text };

		n++;
		link++;
		shows = link < end;
		if (shows) {
			name =
			    (struct span){ text + link->name, link->name_len };
			shows = identity_may_watch(b->identity, c, name);
		}
		row.nfields -= shows;
		conn_protocol(c)->row(&b->rows, &row);
	}
	conn_rows(c, reply, n, &b->rows);
	buf_clear(&b->rows);
}

static const struct span help[VERB_MAX] = {
#define HELP(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}
#define VERB(id, word, min, max, kind, options, required, answer, wait_ms, \
    right, flags, usage, help)                                             \
	[VERB_##id] = HELP(usage " - " help),
#include "base/verbs.def"
#undef VERB
#undef HELP
};

void
handle_help(struct broker *b, struct conn *c, const struct request *r)
{
	size_t i;

	for (i = 0; i < VERB_MAX; i++)
		conn_protocol(c)->row_text(&b->rows, help[i]);
	send_rows(b, c, r, VERB_MAX);
}

/* What add_statistic() writes to. */
struct numbers {
	const struct wire_protocol *protocol;
	struct buf *rows;
	size_t n;
};

static void
add_statistic(void *arg, const struct statistic *s, uint64_t value)
{
	struct numbers *numbers = arg;

	numbers->protocol->row_number(numbers->rows, s->name, value);
	numbers->n++;
}

static void
add_number(
    struct numbers *numbers, const char *class, const char *key, uint64_t value)
{
	char name[128];

	snprintf(name, sizeof(name), "class.%s.%s", class, key);
	numbers->protocol->row_number(numbers->rows, name, value);
	numbers->n++;
}

static void
add_class(struct numbers *numbers, const struct measure_class *c)
{
	add_number(numbers, c->name, "waiters", c->waiters);
	add_number(numbers, c->name, "oldest_wait_ms",
	    c->oldest_ms < 0 ? 0 : (uint64_t)c->oldest_ms);
	add_number(numbers, c->name, "held", c->held);
	add_number(numbers, c->name, "granted_total", c->granted);
	add_number(numbers, c->name, "given_up_total", c->given_up);
	add_number(numbers, c->name, "wait_ms_total", c->wait_ms);
	add_number(numbers, c->name, "lost_total", c->lost);
}

/* `other` alone adds nothing to the numbers before it. */
static void
add_classes(const struct broker *b, struct numbers *numbers)
{
	const struct measure *m = core_measure(b->core);
	struct measure_class class;
	size_t i;

	if (measure_classes(m) == 1)
		return;
	for (i = 0; i < measure_classes(m); i++) {
		class = measure_class(m, i, now_ms());
		add_class(numbers, &class);
	}
}

void
handle_stats(struct broker *b, struct conn *c, const struct request *r)
{
	struct numbers numbers = { conn_protocol(c), &b->rows, 0 };

	statistics_each(b, add_statistic, &numbers);
	add_classes(b, &numbers);
	send_rows(b, c, r, numbers.n);
}
