/*
 * Sessions: begin with a connection, end with it or some time later.
 *
 * A session may go on without a connection, detached, for two reasons that
 * overlap.  It has asked for grace, so that a client may resume it over another
 * connection.  Or its connection was reset after the client had been told a
 * `valid=`, and the client may still work by its own clock ("End of stream" in
 * lockbroker-protocol(7)).
 *
 * A session with grace outlives every end of its connection but QUIT: if a
 * client dies or a proxy restarts, the connection closes in as orderly a way as
 * if the client were done.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/dump.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/leave.h"
#include "core/kernel/life.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/session/notify.h"
#include "core/kernel/session/place.h"
#include "core/kernel/session/valid.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/work.h"

/* The id as 16 hexadecimal digits, then the secret. */
#define ID_DIGITS 16
#define KEY_DIGITS (ID_DIGITS + 2 * CORE_SECRET_BYTES)

void
session_open(
    struct core *core, uint64_t id, const char *peer, bool tcp, bool proxied)
{
	struct session *s = session_new(core, id, peer);

	s->tcp = tcp;
	s->proxied = proxied;
	PARTS_CALL(opened, core, s);
}

/* One session more than before has a place: more than one of those that are
 * spare go only after a reload, which may have left far too many. */
static void
make_room(struct core *core)
{
	struct session *s;
	unsigned n;

	for (n = 0; n < 2; n++) {
		s = place_surplus(core);
		if (s == NULL)
			return;
		core->stats.graces_dropped++;
		leave_end(core, s, true);
	}
}

static int64_t
cut_grace(const struct core *core, int64_t grace_ms)
{
	return min_ms(grace_ms, core->config.locks.max_grace_ms);
}

static void
set_grace(struct core *core, struct session *s, int64_t grace_ms)
{
	grace_ms = cut_grace(core, grace_ms);
	core->sessions->nkeepers +=
	    (grace_ms > 0) - (s->option[SESSION_GRACE] > 0);
	s->option[SESSION_GRACE] = grace_ms;
	place_look(core, s);
	make_room(core);
	if (grace_ms == 0)
		PARTS_CALL(closed, core, s);
}

/* A client has shut down sending: its requests no longer wait.  A walk visits
 * them one after the other, in parts.  Until then a request waits as before,
 * and may be granted, as if the end of the client's stream had come a little
 * later. */

static void
begin_hasten(struct owner *owner, struct cursor *at)
{
	cursor_begin(&owner->cursors, at, TAILQ_FIRST(&owner->waiting),
	    offsetof(struct claim, in_owner));
}

/* Hastens one request.  Returns false if none was left. */
static bool
hasten_one(struct core *core, struct owner *owner, struct cursor *at)
{
	struct claim *c = cursor_take(at);

	(void)owner;
	if (c != NULL)
		c->class->hasten(core, c);
	return c != NULL;
}

bool
hasten_on(struct core *core)
{
	return owner_walk_on(core, WALK_HASTEN, begin_hasten, hasten_one);
}

static void
hasten(struct core *core, struct owner *owner)
{
	owner_walk(core, owner, WALK_HASTEN);
	job_run(core, JOB_HASTEN);
}

void
session_drain(struct core *core, struct session *s)
{
	if (s->owner.draining)
		return;
	s->owner.draining = true;
	hasten(core, &s->owner);
}

/*
 * Did the client end the session, so that it no longer counts on a valid=?  A
 * proxy closes in an orderly way, too, when its client is cut off, and so does
 * the kernel for a process that is killed.
 */
static bool
ended_by_client(const struct session *s, bool orderly, bool quit)
{
	if (quit || s->option[SESSION_END] != 0)
		return quit;
	return (orderly && !s->proxied) || !s->tcp;
}

/* Returns until when the session goes on without a connection; the present if
 * it does not. */
static int64_t
lives_until(
    const struct core *core, const struct session *s, bool orderly, bool quit)
{
	int64_t until_ms = core->now_ms;

	if (quit || core->stopping)
		return until_ms;
	until_ms += cut_grace(core, s->option[SESSION_GRACE]);
	if (!ended_by_client(s, orderly, quit) && s->valid_ms > until_ms &&
	    owner_has(&s->owner) > 0)
		until_ms = s->valid_ms;
	return until_ms;
}

/* Its requests leave their queues at once in any case: no client is there to be
 * granted anything. */
void
session_gone(struct core *core, struct session *s, bool orderly, bool quit)
{
	int64_t until_ms = lives_until(core, s, orderly, quit);

	s->conn = 0;
	leave_withdraw(core, s);
	if (until_ms <= core->now_ms) {
		if (core->stopping && !ended_by_client(s, orderly, quit))
			leave_outlive(core, s);
		/* QUIT is a word of the client, like UNLOCK; after any other
		 * end delay= begins. */
		leave_end(core, s, quit);
		return;
	}
	s->owner.draining = false;
	s->detached = true;
	if (!ended_by_client(s, orderly, quit))
		s->owner.promised_ms = s->valid_ms;
	notify_session(core, NOTICE_SESSION_AWAY, &s->owner);
	place_look(core, s);
	PARTS_CALL(gone, core, &s->owner, s->option[SESSION_GRACE] == 0);
	core_arm(core, &s->end, until_ms);
}

