/*
 * BROKERS: the fleet as Redis reported it last (fleet.h), in one part.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/parts/fleet/fleet.h"
#include "core/parts/views/listing_state.h"

static void
add_word(struct row *r, enum field_id id, const char *word)
{
	if (strcmp(word, "-") != 0)
		row_str(r, id, word);
}

static bool
has_our_name(const struct core *core, const struct member *one)
{
	return one->name_len == strlen(core->broker) &&
	       memcmp(one->text, core->broker, one->name_len) == 0;
}

static bool
is_self(const struct core *core, const struct member *one)
{
	char id[BROKER_MAX_BYTES + 32];

	snprintf(id, sizeof(id), "%s.%016" PRIx64, core->broker,
	    core->config.instance);
	return strcmp(one->words[MEMBER_ID], id) == 0;
}

static void
tell_brokers(struct core *core, struct listing *g)
{
	const struct member *one;
	struct row *r = &g->row;
	size_t i;

	for (i = 0; (one = fleet_member(core, i)) != NULL; i++) {
		row_str(r, FIELD_VERSION, one->words[MEMBER_VERSION]);
		row_num(r, FIELD_LEASE, (uint64_t)one->lease_ms);
		row_num(r, FIELD_SEEN, (uint64_t)one->seen_ms);
		add_word(r, FIELD_ADDRESS, one->words[MEMBER_ADDRESS]);
		add_word(r, FIELD_HTTP, one->words[MEMBER_HTTP]);
		if (strcmp(one->words[MEMBER_LEAVING], "-") != 0)
			row_num(r, FIELD_LEAVING, 1);
		if (one->missing)
			row_num(r, FIELD_MISSING, 1);
		if (is_self(core, one))
			row_num(r, FIELD_SELF, 1);
		else if (has_our_name(core, one) &&
			 one->text[one->name_len] == '.')
			row_str(
			    r, FIELD_INSTANCE, one->text + one->name_len + 1);
		if (one->twice)
			row_num(r, FIELD_TWICE, 1);
		row_finish(r, NULL, one->text, one->name_len);
	}
	g->stage = NULL;
}

struct listing *
core_brokers_begin(struct core *core)
{
	(void)core;
	return listing_new(tell_brokers);
}
