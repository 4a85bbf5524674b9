/*
 * A core by itself, for stories about semaphores, latches and barriers: what
 * happens to it is said in one line each, and what it does about it is
 * compared as text.
 */
#ifndef LOCKBROKER_TESTS_UNIT_SYNC_RIG_H
#define LOCKBROKER_TESTS_UNIT_SYNC_RIG_H

#include "core/core.h"

#define RIG_LEASE_MS 10000
#define RIG_REPLY_MS 2000 /* redis.reply_timeout */

/* Starts a core with a store that can be reached and is blessed. */
void rig_start(void);
void rig_stop(void);
struct core *rig_core(void);

/* Session `session` asks; the request has this ref. */
void rig_acquire(uint64_t session, uint64_t ref, const char *name,
    uint64_t limit, uint64_t permits, int64_t wait_ms);
void rig_hold(uint64_t session, uint64_t ref, const char *name, uint64_t limit,
    int64_t hold_ms);
void rig_release(
    uint64_t session, uint64_t ref, const char *name, uint64_t permits);
void rig_latch(
    uint64_t session, uint64_t ref, const char *name, uint64_t count);
void rig_countdown(
    uint64_t session, uint64_t ref, const char *name, uint64_t by);
void rig_await(
    uint64_t session, uint64_t ref, const char *name, int64_t wait_ms);
void rig_barrier(uint64_t session, uint64_t ref, const char *name,
    uint64_t parties, int64_t wait_ms);
void rig_cancel(uint64_t session, uint64_t ref, uint64_t by);
void rig_gone(uint64_t session);
void rig_drain(uint64_t session);
void rig_message(const char *text);
void rig_link(bool up);
void rig_pending(const char *pend); /* the server has another history */
void rig_blessed(void);
void rig_stopping(void);

/* So much time passes; timers run when they are due. */
void rig_pass(int64_t ms);

/*
 * The oldest operation in flight ends so; it was sent when it was submitted.
 * first, second, ttl_ms and fence as in struct outcome.
 */
void rig_outcome(enum outcome_status status, uint64_t first, uint64_t second);
void rig_outcome_full(enum outcome_status status, uint64_t first,
    uint64_t second, int64_t ttl_ms, bool waiting, uint64_t fence);

/*
 * What was done since the last call, one word group a thing, "; " between:
 *   op NAME have=1 need=2 ...      an operation; only what is not 0
 *   SESSION/REF OK permits=1       a reply
 *   SESSION !LOST NAME permits=1   an event
 * Guard operations are left out.
 */
void rig_expect(const char *file, int line, const char *text);
#define rig_did(text) rig_expect(__FILE__, __LINE__, text)

#endif
