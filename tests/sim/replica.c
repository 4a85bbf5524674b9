/*
 * Replication.  A change is one script's: a replica carries out all of its
 * commands or none, as within MULTI.  Offsets count changes, not bytes.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"
#include "world.h"

#define LOG_MAX 1024 /* the backlog */
#define COPY_MS_MAX 300
#define MAX_LAG_US 2000000

static event_fn pipe_on_arrival;

/* Changes. */

static void
change_release(struct change *c)
{
	size_t i;

	if (c == NULL || --c->users > 0)
		return;
	for (i = 0; i < c->n; i++)
		free(c->commands[i].argv);
	free(c->commands);
	redis_db_clear(&c->put);
	free(c);
}

static void
change_add(struct change *c, int argc, const struct text *argv)
{
	struct change_command *cmd;
	size_t bytes = 0;
	char *p;
	int i;

	if (c->n == c->size) {
		c->size = c->size * 2 + 4;
		c->commands =
		    xrealloc(c->commands, c->size * sizeof(*c->commands));
	}
	for (i = 0; i < argc; i++)
		bytes += argv[i].len;
	cmd = &c->commands[c->n++];
	cmd->argc = argc;
	cmd->argv = xmalloc((size_t)argc * sizeof(*argv) + bytes + 1);
	p = (char *)(cmd->argv + argc);
	for (i = 0; i < argc; i++) {
		memcpy(p, argv[i].p, argv[i].len);
		cmd->argv[i] = (struct text){ p, argv[i].len };
		p += argv[i].len;
	}
}

static struct change *
change_open(struct server *s)
{
	if (s->repl.open == NULL) {
		s->repl.open = xcalloc(1, sizeof(*s->repl.open));
		s->repl.open->users = 1;
		redis_db_init(&s->repl.open->put);
	}
	return s->repl.open;
}

/* A change_fn: what the script under way does. */
static void
on_changed(void *arg, int argc, const struct text *argv)
{
	change_add(change_open(arg), argc, argv);
}

/* The backlog. */

static void
log_clear(struct server *s)
{
	size_t i;

	for (i = 0; i < s->repl.nlog; i++)
		change_release(s->repl.log[i]);
	s->repl.nlog = 0;
}

/* Takes the change over. */
static void
log_add(struct server *s, struct change *c)
{
	struct replication *r = &s->repl;
	size_t i, half = LOG_MAX / 2;

	if (r->log == NULL)
		r->log = xcalloc(LOG_MAX, sizeof(struct change *));
	if (r->nlog == LOG_MAX) {
		for (i = 0; i < half; i++)
			change_release(r->log[i]);
		memmove(r->log, r->log + half, half * sizeof(struct change *));
		r->nlog = half;
	}
	r->offset = c->offset;
	r->log[r->nlog++] = c;
}

/* Pipes. */

static void
pipe_pop(struct pipe *p)
{
	struct cargo *c = STAILQ_FIRST(&p->cargo);

	STAILQ_REMOVE_HEAD(&p->cargo, entry);
	change_release(c->change);
	free(c);
}

static void
pipe_clear(struct pipe *p)
{
	while (!STAILQ_EMPTY(&p->cargo))
		pipe_pop(p);
	p->arrived = 0;
	p->generation++;
}

static struct cargo *
pipe_push(struct pipe *p, enum cargo_kind kind, int64_t extra_us)
{
	struct world *w = p->replica->w;
	struct cargo *c = xcalloc(1, sizeof(*c));
	int64_t at_us =
	    world_now(w) + world_delay_us(w) + faults_lag_us(w) + extra_us;

	c->kind = kind;
	if (at_us < p->at_us)
		at_us = p->at_us;
	p->at_us = at_us;
	STAILQ_INSERT_TAIL(&p->cargo, c, entry);
	events_at(&w->events, at_us, pipe_on_arrival, p, p->generation);
	return c;
}

