# src/core: add each .c and .h to the list, one a line.
noinst_LIBRARIES += src/core/libcore.a
src_core_libcore_a_SOURCES = \
	src/core/barrier.c \
	src/core/barrier.h \
	src/core/core.c \
	src/core/core.h \
	src/core/deadlock.c \
	src/core/deadlock.h \
	src/core/dump.c \
	src/core/dump.h \
	src/core/effects.c \
	src/core/emit.h \
	src/core/group.c \
	src/core/group.h \
	src/core/guard.c \
	src/core/guard.h \
	src/core/hold.c \
	src/core/hold.h \
	src/core/latch.c \
	src/core/latch.h \
	src/core/lease.c \
	src/core/lease.h \
	src/core/lease_ask.c \
	src/core/lease_outcome.c \
	src/core/lease_parts.h \
	src/core/lock.c \
	src/core/lock.h \
	src/core/message.c \
	src/core/message.h \
	src/core/queue.c \
	src/core/queue.h \
	src/core/semaphore.c \
	src/core/semaphore.h \
	src/core/session.c \
	src/core/session.h \
	src/core/slot.c \
	src/core/state.h \
	src/core/status.c \
	src/core/status.h \
	src/core/sync.c \
	src/core/sync.h \
	src/core/unlock.c \
	src/core/unlock.h
