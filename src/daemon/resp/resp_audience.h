/*
 * The audience of a lock of Redisson: all connections that have subscribed to
 * its channel.  Only resp_audience.c and resp_turns.c include this.
 */
#ifndef LOCKBROKER_DAEMON_RESP_RESP_AUDIENCE_H
#define LOCKBROKER_DAEMON_RESP_RESP_AUDIENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cursor.h"
#include "base/span.h"
#include "daemon/resp/resp.h"

#define CHANNEL_PREFIX "redisson_lock__channel:"
#define CHANNEL_ROOM \
	(sizeof(CHANNEL_PREFIX) + NAME_MAX_BYTES + TOKEN_MAX_BYTES + 3)

/* A request looks at so many of those who listen for a lock, at most. */
#define LOOK_MAX 100

/* Messages: one thread of those that wait, or all of them, try again. */
#define WAKE_ONE "0"
#define WAKE_ALL "1"

TAILQ_HEAD(channel_list, channel);

/* All that have subscribed to one channel. */
struct audience {
	struct table_link by_name, by_id;
	uint64_t id;
	uint64_t turn; /* counts those whose programs were told; from 1 on */
	struct channel_list channels; /* told last of a turn: at the end */
	struct channel_list told;     /* the same; the latest told_ms first */

	/* Who is being roused: those that listen, by their users (bit_of()). */
	uint64_t lost; /* all of their threads: one that listened is gone */
	uint64_t left; /* the same, where it is not known whose they are */
	uint64_t vain; /* one thread of each: nobody has come */
	TAILQ_ENTRY(audience) in_roused; /* unless these are 0 */
	struct cursors cursors;
	struct cursor next;
	bool again; /* somebody else is to be roused since it began */

	size_t len;
	char name[];
};

/* Both return NULL if nobody listens. */
struct audience *resp_audience_find(const struct broker *b, struct span name);
struct audience *resp_audience_find_by_id(const struct broker *b, uint64_t id);

/*
 * Returns the first of those who listen for the program; of no bytes: of whom it
 * is not known for which.  The next one is TAILQ_NEXT(ch, in_ears).
 */
struct channel *resp_audience_first(
    const struct broker *b, const struct audience *au, struct span program);

/* The connection listens for this program; of no bytes: it is not known for
 * which. */
void resp_audience_set_program(
    struct broker *b, struct resp *rs, struct span program);

/* It is the last one to be told again. */
void resp_audience_put_last(struct channel *ch);

/* Returns the connection if it is of the user of `c`, and alive. */
struct conn *resp_audience_listener(
    struct broker *b, const struct conn *c, const struct channel *ch);

/* Writes a message.  tell: whoever comes soon may have heard it. */
void resp_audience_wake(
    struct conn *c, const struct channel *ch, const char *whom);
void resp_audience_tell(struct conn *c, struct channel *ch, const char *whom);

/*
 * Those that listen for the user of `c` are woken, a part of them in each turn of
 * the loop.  `why` says whom: a field of the audience.
 */
void resp_audience_rouse(
    struct broker *b, const struct conn *c, struct audience *au, uint64_t *why);

#endif
