#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "relay/channel.h"

#define PACKETS_PER_TURN 256
#define PAUSE_MS 10   /* if poll() sees room and sendmsg() does not */
#define LINGER_MS 200 /* for the other end to read what is left */

TAILQ_HEAD(parcel_list, parcel);

/* A packet that waits.  Owned by the channel. */
struct parcel {
	TAILQ_ENTRY(parcel) link;
	size_t len;
	unsigned n;
	char bytes[];
};

struct channel {
	const struct channel_handler *handler;
	void *arg;
	int fd; /* owned */
	struct event *readable, *writable, *pause;
	struct parcel_list parcels;
	size_t waiting; /* number of waiting packets */
	bool full;	/* a packet found no room */
	bool moved;	/* a packet was sent since then */
};

static enum packet_end
send_now(struct channel *c, const struct packet *p, int fd)
{
	enum packet_end how = packet_send(c->fd, p, fd);

	if (how == PACKET_OK)
		c->moved = true;
	if (how != PACKET_LATER)
		return how;
	c->full = true;
	if (event_add(c->writable, NULL) < 0)
		abort();
	return how;
}

/* Returns true if no packet waits any more. */
static bool
flush(struct channel *c)
{
	struct parcel *parcel;
	struct packet p;

	while ((parcel = TAILQ_FIRST(&c->parcels)) != NULL) {
		p.n = parcel->n;
		p.len = parcel->len;
		memcpy(p.bytes, parcel->bytes, p.len);
		/* Nothing can be sent to a closed end: a read finds that. */
		if (send_now(c, &p, -1) == PACKET_LATER)
			return false;
		TAILQ_REMOVE(&c->parcels, parcel, link);
		free(parcel);
		c->waiting--;
	}
	assert(c->waiting == 0);
	return true;
}

static void
on_room(evutil_socket_t fd, short what, void *arg)
{
	const struct timeval pause = ms_to_timeval(PAUSE_MS);
	struct channel *c = arg;

	(void)fd;
	(void)what;
	c->full = c->moved = false;
	assert(c->handler != NULL);
	if (flush(c))
		c->handler->room(c->arg);
	if (!c->full || c->moved)
		return;
	/* Too many descriptors are under way, which poll() does not count. */
	(void)event_del(c->writable);
	if (event_add(c->pause, &pause) < 0)
		abort();
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct channel *c = arg;
	enum packet_end how = PACKET_OK;
	struct packet p;
	unsigned i;

	(void)what;
	for (i = 0; i < PACKETS_PER_TURN; i++) {
		how = packet_receive(fd, &p);
		if (how != PACKET_OK)
			break;
		c->handler->heard(c->arg, &p);
		packet_drop_fd(&p);
	}
	if (how == PACKET_GONE)
		c->handler->gone(c->arg);
}

struct channel *
channel_new(struct event_base *base, int fd)
{
	struct channel *c = xcalloc(1, sizeof(*c));

	assert(fd >= 0);
	c->fd = fd;
	TAILQ_INIT(&c->parcels);
	c->readable = event_new(base, fd, EV_READ | EV_PERSIST, on_readable, c);
	c->writable = event_new(base, fd, EV_WRITE, on_room, c);
	c->pause = event_new(base, -1, 0, on_room, c);
	if (c->readable == NULL || c->writable == NULL || c->pause == NULL)
		abort();
	return c;
}

void
channel_listen(struct channel *c)
{
	assert(c->handler != NULL);
	if (event_add(c->readable, NULL) < 0)
		abort();
}

static void
drop(struct channel *c)
{
	struct parcel *parcel;

	while ((parcel = TAILQ_FIRST(&c->parcels)) != NULL) {
		TAILQ_REMOVE(&c->parcels, parcel, link);
		free(parcel);
	}
	c->waiting = 0;
}

void
channel_hush(struct channel *c)
{
	(void)event_del(c->readable);
	(void)event_del(c->writable);
	(void)event_del(c->pause);
	drop(c);
	c->full = false;
}

void
channel_handle(
    struct channel *c, const struct channel_handler *handler, void *arg)
{
	assert(handler->heard != NULL && handler->room != NULL &&
	       handler->gone != NULL);
	c->handler = handler;
	c->arg = arg;
}

void
channel_free(struct channel *c)
{
	struct pollfd p = { .events = POLLOUT };

	if (c == NULL)
		return;
	p.fd = c->fd;
	while (!flush(c) && poll(&p, 1, LINGER_MS) > 0)
		continue;
	drop(c);
	event_free(c->readable);
	event_free(c->writable);
	event_free(c->pause);
	(void)close(c->fd);
	free(c);
}

int
channel_fd(const struct channel *c)
{
	return c->fd;
}

bool
channel_has_room(const struct channel *c)
{
	return !c->full;
}

enum packet_end
channel_tell(struct channel *c, const struct packet *p, size_t most)
{
	enum packet_end how = PACKET_LATER;
	struct parcel *parcel;

	if (!c->full)
		how = send_now(c, p, -1);
	if (how != PACKET_LATER || c->waiting >= most)
		return how;
	parcel = TAILQ_LAST(&c->parcels, parcel_list);
	if (parcel != NULL && parcel->len == p->len &&
	    memcmp(parcel->bytes, p->bytes, p->len) == 0)
		return PACKET_OK;
	parcel = xmalloc(sizeof(*parcel) + p->len);
	parcel->n = p->n;
	parcel->len = p->len;
	memcpy(parcel->bytes, p->bytes, p->len);
	TAILQ_INSERT_TAIL(&c->parcels, parcel, link);
	c->waiting++;
	return PACKET_OK;
}

bool
channel_hand(struct channel *c, const struct packet *p, int fd)
{
	assert(fd >= 0);
	return !c->full && send_now(c, p, fd) == PACKET_OK;
}
