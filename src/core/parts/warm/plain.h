/*
 * Programs that use Redis without a broker, and would find warm names taken:
 * where one was met lately, by any broker (locks.warm in lockbrokerd.yaml(5)).
 */
#ifndef LOCKBROKER_CORE_PARTS_WARM_PLAIN_H
#define LOCKBROKER_CORE_PARTS_WARM_PLAIN_H

#include "core/kernel/turn/turn.h"

/* One server, or bucket of a cluster. */
struct plain {
	int64_t until_ms; /* one counts until then; 0: none was met */
	/*
	 * As that server's clock shows it, in milliseconds since 1970: when the
	 * first of a time without an hour's pause was met, and when the latest.
	 */
	int64_t since, last;
	char *name; /* owned; that the latest had; NULL: not known yet */
	size_t len;
};

/* Such a program was met there within the hour, and locks.warm is `auto`; or
 * NULL. */
const struct plain *plain_near(const struct core *core, uint32_t shard);

/* Until when that counts, as `last`. */
int64_t plain_until(const struct plain *p);

#endif
