/*
 * RESP, the protocol of Redis: how its values are written, and its limits.
 *
 * The protocols themselves are wire_resp2 and wire_resp3 (protocol.h).  A
 * request is an array of strings; in RESP2 nil is a string of no length, and a
 * map is an array of twice as many values.
 */
#ifndef LOCKBROKER_WIRE_RESP_VALUE_H
#define LOCKBROKER_WIRE_RESP_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "wire/protocol.h"
#include "wire/verbs.h"

/* Limits of one request.  Only scripts need this many words. */
#define RESP_WORDS_MAX REQUEST_WORDS_MAX
#define RESP_BYTES_MAX ((size_t)64 * 1024)

/* Is p one of the two RESP protocols, and not that of lines? */
bool resp_is(const struct wire_protocol *p);
bool resp_is_3(const struct wire_protocol *p);

/* frame() and parse() of both: their requests are alike. */
enum frame_status resp_frame(struct wire_frame *f, const char *data,
    size_t have, size_t max, size_t *scanned, enum err_code *code,
    struct buf *why);
enum request_status resp_parse(struct request *r, const char *p, size_t n,
    enum err_code *code, struct buf *why);

/* These two clean their text, so that it stays one line. */
void resp_simple(struct buf *b, const char *text);
void resp_error(struct buf *b, struct span text); /* "CODE text" */

void resp_int(struct buf *b, int64_t n);
void resp_bulk(struct buf *b, struct span value);
void resp_word(struct buf *b, const char *value);
void resp_null(struct buf *b, bool three);
void resp_null_array(struct buf *b, bool three);

/* Headers: the number of values that follow, for a map twice that number. */
void resp_array(struct buf *b, size_t n);
void resp_map(struct buf *b, bool three, size_t n);
void resp_push(struct buf *b, bool three, size_t n);

/* A text for people to read. */
void resp_text(struct buf *b, bool three, struct span text);

/* Writes a STATUS_ERR. */
void resp_refusal(struct buf *b, const struct wire_reply *reply);

#endif
