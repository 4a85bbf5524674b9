/*
 * Reloads: each connection takes note of what has changed.
 *
 * A connection does so before its next request is handed out; so the new rules
 * hold from then on, whoever comes first.  For all others a walk comes by,
 * which looks at a bounded number of connections in a turn, because there may
 * be very many.  A connection that comes meanwhile has the new rules from its
 * start.  Another reload makes the walk begin again.
 */
#include "config.h"

#include "front/conn.h"
#include "front/sockopt.h"
#include "front/state.h"

#define LOOKS_PER_TURN 100

void
reload_begin(struct front *f, const struct client_limits *limits)
{
	f->reloads++;
	if (limits->unreachable_ms != f->limits.unreachable_ms)
		f->unreachable_at = f->reloads;
	f->limits = *limits;
	f->reloading = true;
	table_rewind(&f->conns, &f->reload);
}

void
conn_note_reload(struct conn *c)
{
	struct front *f = c->front;
	bool unreachable = c->reloads < f->unreachable_at;

	if (c->reloads == f->reloads)
		return;
	c->reloads = f->reloads;
	if (c->tcp && !c->relayed && unreachable)
		sockopt_client(c->fd, f->limits.unreachable_ms);
	timeouts_changed(c);
	f->handler->reloaded(f->arg, c);
}

void
reload_go_on(struct front *f)
{
	struct table_link *link;
	unsigned looked = 0;

	if (!f->reloading)
		return;
	link = table_go_on(&f->reload);
	for (; link != NULL; link = table_next(&f->reload)) {
		conn_note_reload(container_of(link, struct conn, by_id));
		if (++looked >= LOOKS_PER_TURN && table_rests(&f->reload))
			return;
	}
	f->reloading = false;
	timeouts_sorted(f);
	f->handler->reload_over(f->arg);
}
