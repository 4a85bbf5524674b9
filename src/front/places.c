/* Connection slots: limits.clients, and the refusal of clients beyond it. */
#include "config.h"

#include <assert.h>

#include "base/log.h"
#include "front/conn.h"
#include "front/front.h"
#include "front/state.h"

static bool
front_has_room(const struct front *f)
{
	return f->nlive + f->nflushing - f->nleaving < f->limits.clients;
}

bool
front_may_have_room(const struct front *f)
{
	return !front_has_room(f) &&
	       (f->nunopened > 0 || f->nleaving == LEAVERS_MAX);
}

bool
front_room(struct front *f)
{
	bool room = front_has_room(f) || timeouts_make_room(f);

	if (!room && front_is_news(&f->crowded_ms))
		LOG(WARNING, "clients-exhausted",
		    LOG_N("limit", f->limits.clients));
	return room;
}

void
front_admit(struct conn *c)
{
	struct front *f = c->front;

	assert(c->stage == CONN_LIVE && !c->opened && !c->timed);
	table_add(&f->conns, &c->by_id);
	f->nlive++;
	f->nunopened += !c->headless;
	timeouts_set(c, c->headless ? TIMEOUT_HEADER : TIMEOUT_SILENT);
	front_ready(c);
	conn_arm(c);
}

void
front_accepted(struct front *f, int fd, bool tcp, enum proxied proxied)
{
	struct conn *c = conn_new(f, fd, tcp);

	assert(fd >= 0);
	c->proxied = proxied != PROXIED_NO;
	c->headless = proxied == PROXIED_HEADER;
	front_admit(c);
}

void
front_reject(struct conn *c)
{
	struct front *f = c->front;

	assert(c->stage == CONN_LIVE && !c->opened);
	c->stage = CONN_FLUSHING;
	f->nflushing++;
	conn_refuse(c, NULL, ERR_LIMIT, FRONT_CROWDED, f->limits.clients);
}
