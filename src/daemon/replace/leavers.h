/*
 * The old processes of this broker: this process has replaced them, or an
 * earlier one has, which has handed on the channels to them.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_LEAVERS_H
#define LOCKBROKER_DAEMON_REPLACE_LEAVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct channel;
struct handed_list;
struct leavers;
struct packet;
struct resume_elsewhere;

struct leavers *leavers_new(struct broker *b,
    struct resume_elsewhere *elsewhere,
    /* One of them has been leaving for a moment. */
    void (*inherit)(struct broker *b));
void leavers_free(struct leavers *l);

/* Takes over the channel to one more; pid 0: it will report that. */
void leavers_add(struct leavers *l, struct channel *channel, int64_t pid);

/* They are this process' from now on: reads what they send. */
void leavers_listen(struct leavers *l);

/* Adds the channels to what is handed to another process. */
void leavers_hand_over(const struct leavers *l, struct handed_list *out);

/* They are another process' from now on: reads nothing any more. */
void leavers_hush(struct leavers *l);

/* The latest report of one of them. */
#define LEAVER_INSTANCE_SIZE 17
struct leaver_told {
	char instance[LEAVER_INSTANCE_SIZE]; /* "": nothing yet */
	uint64_t clients, locks, waiters, holds;
	int64_t since_ms;
	bool listed; /* for the caller that lists them */
};

/* The i-th of them; NULL: there are not so many. */
struct leaver_told *leavers_told(const struct leavers *l, size_t i);

/* Says the word to each, now or when its channel has room. */
void leavers_say(struct leavers *l, const char *word);

/*
 * Sends each the packet, in the same way.  Returns their number; -1: `most`
 * packets already wait for one of them.
 */
int leavers_tell(struct leavers *l, const struct packet *p, size_t most);

/* The sums over all of them. */
struct leavers_sum {
	uint64_t processes, clients, locks, waiters;
	int64_t since_ms; /* of the oldest; 0: none leaves */
};

struct leavers_sum leavers_sum(const struct leavers *l);

#endif
