/*
 * The commands of Redis that the broker answers: the rows of commands.def as a
 * table, and the search for a command in it.
 */
#ifndef LOCKBROKER_RESP_COMMANDS_H
#define LOCKBROKER_RESP_COMMANDS_H

#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"
#include "base/verb.h"

enum resp_id {
#define COMMAND(id, ...) RESP_##id,
#include "resp/commands.def"
#undef COMMAND
	RESP_MAX
};

/* The flags of commands.def. */
enum resp_flag {
	RESP_FLAG_SUBS = 1,
	RESP_FLAG_LISTENER = 2,
	RESP_FLAG_TOKEN = 4,
	RESP_FLAG_GIVES_BACK = 8
};

struct resp_row {
	const char *word;
	size_t len;
	int arity;
	enum right right;
	int first, last, step;
	unsigned flags;
};

extern const struct resp_row resp_rows[RESP_MAX];

/*
 * Returns the command that the words mean.  Returns RESP_MAX if there is none,
 * or none with so many words; then `why` has the error, in the words of Redis.
 */
enum resp_id resp_find(
    const struct span *words, unsigned nwords, struct buf *why);

bool resp_says(struct span word, const char *other); /* in whatever case */

/* Writes the error of Redis for an unknown command, without its ERR. */
void resp_unknown(const struct span *words, unsigned nwords, struct buf *why);

/*
 * Which words are names?  Returns how many, from `*first` on, each `step`
 * apart.
 */
unsigned resp_names(enum resp_id id, unsigned nwords, unsigned *first);

#endif
