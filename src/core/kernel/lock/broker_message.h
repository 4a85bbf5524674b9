/*
 * Messages from other brokers.  Each is only a hint, and may be lost, late,
 * doubled or wrong.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_BROKER_MESSAGE_H
#define LOCKBROKER_CORE_KERNEL_LOCK_BROKER_MESSAGE_H

#include <limits.h>

#include "core/kernel/lock/state.h"

#define MORE_MAX 5
#define MORE_ANY UINT_MAX /* any number, which are one */

/* One message, taken apart; all but seq points into its text. */
struct message {
	uint64_t seq;
	struct {
		const char *p;
		size_t n;
	} more[MORE_MAX]; /* the words between SEQ and NAME */
	const char *name;
	size_t name_len;
	const char *history; /* of the server on which we heard it */
};

/* Whom a message is for: the token of its number, which it may hand the name to;
 * or whatever the broker knows of the name, if anything. */
enum address { TO_TOKEN, TO_HEIR, TO_NAME, TO_BROKER };

/* `more`: words between SEQ and NAME. */
struct message_word {
	const char *word; /* NULL: the end of a list */
	unsigned more;
	enum address to;
	void (*run)(struct core *core, struct lock *l, const struct message *m);
};

/* Reads the word i; SECONDS MICROSECONDS HISTORY, from the word i on.  False:
 * it is none. */
bool message_number(
    const struct message *m, unsigned i, uint64_t max, uint64_t *out);
bool message_time(const struct message *m, unsigned i, int64_t *server_ms);

/* Acts on a message; ignores a text that is none.  `history` is that of the
 * server on which we heard it, see struct core_event. */
void broker_message_take(
    struct core *core, const char *text, size_t len, const char *history);

/* Messages for this name may have been missed.  Returns true if it waits for
 * one: the caller must then call lock_next(). */
bool broker_message_missed(struct core *core, struct lock *l);

#endif
