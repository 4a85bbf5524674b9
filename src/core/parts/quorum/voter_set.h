/*
 * Sets of servers that vote, as servers and brokers report them (voters.c).
 */
#ifndef LOCKBROKER_CORE_PARTS_QUORUM_VOTER_SET_H
#define LOCKBROKER_CORE_PARTS_QUORUM_VOTER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/core.h"

#define SET_VERSION_MAX UINT64_C(9999999998) /* one more has ten digits */

/* A set, taken apart.  Ids are in order. */
struct set {
	uint64_t version;
	unsigned n;
	char ids[QUORUM_SERVERS_MAX][NODE_BYTES + 1];
};

/* A text that is no set yields one without members. */
void set_parse(struct set *s, const char *text);

/* Puts the ids in order.  A text of SET_MAX_BYTES holds any set. */
void set_write(struct set *s, char *text, size_t size);

/* More than half of n; how many must leave n so that this is not left. */
static inline unsigned
set_majority(unsigned n)
{
	return n / 2 + 1;
}

static inline unsigned
set_blocking(unsigned n)
{
	return n - n / 2;
}

bool set_has(const struct set *s, const char *id);

/* 0: there is no set. */
uint64_t set_version(const char *text);

/* Copies as much of `from` as there is room for, and ends it. */
void voter_copy(char *to, size_t size, const char *from, size_t n);

#endif
