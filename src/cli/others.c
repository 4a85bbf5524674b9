/* See others.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "cli/login.h"
#include "cli/others.h"
#include "cli/question.h"
#include "cli/say.h"

#define ANSWER_MS 5000 /* the broker itself waits three seconds */

static bool
is_ok(enum client_got got, struct message *m)
{
	if (got != CLIENT_MESSAGE)
		return false;
	if (message_status(m) == STATUS_OK)
		return true;
	message_fini(m);
	return false;
}

/* An old process that has ended has no locks any more. */
static void
open_one(struct leavers *l, const struct client *c, const struct pair *instance)
{
	struct client *one;
	enum client_got got = CLIENT_NOTHING;
	char line[64];
	struct message m;

	l->v = xrealloc(l->v, (l->n + 1) * sizeof(*l->v));
	one = &l->v[l->n];
	client_init(one, login_line());
	snprintf(line, sizeof(line), "LEAVING %.*s", (int)instance->value_len,
	    instance->value);
	if (client_open_like(one, c))
		got = question_send_for(one, line, ANSWER_MS, &m);
	if (got == CLIENT_MESSAGE && message_status(&m) == STATUS_OK) {
		message_fini(&m);
		l->n++;
		return;
	}
	l->silent +=
	    got != CLIENT_MESSAGE || !message_error_is(&m, "not-found");
	if (got == CLIENT_MESSAGE)
		message_fini(&m);
	client_fini(one);
}

void
leavers_open(struct client *c, struct leavers *l)
{
	struct pair p, instance;
	struct message m;
	size_t i;

	*l = (struct leavers){ NULL, 0, 0 };
	if (!is_ok(question_send(c, "BROKERS", &m), &m))
		return;
	/* Lines about other brokers have no clients= here. */
	for (i = 0; i < m.lines_n; i++)
		if (pair_find(m.lines[i], "leaving", &p) &&
		    pair_find(m.lines[i], "clients", &p) &&
		    pair_find(m.lines[i], "instance", &instance))
			open_one(l, c, &instance);
	message_fini(&m);
}

void
leavers_close(struct leavers *l)
{
	while (l->n > 0)
		client_fini(&l->v[--l->n]);
	free(l->v);
	l->v = NULL;
}

char *
leavers_mark(const char *line)
{
	char *out;

	if (asprintf(&out, "%s leaving=1", line) < 0)
		abort();
	return out;
}

uint64_t
names_more(const struct message *m)
{
	const uint64_t total = pair_number(m->text, "total");

	return total > m->lines_n ? total - m->lines_n : 0;
}

static uint64_t
add(struct message *to, const struct message *m)
{
	size_t i;

	to->lines = xrealloc(
	    to->lines, (to->lines_n + m->lines_n + 1) * sizeof(char *));
	for (i = 0; i < m->lines_n; i++)
		to->lines[to->lines_n++] = leavers_mark(m->lines[i]);
	return names_more(m);
}

uint64_t
leavers_lines(struct leavers *l, const char *line, struct message *m)
{
	struct message theirs;
	uint64_t more = 0;
	size_t i;

	for (i = 0; i < l->n; i++) {
		if (!is_ok(
			question_send_for(&l->v[i], line, ANSWER_MS, &theirs),
			&theirs)) {
			l->silent++;
			continue;
		}
		more += add(m, &theirs);
		message_fini(&theirs);
	}
	return more;
}

void
leavers_missing(const struct leavers *l)
{
	if (l->silent > 0)
		say("%u old process%s of this broker do%s not answer; locks "
		    "held there are missing here",
		    l->silent, l->silent == 1 ? "" : "es",
		    l->silent == 1 ? "es" : "");
}

uint64_t
leavers_ask(struct client *c, const char *line, struct message *m)
{
	struct leavers l;
	uint64_t more;

	leavers_open(c, &l);
	more = leavers_lines(&l, line, m);
	leavers_missing(&l);
	leavers_close(&l);
	return more;
}
