/*
 * BROKERS: which brokers use the same Redis, according to its guard.
 *
 * The broker asks on request, and by itself now and then
 * (core_config.fleet_ms).  It remembers the answer, to give it again while
 * Redis is away.  In this way it also finds another broker with its own name.
 */
#ifndef LOCKBROKER_CORE_PARTS_FLEET_FLEET_H
#define LOCKBROKER_CORE_PARTS_FLEET_FLEET_H

#include "core/kernel/session/owner.h"
#include "core/kernel/turn/slot.h"

/* What a server says about a broker; - in place of what it does not know. */
enum member_word {
	MEMBER_ID,   /* NAME.INSTANCE, as in tokens */
	MEMBER_SEEN, /* that many ms ago */
	MEMBER_ADDRESS,
	MEMBER_VERSION,
	MEMBER_LEASE, /* ms */
	MEMBER_HTTP,
	MEMBER_LEAVING, /* "leaving" */
	MEMBER_WORDS
};

struct member {
	size_t name_len; /* of its name, which begins its id */
	int64_t seen_ms; /* before the server said so */
	int64_t lease_ms;
	int64_t since_ms;		 /* this broker knows of it */
	bool missing;			 /* not seen for long */
	bool twice;			 /* another one has its name */
	const char *words[MEMBER_WORDS]; /* in `text` */
	char text[];
};

/* Returns one of the brokers, in the order of their names; NULL after the last.
 * It lives until the next step. */
const struct member *fleet_member(const struct core *core, size_t i);

/* The last known address of the broker of that name; NULL: not known. */
const char *fleet_address(
    const struct core *core, const char *name, size_t len);

#endif
