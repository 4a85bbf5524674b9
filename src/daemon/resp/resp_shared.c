/*
 * What handlers of commands of Redis share: the state of a connection, rights,
 * the clock.
 */
#include "config.h"

#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"

struct resp *
resp_of(struct conn *c)
{
	struct client *client = conn_data(c);

	if (client->resp == NULL) {
		client->resp = xcalloc(1, sizeof(*client->resp));
		LIST_INIT(&client->resp->channels);
		LIST_INIT(&client->resp->wanted);
	}
	return client->resp;
}

void
resp_step(struct broker *b, const struct conn *c, struct token_request *rq)
{
	struct core_event ev = { .kind = CORE_TOKEN };

	ev.u.token.session = bridge_session(c);
	ev.u.token.request = rq;
	bridge_step(b, &ev);
}

bool
resp_three(const struct conn *c)
{
	return resp_is_3(conn_protocol(c));
}

void
resp_fail_why(struct conn *c, const struct buf *why)
{
	resp_error(
	    conn_output(c), (struct span){ buf_data(why), buf_len(why) });
}

void
resp_fail(struct conn *c, const char *fmt, ...)
{
	struct buf text;
	va_list ap;

	buf_init(&text);
	va_start(ap, fmt);
	buf_addv(&text, fmt, ap);
	va_end(ap);
	resp_fail_why(c, &text);
	buf_fini(&text);
}

/* Names that are not words of the request by themselves need their rights,
 * too. */
bool
resp_refuse_names(struct broker *b, struct conn *c, const struct request *r,
    const char *word, const struct ask *a)
{
	struct span names[CORE_NAMES_MAX];
	struct need need = { .word = word,
		.right = RIGHT_LOCK,
		.gives_back = a->rq.op == TOKEN_RELEASE,
		.names = names,
		.nnames = a->rq.nnames };
	unsigned i;

	for (i = 0; i < a->rq.nnames; i++)
		names[i] = (struct span){ a->names[i].p, a->names[i].n };
	return identity_refuses_command(b->identity, c, r, &need);
}

int64_t
resp_clock_ms(const struct broker *b, struct span name)
{
	int64_t ms = core_server_ms(b->core, now_ms(), name.p, name.n);
	struct timespec ts;

	if (ms > 0)
		return ms;
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
