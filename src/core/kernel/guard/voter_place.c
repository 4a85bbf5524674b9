/*
 * See voter_place.h.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/kernel/guard/voter_place.h"
#include "core/kernel/guard/voter_set.h"
#include "core/kernel/guard/voters.h"

/* An address in few bytes: its FNV-1a. */
static void
place_write(const struct core *core, uint32_t shard, char *out)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	const char *p = core->voters->nodes[shard];

	for (; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
	snprintf(out, NODE_BYTES + 1, "%016" PRIx64, hash);
}

static const char *
find(const struct core *core, const char *id, int64_t *since_ms)
{
	unsigned i;

	for (i = 0;
	     i < sizeof(core->voters->places) / sizeof(core->voters->places[0]);
	     i++) {
		if (strncmp(core->voters->places[i], id, NODE_BYTES) != 0)
			continue;
		*since_ms = core->voters->places_ms[i];
		return core->voters->places[i] + NODE_BYTES;
	}
	return "";
}

const char *
place_of(const struct core *core, const char *id)
{
	int64_t since_ms;

	return find(core, id, &since_ms);
}

/* That one must have been asked since we know the place: else the id may be the
 * newer of the two. */
bool
place_was_at(const struct core *core, const char *id, const struct guard *g)
{
	char place[NODE_BYTES + 1];
	int64_t since_ms = INT64_MAX;

	place_write(core, guard_index(core, g), place);
	return strcmp(find(core, id, &since_ms), place) == 0 &&
	       g->node_asked_ms > since_ms;
}

static void
note(struct core *core, const char *id, const char *place)
{
	unsigned n =
	    sizeof(core->voters->places) / sizeof(core->voters->places[0]);

	if (place_of(core, id)[0] != '\0')
		return;
	core->voters->places_ms[core->voters->next_place] = core->now_ms;
	snprintf(core->voters->places[core->voters->next_place],
	    sizeof(core->voters->places[0]), "%s%s", id, place);
	core->voters->next_place = (core->voters->next_place + 1) % n;
}

void
place_note(struct core *core, const struct guard *g)
{
	char place[NODE_BYTES + 1];

	place_write(core, guard_index(core, g), place);
	note(core, g->node, place);
}

void
places_learn(struct core *core, const char *text, size_t len)
{
	char id[NODE_BYTES + 1], place[NODE_BYTES + 1];
	size_t at;

	for (at = 0; at + 2 * NODE_BYTES <= len; at += 2 * NODE_BYTES) {
		voter_copy(id, sizeof(id), text + at, NODE_BYTES);
		voter_copy(
		    place, sizeof(place), text + at + NODE_BYTES, NODE_BYTES);
		note(core, id, place);
	}
}