/* Its grace and its valid= are over.  That is no release by the client: delay=
 * begins. */
void
session_timer(struct core *core, struct timer *t)
{
	struct session *s = container_of(t, struct session, end);

	assert(s->detached);
	leave_end(core, s, false);
}

/* SESSION and RESUME. */

static void
write_key(const struct session *s, char out[KEY_DIGITS])
{
	static const char digits[] = "0123456789abcdef";
	unsigned i;

	for (i = 0; i < ID_DIGITS; i++)
		out[i] = digits[s->owner.id >> 4 * (ID_DIGITS - 1 - i) & 15];
	for (i = 0; i < CORE_SECRET_BYTES; i++) {
		out[ID_DIGITS + 2 * i] = digits[s->secret[i] >> 4];
		out[ID_DIGITS + 2 * i + 1] = digits[s->secret[i] & 15];
	}
}

/*
 * Finds the session by its id, which is no secret; compares the key in the same
 * time wherever it differs.
 */
static struct session *
find_by_key(struct core *core, const char *key, size_t len)
{
	unsigned differ = 0;
	struct session *s;
	char right[KEY_DIGITS];
	uint64_t id = 0;
	unsigned i;

	if (len != KEY_DIGITS)
		return NULL;
	for (i = 0; i < ID_DIGITS; i++)
		id = id << 4 |
		     (((unsigned)key[i] & 15u) + (key[i] > '9' ? 9u : 0u));
	s = session_find(core, id);
	if (s == NULL || !s->has_secret || s->over)
		return NULL;
	write_key(s, right);
	for (i = 0; i < KEY_DIGITS; i++)
		differ |= (unsigned char)key[i] ^ (unsigned char)right[i];
	return differ == 0 ? s : NULL;
}

void
session_set_user(struct core *core, struct session *s, const char *name)
{
	owner_set_user(core, &s->owner, name);
	place_pass(core, s);
}

/*
 * May a client of that user resume the session?  A connection has no user only
 * if none are configured: it may resume all.  And a session that has a key and
 * no user was made when there were none: then the key alone shows whose it is.
 */
static bool
is_for(const struct session *s, const char *user)
{
	return user == NULL || s->owner.user == NULL ||
	       strcmp(s->owner.user, user) == 0;
}

/* How options are set, if there is more to it, and how a reply shows them
 * unless they are 0: as a word, or as their number. */
static const struct {
	void (*set)(struct core *core, struct session *s, int64_t num);
	enum field_id field;
	const char *word;
} session_options[SESSION_OPTIONS] = {
	[SESSION_GRACE] = { set_grace, FIELD_GRACE, NULL },
	[SESSION_HEARTBEAT] = { NULL, FIELD_HEARTBEAT, NULL },
	[SESSION_END] = { NULL, FIELD_END, "quit" },
	[SESSION_WHY] = { NULL, FIELD_WHY, "yes" },
};

static void
tell_options(struct core *core, const struct session *s)
{
	unsigned i;

	for (i = 0; i < SESSION_OPTIONS; i++)
		if (s->option[i] != 0 && session_options[i].word != NULL)
			emit_text(core, session_options[i].field,
			    session_options[i].word);
		else if (s->option[i] != 0)
			emit_num(core, session_options[i].field,
			    (uint64_t)s->option[i]);
}

void
session_set_options(
    struct core *core, struct session *s, const struct core_session_options *t)
{
	char key[KEY_DIGITS];
	unsigned i;

	if ((t->given & 1u << SESSION_GRACE) != 0 &&
	    cut_grace(core, t->num[SESSION_GRACE]) > 0 &&
	    !place_admits(core, s, t->ref))
		return;
	if (t->label != NULL) {
		free(s->owner.label);
		s->owner.label = xstrndup(t->label, t->label_len);
		notify_session(core, NOTICE_SESSION_NAMED, &s->owner);
	}
	for (i = 0; i < SESSION_OPTIONS; i++)
		if ((t->given & 1u << i) != 0 && session_options[i].set != NULL)
			session_options[i].set(core, s, t->num[i]);
		else if ((t->given & 1u << i) != 0)
			s->option[i] = t->num[i];
	/* A key that was told stays good, however often SESSION comes. */
	if (!s->has_secret)
		memcpy(s->secret, t->secret, sizeof(s->secret));
	s->has_secret = true;
	write_key(s, key);
	emit_reply(core, s->owner.id, t->ref, STATUS_OK);
	emit_num(core, FIELD_ID, s->owner.id);
	emit_str(core, FIELD_KEY, key, sizeof(key));
	if (s->owner.label != NULL)
		emit_str(
		    core, FIELD_LABEL, s->owner.label, strlen(s->owner.label));
	tell_options(core, s);
	if ((t->given & 1u << SESSION_HEARTBEAT) != 0)
		emit_attach(core, s->owner.id, s->option[SESSION_HEARTBEAT]);
}

