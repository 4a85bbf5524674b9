/*
 * Who votes in a quorum, so that any two majorities share a server.
 *
 * Each server has a random id, and a set: the ids of those that vote, with a
 * version.  A server votes only for brokers that go by the same set and that
 * expect its id.  Under one set any two majorities share a server; what needs
 * care is the way from one set to the next.  This file decides which set this
 * broker goes by, and which servers it moves to that set (OP_ENLIST):
 *
 *	founded   none of the servers has a set, and all of them can be reached
 *	joined    the highest set that servers report has all of ours in it
 *	mended    one of the voters has lost its data, and so its id: a
 *	          new server stands where that one was, and replaces it
 *	changed   redis.nodes has other servers: if no broker has asked for the
 *	          old set for a grace period, or the last broker has signed off,
 *	          and a majority of the old ones is in the new set
 *
 * Before a set is changed, brokers move those of its servers that lag behind to
 * it, even brokers that do not go by it.
 *
 * A new set is *open* until a majority of the old one has moved to it and has
 * pledged to stay, or, if there is no such majority, all of the new one.  Until
 * then, and for a grace period after that, servers that had no say in the old
 * set have none in the new one.  Brokers with different lists may draw two sets
 * of one version at once: a server that has moved to one of them may still move
 * to the other, one that has pledged may not, unless the other is settled.
 */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/slot.h"
#include "core/parts/quorum/quorum.h"
#include "core/parts/quorum/voter_place.h"
#include "core/parts/quorum/voter_set.h"
#include "core/parts/quorum/voter_stage.h"
#include "core/parts/quorum/voters.h"

static unsigned
count_known(const struct core *core)
{
	unsigned i, n = 0;

	for (i = 0; i < core->config.shards; i++)
		n += voter_is_known(voter_at(core, i));
	return n;
}

/* The highest set that any server has reported; "": none has one. */
static const char *
highest(const struct core *core)
{
	const struct voter *v, *best = NULL;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (voter_is_known(v) &&
		    (best == NULL || voter_is_higher(v, best)))
			best = v;
	}
	return best != NULL ? best->set : "";
}

static const char *
address(const struct core *core, uint32_t shard)
{
	return quorum_of(core)->nodes[shard];
}

/* The set that our calls to it name; "": none. */
static const char *
sent_set(const struct voter *v)
{
	const char *space = strchr(v->sent, ' ');

	return space != NULL ? space + 1 : "";
}

/*
 * From now on our calls to that server ask for no vote: its id and set are no
 * longer sent, so the guard answers `nodes`.  The operation itself does
 * nothing, as no server has the id 0.
 */
static void
withdraw(struct core *core, struct voter *v)
{
	static const char text[] = "0 - - m ";
	struct slot *slot;

	if (v->sent[0] == '\0')
		return;
	slot_submit(core, &slot, OP_ENLIST, SLOT_GUARD,
	    guard_index(core, v->guard), text, sizeof(text) - 1);
	v->sent[0] = '\0';
	v->guard->busy = true;
}

static void
withdraw_all(struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		withdraw(core, voter_at(core, i));
}

static void disagree(struct core *core, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Says once why there is no set to go by, if that lasts. */
static void
disagree(struct core *core, const char *fmt, ...)
{
	char why[sizeof(quorum_of(core)->why)];
	va_list ap;

	/* Servers are reached, and report a change, one after the other. */
	if (quorum_of(core)->since_ms == 0)
		quorum_of(core)->since_ms = core->now_ms;
	if (core->now_ms < quorum_of(core)->since_ms + core->stall_ms)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	if (strcmp(why, quorum_of(core)->why) == 0)
		return;
	strcpy(quorum_of(core)->why, why);
	emit_notice(core, NOTICE_QUORUM_SERVERS);
	emit_str(core, FIELD_TEXT, quorum_of(core)->why, strlen(why));
}

/* Are two of them one server under two names? */
static bool
is_twice(struct core *core)
{
	const struct voter *v = quorum_of(core)->v;
	uint32_t i, j;

	for (i = 0; i < core->config.shards; i++)
		for (j = 0; j < i; j++) {
			if (!voter_is_known(&v[i]) || !voter_is_known(&v[j]) ||
			    strcmp(v[i].node, v[j].node) != 0)
				continue;
			withdraw_all(core);
			disagree(core,
			    "%s and %s of redis.nodes are the same server: "
			    "name each server once",
			    address(core, j), address(core, i));
			return true;
		}
	return false;
}

/* A set of all servers of this broker.  Requires that all of them are known. */
static void
own_set(const struct core *core, uint64_t version, char *text)
{
	struct set s = { .version = version, .n = core->config.shards };
	uint32_t i;

	for (i = 0; i < s.n; i++)
		strcpy(s.ids[i], voter_at(core, i)->node);
	set_write(&s, text, SET_MAX_BYTES + 1);
}

/* No server has a set.  Versions follow each other from settled sets only, so
 * all first sets are of one version. */
static bool
found(struct core *core, char *text)
{
	uint32_t i;

	if (count_known(core) == core->config.shards) {
		own_set(core, 1, text);
		return true;
	}
	for (i = 0; voter_is_known(voter_at(core, i)); i++)
		;
	disagree(core,
	    "forming a new quorum needs all of its servers; %s is unreachable",
	    address(core, i));
	return false;
}

/* New servers replace those of the set that stood where they are now.  False: a
 * server is neither in the set nor such a new one. */
static bool
mend(const struct core *core, struct set *s)
{
	const struct voter *v;
	uint32_t i;
	unsigned k;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!voter_is_known(v) || set_has(s, v->node))
			continue;
		for (k = 0; k < s->n && !place_was_at(core, s->ids[k], v); k++)
			;
		if (!voter_is_new(v) || k == s->n)
			return false;
		strcpy(s->ids[k], v->node);
	}
	s->version++;
	return true;
}

