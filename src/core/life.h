/*
 * Sessions: the unit of ownership (protocol, section 4).
 */
#ifndef LOCKBROKER_CORE_LIFE_H
#define LOCKBROKER_CORE_LIFE_H

#include "core/session/record.h"

void session_open(
    struct core *core, uint64_t id, const char *peer, bool tcp, bool proxied);

/* Whose it is from now on; NULL: nobody's.  Only the same user resumes it. */
void session_set_user(struct session *s, const char *name);

/* SESSION and RESUME; the latter frees `own`, the connection's session. */
void session_set_options(
    struct core *core, struct session *s, const struct core_session_options *t);
void session_resume(struct core *core, struct session *own, uint64_t ref,
    const char *key, size_t key_len);

/* The client sends nothing more: what waits is cancelled. */
void session_drain(struct core *core, struct session *s);

/* The connection is gone: everything is given back, now or some time later. */
void session_gone(
    struct core *core, struct session *s, bool orderly, bool quit);
void session_timer(struct core *core, struct timer *t);

#endif
