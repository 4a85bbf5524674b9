/*
 * One reply or event of the broker (lockbroker-protocol(7)), parsed as far as
 * the command needs. These functions do no I/O.
 */
#ifndef LOCKBROKER_CLIENT_MESSAGE_H
#define LOCKBROKER_CLIENT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reply_status.h"

/*
 * A reply with all its lines, or an event. The caller of client_next() must
 * call message_fini().
 */
struct message {
	bool event;
	char *tag;    /* without '@'; "" for none */
	char *text;   /* the line after the tag */
	char **lines; /* the lines that lines=N announces */
	size_t lines_n;
};

/* One word of a line: `key=value`, or a bare word, whose key is NULL. */
struct pair {
	const char *key;
	size_t key_len;
	const char *value;
	size_t value_len;
};

/* Parses a copy of the line. Returns false if it is no reply and no event. */
bool message_parse(struct message *m, const char *line, size_t n);
void message_fini(struct message *m);

/* Returns how many lines follow the parsed one. */
uint64_t message_lines_due(const struct message *m);

/* Returns STATUS_MAX if the word is no status. Not for events. */
enum status message_status(const struct message *m);

/* Is it the reply to the request with this tag? */
bool message_answers(const struct message *m, const char *tag);

/* Does the message begin with this word: `!EVENT`, or `ERR`? */
bool message_is(const struct message *m, const char *word);

/* `code text` of an ERR reply; "" otherwise. */
const char *message_error(const struct message *m);
bool message_error_is(const struct message *m, const char *code);

/* Iterates over the words of a line; `*cursor` begins as the line. */
bool pair_next(const char **cursor, struct pair *p);
/* Leaves *p alone if there is no such field. */
bool pair_find(const char *text, const char *key, struct pair *p);
bool pair_is(const struct pair *p, const char *key);

/* Returns the number of a field; 0 if there is none. */
uint64_t pair_number(const char *text, const char *key);

/* Writes the value of a field as text; "" if there is none. Returns `out`. */
const char *pair_text(
    const char *text, const char *key, char *out, size_t size);

/* Is this the value? */
bool pair_says(const struct pair *p, const char *value);

/*
 * Finds a duration, which the broker has rounded down. Returns false if there
 * is none.
 */
bool pair_find_ms(const char *text, const char *key, int64_t *ms);

#endif
