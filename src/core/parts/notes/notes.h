/*
 * Notes: what a client says of its request beyond what the kernel needs, and
 * what others are shown with the hold: `value=`, and the trace that it belongs
 * to, `trace=`.
 *
 * They are kept by this broker alone, never in the store, and end with the
 * waiter or the hold.
 */
#ifndef LOCKBROKER_CORE_PARTS_NOTES_NOTES_H
#define LOCKBROKER_CORE_PARTS_NOTES_NOTES_H

#include "base/span.h"
#include "core/kernel/lock/state.h"

/* The note of a struct hold or struct waiter, followed by a NUL, valid until
 * the next step; empty: there is none. */
struct span notes_of(const struct core *core, const void *of, enum note note);

#endif
