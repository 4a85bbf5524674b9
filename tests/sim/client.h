/*
 * Clients: sessions that lock, wait, hold, extend, cancel, close and vanish at
 * random, and obey what they are told.  And the wire between clients and
 * brokers, which keeps the order in both directions.
 */
#ifndef LOCKBROKER_SIM_CLIENT_H
#define LOCKBROKER_SIM_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/reply_status.h"

#include "checker.h"

struct broker;
struct input;
struct world;

#define CLIENT_NAMES_MAX 4
#define CLIENT_KEY_SIZE 56 /* of a session's key, as text */

/* A reply or an event, with the parts that matter here. */
struct answer {
	STAILQ_ENTRY(answer) entry;
	uint64_t session;
	uint64_t sitting; /* the connection it goes to; 0: nobody reads */
	uint64_t ref;	  /* of the request; replies only */
	enum status status;
	enum err_code code;
	bool is_event;
	enum event_id event;
	char name[16]; /* events only */
	uint64_t permits;
	int64_t slot;	/* of a permit; -1: none */
	uint64_t fence; /* of the first name, or the only one */
	uint64_t depth;
	uint64_t fences[CLIENT_NAMES_MAX]; /* of all names, as asked */
	uint64_t depths[CLIENT_NAMES_MAX];
	int64_t early_us;		   /* when it was decided; 0: now */
	int64_t valid_ms;		   /* of PING; -1: nothing held */
	uint64_t count, index, generation; /* of latches and barriers */
	int broker;		   /* of HELD: its number; -1: not said */
	bool forced;		   /* of LOST: the reason */
	bool taken;		   /* of STATUS: somebody has it */
	bool drilled;		   /* of LOST: the reason */
	bool took_max;		   /* of DRILL; else: */
	int64_t took_ms;	   /* -1: not said */
	char key[CLIENT_KEY_SIZE]; /* of SESSION */
};

STAILQ_HEAD(answer_list, answer);

/* A line on its way to the broker. */
struct letter {
	STAILQ_ENTRY(letter) entry;
	struct input *in; /* owned */
	int broker;
	uint64_t life; /* of the broker that it was sent to */
};

STAILQ_HEAD(letter_list, letter);

/* What a client believes to hold of a name. */
struct belief {
	unsigned depth; /* 0: nothing */
	uint64_t fence;
};

/* Owned by the world. */
struct client {
	struct world *w;
	int index;
	int broker;
	uint64_t sitting;	   /* its connection; 0: it has none */
	uint64_t session;	   /* that it believes it has */
	char key[CLIENT_KEY_SIZE]; /* to resume a session; "": none */
	uint64_t resumes;	   /* the session of that key */
	int64_t grace_ms;	   /* that it last asked for */
	uint64_t life;		   /* of its broker */
	uint64_t tick;		   /* the tag of the next deed that counts */
	uint64_t untagged;	   /* the request that it waits for; 0: none */
	uint64_t tagged;	   /* a LOCK that it may cancel; 0: none */
	bool closing;		   /* has shut down sending */
	bool left;		   /* has gone home */
	bool leaves;		   /* was told that its broker leaves */
	bool pings;		   /* watches its own clock */
	struct belief beliefs[CLIENT_NAMES_MAX];
	unsigned drilled;  /* names that it has lost and goes on with ... */
	unsigned stubborn; /* ... as long as it lives */
	/* That it believes it has. */
	uint64_t permits[CHECKER_SEMAPHORES_MAX];
	struct answer_list answers;   /* on their way here */
	struct letter_list letters;   /* on their way to the broker */
	int64_t answer_us, letter_us; /* arrival of the last one sent */
};

void client_init(struct client *c, struct world *w, int index);
void client_fini(struct client *c);

/* It is time to leave. */
void client_leave(struct client *c);

/* The broker has written a line. */
void client_tell(struct world *w, struct broker *b, const struct answer *a);

/* The network between the client and its broker is cut. */
void client_cut_off(struct client *c);

/* A connection has ended. */
/* Another process has it now, and what is on its way there. */
void client_handed(struct world *w, uint64_t sitting, struct broker *to);

void client_hung_up(struct world *w, uint64_t sitting);
void client_broker_died(struct world *w, struct broker *b);

#endif
