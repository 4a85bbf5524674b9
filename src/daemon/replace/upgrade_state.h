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
struct upgrade_child;
struct leavers;
struct resume_elsewhere;
struct upgrade_hooks;
struct systemd;

/* The client that has asked for a replacement. */
struct asker {
	uint64_t conn, ref; /* ref 0: none */
};

struct upgrade {
	struct broker *broker;
	const struct upgrade_hooks *hooks;
	struct systemd *notify;
	struct channel *before;	 /* to the process that we are to replace */
	struct channel *after;	 /* to the process that has replaced us */
	struct leavers *leavers; /* we, or our predecessors, replaced them */
	struct leavers *kept;	 /* handed on, and ours again if we return */
	struct event *return_over;
	struct event *keep_over;
	struct upgrade_child *child; /* it is to replace us */
	struct asker asker;
	struct resume_elsewhere *elsewhere;
	struct event *report;
	struct buf told; /* the latest report to `before` */
	uint64_t replaced_total;
	bool announced; /* `before` knows what we have taken */
	bool refused;	/* by `before` */
	bool stop;	/* `after` says so */
	bool reload;	/* so does `after`, or `before` */
	bool reloaded;	/* since the child was started */
};

/*
 * Adds the history of each server, or a dash: an address of its own network may
 * lead a process to another server.  Of a cluster none, as they change hands.
 */
void upgrade_next_add_histories(struct buf *out, const struct broker *b);

/* upgrade_next.c: this process was handed a channel, or was not. */
void upgrade_next_begin(struct upgrade *s);

#endif
