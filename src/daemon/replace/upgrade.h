/*
 * Which process of a broker serves which clients: SIGUSR2, REPLACE and
 * TAKEOVER.
 *
 *	old process                          new process
 *	starts it, hands it its sockets -->  reads the configuration, listens,
 *	                                     connects to Redis
 *	              <-- "state": I can grant
 *	stops accepting
 *	"go" -->                             accepts: it is the broker now
 *	leaves                               has the channel to those that leave
 *
 * The channel's end means that the other process is gone, and nothing else: the
 * new process goes on, and so does the old one.  If the new process ends within
 * ten seconds, and no service manager has been told of it, the old process
 * accepts again.  A replaced process hands on the channels to the processes
 * that it has replaced itself.
 *
 * A process that was not started by the old process may ask to be the new one
 * (takeover.h): then the two need have nothing in common but a Unix socket, and
 * no pid counts.  It takes those of the sockets that it cannot have otherwise;
 * on the others the old process accepts for 30 s more.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_UPGRADE_H
#define LOCKBROKER_DAEMON_REPLACE_UPGRADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct buf;
struct config;
struct handed_list;
struct leavers;
struct systemd;
struct resume_elsewhere;
struct upgrade;

/*
 * A process that was handed a channel and ends before it has a broker reports
 * the reason to the process that has started it.
 */
void upgrade_failed(const char *why);

/* Calls of the broker; see broker.h. */
struct upgrade_hooks {
	void (*hold_back)(struct broker *b, bool hold);
	void (*take_over)(struct broker *b);
	void (*leave)(struct broker *b, bool may_return);
	void (*return_no_more)(struct broker *b);
	void (*come_back)(struct broker *b);
	void (*drain)(struct broker *b);
	void (*drain_no_more)(struct broker *b);
	/* An old process has been leaving for a moment. */
	void (*inherit)(struct broker *b);
	/* Some of the sockets were not taken; see broker.h. */
	void (*keep)(struct broker *b, const struct handed_list *list,
	    const bool *taken);
	void (*close_places)(struct broker *b);
	/* This process leaves, and its successor has ended for good. */
	void (*seek)(struct broker *b);
	/* Adds all sockets to what is handed to another process. */
	void (*hand_over)(struct broker *b, struct handed_list *out);
};

/* Takes the channels that were handed to this process. */
struct upgrade *upgrade_new(struct broker *b, struct systemd *notify,
    const struct upgrade_hooks *hooks);
/* Reports the reason to the old process if this process has not taken over. */
void upgrade_free(struct upgrade *s);

/* Why a process with another Redis cannot take over. */
#define SUCCESSION_OTHER_REDIS                                             \
	"the new configuration uses another Redis (redis.*), which lacks " \
	"the current locks; stop and start the broker instead"

/* Is this process to take over from another, and has not yet? */
bool upgrade_pending(const struct upgrade *s);

/* After each turn: reports the state of this process to the old one. */
void upgrade_turn(struct upgrade *s);

/*
 * Starts the process that is to replace this one.  The request `ref` of the
 * connection is answered when it has, or cannot; 0: no client waits for that.
 */
void upgrade_begin(struct upgrade *s, uint64_t conn, uint64_t ref);

/*
 * Hands over to a process that this process has not started, or takes in an old
 * process that has lost its successor.  Returns the other's end of the channel,
 * which the caller gives to it and closes; -1: `why` says why not.
 */
int upgrade_adopt(struct upgrade *s, char *why, size_t why_size);
int upgrade_take_in(struct upgrade *s, char *why, size_t why_size);

/* The same from the other side: this process leaves, and gets a channel. */
bool upgrade_seeks(const struct upgrade *s);
void upgrade_taken_in(struct upgrade *s, int fd);

/* Writes which Redis a configuration means: it must be the same in all
 * processes of a broker. */
void upgrade_add_redis(struct buf *out, const struct config *config);

/* Has the process that replaced this one said that all is to stop? */
bool upgrade_told_to_stop(const struct upgrade *s);

/*
 * The configuration was read again: has old processes read it, too, and a new
 * process that may have read it before.  latest: it is not being read once
 * more.
 */
void upgrade_reload(struct upgrade *s, bool latest);

/* It has faults: what was read before stays. */
void upgrade_not_reloaded(struct upgrade *s);

/* Is this process to read it again?  Says so once. */
bool upgrade_told_to_reload(struct upgrade *s);

/* Ends the process that is to replace this one, and has the old processes do the
 * same: "stop", "drain", or "drain-no-more", to leave as before. */
void upgrade_tell_leaving(struct upgrade *s, const char *word);

/* Is there a process that has replaced this one? */
bool upgrade_stays(const struct upgrade *s);

/* Have all old processes ended? */
bool upgrade_stopped(const struct upgrade *s);

struct resume_elsewhere *upgrade_resume_elsewhere(const struct upgrade *s);

struct leavers *upgrade_leavers(const struct upgrade *s);
uint64_t upgrade_total(const struct upgrade *s);

#endif
