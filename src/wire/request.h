/*
 * A parsed request line.
 *
 * Nothing is allocated: the words and strings of a struct request point into
 * the line, which must live as long as the request is in use.
 */
#ifndef LOCKBROKER_WIRE_REQUEST_H
#define LOCKBROKER_WIRE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "wire/value.h"
#include "wire/verbs.h"

/*
 * The request in a line.  It exists so that a handler never sees a line.  Its
 * owner (usually a stack frame) frees nothing.
 */
struct request {
	struct span tag; /* without '@'; n is 0 if there is none */
	enum verb_id verb;
	/* Names, or other words, as the verb requires. */
	struct span words[REQUEST_WORDS_MAX];
	unsigned nwords;
	uint32_t given; /* bits 1 << OPTION_x */
	/*
	 * Numbers and durations (ms; WAIT_FOREVER), modes (enum lock_mode),
	 * kinds (enum kind); 0 if not given.
	 */
	int64_t num[OPTION_MAX];
	struct span str[OPTION_MAX]; /* LABEL, VALUE and SECRET options */
};

static inline bool
request_has(const struct request *r, enum option_id o)
{
	return (r->given >> o) & 1;
}

enum request_status {
	REQUEST_OK,
	REQUEST_EMPTY,	/* an empty line: ignore it */
	REQUEST_HTTP,	/* close the connection without an answer */
	REQUEST_BAD,	/* answer `code` and the text; continue */
	REQUEST_FOREIGN /* not one of our verbs: `words` holds everything, and
			 * `verb` is VERB_MAX */
};

/*
 * Parses one line, without its line end.  On REQUEST_BAD the code is set and
 * `why` holds one line of plain English; `r->tag` is set if the tag was well
 * formed, so that the answer can carry it.
 */
enum request_status request_parse(struct request *r, const char *line, size_t n,
    enum err_code *code, struct buf *why) __attribute__((warn_unused_result));

/*
 * The same for a protocol that has found verb and words itself.  The words may
 * hold any bytes.
 */
enum request_status request_parse_words(struct request *r, enum verb_id verb,
    const struct span *words, unsigned n, enum err_code *code, struct buf *why)
    __attribute__((warn_unused_result));

/* Makes *r an empty request, without verb, words or options. */
void request_init(struct request *r);

#endif
