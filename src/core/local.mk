# src/core: add each .c and .h to the list of its module, one a line.
#
# Each module is a library of its own, and uses only those above it in this
# file; tests/layers looks after that.
noinst_LIBRARIES += src/core/turn/libturn.a
src_core_turn_libturn_a_SOURCES = \
	src/core/turn/effects.c \
	src/core/turn/emit.h \
	src/core/turn/job.c \
	src/core/turn/job.h \
	src/core/turn/marks.h \
	src/core/turn/part.h \
	src/core/turn/slot.c \
	src/core/turn/slot.h \
	src/core/turn/tally.c \
	src/core/turn/tally.h \
	src/core/turn/turn.c \
	src/core/turn/turn.h \
	src/core/turn/work.h

noinst_LIBRARIES += src/core/measure/libmeasure.a
src_core_measure_libmeasure_a_SOURCES = \
	src/core/measure/classes.c \
	src/core/measure/classes.h \
	src/core/measure/count.c \
	src/core/measure/count.h \
	src/core/measure/measure.h \
	src/core/measure/past.c \
	src/core/measure/past.h \
	src/core/measure/report.c

noinst_LIBRARIES += src/core/session/libsession.a
src_core_session_libsession_a_SOURCES = \
	src/core/session/notify.c \
	src/core/session/notify.h \
	src/core/session/holding.c \
	src/core/session/holding.h \
	src/core/session/owner.c \
	src/core/session/owner.h \
	src/core/session/claim.c \
	src/core/session/claim.h \
	src/core/session/place.c \
	src/core/session/place.h \
	src/core/session/quota.c \
	src/core/session/quota.h \
	src/core/session/share.c \
	src/core/session/share.h \
	src/core/session/record.c \
	src/core/session/record.h \
	src/core/session/valid.c \
	src/core/session/valid.h

noinst_LIBRARIES += src/core/guard/libguard.a
src_core_guard_libguard_a_SOURCES = \
	src/core/guard/clock.c \
	src/core/guard/clock.h \
	src/core/guard/guard.c \
	src/core/guard/guard.h \
	src/core/guard/guard_heartbeat.c \
	src/core/guard/guard_wait.c \
	src/core/guard/guard_wait.h \
	src/core/guard/journal.c \
	src/core/guard/parts.h \
	src/core/guard/quorum.c \
	src/core/guard/quorum.h \
	src/core/guard/recovery.c \
	src/core/guard/guard_refused.c \
	src/core/guard/skew.h \
	src/core/guard/sweep.c \
	src/core/guard/sweep.h \
	src/core/guard/voter_place.c \
	src/core/guard/voter_place.h \
	src/core/guard/voter_set.c \
	src/core/guard/voter_set.h \
	src/core/guard/voter_stage.c \
	src/core/guard/voter_stage.h \
	src/core/guard/voters.c \
	src/core/guard/voters.h \
	src/core/guard/why.c

noinst_LIBRARIES += src/core/lease/liblease.a
src_core_lease_liblease_a_SOURCES = \
	src/core/lease/check.c \
	src/core/lease/lease.c \
	src/core/lease/lease.h \
	src/core/lease/lease_ask.c \
	src/core/lease/outcome.c \
	src/core/lease/pace.c \
	src/core/lease/pace.h \
	src/core/lease/parts.h \
	src/core/lease/state.c \
	src/core/lease/tell.c \
	src/core/lease/tell.h \
	src/core/lease/term.c \
	src/core/lease/term.h \
	src/core/lease/votes.c \
	src/core/lease/votes.h

