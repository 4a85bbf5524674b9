/*
 * The channel between the two processes of a place (leaving.h), by the rules of
 * src/relay/channel.c: a socket that has room for some packets; what finds none
 * waits in memory, up to a bound that its sender sets; a connection does not
 * wait, and is handed on when there is room again.  What a process has sent is
 * read, in order, before it is seen to be gone.
 *
 * A process hears in its turns only: one that is frozen fills the socket.
 */
#ifndef LOCKBROKER_SIM_BOND_H
#define LOCKBROKER_SIM_BOND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

#include "client.h"

struct broker;
struct quest;
struct world;

enum bond_word {
	BOND_GO,     /* you are the broker now */
	BOND_REPORT, /* I still leave */
	BOND_STOP,
	BOND_HAS, /* have you the session of that key? */
	BOND_YES,
	BOND_NO,
	BOND_TAKE, /* a connection */
	BOND_END   /* the other one is gone */
};

#define BOND_ANY SIZE_MAX /* as many as there are may wait */

/* Owned by the bond. */
struct parcel {
	STAILQ_ENTRY(parcel) entry;
	enum bond_word word;
	uint64_t number;	   /* of a question */
	char key[CLIENT_KEY_SIZE]; /* HAS */
	struct quest *quest;	   /* TAKE; owned */
};

STAILQ_HEAD(parcel_list, parcel);

/* What goes to one of the two. */
struct bond_way {
	bool closed; /* that one does not read any more */
	struct parcel_list sent, waiting;
	size_t nsent, nwaiting;
	bool full;     /* its sender has found no room */
	int64_t at_us; /* arrival of the last one */
};

/* Owned by the world: one for each place. */
struct bond {
	struct world *w;
	bool begun;
	uint64_t number;	 /* counts them */
	struct bond_way ways[2]; /* to the first process of the place, ... */
	size_t size;		 /* of the socket, in packets */
	int64_t slow_us;	 /* the longest time under way */
	size_t most;		 /* questions that may wait */
	int64_t go_us;		 /* when "go" was heard; 0: not yet */
	unsigned reports;
	bool stops; /* who leaves is to stop */
};

/* A channel between a process and the other one of its place. */
struct bond *bond_of(const struct broker *b);
void bond_begin(struct broker *b);

/* Nobody has an end of it any more, or there never was one. */
bool bond_is_over(const struct bond *bond);

/* Does the process have its end? */
bool bond_has(const struct broker *b);

/* Do both have their ends, and has the new process taken over? */
bool bond_joins(const struct bond *bond);

/* Returns false if `most` wait already. */
bool bond_tell(struct broker *b, const struct parcel *what, size_t most);

/* Hands a connection over, now or not at all. */
bool bond_hand(struct broker *b, struct quest *quest);
bool bond_has_room(const struct broker *b);

/* An input of a process: there is something to read, or room. */
void bond_reads(struct broker *b);
void bond_sees_room(struct broker *b);

/* The process closes its end, or has died. */
void bond_close(struct broker *b);

/* Its socket is broken: it sees that now, and the other one thereupon. */
void bond_cut(struct broker *b);

void bonds_free(struct world *w);

#endif
