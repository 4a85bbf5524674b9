/*
 * Questions to the core: /locks/NAME, the page of a name, and which brokers
 * there are, for /status.json.  For each, a session is opened under a number that no connection has; it asks the core as
 * a client would, and ends.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/users.h"
#include "base/json.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "daemon/monitor_state.h"
#include "http/path.h"

/* Numbers of connections begin at 1, and never get so high. */
#define OURS (UINT64_C(1) << 63)

enum { NUM, MS, STR };
static const struct {
	const char *key, *suffix;
	int how;
} keys[FIELD_MAX] = {
#define NUM_SUFFIX ""
#define STR_SUFFIX ""
#define MS_SUFFIX "_ms"
#define FIELD(id, key, how) [FIELD_##id] = { key, how##_SUFFIX, how },
	FIELDS(FIELD)
#undef FIELD
};

void
monitor_add_field(struct json *j, const struct field *f, const char *arena)
{
	json_key(
	    j, keys[f->id].key, strlen(keys[f->id].key), keys[f->id].suffix);
	if (keys[f->id].how == STR)
		json_text(j, arena + f->str, f->len);
	else
		buf_add_u64(&j->text, f->num);
}

/* The core may answer before this returns. */
static void
ask_core(struct monitor *m, struct question *q, const struct http_request *r)
{
	struct core_event open = { .kind = CORE_OPEN };
	struct core_event ask = { .kind = CORE_REQUEST };
	const struct core_name core_name = { q->name, q->name_len };
	struct core_request rq = { .verb = q->json ? VERB_BROKERS : VERB_STATUS,
		.ref = q->request,
		.names = &core_name,
		.nnames = q->json ? 0 : 1,
		.untagged = true,
		.kind = KIND_LOCK,
		.queue_limit = UINT64_MAX };

	q->asked = true;
	open.u.open.session = OURS | q->request;
	open.u.open.peer = r->peer;
	open.u.open.uid = -1;
	ask.u.request.session = OURS | q->request;
	ask.u.request.request = &rq;
	bridge_step(m->broker, &open);
	bridge_step(m->broker, &ask);
}

struct question *
monitor_ask(struct monitor *m, const struct http_request *r, struct span name)
{
	struct question *q = xcalloc(1, sizeof(*q) + name.n);

	if (name.n > 0)
		memcpy(q->name, name.p, name.n);
	q->name_len = name.n;
	q->request = r->id;
	if (m->asker != NULL)
		snprintf(q->user, sizeof(q->user), "%s", user_name(m->asker));
	LIST_INSERT_HEAD(&m->questions, q, link);
	return q;
}

void
monitor_lock(struct monitor *m, const struct http_request *r, struct span name)
{
	ask_core(m, monitor_ask(m, r, name), r);
}

void
monitor_json(struct monitor *m, const struct http_request *r, struct span name)
{
	struct question *q = monitor_ask(m, r, name);

	q->json = true;
	ask_core(m, q, r);
	front_wake(m->broker->front);
}

void
monitor_page(struct monitor *m, const struct http_request *r, struct span name)
{
	struct question *q;
	struct span value;
	struct buf asked;

	(void)name;
	buf_init(&asked);
	if (query_find(r->query, "name", &value) &&
	    !query_decode(&asked, value)) {
		monitor_say(m, r->id, 400,
		    "a '%%' in the query has no two hexadecimal digits behind "
		    "it");
		buf_fini(&asked);
		return;
	}
	q = monitor_ask(
	    m, r, (struct span){ buf_data(&asked), buf_len(&asked) });
	buf_fini(&asked);
	q->page = true;
	if (q->name_len > 0 &&
	    text_name_why(
		(struct span){ q->name, q->name_len }, NAME_MAX_BYTES) == NULL)
		ask_core(m, q, r);
	front_wake(m->broker->front);
}

static bool
is_held(const struct field *f, size_t n, const char *arena)
{
	static const char free_word[] = "free";
	size_t i;

	for (i = 0; i < n; i++)
		if (f[i].id == FIELD_STATE)
			return f[i].len != sizeof(free_word) - 1 ||
			       memcmp(arena + f[i].str, free_word, f[i].len) !=
				   0;
	return false;
}

static void
answer(struct monitor *m, const struct question *q, const struct effect *e,
    const char *text)
{
	const struct field *f = m->broker->effects.fields + e->field;
	int status = 503;
	struct json j;
	size_t i;

	json_begin(&j);
	json_str(&j, "name", q->name, q->name_len);
	if (e->status == STATUS_OK) {
		status = is_held(f, e->nfields, text) ? 200 : 404;
		for (i = 0; i < e->nfields; i++)
			monitor_add_field(&j, &f[i], text);
	} else {
		json_str(&j, "error", text + e->text, e->text_len);
	}
	json_close(&j);
	monitor_send(m, q->request, status, "application/json", &j.text);
}

void
monitor_take(struct monitor *m, const struct effect *e, const char *text)
{
	struct question *q;

	if (m == NULL || (e->session & OURS) == 0)
		return;
	LIST_FOREACH (q, &m->questions, link) {
		if (q->request != e->ref || q->answered)
			continue;
		q->answered = true;
		q->done = !q->page;
		if (q->page)
			monitor_page_reply(m, q, e, text);
		else if (q->json)
			monitor_status(m, q);
		else
			answer(m, q, e, text);
		break;
	}
}

/* A session can't end while the core is in a step. */
static void
question_end(struct monitor *m, struct question *q)
{
	struct core_event gone = { .kind = CORE_GONE };
	bool asked = q->asked;

	gone.u.gone.session = OURS | q->request;
	gone.u.gone.orderly = true;
	LIST_REMOVE(q, link);
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
		if (q->page && !q->done && (q->answered || !q->asked) &&
		    monitor_busy(m))
			monitor_render(m, q);
		if (q->done)
			question_end(m, q);
	}
}
