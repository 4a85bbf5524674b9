/*
 * Questions to the core: who has a name, for /locks/NAME, and which brokers
 * there are, for /status.json.  For each, a session is opened under a number
 * that no connection has; it asks the core as a client would, and ends.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/users.h"
#include "base/json.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "daemon/monitor/monitor_state.h"
#include "http/path.h"

/* Ids of connections begin at 1, and never reach this. */
#define OURS (UINT64_C(1) << 63)

/* A session may have two requests under way: for the brokers, and, with this
 * bit in its number, for a name. */
#define OF_NAME OURS

static void
ask_core(struct monitor *m, struct question *q, enum verb_id verb)
{
	struct core_event ask = { .kind = CORE_REQUEST };
	const struct core_name core_name = { q->name, q->name_len };
	struct core_request rq = { .verb = verb,
		.ref = q->request | (verb == VERB_STATUS ? OF_NAME : 0),
		.names = &core_name,
		.nnames = verb == VERB_STATUS,
		.untagged = verb == VERB_STATUS,
		.kind = KIND_LOCK,
		.queue_limit = UINT64_MAX };

	ask.u.request.session = OURS | q->request;
	ask.u.request.request = &rq;
	bridge_step(m->broker, &ask);
}

/* The core may answer before this returns. */
static void
question_begin(
    struct monitor *m, struct question *q, const struct http_request *r)
{
	const struct span name = { q->name, q->name_len };
	struct core_event open = { .kind = CORE_OPEN };
	bool named =
	    !q->json ||
	    (q->name_len > 0 && text_name_why(name, NAME_MAX_BYTES) == NULL &&
		monitor_shows(m, q->user, name));

	if (!named && !q->json)
		return;
	q->asked = true;
	q->awaited += (unsigned)named + (unsigned)q->json;
	open.u.open.session = OURS | q->request;
	open.u.open.peer = r->peer;
	open.u.open.uid = -1;
	bridge_step(m->broker, &open);
	if (q->json)
		ask_core(m, q, VERB_BROKERS);
	if (named)
		ask_core(m, q, VERB_STATUS);
}

/* Begins a question.  If there is a name, it asks the core. */
static struct question *
monitor_ask(struct monitor *m, const struct http_request *r, struct span name)
{
	struct question *q = xcalloc(1, sizeof(*q) + name.n);

	assert(m != NULL && r != NULL);
	if (name.n > 0)
		memcpy(q->name, name.p, name.n);
	q->name_len = name.n;
	q->request = r->id;
	buf_init(&q->lock);
	buf_init(&q->holder);
	if (m->asker != NULL)
		snprintf(q->user, sizeof(q->user), "%s", user_name(m->asker));
	LIST_INSERT_HEAD(&m->questions, q, link);
	return q;
}

/* Which hold is meant?  Returns NULL, or what is wrong with the query. */
static const char *
wants_hold(struct question *q, const char *query)
{
	struct span value;

	q->of_holder = query_find(query, "holder", &value);
	if (q->of_holder && !query_decode(&q->holder, value))
		return "a '%' in the query is not followed by two "
		       "hexadecimal digits";
	q->of_fence = query_find(query, "fence", &value);
	if (q->of_fence &&
	    !parse_number(value.p, value.n, UINT64_MAX, &q->fence))
		return "fence= is not a number";
	return NULL;
}

void
monitor_lock(struct monitor *m, const struct http_request *r, struct span name)
{
	struct question *q = monitor_ask(m, r, name);
	const char *why = wants_hold(q, r->query);

	if (why == NULL) {
		question_begin(m, q, r);
		return;
	}
	monitor_say(m, r->id, 400, "%s", why);
	q->done = true;
	front_wake(m->broker->front);
}

void
monitor_json(struct monitor *m, const struct http_request *r, struct span name)
{
	struct names_wanted wanted = { 0 };
	const char *why = monitor_names_wanted(&wanted, r->query);
	struct question *q;
	struct span value;
	struct buf asked;

	buf_init(&asked);
	if (query_find(r->query, "name", &value) &&
	    !query_decode(&asked, value))
		why = "a '%' in the query is not followed by two hexadecimal "
		      "digits";
	if (why != NULL) {
		monitor_say(m, r->id, 400, "%s", why);
		buf_fini(&asked);
		return;
	}
	name = (struct span){ buf_data(&asked), buf_len(&asked) };
	q = monitor_ask(m, r, name);
	buf_fini(&asked);
	q->json = true;
	q->wanted = wanted;
	question_begin(m, q, r);
	front_wake(m->broker->front);
}

void
monitor_take(struct monitor *m, const struct effect *e, const char *text)
{
	struct wire_reply reply = {
		.status = e->status,
		.text = { text + e->text, e->text_len },
		.nfields = e->nfields,
		.arena = text,
	};
	struct question *q;

	if (m == NULL || (e->session & OURS) == 0)
		return;
	q = monitor_question(m, e->ref & ~OF_NAME);
	if (q == NULL || q->awaited == 0)
		return;
	q->awaited--;
	reply.fields = m->broker->effects.fields + e->field;
	if ((e->ref & OF_NAME) != 0)
		monitor_status_told(m, q, &reply);
}

/* A session cannot end while the core is in a step. */
static void
question_end(struct monitor *m, struct question *q)
{
	struct core_event gone = { .kind = CORE_GONE };
	bool asked = q->asked;

	assert(q->done);
	gone.u.gone.session = OURS | q->request;
	gone.u.gone.orderly = true;
	LIST_REMOVE(q, link);
	buf_fini(&q->lock);
	buf_fini(&q->holder);
	free(q);
	if (asked)
		bridge_step(m->broker, &gone);
}

void
monitor_run(struct monitor *m)
{
	struct question *q, *next;

	if (m == NULL)
		return;
	LIST_FOREACH_SAFE (q, &m->questions, link, next) {
		if (q->json && q->awaited == 0 && !q->done &&
		    monitor_names(m, q)) {
			monitor_status(m, q);
			q->done = true;
		}
		if (q->done)
			question_end(m, q);
	}
}
