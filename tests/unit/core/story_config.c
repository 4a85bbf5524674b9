/*
 * The line `config` of a story: what the core is told of its configuration.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>

#include "story_state.h"

int64_t
story_option_num(const struct story *st, const char *key, int64_t otherwise)
{
	const char *value = story_option(st, key);

	return value == NULL ? otherwise : story_number(st, value);
}

void
story_configure(struct story *st)
{
	struct core_config *c = &st->config;

	c->lease_ms = story_option_num(st, "lease", c->lease_ms);
	c->locks.handovers =
	    (unsigned)story_option_num(st, "handovers", c->locks.handovers);
	c->locks.max_hold_ms = story_option_num(st, "max_hold", 0);
	c->locks.default_hold_ms = story_option_num(st, "default_hold", 0);
	c->limits.holds =
	    (unsigned)story_option_num(st, "holds", c->limits.holds);
	c->limits.clients =
	    (unsigned)story_option_num(st, "clients", c->limits.clients);
	c->limits.requests =
	    (unsigned)story_option_num(st, "requests", c->limits.requests);
	c->limits.waiters =
	    (unsigned)story_option_num(st, "waiters", c->limits.waiters);
	c->locks.max_keep_ms =
	    story_option_num(st, "max_keep", c->locks.max_keep_ms);
	c->locks.max_delay_ms =
	    story_option_num(st, "max_delay", c->locks.max_delay_ms);
	c->locks.max_ttl_ms =
	    story_option_num(st, "max_ttl", c->locks.max_ttl_ms);
	c->limits.unowned =
	    (unsigned)story_option_num(st, "unowned", c->limits.unowned);
	c->locks.warm_ms = story_flag(st, "auto")
			       ? WARM_AUTO
			       : story_option_num(st, "warm", 0);
	snprintf(st->warm_name, sizeof(st->warm_name), "%s",
	    story_flag(st, "warm_b") ? "b*" : "*");
	st->warm_names = st->warm_name;
	c->locks.warm_names = (struct name_patterns){ &st->warm_names, 1 };
	c->address = story_option(st, "address");
	st->away_ms = story_option_num(st, "away", 0);
	c->failover = story_flag(st, "failover");
	c->debug = story_flag(st, "debug");
	c->trust_new = story_flag(st, "trust_new");
	c->quorum = story_option(st, "quorum") != NULL;
	c->shards = (unsigned)story_option_num(st, "quorum", 1);
	c->replicas = (unsigned)story_option_num(st, "replicas", 0);
	c->fleet_ms = story_option_num(st, "fleet", 0);
	c->fences = (unsigned)story_option_num(st, "fences", 0);
	c->work = (unsigned)story_option_num(st, "work", 0);
	assert(c->shards <= SHARDS_MAX);
	if (st->core != NULL)
		core_reconfigure(st->core, &c->locks, &c->limits,
		    &(struct metrics_settings){ NULL, 0 }, false, c->debug);
}