noinst_LIBRARIES += src/core/lock/liblock.a
src_core_lock_liblock_a_SOURCES = \
	src/core/lock/about.c \
	src/core/lock/about.h \
	src/core/lock/admit.c \
	src/core/lock/admit.h \
	src/core/lock/broker_message.c \
	src/core/lock/broker_message.h \
	src/core/lock/check.c \
	src/core/lock/fit.c \
	src/core/lock/fit.h \
	src/core/lock/force.c \
	src/core/lock/force.h \
	src/core/lock/force_list.c \
	src/core/lock/force_message.c \
	src/core/lock/force_state.h \
	src/core/lock/grant.c \
	src/core/lock/grant.h \
	src/core/lock/group.c \
	src/core/lock/group.h \
	src/core/lock/group_turn.c \
	src/core/lock/hold.c \
	src/core/lock/hold.h \
	src/core/lock/holders.c \
	src/core/lock/hooks.h \
	src/core/lock/lessee.c \
	src/core/lock/lock.c \
	src/core/lock/lock.h \
	src/core/lock/measured.c \
	src/core/lock/measured.h \
	src/core/lock/names.c \
	src/core/lock/names.h \
	src/core/lock/notify.c \
	src/core/lock/notify.h \
	src/core/lock/parting.c \
	src/core/lock/parting.h \
	src/core/lock/queue.c \
	src/core/lock/queue.h \
	src/core/lock/recall.c \
	src/core/lock/recall.h \
	src/core/lock/sharers.c \
	src/core/lock/state.h \
	src/core/lock/stored.c \
	src/core/lock/stored.h \
	src/core/lock/sweep.c \
	src/core/lock/unlock.c \
	src/core/lock/unowned.c \
	src/core/lock/unowned.h \
	src/core/lock/warm.c \
	src/core/lock/warm.h \
	src/core/lock/watch.c \
	src/core/lock/watch.h \
	src/core/lock/watchers.c \
	src/core/lock/watchers.h \
	src/core/lock/withdraw.c

noinst_LIBRARIES += src/core/sync/libsync.a
src_core_sync_libsync_a_SOURCES = \
	src/core/sync/barrier.c \
	src/core/sync/check.c \
	src/core/sync/latch.c \
	src/core/sync/line.c \
	src/core/sync/line.h \
	src/core/sync/notify.c \
	src/core/sync/notify.h \
	src/core/sync/sync_part.c \
	src/core/sync/permits.c \
	src/core/sync/semaphore.c \
	src/core/sync/semaphore.h \
	src/core/sync/semaphore_state.h \
	src/core/sync/sync.c \
	src/core/sync/sync.h \
	src/core/sync/lessee.c

noinst_LIBRARIES += src/core/token/libtoken.a
src_core_token_libtoken_a_SOURCES = \
	src/core/token/adopt.c \
	src/core/token/adopt.h \
	src/core/token/answer.c \
	src/core/token/call.c \
	src/core/token/call.h \
	src/core/token/calls.c \
	src/core/token/holder_text.c \
	src/core/token/measured.c \
	src/core/token/measured.h \
	src/core/token/notify.c \
	src/core/token/notify.h \
	src/core/token/token_part.c \
	src/core/token/parts.h \
	src/core/token/newcomer.c \
	src/core/token/newcomer.h \
	src/core/token/poll.c \
	src/core/token/poll.h \
	src/core/token/pollers.c \
	src/core/token/pollers.h \
	src/core/token/pollers_told.c \
	src/core/token/state.h \
	src/core/token/token.c \
	src/core/token/token.h \
	src/core/token/token_record.c \
	src/core/token/token_record.h

noinst_LIBRARIES += src/core/libcore.a
src_core_libcore_a_SOURCES = \
	src/core/agenda.c \
	src/core/agenda.h \
	src/core/busiest.c \
	src/core/busiest.h \
	src/core/core.c \
	src/core/core.h \
	src/core/dump.c \
	src/core/dump.h \
	src/core/fleet.c \
	src/core/fleet.h \
	src/core/leave.c \
	src/core/leave.h \
	src/core/life.c \
	src/core/life.h \
	src/core/listing.c \
	src/core/listing_brokers.c \
	src/core/listing_held.c \
	src/core/listing_history.c \
	src/core/listing_names.c \
	src/core/listing_queue.c \
	src/core/listing_state.h \
	src/core/notice.h \
	src/core/parts.h \
	src/core/replay.c \
	src/core/replay.h \
	src/core/status.c \
	src/core/status.h \
	src/core/step.c \
	src/core/step.h \
	src/core/obstacle.c \
	src/core/obstacle.h \
	src/core/stop.c \
	src/core/stop.h
