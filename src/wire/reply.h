/*
 * What clients are told, as values: the answer to a request, an event, a row
 * of a list.  Handlers make them and know no syntax; the protocol of the
 * connection writes them (protocol.h).
 *
 * Nothing here owns anything: the maker keeps what it points to until it is
 * written, which is before the call returns.
 */
#ifndef LOCKBROKER_WIRE_REPLY_H
#define LOCKBROKER_WIRE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/field.h"
#include "base/span.h"
#include "base/status.h"
#include "base/verb.h"

/* How a request ends. */
struct wire_reply {
	struct span tag;   /* of the request; empty: it has none */
	enum verb_id verb; /* of the request; VERB_MAX: none was understood */
	enum status status;
	enum err_code code; /* STATUS_ERR: for programs ... */
	struct span text;   /* ... and for people */
	const struct field *fields;
	size_t nfields;
	const char *arena; /* where strings of the fields are */
};

/* What a session is told without asking. */
struct wire_event {
	enum event_id id;
	struct span name; /* empty: it is about none */
	const struct field *fields;
	size_t nfields;
	const char *arena;
};

/* One of many that answer a request. */
struct wire_row {
	struct span word; /* what it is: `holder`; empty: only one kind comes */
	struct span name; /* empty: it has none */
	const struct field *fields;
	size_t nfields;
	const char *arena;
};

#endif