/* All but the first n things are lost. */
static void
pipe_cut(struct pipe *p, uint64_t n)
{
	struct cargo_list keep = STAILQ_HEAD_INITIALIZER(keep);
	struct cargo *c;

	while (n-- > 0 && (c = STAILQ_FIRST(&p->cargo)) != NULL) {
		STAILQ_REMOVE_HEAD(&p->cargo, entry);
		STAILQ_INSERT_TAIL(&keep, c, entry);
	}
	while (!STAILQ_EMPTY(&p->cargo))
		pipe_pop(p);
	STAILQ_CONCAT(&p->cargo, &keep);
}

static uint64_t
pipe_length(const struct pipe *p)
{
	const struct cargo *c;
	uint64_t n = 0;

	STAILQ_FOREACH (c, &p->cargo, entry)
		n++;
	return n;
}

static void
send_offset(struct server *s)
{
	struct replication *r = &s->repl;

	if (r->master != NULL && r->linked)
		pipe_push(&r->up, CARGO_OFFSET, 0)->offset = r->offset;
}

/* Data that come from a master end when it says so, and by no clock. */
static void
apply_change(struct server *s, struct change *c)
{
	const struct redis_key *key;
	size_t i;

	s->db.now_us = 0;
	s->db.changed = NULL;
	for (i = 0; i < c->n; i++)
		answer_free(redis_db_run(
		    &s->db, c->commands[i].argc, c->commands[i].argv));
	TAILQ_FOREACH (key, &c->put.keys, in_all)
		redis_db_put_copy(&s->db, key);
	s->db.changed = on_changed;
	c->users++;
	log_add(s, c);
}

static void
load_copy(struct server *s)
{
	struct replication *r = &s->repl;

	redis_db_copy(&s->db, &r->copy);
	redis_db_clear(&r->copy);
	log_clear(s);
	r->offset = r->copy_offset;
	memcpy(s->db.replid, r->copy_replid, sizeof(s->db.replid));
	memset(r->replid2, 0, sizeof(r->replid2));
	TRACE(s->w, "%s has a copy, replid %.8s, offset %llu", s->name,
	    s->db.replid, (unsigned long long)r->offset);
	send_offset(s);
}

static void
take_cargo(struct pipe *p, const struct cargo *c)
{
	struct server *s = p->replica;

	switch (c->kind) {
	case CARGO_CHANGE:
		assert(c->change->offset == s->repl.offset + 1);
		apply_change(s, c->change);
		break;
	case CARGO_GETACK:
		send_offset(s);
		break;
	case CARGO_COPY:
		load_copy(s);
		break;
	case CARGO_OFFSET:
		s->repl.attached = true;
		s->repl.acked = c->offset;
		s->repl.acked_us = world_now(s->w);
		server_acked(p->to);
		break;
	case CARGO_END:
		s->repl.attached = false;
		break;
	}
}

static void
pipe_take(struct pipe *p)
{
	const struct server *from =
	    p == &p->replica->repl.down ? p->replica->repl.up.to : p->replica;
	struct cargo *c;

	while (p->arrived > 0 && p->to->up && !p->to->frozen &&
	       from->side == p->to->side) {
		p->arrived--;
		c = STAILQ_FIRST(&p->cargo);
		if (c == NULL)
			continue; /* it was cut */
		STAILQ_REMOVE_HEAD(&p->cargo, entry);
		take_cargo(p, c);
		change_release(c->change);
		free(c);
	}
}

static void
pipe_on_arrival(void *object, uint64_t tag)
{
	struct pipe *p = object;

	if (tag != p->generation)
		return;
	p->arrived++;
	pipe_take(p);
}

/* Links. */

/* Nothing more goes this way; what is under way to the master arrives. */
static void
unlink_replica(struct server *s)
{
	struct replication *r = &s->repl;

	pipe_clear(&r->down);
	redis_db_clear(&r->copy);
	if (r->linked)
		pipe_push(&r->up, CARGO_END, 0);
	r->linked = false;
}

/* Has the master what a replica lacks, in the same history? */
static bool
goes_on(const struct server *s, const struct server *m)
{
	const struct replication *r = &s->repl;
	bool same = strcmp(s->db.replid, m->db.replid) == 0;
	bool before = strcmp(s->db.replid, m->repl.replid2) == 0 &&
		      r->offset <= m->repl.second_offset;

	return (same || before) && r->offset <= m->repl.offset &&
	       r->offset + m->repl.nlog >= m->repl.offset;
}

