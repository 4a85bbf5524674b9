/*
 * See bond.h.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "bond.h"
#include "faults_parts.h"
#include "resumes.h"
#include "world.h"

#define USUAL_US 500
#define SIZE 64
#define MOST 100

static event_fn bond_on_arrival;
static event_fn bond_on_room;

struct bond *
bond_of(const struct broker *b)
{
	return &b->w->bonds[b->index % b->w->places];
}

/* What goes to this process. */
static struct bond_way *
way_to(const struct broker *b)
{
	return &bond_of(b)->ways[b->index >= b->w->places];
}

static struct bond_way *
way_from(const struct broker *b)
{
	return &bond_of(b)->ways[b->index < b->w->places];
}

static struct broker *
reader_of(const struct bond *bond, const struct bond_way *way)
{
	struct world *w = bond->w;

	return &w->brokers[(bond - w->bonds) +
			   (way == &bond->ways[1] ? w->places : 0)];
}

static void
draw(struct bond *bond)
{
	struct world *w = bond->w;
	uint64_t dice = prng_below(&w->leaving, 3);

	bond->slow_us = USUAL_US;
	bond->size = SIZE;
	bond->most = MOST;
	if (!faults_active(w, FAULT_BOND) || dice == 0)
		return;
	bond->slow_us = (dice == 1 ? 2 * w->lease_ms : 200) * 1000;
	if (dice == 1)
		return;
	bond->size = (size_t)prng_range(&w->leaving, 1, 2);
	bond->most = (size_t)prng_below(&w->leaving, 3);
}

void
bond_begin(struct broker *b)
{
	struct bond *bond = bond_of(b);
	struct world *w = b->w;
	int i;

	bond->w = w;
	bond->begun = true;
	bond->number = ++w->bond_number;
	bond->go_us = 0;
	bond->reports = 0;
	bond->stops = false;
	for (i = 0; i < 2; i++) {
		memset(&bond->ways[i], 0, sizeof(bond->ways[i]));
		STAILQ_INIT(&bond->ways[i].sent);
		STAILQ_INIT(&bond->ways[i].waiting);
	}
	draw(bond);
	TRACE(w, "%s: a channel that holds %u, and takes up to %lld us",
	    b->name, (unsigned)bond->size, (long long)bond->slow_us);
}

bool
bond_is_over(const struct bond *bond)
{
	return !bond->begun || (bond->ways[0].closed && bond->ways[1].closed);
}

bool
bond_has(const struct broker *b)
{
	return b->w->leaves && bond_of(b)->begun && !way_to(b)->closed;
}

bool
bond_joins(const struct bond *bond)
{
	return bond->begun && !bond->ways[0].closed && !bond->ways[1].closed &&
	       bond->go_us != 0;
}

static int64_t
delay_us(const struct bond *bond)
{
	struct world *w = bond->w;

	return prng_skewed(&w->leaving, 20,
	    faults_active(w, FAULT_BOND) ? bond->slow_us : USUAL_US);
}

static void
send(struct bond *bond, struct bond_way *way, struct parcel *p)
{
	struct world *w = bond->w;
	int64_t at_us = world_now(w) + delay_us(bond);

	if (at_us < way->at_us)
		at_us = way->at_us;
	way->at_us = at_us;
	STAILQ_INSERT_TAIL(&way->sent, p, entry);
	way->nsent++;
	events_at(&w->events, at_us, bond_on_arrival, reader_of(bond, way),
	    bond->number);
}

static void
bond_on_arrival(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (bond_of(b)->number == tag && !way_to(b)->closed)
		broker_input(b, input_new(INPUT_BOND, 0));
}

static bool
has_room(const struct bond *bond, const struct bond_way *way)
{
	return way->nsent < bond->size;
}

static struct parcel *
copy_of(const struct parcel *what)
{
	struct parcel *p = xmalloc(sizeof(*p));

	*p = *what;
	return p;
}

bool
bond_tell(struct broker *b, const struct parcel *what, size_t most)
{
	struct bond *bond = bond_of(b);
	struct bond_way *way = way_from(b);
	struct parcel *p;

	/* To one that is gone nothing can be sent: its end is read. */
	if (way->closed)
		return true;
	if (!way->full && has_room(bond, way)) {
		send(bond, way, copy_of(what));
		return true;
	}
	way->full = true;
	if (way->nwaiting >= most)
		return false;
	p = copy_of(what);
	STAILQ_INSERT_TAIL(&way->waiting, p, entry);
	way->nwaiting++;
	return true;
}