/* Of at most limits.holds semaphores. */
static uint64_t
permits_sum(const struct core *core, const struct owner *owner)
{
	const struct holding *h;
	uint64_t n = 0;

	TAILQ_FOREACH (h, &owner->holdings[HOLDING_PERMITS], in_owner)
		n += holding_class(core, h)->count(h);
	return n;
}

/*
 * Gives the connection of `own` to session s, and ends `own`.  Grants that were
 * not told are undone with the requests: their answers went to the old
 * connection.  The peer and the user id are those of the new one.
 */
static void
take_over(struct core *core, struct session *own, struct session *s)
{
	char *peer = s->owner.peer;

	leave_withdraw(core, s);
	if (s->conn != 0)
		emit_close(core, s->conn);
	core_disarm(core, &s->end);
	s->detached = false;
	place_look(core, s);
	s->owner.promised_ms = 0;
	PARTS_CALL(gone, core, &s->owner, false);
	s->conn = own->conn;
	s->tcp = own->tcp;
	s->proxied = own->proxied;
	s->owner.draining = own->owner.draining;
	s->owner.peer = own->owner.peer;
	own->owner.peer = peer;
	s->owner.uid = own->owner.uid;
	if (s->owner.user == NULL)
		session_set_user(core, s, own->owner.user);
	notify_session(core, NOTICE_SESSION_RESUMED, &s->owner);
	leave_end(core, own, true);
	emit_attach(core, s->owner.id, s->option[SESSION_HEARTBEAT]);
}

/* Is its end due?  A later step sees to it. */
static bool
is_over(const struct core *core, const struct session *s)
{
	return timer_armed(&s->end) &&
	       core_armed_ms(core, &s->end) <= core->now_ms;
}

bool
session_resumable(
    struct core *core, const char *key, size_t key_len, const char *user)
{
	const struct session *s = find_by_key(core, key, key_len);

	return s != NULL && !is_over(core, s) && is_for(s, user);
}

void
session_resume(struct core *core, struct session *own, uint64_t ref,
    const char *key, size_t key_len)
{
	struct session *s = find_by_key(core, key, key_len);

	if (s != NULL && (is_over(core, s) || !is_for(s, own->owner.user)))
		s = NULL;
	if (s != NULL && s->place == PLACE_SPARE &&
	    !place_has_room(core, own->owner.user)) {
		leave_end(core, s, true);
		s = NULL;
	}
	if (s == NULL) {
		emit_error(core, own->owner.id, ref, ERR_NOT_FOUND,
		    "no session has that key; it may have ended");
		return;
	}
	if (s != own && owner_load(&own->owner) > own->owner.nwatches) {
		emit_error(core, own->owner.id, ref, ERR_BAD_REQUEST,
		    "the session of this connection holds or waits for"
		    " something; resume over a fresh one");
		return;
	}
	/* The session may not have received the events of this step: they are
	 * kept, and sent again with the rest, after the answer. */
	PARTS_CALL(told, core, core->fx_first);
	if (s != own)
		take_over(core, own, s);
	emit_reply(core, s->owner.id, ref, STATUS_OK);
	emit_num(core, FIELD_ID, s->owner.id);
	emit_num(core, FIELD_LOCKS, s->owner.nheld[HOLDING_NAME]);
	if (s->owner.nheld[HOLDING_PERMITS] > 0)
		emit_num(core, FIELD_PERMITS, permits_sum(core, &s->owner));
	core->fx_first = core->fx->n;
	PARTS_CALL(resumed, core, s);
}

/*
 * The client counts the time in the reply from the moment at which it sent the
 * PING, and relies on it even if its connection is cut.  So the reply binds the
 * broker: valid_ms keeps the session's holds from others until then, should its
 * connection break.  This is no step, so it counts its own work.
 */
int64_t
core_ping(struct core *core, int64_t now_ms, uint64_t session)
{
	struct session *s = session_find(core, session);
	int64_t least_ms;

	assert(s != NULL);
	work_begin(core);
	/* A PING is a word of the client, as a request is. */
	PARTS_CALL(heard, core, s);
	least_ms = valid_until_ms(core, &s->owner);
	work_end(core);
	if (least_ms == INT64_MAX)
		return -1;
	/* A broker that stops promises no more than it has already. */
	if (core->stopping && least_ms > s->valid_ms)
		least_ms = s->valid_ms;
	if (least_ms < now_ms)
		least_ms = now_ms;
	s->valid_ms = least_ms;
	/* Round down: part of the present millisecond has passed. */
	return least_ms > now_ms ? least_ms - now_ms - 1 : 0;
}