static void
link_replica(struct server *s)
{
	struct replication *r = &s->repl;
	struct server *m = r->master;
	struct change *c;
	uint64_t n;

	pipe_clear(&r->down);
	pipe_clear(&r->up);
	r->up.to = m;
	r->linked = true;
	r->attached = false;
	r->acked = 0;
	TRACE(s->w, "%s links to %s at %llu of %llu%s", s->name, m->name,
	    (unsigned long long)r->offset, (unsigned long long)m->repl.offset,
	    goes_on(s, m) ? "" : ", takes a copy");
	if (!goes_on(s, m)) {
		redis_db_copy(&r->copy, &m->db);
		r->copy_offset = m->repl.offset;
		memcpy(r->copy_replid, m->db.replid, sizeof(r->copy_replid));
		pipe_push(&r->down, CARGO_COPY,
		    prng_skewed(&s->w->prng, 1, COPY_MS_MAX) * 1000);
		return;
	}
	memcpy(s->db.replid, m->db.replid, sizeof(s->db.replid));
	memset(r->replid2, 0, sizeof(r->replid2));
	for (n = m->repl.offset - r->offset; n > 0; n--) {
		c = m->repl.log[m->repl.nlog - n];
		c->users++;
		pipe_push(&r->down, CARGO_CHANGE, 0)->change = c;
	}
}

void
replica_cron(struct server *s)
{
	struct server *m = s->repl.master;

	if (!s->up || s->frozen || m == NULL)
		return;
	if (s->repl.linked)
		send_offset(s);
	else if (m->up && !m->frozen && m->side == s->side &&
		 m->repl.master == NULL)
		link_replica(s);
}

/* Is this one of its replicas, that gets what it changes? */
static bool
feeds(const struct server *s, const struct server *replica)
{
	return replica->repl.linked && replica->repl.master == s &&
	       replica->repl.up.to == s;
}

static void
drop_replicas(struct server *s)
{
	struct server *r;

	for (r = s->w->servers; r < s->w->servers + s->w->nservers; r++) {
		if (r->repl.up.to != s)
			continue;
		pipe_cut(&r->repl.down,
		    prng_below(&s->w->prng, pipe_length(&r->repl.down) + 1));
		pipe_clear(&r->repl.up);
		r->repl.linked = r->repl.attached = false;
	}
}

void
replica_commit(struct server *s)
{
	struct replication *r = &s->repl;
	struct change *c = r->open;
	struct server *other;

	if (c == NULL)
		return;
	r->open = NULL;
	c->offset = r->offset + 1;
	log_add(s, c);
	for (other = s->w->servers; other < s->w->servers + s->w->nservers;
	     other++) {
		if (!feeds(s, other))
			continue;
		c->users++;
		pipe_push(&other->repl.down, CARGO_CHANGE, 0)->change = c;
	}
}

void
replica_put(struct server *s, const struct redis_key *key)
{
	if (!s->w->replicates)
		return;
	redis_db_put_copy(&change_open(s)->put, key);
	replica_commit(s);
}

void
replica_gone(struct server *s, const struct redis_key *key)
{
	const struct text words[] = { { "DEL", 3 },
		{ key->name, key->name_len } };

	if (!s->w->replicates)
		return;
	on_changed(s, 2, words);
	replica_commit(s);
}

int
replica_count(const struct server *s, uint64_t offset)
{
	const struct server *r;
	int n = 0;

	for (r = s->w->servers; r < s->w->servers + s->w->nservers; r++)
		if (r->repl.up.to == s && r->repl.attached &&
		    r->repl.acked >= offset)
			n++;
	return n;
}

/* Replicas that were heard of lately: min-replicas-max-lag. */
static unsigned
count_good(const struct server *s)
{
	const struct server *r;
	unsigned n = 0;

	for (r = s->w->servers; r < s->w->servers + s->w->nservers; r++)
		n += r->repl.up.to == s && r->repl.attached &&
		     world_now(s->w) - r->repl.acked_us <= MAX_LAG_US;
	return n;
}

