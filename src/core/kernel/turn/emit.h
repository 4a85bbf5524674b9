/*
 * How the core says what must be done: these functions append to the effects of
 * the present step.  Only files of src/core include this.
 *
 * A field belongs to the effect that was emitted last.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_EMIT_H
#define LOCKBROKER_CORE_KERNEL_TURN_EMIT_H

#include "base/span.h"
#include "core/core.h"

void emit_reply(
    struct core *core, uint64_t session, uint64_t ref, enum status status);
void emit_error(struct core *core, uint64_t session, uint64_t ref,
    enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
void emit_undone(struct core *core); /* said of the last error */

/* The error of a request that would wait for itself; the names, as `a -> b ->
 * a`, are shown only to users that may watch all of them. */
void emit_circle(
    struct core *core, uint64_t session, uint64_t ref, struct span circle);
void emit_event(struct core *core, uint64_t session, enum event_id event,
    const char *name, size_t name_len);

/* The reply to a QUEUE; fields about who has the name elsewhere may follow. */
void emit_queue(struct core *core, uint64_t session, uint64_t ref,
    enum kind kind, uint64_t limit, const char *name, size_t name_len);

/* The reply to a BROKERS. */
void emit_fleet(struct core *core, uint64_t session, uint64_t ref);

/* The reply to a WHY, of n links; each follows, and its fields. */
void emit_why(struct core *core, uint64_t session, uint64_t ref, unsigned n);
void emit_link(struct core *core, const char *name, size_t name_len);

/* The answer to a CORE_TOKEN; the caller fills in the rest of it before it
 * emits another one. */
struct token_result *emit_token(struct core *core, uint64_t session,
    uint64_t ref, const char *token, size_t token_len);

/*
 * The session has its connection from now on, and its client owes a line within
 * that time (0: never).  A connection to be closed has no session any longer.
 */
void emit_attach(struct core *core, uint64_t session, int64_t heartbeat_ms);
void emit_close(struct core *core, uint64_t conn);

/* A line for the operator; its fields follow. */
void emit_notice(struct core *core, enum notice_id id);

/* A field of text, formatted as by printf(). */
void emit_fmt(struct core *core, enum field_id id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns a zeroed operation; fill it in before anything else is emitted. */
struct op *emit_op(struct core *core, const char *name, size_t name_len);

/* Copies the texts of an operation on token holds into it. */
void emit_op_holder(
    struct core *core, struct op *op, const char *holder, const char *other);

void emit_num(struct core *core, enum field_id id, uint64_t num);
void emit_str(struct core *core, enum field_id id, const char *str, size_t len);
void emit_text(struct core *core, enum field_id id, const char *text);

/* The milliseconds that have passed since then. */
void emit_since(struct core *core, enum field_id id, int64_t since_ms);

/* Are lines of debugging wanted? */
bool emit_debugs(const struct core *core);

#endif
