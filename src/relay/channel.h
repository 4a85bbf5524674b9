/*
 * A socket for packets between two processes that run independently; either may
 * stand still for a while, and yet no packet is lost because the socket is
 * full: a packet that finds no room waits in memory.  A descriptor does not
 * wait: the caller keeps it until there is room.
 */
#ifndef LOCKBROKER_RELAY_CHANNEL_H
#define LOCKBROKER_RELAY_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "relay/packet.h"

struct channel;
struct event_base;

struct channel_handler {
	/* May take the descriptor of the packet; otherwise it is closed. */
	void (*heard)(void *arg, struct packet *p);
	/* A packet found no room earlier; there is some now. */
	void (*room)(void *arg);
	/* The other end is gone, or sent garbage.  May free the channel. */
	void (*gone)(void *arg);
};

/*
 * Takes over the socket.  Before any use, channel_handle() sets the handler,
 * and again whenever it changes.  Nothing is read before channel_listen().
 */
struct channel *channel_new(struct event_base *base, int fd);
void channel_handle(
    struct channel *c, const struct channel_handler *handler, void *arg);
void channel_listen(struct channel *c);
/* Another process shares the socket, and receives and sends from now on:
 * waiting packets are dropped. */
void channel_hush(struct channel *c);

/* Sends the waiting packets, as far as the other end reads them in a moment. */
void channel_free(struct channel *c);

/* Returns the socket; the channel still owns it. */
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
 * Returns false if there is no room (room() is called later), or if the other
 * end is gone.
 */
bool channel_hand(struct channel *c, const struct packet *p, int fd);

#endif
