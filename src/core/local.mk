# src/core: add each .c and .h to the list of its module, one a line.
#
# Each module is a library of its own, and uses only those above it in this
# file; tests/layers looks after that.
noinst_LIBRARIES += src/core/turn/libturn.a
src_core_turn_libturn_a_SOURCES = \
	src/core/turn/effects.c \
	src/core/turn/emit.h \
	src/core/turn/slot.c \
	src/core/turn/slot.h \
	src/core/turn/tally.c \
	src/core/turn/tally.h \
	src/core/turn/turn.c \
	src/core/turn/turn.h \
	src/core/turn/work.c \
	src/core/turn/work.h

noinst_LIBRARIES += src/core/session/libsession.a
src_core_session_libsession_a_SOURCES = \
	src/core/session/notify.c \
	src/core/session/notify.h \
	src/core/session/record.c \
	src/core/session/record.h

noinst_LIBRARIES += src/core/guard/libguard.a
src_core_guard_libguard_a_SOURCES = \
	src/core/guard/clock.c \
	src/core/guard/clock.h \
	src/core/guard/gain.c \
	src/core/guard/gain.h \
	src/core/guard/guard.c \
	src/core/guard/guard.h \
	src/core/guard/journal.c \
	src/core/guard/journal.h \
	src/core/guard/quorum.c \
	src/core/guard/quorum.h \
	src/core/guard/recovery.c \
	src/core/guard/recovery.h \
	src/core/guard/text.c \
	src/core/guard/text.h \
	src/core/guard/voters.c \
	src/core/guard/voters.h

noinst_LIBRARIES += src/core/libcore.a
src_core_libcore_a_SOURCES = \
	src/core/agenda.c \
	src/core/agenda.h \
	src/core/barrier.c \
	src/core/barrier.h \
	src/core/busiest.c \
	src/core/busiest.h \
	src/core/core.c \
	src/core/core.h \
	src/core/deadlock.c \
	src/core/deadlock.h \
	src/core/dump.c \
	src/core/dump.h \
	src/core/force.c \
	src/core/force.h \
	src/core/group.c \
	src/core/group.h \
	src/core/hold.c \
	src/core/hold.h \
	src/core/kept.c \
	src/core/kept.h \
	src/core/latch.c \
	src/core/latch.h \
	src/core/lease.c \
	src/core/lease.h \
	src/core/lease_ask.c \
	src/core/lease_outcome.c \
	src/core/lease_parts.h \
	src/core/leave.c \
	src/core/leave.h \
	src/core/listing.c \
	src/core/listing.h \
	src/core/lock.c \
	src/core/lock.h \
	src/core/message.c \
	src/core/message.h \
	src/core/names.c \
	src/core/names.h \
	src/core/notice.h \
	src/core/notify_lock.c \
	src/core/notify_lock.h \
	src/core/notify_permits.c \
	src/core/notify_permits.h \
	src/core/pace.c \
	src/core/pace.h \
	src/core/parting.c \
	src/core/parting.h \
	src/core/permits.c \
	src/core/queue.c \
	src/core/queue.h \
	src/core/semaphore.c \
	src/core/semaphore.h \
	src/core/semaphore_state.h \
	src/core/session.c \
	src/core/session.h \
	src/core/state.h \
	src/core/status.c \
	src/core/status.h \
	src/core/stop.c \
	src/core/stop.h \
	src/core/stored.c \
	src/core/stored.h \
	src/core/sweep.c \
	src/core/sweep.h \
	src/core/sync.c \
	src/core/sync.h \
	src/core/unlock.c \
	src/core/unlock.h \
	src/core/unowned.c \
	src/core/unowned.h \
	src/core/votes.c \
	src/core/votes.h \
	src/core/wait.c \
	src/core/wait.h \
	src/core/watch.c \
	src/core/watch.h \
	src/core/watchers.c \
	src/core/watchers.h
