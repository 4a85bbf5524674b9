/*
 * What /status.json and /locks/NAME tell where processes leave that this one has
 * replaced: the same as without them, asked of all as a client would ask
 * (views.h).  Rows are written as JSON when they are put together.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "daemon/monitor/monitor_state.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/upgrade.h"
#include "daemon/replace/views.h"

#define ROWS 100 /* of the queue of a name, and of its past */

static void
write_row(struct buf *rows, const struct wire_row *row)
{
	struct json j = { *rows };

	if (buf_len(&j.text) == 0)
		buf_addc(&j.text, '[');
	monitor_add_row(
	    &j, row->word, row->name, row->fields, row->nfields, row->arena);
	*rows = j.text;
}

static const struct wire_protocol wire_json = { .name = "json",
	.row = write_row };

static void
take(void *arg, uint64_t ref, unsigned part, const struct view_answer *answer)
{
	const struct wire_reply *reply = answer->reply;
	struct monitor *m = arg;
	struct question *q = monitor_question(m, ref);
	struct told *told = q->told;
	const struct field *f;

	assert(q->awaited > 0 && part < TOLD_MAX);
	q->awaited--;
	if (answer->silent > told->silent)
		told->silent = answer->silent;
	if (part == TOLD_STATUS) {
		monitor_status_told(m, q, reply);
		return;
	}
	buf_add(
	    &told->rows[part], buf_data(answer->rows), buf_len(answer->rows));
	for (f = reply->fields; f < reply->fields + reply->nfields; f++)
		if (f->id == FIELD_TOTAL)
			told->names_total = f->num;
		else if (part == TOLD_QUEUE && f->id == FIELD_WAITERS)
			told->waiters = f->num;
}

static void
ask(struct monitor *m, struct question *q, struct request *r,
    enum told_part part)
{
	const struct view_asker asker = {
		.user = q->user,
		.protocol = &wire_json,
		.by_age = part == TOLD_NAMES && q->wanted.by_age,
		.take = take,
		.arg = m,
		.ref = q->request,
		.part = part,
	};

	if (views_ask_for(m->broker->views, r, &asker))
		q->awaited++;
}

static struct request
request_of(enum verb_id verb, struct span word, int64_t limit)
{
	struct request r;

	request_init(&r);
	r.verb = verb;
	r.words[0] = word;
	r.nwords = word.n > 0;
	r.given = UINT32_C(1) << OPTION_LIMIT;
	r.num[OPTION_LIMIT] = limit;
	return r;
}

/* What is no beginning of a name is that of none. */
static void
ask_names(struct monitor *m, struct question *q)
{
	struct span like = { q->wanted.pattern, q->wanted.pattern_len };
	struct request r;

	/* No name is longer. */
	if (like.n > NAME_MAX_BYTES)
		like.n = NAME_MAX_BYTES;
	r = request_of(VERB_NAMES, like, q->wanted.limit);
	if (like.n == 0 || text_name_why(like, NAME_MAX_BYTES) == NULL)
		ask(m, q, &r, TOLD_NAMES);
}

static void
ask_of_name(struct monitor *m, struct question *q)
{
	const struct span name = { q->name, q->name_len };
	struct request r = request_of(VERB_HISTORY, name, ROWS);
	enum kind kind;

	ask(m, q, &r, TOLD_HISTORY);
	r = request_of(VERB_QUEUE, name, ROWS);
	ask(m, q, &r, TOLD_QUEUE);
	for (kind = KIND_SYNC; kind < KIND_MAX; kind++) {
		r.given |= UINT32_C(1) << OPTION_KIND;
		r.num[OPTION_KIND] = kind;
		ask(m, q, &r, TOLD_QUEUE + kind);
	}
}

void
monitor_tell(struct monitor *m, struct question *q, bool named)
{
	struct request r = request_of(
	    VERB_STATUS, (struct span){ q->name, q->name_len }, ROWS);
	size_t i;

	if (leavers_none(succession_leavers(m->broker->succession)))
		return;
	q->told = xcalloc(1, sizeof(*q->told));
	for (i = 0; i < TOLD_MAX; i++)
		buf_init(&q->told->rows[i]);
	if (named)
		ask(m, q, &r, TOLD_STATUS);
	if (q->json)
		ask_names(m, q);
	if (q->json && named)
		ask_of_name(m, q);
}

void
monitor_add_told(struct json *j, const struct told *told, const char *key,
    enum told_part part)
{
	const struct buf *rows = &told->rows[part];

	if (buf_len(rows) == 0)
		json_open(j, key, '[');
	else
		json_raw(j, key, buf_data(rows), buf_len(rows));
	json_shut(j, ']');
}

void
monitor_told_free(struct told *told)
{
	size_t i;

	for (i = 0; told != NULL && i < TOLD_MAX; i++)
		buf_fini(&told->rows[i]);
	free(told);
}
