/*
 * The values of options.
 */
#ifndef LOCKBROKER_WIRE_VALUE_H
#define LOCKBROKER_WIRE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/kind.h"
#include "base/span.h"
#include "wire/verbs.h"

/* Numbers stay exact in every language that computes in doubles. */
#define VALUE_NUMBER_MAX ((UINT64_C(1) << 53) - 1)

enum lock_mode { MODE_EXCLUSIVE, MODE_SHARED };

/* Which end of a session is a clean close: any close, or only QUIT? */
enum session_end { END_CLOSE, END_QUIT };

/*
 * Reads the value of an option: LABEL, VALUE and SECRET into *str, all others
 * into *num.  False when it is malformed or out of range, with a sentence in
 * `why`.
 */
bool value_parse(enum option_id id, struct span value, int64_t *num,
    struct span *str, struct buf *why) __attribute__((warn_unused_result));

#endif
