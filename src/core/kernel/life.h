/*
 * Sessions: the unit of ownership ("Sessions" in lockbroker-protocol(7)).
 */
#ifndef LOCKBROKER_CORE_KERNEL_LIFE_H
#define LOCKBROKER_CORE_KERNEL_LIFE_H

#include "core/kernel/session/record.h"

/* Makes the session of a new connection, which has the same id. */
void session_open(
    struct core *core, uint64_t id, const char *peer, bool tcp, bool proxied);

/* Sets the user of the session; NULL: none.  Only the same user resumes it. */
void session_set_user(struct core *core, struct session *s, const char *name);

/* SESSION and RESUME.  A RESUME that takes over another session ends `own`,
 * that of the connection. */
void session_set_options(
    struct core *core, struct session *s, const struct core_session_options *t);
void session_resume(struct core *core, struct session *own, uint64_t ref,
    const char *key, size_t key_len);

/* Would a client of this user find a session by the key?  NULL: no users. */
bool session_resumable(
    struct core *core, const char *key, size_t key_len, const char *user);

/* The client sends nothing more: its requests no longer wait. */
void session_drain(struct core *core, struct session *s);
bool hasten_on(struct core *core); /* a job: goes on with that */

/* The connection is gone: the session releases everything, now or later. */
void session_gone(
    struct core *core, struct session *s, bool orderly, bool quit);
void session_timer(struct core *core, struct timer *t);

#endif
