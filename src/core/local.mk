# src/core: each .c and .h is in the list of its library, one a line.
#
# Each module of the kernel is a library of its own, and uses only those above it
# in this file; the parts are one; tests/layers looks after who uses which.
noinst_LIBRARIES += src/core/kernel/turn/libturn.a
src_core_kernel_turn_libturn_a_SOURCES = \
	src/core/kernel/turn/effects.c \
	src/core/kernel/turn/emit.h \
	src/core/kernel/turn/job.c \
	src/core/kernel/turn/job.h \
	src/core/kernel/turn/marks.h \
	src/core/kernel/turn/part.c \
	src/core/kernel/turn/part.h \
	src/core/kernel/turn/slot.c \
	src/core/kernel/turn/slot.h \
	src/core/kernel/turn/tally.c \
	src/core/kernel/turn/tally.h \
	src/core/kernel/turn/turn.c \
	src/core/kernel/turn/turn.h \
	src/core/kernel/turn/work.h

noinst_LIBRARIES += src/core/kernel/session/libsession.a
src_core_kernel_session_libsession_a_SOURCES = \
	src/core/kernel/session/claim.c \
	src/core/kernel/session/claim.h \
	src/core/kernel/session/holding.c \
	src/core/kernel/session/holding.h \
	src/core/kernel/session/notify.c \
	src/core/kernel/session/notify.h \
	src/core/kernel/session/owner.c \
	src/core/kernel/session/owner.h \
	src/core/kernel/session/place.c \
	src/core/kernel/session/place.h \
	src/core/kernel/session/quota.c \
	src/core/kernel/session/quota.h \
	src/core/kernel/session/record.c \
	src/core/kernel/session/record.h \
	src/core/kernel/session/share.c \
	src/core/kernel/session/share.h \
	src/core/kernel/session/valid.c \
	src/core/kernel/session/valid.h

noinst_LIBRARIES += src/core/kernel/guard/libguard.a
src_core_kernel_guard_libguard_a_SOURCES = \
	src/core/kernel/guard/alone.c \
	src/core/kernel/guard/clock.c \
	src/core/kernel/guard/clock.h \
	src/core/kernel/guard/electorate.c \
	src/core/kernel/guard/electorate.h \
	src/core/kernel/guard/guard.c \
	src/core/kernel/guard/guard.h \
	src/core/kernel/guard/guard_heartbeat.c \
	src/core/kernel/guard/guard_refused.c \
	src/core/kernel/guard/guard_wait.c \
	src/core/kernel/guard/guard_wait.h \
	src/core/kernel/guard/journal.c \
	src/core/kernel/guard/parts.h \
	src/core/kernel/guard/skew.h \
	src/core/kernel/guard/sweep.c \
	src/core/kernel/guard/sweep.h \
	src/core/kernel/guard/why.c

noinst_LIBRARIES += src/core/kernel/lease/liblease.a
src_core_kernel_lease_liblease_a_SOURCES = \
	src/core/kernel/lease/check.c \
	src/core/kernel/lease/lease.c \
	src/core/kernel/lease/lease.h \
	src/core/kernel/lease/lease_ask.c \
	src/core/kernel/lease/outcome.c \
	src/core/kernel/lease/pace.c \
	src/core/kernel/lease/pace.h \
	src/core/kernel/lease/parts.h \
	src/core/kernel/lease/state.c \
	src/core/kernel/lease/tell.c \
	src/core/kernel/lease/tell.h \
	src/core/kernel/lease/term.c \
	src/core/kernel/lease/term.h

noinst_LIBRARIES += src/core/kernel/lock/liblock.a
src_core_kernel_lock_liblock_a_SOURCES = \
	src/core/kernel/lock/admit.c \
	src/core/kernel/lock/admit.h \
	src/core/kernel/lock/broker_message.c \
	src/core/kernel/lock/broker_message.h \
	src/core/kernel/lock/check.c \
	src/core/kernel/lock/fit.c \
	src/core/kernel/lock/fit.h \
	src/core/kernel/lock/grant.c \
	src/core/kernel/lock/grant.h \
	src/core/kernel/lock/group.c \
	src/core/kernel/lock/group.h \
	src/core/kernel/lock/group_turn.c \
	src/core/kernel/lock/hold.c \
	src/core/kernel/lock/hold.h \
	src/core/kernel/lock/holders.c \
	src/core/kernel/lock/hooks.c \
	src/core/kernel/lock/hooks.h \
	src/core/kernel/lock/lessee.c \
	src/core/kernel/lock/lock.c \
	src/core/kernel/lock/lock.h \
	src/core/kernel/lock/names.c \
	src/core/kernel/lock/names.h \
	src/core/kernel/lock/parting.c \
	src/core/kernel/lock/parting.h \
	src/core/kernel/lock/queue.c \
	src/core/kernel/lock/queue.h \
	src/core/kernel/lock/sharers.c \
	src/core/kernel/lock/state.h \
	src/core/kernel/lock/stored.c \
	src/core/kernel/lock/stored.h \
	src/core/kernel/lock/sweep.c \
	src/core/kernel/lock/unlock.c \
	src/core/kernel/lock/withdraw.c

