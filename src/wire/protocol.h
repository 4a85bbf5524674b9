/*
 * What a connection speaks: from bytes to requests, from answers to bytes.
 *
 *	bytes -- frame --> those of one request -- parse --> struct request
 *	bytes <-- reply, event, row ... -- struct wire_reply, _event, _row
 *
 * To add a protocol: a file with a struct wire_protocol, and what chooses it.
 * Handlers know nothing of it.  No function keeps or frees anything; those
 * that write append to a buffer and allocate nothing else.
 */
#ifndef LOCKBROKER_WIRE_PROTOCOL_H
#define LOCKBROKER_WIRE_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "wire/reply.h"
#include "wire/request.h"

enum frame_status {
	FRAME_WHOLE,
	FRAME_PART,   /* more must be read */
	FRAME_REFUSED /* answer `code` and the text, and close: whatever comes
			 behind it can't be trusted */
};

/* A request in what was read. */
struct wire_frame {
	const char *p; /* what parse() takes */
	size_t n;
	size_t size; /* of all that it takes in the input, from its begin */
};

struct wire_protocol {
	const char *name;

	/*
	 * The first request in the `have` bytes that were read, of at most `max`
	 * bytes.  `*scanned` is 0 for a new request, and from one call to the
	 * next the protocol's own note of how far it has looked.
	 */
	enum frame_status (*frame)(struct wire_frame *f, const char *data,
	    size_t have, size_t max, size_t *scanned, enum err_code *code,
	    struct buf *why);

	/* As request_parse(). */
	enum request_status (*parse)(struct request *r, const char *p, size_t n,
	    enum err_code *code, struct buf *why);

	void (*reply)(struct buf *out, const struct wire_reply *reply);
	void (*event)(struct buf *out, const struct wire_event *event);

	/*
	 * An answer of many rows: each is written to a buffer of its own, because
	 * their number comes before them; then rows() writes all.  A row is
	 * one of a list, a line of text, or a number that has a name.
	 */
	void (*row)(struct buf *rows, const struct wire_row *row);
	void (*row_text)(struct buf *rows, struct span text);
	void (*row_number)(struct buf *rows, const char *name, uint64_t number);
	void (*rows)(struct buf *out, const struct wire_reply *reply,
	    size_t nrows, const struct buf *rows);
};

/* Lines, for people and for clients of our own: lines.c and request.c. */
extern const struct wire_protocol wire_lines;

/* RESP, for clients of Redis: resp.h. */
extern const struct wire_protocol wire_resp2, wire_resp3;

#endif