/* Has a voter of that set stood where that server is now? */
static bool
is_replaced(const struct core *core, const struct set *s, const struct voter *v)
{
	unsigned k;

	for (k = 0; k < s->n; k++)
		if (place_was_at(core, s->ids[k], v))
			return true;
	return false;
}

/* Is that set over, since too few of its servers are left there?  The others
 * have moved to `best`, which is settled. */
static bool
is_over(const struct core *core, const char *set, const char *best)
{
	const struct voter *v;
	unsigned gone = 0;
	struct set s;
	uint32_t i;

	set_parse(&s, set);
	if (!stage_of(core, best, s.n).settled)
		return false;
	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		gone += voter_is_known(v) && strcmp(v->set, best) == 0 &&
			set_has(&s, v->node);
	}
	return s.n > 0 && gone >= set_blocking(s.n);
}

/*
 * If a server's data went back to a time before it was emptied, its old id was
 * replaced since; and two brokers may have drawn two sets of one version, of
 * which one came to nothing: a server that has no say for such a reason becomes
 * an empty one again.
 */
static void
forget(struct core *core, const struct set *s, const char *best)
{
	char text[NODE_BYTES + SET_MAX_BYTES + 8];
	struct slot *slot;
	struct voter *v;
	uint32_t i;
	unsigned k;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!voter_is_known(v) || voter_is_new(v) || v->guard->busy ||
		    core->now_ms < v->enlist_ms || set_has(s, v->node) ||
		    strcmp(v->set, best) == 0)
			continue;
		if (!is_replaced(core, s, v) && !is_over(core, v->set, best))
			continue;
		k = (unsigned)snprintf(
		    text, sizeof(text), "%s - %s f ", v->node, v->set);
		slot_submit(core, &slot, OP_ENLIST, SLOT_GUARD, i, text, k);
		v->sent[0] = '\0';
		v->guard->busy = true;
	}
}

/*
 * Asks a server to move to the set from the one that it has reported, or to do
 * what stage_step() said.  The script compares the id and the present set, and
 * whether it has pledged, so a server that has changed meanwhile stays as it
 * is.  The call also says to which id and set our calls there belong from then
 * on.
 */
static void
enlist(struct core *core, struct voter *v, const char *set, char how)
{
	char text[NODE_BYTES + 2 * SET_MAX_BYTES + 8 +
		  QUORUM_SERVERS_MAX * 2 * NODE_BYTES];
	struct slot *slot;
	struct set s;
	unsigned i;
	int n = snprintf(
	    text, sizeof(text), "%s %s %s %c ", v->node, set, v->set, how);

	/* The script only checks what is equal, and leaves the order to us. */
	assert(set_version(v->set) <= set_version(set));
	/* One server has one vote, by whichever address it is reached. */
	for (i = 0; i < core->config.shards; i++)
		if (voter_at(core, i) != v &&
		    strncmp(voter_at(core, i)->sent, v->node, NODE_BYTES) == 0)
			withdraw(core, voter_at(core, i));

	set_parse(&s, set);
	for (i = 0; i < s.n; i++)
		if (place_of(core, s.ids[i])[0] != '\0')
			n += snprintf(text + n, sizeof(text) - (size_t)n,
			    "%s%s", s.ids[i], place_of(core, s.ids[i]));
	slot_submit(core, &slot, OP_ENLIST, SLOT_GUARD,
	    guard_index(core, v->guard), text, (size_t)n);
	snprintf(v->sent, sizeof(v->sent), "%s %s", v->node, set);
	v->guard->busy = true;
}