noinst_LIBRARIES += src/core/kernel/libkernel.a
src_core_kernel_libkernel_a_SOURCES = \
	src/core/kernel/agenda.c \
	src/core/kernel/agenda.h \
	src/core/kernel/leave.c \
	src/core/kernel/leave.h \
	src/core/kernel/life.c \
	src/core/kernel/life.h \
	src/core/kernel/step.c \
	src/core/kernel/step.h \
	src/core/kernel/stop.c \
	src/core/kernel/stop.h

noinst_LIBRARIES += src/core/parts/observe/libmeasure.a
src_core_parts_observe_libmeasure_a_SOURCES = \
	src/core/parts/observe/classes.c \
	src/core/parts/observe/classes.h \
	src/core/parts/observe/count.c \
	src/core/parts/observe/count.h \
	src/core/parts/observe/measure.h \
	src/core/parts/observe/past.c \
	src/core/parts/observe/past.h \
	src/core/parts/observe/report.c

noinst_LIBRARIES += src/core/parts/libparts.a
src_core_parts_libparts_a_SOURCES = \
	src/core/parts/fleet/fleet.c \
	src/core/parts/fleet/fleet.h \
	src/core/parts/drill/drill.c \
	src/core/parts/force/force.c \
	src/core/parts/force/force.h \
	src/core/parts/force/force_list.c \
	src/core/parts/force/force_message.c \
	src/core/parts/force/force_state.h \
	src/core/parts/ids.h \
	src/core/parts/observe/measured.c \
	src/core/parts/observe/measured.h \
	src/core/parts/observe/notify.c \
	src/core/parts/observe/notify.h \
	src/core/parts/quorum/quorum.c \
	src/core/parts/quorum/quorum.h \
	src/core/parts/quorum/recovery.c \
	src/core/parts/quorum/voter_place.c \
	src/core/parts/quorum/voter_place.h \
	src/core/parts/quorum/voter_set.c \
	src/core/parts/quorum/voter_set.h \
	src/core/parts/quorum/voter_stage.c \
	src/core/parts/quorum/voter_stage.h \
	src/core/parts/quorum/voters.c \
	src/core/parts/quorum/voters.h \
	src/core/parts/quorum/votes.c \
	src/core/parts/quorum/votes.h \
	src/core/parts/replay/replay.c \
	src/core/parts/sync/barrier.c \
	src/core/parts/sync/check.c \
	src/core/parts/sync/latch.c \
	src/core/parts/sync/lessee.c \
	src/core/parts/sync/line.c \
	src/core/parts/sync/line.h \
	src/core/parts/sync/notify.c \
	src/core/parts/sync/notify.h \
	src/core/parts/sync/permit_slots.c \
	src/core/parts/sync/permit_slots.h \
	src/core/parts/sync/permits.c \
	src/core/parts/sync/semaphore.c \
	src/core/parts/sync/semaphore.h \
	src/core/parts/sync/semaphore_request.c \
	src/core/parts/sync/semaphore_state.h \
	src/core/parts/sync/sync.c \
	src/core/parts/sync/sync.h \
	src/core/parts/sync/sync_part.c \
	src/core/parts/notes/notes.c \
	src/core/parts/notes/notes.h \
	src/core/parts/tenant/tenant.c \
	src/core/parts/token/adopt.c \
	src/core/parts/token/adopt.h \
	src/core/parts/token/answer.c \
	src/core/parts/token/call.c \
	src/core/parts/token/call.h \
	src/core/parts/token/calls.c \
	src/core/parts/token/holder_text.c \
	src/core/parts/token/measured.c \
	src/core/parts/token/measured.h \
	src/core/parts/token/newcomer.c \
	src/core/parts/token/newcomer.h \
	src/core/parts/token/notify.c \
	src/core/parts/token/notify.h \
	src/core/parts/token/parts.h \
	src/core/parts/token/poll.c \
	src/core/parts/token/poll.h \
	src/core/parts/token/pollers.c \
	src/core/parts/token/pollers.h \
	src/core/parts/token/pollers_told.c \
	src/core/parts/token/state.h \
	src/core/parts/token/token.c \
	src/core/parts/token/token.h \
	src/core/parts/token/token_part.c \
	src/core/parts/token/token_record.c \
	src/core/parts/token/token_record.h \
	src/core/parts/unowned/unowned.c \
	src/core/parts/views/about.c \
	src/core/parts/views/about.h \
	src/core/parts/views/busiest.c \
	src/core/parts/views/busiest.h \
	src/core/parts/views/gauges.c \
	src/core/parts/views/listing.c \
	src/core/parts/views/listing_brokers.c \
	src/core/parts/views/listing_held.c \
	src/core/parts/views/listing_history.c \
	src/core/parts/views/listing_names.c \
	src/core/parts/views/listing_queue.c \
	src/core/parts/views/listing_state.h \
	src/core/parts/views/obstacle.c \
	src/core/parts/views/obstacle.h \
	src/core/parts/views/status.c \
	src/core/parts/views/chain.c \
	src/core/parts/warm/plain.c \
	src/core/parts/warm/plain.h \
	src/core/parts/warm/recall.c \
	src/core/parts/warm/warm.c \
	src/core/parts/warm/warm.h \
	src/core/parts/watch/watch.c \
	src/core/parts/watch/watch.h \
	src/core/parts/watch/watchers.c \
	src/core/parts/watch/watchers.h

noinst_LIBRARIES += src/core/libcore.a
src_core_libcore_a_SOURCES = \
	src/core/core.c \
	src/core/core.h \
	src/core/dump.h \
	src/core/notice.h
