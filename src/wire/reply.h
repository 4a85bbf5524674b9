/*
 * Values for all that clients are told: the answer to a request, an event, a
 * row of a list.  Handlers make them and know no syntax; the protocol of the
 * connection writes them (protocol.h).
 *
 * Nothing here owns anything.  What a value points to must stay until it is
 * written, which is before the call returns.
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
	struct span tag;   /* of the request; empty: it has none */
	enum verb_id verb; /* of the request; VERB_MAX: none was understood */
	enum status status;
	enum err_code code; /* STATUS_ERR: for programs ... */
	bool undone;	    /* ... whether surely nothing was done ... */
	struct span text;   /* ... and for people */
	const struct field *fields;
	size_t nfields;
	const char *arena; /* where strings of the fields are */
};

/* An event: what a session is told without asking. */
struct wire_event {
	enum event_id id;
	struct span name; /* empty: it is about none */
	const struct field *fields;
	size_t nfields;
	const char *arena;
};

/* One row of an answer that has many. */
struct wire_row {
	struct span word; /* kind of row: `holder`; empty: the only one */
	struct span name; /* empty: it has none */
	const struct field *fields;
	size_t nfields;
	const char *arena;
};

#endif