/* Asks a server for its next step on the way to a set; false: there is none. */
static bool
advance(struct core *core, struct voter *v, const char *set, unsigned n)
{
	struct stage stage = stage_of(core, set, n);
	char how = 0;

	if (strcmp(v->set, set) == 0)
		how = stage_step(v, &stage, n);
	else if (!stage_ties(v, set, &stage))
		how = stage.settled || set_version(v->set) < set_version(set)
			  ? 'm'
			  : 'u';
	if (how == 0)
		return false;
	enlist(core, v, set, how);
	return true;
}

/*
 * Leads servers that lag behind on their way to the highest set: brokers that
 * go by it may be gone for good, and no other set can take its place before it
 * is settled.  This broker does not go by it, so its calls ask for no vote.
 */
static void
help(struct core *core, const struct set *s, const char *best)
{
	struct voter *v;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!voter_is_known(v) || v->guard->busy ||
		    core->now_ms < v->enlist_ms || !set_has(s, v->node))
			continue;
		if (advance(core, v, best, s->n))
			withdraw(core, v);
	}
}

/*
 * May the next set take the place of this one, in which servers are missing?  It
 * must be settled, and a majority of it must know that, or they would be new in
 * the next one.  Or it never can be so: all servers can be reached, and too few
 * of them have a say.
 */
static bool
may_mend(const struct core *core, const struct set *s, const char *text)
{
	struct stage stage = stage_of(core, text, s->n);
	unsigned settled = 0, say = 0;
	const struct voter *v;
	bool here, lags = false;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!voter_is_known(v) || !set_has(s, v->node))
			continue;
		here = strcmp(v->set, text) == 0;
		settled += here && v->open == '\0';
		lags = lags || !here || v->open != '\0';
		say +=
		    !voter_is_new(v) && (here || !stage_ties(v, text, &stage));
	}
	if (stage.settled && lags)
		return false;
	return settled >= set_majority(s->n) ||
	       (count_known(core) == core->config.shards && say < stage.need);
}

/*
 * May the set of redis.nodes take the place of this one?  All servers must be
 * known.  Those that are new to the set must have no say in any other.  Those
 * of the old set must have it settled, so that no change goes on already; must
 * be idle or quiet, so that no broker goes by it; and must be a majority of it.
 */
static bool
may_change(const struct core *core, const struct set *s, const char *text)
{
	const struct voter *v;
	unsigned old = 0;
	uint32_t i;

	if (count_known(core) < core->config.shards)
		return false;
	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!set_has(s, v->node)) {
			if (!voter_is_new(v))
				return false;
			continue;
		}
		if (strcmp(v->set, text) != 0 || v->open != '\0' || !v->quiet)
			return false;
		old++;
	}
	return old >= set_majority(s->n);
}

/*
 * Does the set have just our servers, as far as they are known?  If not,
 * *stranger is the first of our servers that is not in the set, or the number
 * of all if the set has others as well.
 */
static bool
all_in(const struct core *core, const struct set *s, uint32_t *stranger)
{
	const struct voter *v;

	for (*stranger = 0; *stranger < core->config.shards; ++*stranger) {
		v = voter_at(core, *stranger);
		if (voter_is_known(v) && !set_has(s, v->node))
			return false;
	}
	return s->n == core->config.shards;
}

/*
 * This broker cannot go by the highest set.  If it went by another before, its
 * leases rest on that one until the servers move; all other calls must ask for
 * no vote, or the servers would never be quiet, and could not be changed.  If
 * it joined that very set, it knew less then.
 */
static void
withdraw_stale(struct core *core, const char *best)
{
	bool joined = strcmp(best, quorum_of(core)->set) == 0;
	struct voter *v;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (joined || strcmp(sent_set(v), quorum_of(core)->set) != 0)
			withdraw(core, v);
	}
}

/*
 * Chooses the set to go by, from what is known; false: there is none yet.
 *
 * The highest set goes before any wish of this broker: it joins that set, or
 * mends it.  Only if it can do neither does it help others to agree on that
 * set, and may then ask for a set of its own.
 */
