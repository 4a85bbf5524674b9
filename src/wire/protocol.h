/*
 * The protocols that connections speak: from bytes to requests, from answers to
 * bytes.
 *
 *	bytes -- frame --> those of one request -- parse --> struct request
 *	bytes <-- reply, event, row ... -- struct wire_reply, _event, _row
 *
 * To add a protocol, write a file with a struct wire_protocol, and the code
 * that chooses it.  Handlers know nothing of protocols.  No function keeps or
 * frees anything; those that write append to a buffer and allocate nothing
 * else.
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
	FRAME_REFUSED /* answer `code` and the text, and close: the rest of the
		       * input cannot be trusted */
};

/* A request in the received bytes. */
struct wire_frame {
	const char *p; /* the argument of parse() */
	size_t n;
	size_t size; /* bytes of the request, from its start */
};

struct wire_protocol {
	const char *name;

	/*
	 * Finds the first request in the `have` bytes that were received; it
	 * may have at most `max` bytes.  `*scanned` is 0 for a new request;
	 * between calls the protocol notes there how far it has looked.
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
	 * Write an answer of many rows.  Each row is written to a separate
	 * buffer, because the number of rows comes first; then rows() writes
	 * everything.  A row is an item of a list, a line of text, or a named
	 * number.
	 */
	void (*row)(struct buf *rows, const struct wire_row *row);
	void (*row_text)(struct buf *rows, struct span text);
	void (*row_number)(struct buf *rows, const char *name, uint64_t number);
	void (*rows)(struct buf *out, const struct wire_reply *reply,
	    size_t nrows, const struct buf *rows);
};

/* Lines, for people and for our own clients: lines.c and request.c. */
extern const struct wire_protocol wire_lines;

/* RESP, for clients of Redis: resp_value.h. */
extern const struct wire_protocol wire_resp2, wire_resp3;

#endif
