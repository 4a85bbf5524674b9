/*
 * Answers of the monitor, and what it has counted: what its files share.
 */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "daemon/monitor_state.h"

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