static bool
choose(struct core *core, char *text)
{
	const char *best = highest(core);
	struct set s, mended;
	uint32_t stranger;

	if (count_known(core) == 0 || is_twice(core))
		return false;
	if (best[0] == '\0')
		return found(core, text);
	set_parse(&s, best);
	strcpy(text, best);
	if (all_in(core, &s, &stranger))
		return true;
	mended = s;
	if (s.n == core->config.shards && mend(core, &mended)) {
		if (may_mend(core, &s, best))
			set_write(&mended, text, SET_MAX_BYTES + 1);
		return true;
	}
	forget(core, &s, best);
	help(core, &s, best);
	if (may_change(core, &s, best)) {
		own_set(core, s.version + 1, text);
		return true;
	}
	withdraw_stale(core, best);
	if (stranger < core->config.shards)
		disagree(core,
		    "the other servers of redis.nodes do not vote with %s: "
		    "make redis.nodes the same on all brokers (see "
		    "\"Replacing a server\" in lockbroker-admin(7))",
		    address(core, stranger));
	else
		disagree(core,
		    "the servers of redis.nodes vote in a quorum of %u", s.n);
	return false;
}

/* Does it go by the set, and do our calls to it say so? */
static bool
in_line(const struct core *core, const struct voter *v)
{
	size_t n = strlen(v->node);

	return strcmp(v->set, quorum_of(core)->set) == 0 &&
	       strncmp(v->sent, v->node, n) == 0 && v->sent[n] == ' ' &&
	       strcmp(v->sent + n + 1, quorum_of(core)->set) == 0;
}

/*
 * Called whenever a server has reported something.  A broker that stops no
 * longer changes anything.  A server with an operation in flight is left for
 * later: its answer leads here again.
 */
void
voters_decide(struct core *core)
{
	char text[SET_MAX_BYTES + 1];
	struct voter *v;
	struct set s;
	uint32_t i;

	if (core->stopping || !choose(core, text))
		return;
	quorum_of(core)->why[0] = '\0';
	quorum_of(core)->since_ms = 0;
	strcpy(quorum_of(core)->set, text);
	set_parse(&s, text);
	for (i = 0; i < core->config.shards; i++) {
		v = voter_at(core, i);
		if (!voter_is_known(v) || v->guard->busy ||
		    core->now_ms < v->enlist_ms || !set_has(&s, v->node))
			continue;
		if (strcmp(v->set, text) == 0 && !in_line(core, v))
			enlist(core, v, text, 'm');
		else
			(void)advance(core, v, text, s.n);
	}
}

/* Has its set, or how it is there, changed? */
static bool
is_news(const struct voter *v, const struct guard_report *report)
{
	char open = report->open_len > 0 ? report->open[0] : '\0';

	return open != v->open || report->set_len != strlen(v->set) ||
	       memcmp(report->set, v->set, report->set_len) != 0;
}

/* Is the set one that a broker has written?  If not, the server counts as one
 * that has reported nothing. */
static bool
is_set(const struct guard_report *report)
{
	char text[SET_MAX_BYTES + 1], written[SET_MAX_BYTES + 1];
	struct set s;

	if (report->set_len == 0)
		return true;
	voter_copy(text, sizeof(text), report->set, report->set_len);
	set_parse(&s, text);
	if (s.n == 0 || s.version > SET_VERSION_MAX)
		return false;
	set_write(&s, written, sizeof(written));
	return strlen(written) == report->set_len && strcmp(text, written) == 0;
}

/*
 * Every call to a server of a quorum returns its id and set, even one that is
 * refused because of them: so brokers hear of a change with whatever they ask
 * next.
 */
void
voters_report(struct core *core, struct voter *v, int64_t sent_ms,
    const struct guard_report *report)
{
	char before[8];

	if (report->node_len == 0 || !is_set(report))
		return;
	voter_copy(v->node, sizeof(v->node), report->node, report->node_len);
	v->moved = is_news(v, report);
	voter_copy(v->set, sizeof(v->set), report->set, report->set_len);
	v->open = report->open_len > 0 ? report->open[0] : '\0';
	voter_copy(before, sizeof(before), report->open, report->open_len);
	v->before =
	    v->open != '\0' ? (unsigned)strtoul(before + 1, NULL, 10) : 0;
	v->quiet = report->quiet;
	v->node_ms = core->now_ms;
	v->node_asked_ms = sent_ms;
	place_note(core, v);
	if (report->state == GUARD_NODES)
		places_learn(core, report->text, report->text_len);
	voters_decide(core);
}
