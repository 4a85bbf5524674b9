/*
 * See voter_place.h.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/parts/quorum/voter_place.h"
#include "core/parts/quorum/voter_set.h"

/* An address in few bytes: its FNV-1a. */
static void
place_write(const struct core *core, uint32_t shard, char *out)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	const char *p = quorum_of(core)->nodes[shard];

	for (; *p != '\0'; p++)
		hash = (hash ^ (unsigned char)*p) * UINT64_C(1099511628211);
	snprintf(out, NODE_BYTES + 1, "%016" PRIx64, hash);
}

static const char *
find(const struct core *core, const char *id, int64_t *since_ms)
{
	unsigned i;

	for (i = 0; i < sizeof(quorum_of(core)->places) /
			    sizeof(quorum_of(core)->places[0]);
	     i++) {
		if (strncmp(quorum_of(core)->places[i], id, NODE_BYTES) != 0)
			continue;
		*since_ms = quorum_of(core)->places_ms[i];
		return quorum_of(core)->places[i] + NODE_BYTES;
	}
	return "";
}

const char *
place_of(const struct core *core, const char *id)
{
	int64_t since_ms;

	return find(core, id, &since_ms);
}

/* That server must have been asked since we know the place: else the id may be
 * the newer of the two. */
bool
place_was_at(const struct core *core, const char *id, const struct voter *v)
{
	char place[NODE_BYTES + 1];
	int64_t since_ms = INT64_MAX;

	place_write(core, guard_index(core, v->guard), place);
	return strcmp(find(core, id, &since_ms), place) == 0 &&
	       v->node_asked_ms > since_ms;
}

static void
note(struct core *core, const char *id, const char *place)
{
	unsigned n = sizeof(quorum_of(core)->places) /
		     sizeof(quorum_of(core)->places[0]);

	if (place_of(core, id)[0] != '\0')
		return;
	quorum_of(core)->places_ms[quorum_of(core)->next_place] = core->now_ms;
	snprintf(quorum_of(core)->places[quorum_of(core)->next_place],
	    sizeof(quorum_of(core)->places[0]), "%s%s", id, place);
	quorum_of(core)->next_place = (quorum_of(core)->next_place + 1) % n;
}

void
place_note(struct core *core, const struct voter *v)
{
	char place[NODE_BYTES + 1];

	place_write(core, guard_index(core, v->guard), place);
	note(core, v->node, place);
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