bool
bond_hand(struct broker *b, struct quest *quest)
{
	const struct parcel take = { .word = BOND_TAKE, .quest = quest };
	struct bond_way *way = way_from(b);

	if (way->closed)
		return false;
	if (way->full || !has_room(bond_of(b), way)) {
		way->full = true;
		return false;
	}
	send(bond_of(b), way, copy_of(&take));
	return true;
}

bool
bond_has_room(const struct broker *b)
{
	return !way_from(b)->full;
}

static void
bond_on_room(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (bond_of(b)->number == tag)
		broker_input(b, input_new(INPUT_ROOM, 0));
}

/* Sends what waits, as far as there is room. */
static void
flush(struct bond *bond, struct bond_way *way)
{
	struct parcel *p;

	while (
	    (p = STAILQ_FIRST(&way->waiting)) != NULL && has_room(bond, way)) {
		STAILQ_REMOVE_HEAD(&way->waiting, entry);
		way->nwaiting--;
		send(bond, way, p);
	}
	way->full = p != NULL;
}

void
bond_sees_room(struct broker *b)
{
	struct bond_way *way = way_from(b);

	if (!bond_has(b) || way->closed || !way->full)
		return;
	flush(bond_of(b), way);
	if (!way->full)
		resumes_room(b);
}

static void
drop(struct broker *reader, struct parcel_list *list)
{
	struct parcel *p;

	while ((p = STAILQ_FIRST(list)) != NULL) {
		STAILQ_REMOVE_HEAD(list, entry);
		if (p->quest != NULL)
			resumes_lost(reader, p->quest);
		free(p);
	}
}

static void
push_end(struct bond *bond, struct bond_way *way)
{
	const struct parcel end = { .word = BOND_END };

	way->full = false;
	send(bond, way, copy_of(&end));
}

/* channel_free() sends what waits, if the other end reads it in a moment. */
static void
send_rest(struct bond *bond, struct bond_way *way)
{
	struct parcel *p;

	while (!broker_stalled(reader_of(bond, way)) &&
	       (p = STAILQ_FIRST(&way->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&way->waiting, entry);
		send(bond, way, p);
	}
	drop(reader_of(bond, way), &way->waiting);
	way->nwaiting = 0;
}

void
bond_close(struct broker *b)
{
	struct bond *bond = bond_of(b);
	struct bond_way *mine, *other;

	if (!bond_has(b))
		return;
	mine = way_to(b);
	other = way_from(b);
	mine->closed = true;
	drop(b, &mine->sent);
	drop(b, &mine->waiting);
	if (other->closed)
		return;
	if (b->alive)
		send_rest(bond, other);
	else
		drop(reader_of(bond, other), &other->waiting);
	push_end(bond, other);
}

void
bond_cut(struct broker *b)
{
	struct bond_way *mine = way_to(b);

	if (!bond_has(b))
		return;
	TRACE(
	    b->w, "%s: process %d finds its channel broken", b->name, b->index);
	drop(b, &mine->sent);
	mine->nsent = 0;
	push_end(bond_of(b), mine);
}

void
bond_reads(struct broker *b)
{
	struct bond *bond = bond_of(b);
	struct bond_way *way = way_to(b);
	struct parcel *p;

	if (!bond_has(b) || (p = STAILQ_FIRST(&way->sent)) == NULL)
		return;
	STAILQ_REMOVE_HEAD(&way->sent, entry);
	way->nsent--;
	if (way->full)
		events_at(&b->w->events, world_now(b->w) + USUAL_US,
		    bond_on_room, reader_of(bond, way_from(b)), bond->number);
	if (p->word == BOND_END)
		bond_close(b);
	if (!resumes_hears(b, p))
		leaving_hears(b, p);
	free(p);
}

void
bonds_free(struct world *w)
{
	struct bond_way *way;
	int i;

	for (i = 0; w->leaves && i < 2 * w->places; i++) {
		way = &w->bonds[i / 2].ways[i % 2];
		if (!w->bonds[i / 2].begun)
			continue;
		drop(NULL, &way->sent);
		drop(NULL, &way->waiting);
	}
	resumes_free(w);
}
