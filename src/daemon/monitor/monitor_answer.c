/*
 * Answers of the monitor, and what it has counted: what its files share.
 */
#include "config.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "daemon/monitor/monitor_state.h"

void
monitor_send(struct monitor *m, uint64_t request, int status, const char *type,
    struct buf *body)
{
	const struct http_answer answer = {
		.status = status, .type = type, .challenge = status == 401
	};

	http_answer(m->http, request, &answer, body);
}

void
monitor_say(
    struct monitor *m, uint64_t request, int status, const char *fmt, ...)
{
	struct buf body;
	va_list ap;

	buf_init(&body);
	va_start(ap, fmt);
	buf_addv(&body, fmt, ap);
	va_end(ap);
	buf_addc(&body, '\n');
	monitor_send(m, request, status, NULL, &body);
}

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

/* These are there, or they are not. */
static bool
is_mark(enum field_id id)
{
	return id == FIELD_LEAVING || id == FIELD_MISSING || id == FIELD_SELF ||
	       id == FIELD_TWICE;
}

/* As /locks/NAME has them. */
static void
add_fields(struct json *j, const struct field *f, size_t n, const char *arena)
{
	const struct field *end = f + n;

	for (; f < end; f++) {
		assert(f->id < FIELD_MAX);
		json_key(j, keys[f->id].key, strlen(keys[f->id].key),
		    keys[f->id].suffix);
		if (keys[f->id].how == STR)
			json_text(j, arena + f->str, f->len);
		else if (is_mark(f->id))
			buf_adds(&j->text, "true");
		else
			buf_add_u64(&j->text, f->num);
	}
}

void
monitor_add_row(struct json *j, struct span word, struct span name,
    const struct field *f, size_t n, const char *arena)
{
	json_open(j, NULL, '{');
	if (word.n > 0)
		json_str(j, "is", word.p, word.n);
	if (name.n > 0)
		json_str(j, "name", name.p, name.n);
	add_fields(j, f, n, arena);
	json_shut(j, '}');
}

struct question *
monitor_question(const struct monitor *m, uint64_t request)
{
	struct question *q;

	LIST_FOREACH (q, &m->questions, link)
		if (q->request == request)
			break;
	return q;
}

static const struct field *
find_field(const struct wire_reply *reply, enum field_id id)
{
	size_t i;

	for (i = 0; i < reply->nfields; i++)
		if (reply->fields[i].id == id)
			return &reply->fields[i];
	return NULL;
}

static bool
is_held(const struct wire_reply *reply)
{
	static const char free_word[] = "free";
	const struct field *f = find_field(reply, FIELD_STATE);

	return f != NULL &&
	       (f->len != sizeof(free_word) - 1 ||
		   memcmp(reply->arena + f->str, free_word, f->len) != 0);
}

/* By its label, or by its peer if it has none. */
static bool
has_holder(const struct wire_reply *reply, const struct buf *wanted)
{
	const struct field *f = find_field(reply, FIELD_LABEL);

	if (f == NULL)
		f = find_field(reply, FIELD_PEER);
	return f != NULL && f->len > 0 && f->len == buf_len(wanted) &&
	       memcmp(reply->arena + f->str, buf_data(wanted), f->len) == 0;
}

/* Is this the hold that is meant?  503: its broker has not reported it. */
static int
fits(const struct question *q, const struct wire_reply *reply)
{
	const struct field *fence = find_field(reply, FIELD_FENCE);

	if ((q->of_holder || q->of_fence) &&
	    find_field(reply, FIELD_LEASE_FENCE) != NULL)
		return 503;
	if (q->of_holder && !has_holder(reply, &q->holder))
		return 412;
	if (q->of_fence && (fence == NULL || fence->num != q->fence))
		return 412;
	return 200;
}

static int
status_of(const struct question *q, const struct wire_reply *reply)
{
	if (reply->status != STATUS_OK)
		return 503;
	if (!is_held(reply))
		return 404;
	return fits(q, reply);
}

/* Writes the reply of STATUS for the name, as an object. */
static void
add_lock(
    struct json *j, const struct question *q, const struct wire_reply *reply)
{
	json_str(j, "name", q->name, q->name_len);
	if (reply->status != STATUS_OK)
		json_str(j, "error", reply->text.p, reply->text.n);
	else
		add_fields(j, reply->fields, reply->nfields, reply->arena);
}

void
monitor_status_told(
    struct monitor *m, struct question *q, const struct wire_reply *reply)
{
	struct json j;

	json_begin(&j);
	add_lock(&j, q, reply);
	if (q->json) {
		buf_addc(&j.text, '}');
		q->lock = j.text;
		return;
	}
	json_close(&j);
	monitor_send(
	    m, q->request, status_of(q, reply), "application/json", &j.text);
	q->done = true;
}

void
monitor_stats(
    const struct monitor *m, struct http_stats *http, uint64_t *auth_failed)
{
	memset(http, 0, sizeof(*http));
	*auth_failed = 0;
	if (m == NULL)
		return;
	http_stats(m->http, http);
	*auth_failed = m->auth_failed_total;
}