bool
replica_may_write(const struct server *s)
{
	return !s->w->strict || count_good(s) >= s->w->replicas;
}

void
replica_getack(struct server *s)
{
	struct server *r;

	for (r = s->w->servers; r < s->w->servers + s->w->nservers; r++)
		if (feeds(s, r))
			pipe_push(&r->repl.down, CARGO_GETACK, 0);
}

/* Roles. */

void
replica_follow(struct server *s, struct server *master)
{
	TRACE(s->w, "%s becomes a replica of %s", s->name, master->name);
	drop_replicas(s);
	unlink_replica(s);
	change_release(s->repl.open);
	s->repl.open = NULL;
	s->repl.master = master;
	s->db.master = false;
	if (s->w->tagged)
		server_acked(s); /* who waits for replicas waits no longer */
	else
		server_disconnect(s);
}

void
replica_promote(struct server *s)
{
	struct replication *r = &s->repl;

	unlink_replica(s);
	r->master = NULL;
	s->db.master = true;
	memcpy(r->replid2, s->db.replid, sizeof(r->replid2));
	r->second_offset = r->offset;
	server_new_replid(s);
	TRACE(s->w, "%s becomes the master, replid %.8s, offset %llu", s->name,
	    s->db.replid, (unsigned long long)r->offset);
	if (!s->w->tagged)
		server_disconnect(s);
}

void
replica_retire(struct server *s)
{
	TRACE(s->w, "%s is a spare one now", s->name);
	drop_replicas(s);
	unlink_replica(s);
	s->repl.master = NULL;
	s->db.master = false;
	s->spare = true;
	s->retiring = s->rogue = false;
	server_disconnect(s);
}

void
replica_attach(struct server *s, struct server *master)
{
	s->repl.master = master;
	s->db.master = false;
	s->repl.up.to = master;
	s->repl.linked = s->repl.attached = true;
	memcpy(s->db.replid, master->db.replid, sizeof(s->db.replid));
}

/* Life and death. */

void
replica_died(struct server *s)
{
	struct replication *r = &s->repl;

	drop_replicas(s);
	unlink_replica(s);
	change_release(r->open);
	r->open = NULL;
}

void
replica_started(struct server *s, bool kept, bool saved)
{
	struct replication *r = &s->repl;

	log_clear(s);
	memset(r->replid2, 0, sizeof(r->replid2));
	if (saved) {
		r->offset = r->saved_offset;
		memcpy(s->db.replid, r->saved_replid, sizeof(s->db.replid));
	} else if (!kept) {
		r->offset = 0;
	}
	if (r->master == NULL || !(kept || saved))
		server_new_replid(s);
}

void
replica_saved(struct server *s)
{
	s->repl.saved_offset = s->repl.offset;
	memcpy(s->repl.saved_replid, s->db.replid, sizeof(s->db.replid));
}

void
replica_go_on(struct server *s)
{
	struct server *r;

	if (s->repl.up.to != NULL)
		pipe_take(&s->repl.down);
	for (r = s->w->servers; r < s->w->servers + s->w->nservers; r++)
		if (r->repl.up.to == s)
			pipe_take(&r->repl.up);
}

static void
pipe_init(struct pipe *p, struct server *replica, struct server *to)
{
	p->replica = replica;
	p->to = to;
	STAILQ_INIT(&p->cargo);
}

void
replica_init(struct server *s)
{
	pipe_init(&s->repl.down, s, s);
	pipe_init(&s->repl.up, s, NULL);
	redis_db_init(&s->repl.copy);
	if (s->w->replicates)
		s->db.changed = on_changed;
	replica_saved(s);
}

void
replica_fini(struct server *s)
{
	change_release(s->repl.open);
	log_clear(s);
	free(s->repl.log);
	pipe_clear(&s->repl.down);
	pipe_clear(&s->repl.up);
	redis_db_clear(&s->repl.copy);
}
