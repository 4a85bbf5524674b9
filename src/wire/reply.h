/*
 * Replies and events as lines (protocol, sections 3 and 7).
 *
 * One reply is: reply_begin, fields, reply_end.  All functions append to a
 * buffer; texts are cleaned of control characters so that a reply is one line
 * whatever went into it.
 */
#ifndef LOCKBROKER_WIRE_REPLY_H
#define LOCKBROKER_WIRE_REPLY_H

#include "base/buf.h"
#include "base/err.h"
#include "base/field.h"
#include "base/status.h"
#include "wire/request.h"

/* `@TAG STATUS`; for STATUS_ERR use reply_error instead. */
void reply_begin(struct buf *b, struct span tag, enum status status);

/* ` key=value`; `text` is the arena that string fields point into. */
void reply_fields(
    struct buf *b, const struct field *fields, size_t n, const char *text);
void reply_field_num(struct buf *b, enum field_id id, uint64_t num);
void reply_field_str(struct buf *b, enum field_id id, struct span value);
void reply_end(struct buf *b);

/* `@TAG ERR code text` with its line end. */
void reply_error(struct buf *b, struct span tag, enum err_code code,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* `!EVENT` or `!EVENT NAME` with fields and line end. */
void reply_event(struct buf *b, enum event_id event, struct span name,
    const struct field *fields, size_t n, const char *text);

#endif
