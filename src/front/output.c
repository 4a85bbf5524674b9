/*
 * What all clients together have not read.
 *
 * Each may leave limits.output unread, and many of them may do so at a time:
 * together they have a bound, too.  Beyond it, some of those with the most are
 * dropped.  What counts is the memory that it takes.
 */
#include "config.h"

#include "base/log.h"
#include "base/now.h"
#include "front/conn.h"
#include "front/state.h"

#define SPELL_MS 10000 /* a spell is over when it was not so for so long */

/* What all may leave: at least so much, or so many times what one may. */
#define ALL_BYTES ((size_t)64 << 20)
#define ALL_TIMES 8
#define SPARE 16 /* such a part of it is free when some were dropped */

void
output_forget(struct conn *c)
{
	if (c->counted == 0)
		return;
	TAILQ_REMOVE(&c->front->unread, c, unread_link);
	c->front->output -= c->counted;
	c->counted = 0;
}

void
output_count(struct conn *c)
{
	output_forget(c);
	c->counted = buf_len(&c->out) > 0 ? c->out.size : 0;
	if (c->counted == 0)
		return;
	TAILQ_INSERT_TAIL(&c->front->unread, c, unread_link);
	c->front->output += c->counted;
}

static size_t
most_unread(const struct front *f)
{
	const struct conn *c;
	size_t most = 0;

	TAILQ_FOREACH (c, &f->unread, unread_link)
		if (c->counted > most)
			most = c->counted;
	return most;
}

/* Nothing can be delivered to it any more. */
static void
drop(struct conn *c)
{
	if (c->stage != CONN_LIVE) {
		front_close(c);
		return;
	}
	front_too_slow(c);
	output_forget(c);
	buf_fini(&c->out);
	c->stuck = false;
	c->deaf = true;
	conn_arm(c);
}

void
front_bound_output(struct front *f, size_t bytes)
{
	f->output_bound = bytes;
}

static size_t
output_max(const struct front *f)
{
	size_t bytes = ALL_TIMES * f->limits.output;

	if (f->output_bound > 0)
		return f->output_bound;
	return bytes > ALL_BYTES ? bytes : ALL_BYTES;
}

/*
 * First those that have taken nothing for the longest time.  Some more are
 * dropped than need be: so all that have unread output are looked at for a part
 * of all that may be unread, and not for each byte beyond that.
 */
static void
drop_from(struct front *f, size_t bytes, size_t enough)
{
	struct conn *c, *next;

	TAILQ_FOREACH_SAFE (c, &f->unread, unread_link, next) {
		if (f->output <= enough)
			return;
		if (c->counted >= bytes)
			drop(c);
	}
}

void
output_bound(struct front *f)
{
	size_t enough = output_max(f) - output_max(f) / SPARE;
	int64_t at_ms;

	if (f->output <= output_max(f))
		return;
	at_ms = now_awake_ms();
	if (f->full_ms == 0 || at_ms - f->full_ms > SPELL_MS)
		LOG(WARNING, "output-exhausted", LOG_N("bytes", f->output),
		    LOG_N("limit", output_max(f)));
	f->full_ms = at_ms;
	while (f->output > enough)
		drop_from(f, most_unread(f) / 2 + 1, enough);
}

size_t
front_unread(const struct front *f)
{
	return f->output;
}

void
front_bytes(const struct front *f, uint64_t *received, uint64_t *sent)
{
	*received = f->received;
	*sent = f->sent;
}

uint64_t
front_too_slow_total(const struct front *f)
{
	return f->ntoo_slow;
}
