/*
 * What upgrade.c and upgrade_next.c share.  Only they include this.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_UPGRADE_STATE_H
#define LOCKBROKER_DAEMON_REPLACE_UPGRADE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct broker;
struct channel;
struct event;
struct heir;
struct leavers;
struct resumption;
struct succession_hooks;
struct systemd;

/* Who has asked for a replacement. */
struct asker {
	uint64_t conn, ref; /* ref 0: nobody */
};

struct succession {
	struct broker *broker;
	const struct succession_hooks *hooks;
	struct systemd *notify;
	struct channel *before;	 /* to the process that we are to replace */
	struct channel *after;	 /* to the one that has replaced us */
	struct leavers *leavers; /* we, or those before us, replaced them */
	struct leavers *kept;	 /* handed on, and ours again if we return */
	struct event *return_over;
	struct event *keep_over;
	struct heir *heir; /* it is to replace us */
	struct asker asker;
	struct resumption *resumption;
	struct event *report;
	struct buf told; /* what `before` was told last */
	uint64_t replaced_total;
	bool announced; /* `before` knows what we have taken */
	bool refused;	/* by `before` */
	bool stop;	/* `after` says so */
	bool reload;	/* so does `after`, or `before` */
	bool behind;	/* `after` has said so, and it is not done yet */
	bool reloaded;	/* since the heir was started */
};

/*
 * Adds the history of each server, or a dash: an address of its own network may
 * lead a process to another server.  Of a cluster none, as they change hands.
 */
void successor_add_histories(struct buf *out, const struct broker *b);

/* upgrade_next.c: this process was handed a channel, or was not. */
void successor_begin(struct succession *s);

#endif
