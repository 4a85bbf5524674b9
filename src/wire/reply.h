/*
 * Values of all messages to clients: the answer to a request, an event, a row
 * of a list.  Handlers make them and know no syntax; the protocol of the
 * connection writes them (protocol.h).
 *
 * Nothing here owns anything.  The data that a value points to must exist until
 * it is written, which is before the call returns.
 */
#ifndef LOCKBROKER_WIRE_REPLY_H
#define LOCKBROKER_WIRE_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/field.h"
#include "base/reply_status.h"
#include "base/span.h"
#include "base/verb.h"

/* The answer to a request. */
struct wire_reply {
	struct span tag;   /* of the request; empty: none */
	enum verb_id verb; /* of the request; VERB_MAX: none was understood */
	enum status status;
	enum err_code code; /* STATUS_ERR: the code, for programs ... */
	bool undone;	    /* ... whether certainly nothing was done ... */
	struct span text;   /* ... and the text, for people */
	const struct field *fields;
	size_t nfields;
	const char *arena; /* the strings of the fields */
};

/* An event: a message to a session that answers no request. */
struct wire_event {
	enum event_id id;
	struct span name; /* empty: the event is about no name */
	const struct field *fields;
	size_t nfields;
	const char *arena;
};

/* One row of an answer that has many. */
struct wire_row {
	struct span word; /* kind of row: `holder`; empty: only one kind */
	struct span name; /* empty: none */
	const struct field *fields;
	size_t nfields;
	const char *arena;
};

#endif
