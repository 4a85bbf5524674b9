/*
 * Finds out who holds a lock: asks the broker through which it is held, at the
 * address that the first broker has sent.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/xmalloc.h"
#include "cli/holder.h"
#include "cli/login.h"
#include "cli/say.h"
#include "client/client.h"

/* The answer only adds details: a host that is gone must not cost more time. */
#define FOLLOW_MS 1000

static bool
has_key(const char *line, const struct pair *like, struct pair *out)
{
	while (pair_next(&line, out)) {
		if (out->key != NULL && out->key_len == like->key_len &&
		    memcmp(out->key, like->key, like->key_len) == 0)
			return true;
	}
	return false;
}

static void
pair_add(struct buf *line, const struct pair *p)
{
	buf_addf(line, "%s%.*s", buf_len(line) > 0 ? " " : "",
	    (int)((p->key != NULL ? p->key_len + 1 : 0) + p->value_len),
	    p->key != NULL ? p->key : p->value);
}

/*
 * Joins both in the order of the first answer. Each broker counts its own
 * waiters.
 */
static char *
answers_join(const char *near, const char *far)
{
	const char *cursor;
	struct pair p, other;
	struct buf line;
	char *copy;

	buf_init(&line);
	for (cursor = near; pair_next(&cursor, &p);) {
		if (p.key != NULL && !pair_is(&p, "waiters") &&
		    has_key(far, &p, &other))
			p = other;
		pair_add(&line, &p);
	}
	for (cursor = far; pair_next(&cursor, &p);) {
		if (p.key != NULL && !has_key(near, &p, &other))
			pair_add(&line, &p);
	}
	copy = xstrndup(buf_data(&line), buf_len(&line));
	buf_fini(&line);
	return copy;
}

/* Returns NULL if no broker answers, or the answer has nothing new. */
static char *
far_answer(const struct address_list *list, const char *name, const char *near)
{
	struct client_probe probe = { NULL, 0, now_ms() + FOLLOW_MS };
	char question[300], *joined = NULL;
	struct message m;
	struct client c;

	snprintf(question, sizeof(question), "STATUS %s", name);
	probe.line = question;
	client_init(&c, login_line());
	if (client_open(&c, list, &probe, &m, NULL) == CLIENT_MESSAGE) {
		if (message_status(&m) == STATUS_OK)
			joined = answers_join(near, m.text);
		message_fini(&m);
	}
	client_fini(&c);
	return joined;
}

char *
holder_details(const char *name, const char *near)
{
	struct address_list list;
	struct pair p, address;
	const char *why;
	char *text, *joined = NULL;

	/*
	 * With until= and no session the name is reserved: there is no more to
	 * know.
	 */
	if (pair_find(near, "session", &p) || pair_find(near, "until", &p) ||
	    !pair_find(near, "address", &address))
		return xstrdup(near);
	text = xstrndup(address.value, address.value_len);
	if (address_list_parse(&list, text, &why)) {
		joined = far_answer(&list, name, near);
		address_list_fini(&list);
	}
	if (joined == NULL)
		say("broker %s does not answer: label and age unknown", text);
	free(text);
	return joined != NULL ? joined : xstrdup(near);
}
