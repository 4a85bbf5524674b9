/*
 * A socket of packets between two processes that serve on their own, either of
 * which may stand still for a while: nothing is lost because the socket is
 * full.  A packet that finds no room waits in memory.  A descriptor does not
 * wait here: whoever hands it on keeps it until there is room.
 */
#ifndef LOCKBROKER_RELAY_CHANNEL_H
#define LOCKBROKER_RELAY_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "relay/packet.h"

struct channel;
struct event_base;

struct channel_handler {
	/* May take the descriptor of the packet; it is closed otherwise. */
	void (*heard)(void *arg, struct packet *p);
	/* A packet found no room before; now there is some. */
	void (*room)(void *arg);
	/* The other end is gone, or talks nonsense.  May free the channel. */
	void (*gone)(void *arg);
};

/*
 * Takes over the socket.  Before it is used, channel_handle() says who hears:
 * then, and whenever that changes.  Nothing is read before channel_listen().
 */
struct channel *channel_new(struct event_base *base, int fd);
void channel_handle(
    struct channel *c, const struct channel_handler *handler, void *arg);
void channel_listen(struct channel *c);
/* Another process has it, too, and hears and sends from now on: what waits here
 * is dropped. */
void channel_hush(struct channel *c);

/* Sends what waits, as far as the other end reads it within a moment. */
void channel_free(struct channel *c);

/* The socket, which stays the channel's. */
int channel_fd(const struct channel *c);

/* Has everything been sent? */
bool channel_has_room(const struct channel *c);

/*
 * Sends the packet now, or keeps it until it can be sent; not twice in a row.
 * Returns PACKET_LATER if `most` packets wait already.
 */
enum packet_end channel_tell(
    struct channel *c, const struct packet *p, size_t most);

/*
 * Sends a packet with a descriptor, which the caller keeps, now or not at all.
 * Returns false if there is no room, which room() will tell of, or if the other
 * end is gone.
 */
bool channel_hand(struct channel *c, const struct packet *p, int fd);

#endif
