/*
 * Clients that come through the process that speaks TLS.
 *
 * They are connected to us by a Unix socket, but they are treated as TCP
 * clients.
 */
#include "config.h"

#include <assert.h>

#include "base/log.h"
#include "front/conn.h"
#include "front/state.h"

void
front_set_look(struct front *f, void (*look)(void *arg), void *arg)
{
	f->look = look;
	f->look_arg = arg;
}

void
front_relayed(struct front *f, const struct front_relayed *client)
{
	struct conn *c = conn_new_relayed(f, client);

	LOG(DEBUG, "tls-client", LOG_N("client", c->id), LOG_S("peer", c->peer),
	    LOG_S("name", c->nnames > 0 ? c->names[0] : ""));
	if (!front_room(f)) {
		front_reject(c);
		return;
	}
	table_add(&f->relayed, &c->by_relay);
	front_admit(c);
}

void
relayed_forget(struct conn *c)
{
	if (c->relayed)
		table_remove(&c->front->relayed, &c->by_relay);
}

void
front_relayed_ended(struct front *f, uint64_t id, bool behind)
{
	struct conn *c = container_or_null(
	    table_find_key(&f->relayed, &id), struct conn, by_relay);

	if (c == NULL)
		return;
	assert(c->relayed && c->stage == CONN_LIVE);
	if (!behind) {
		c->unsigned_end = true;
		return;
	}
	c->hup = true;
	front_ready(c);
}
