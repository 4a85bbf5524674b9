/*
 * The Sentinels of a master: which server do they say it is?
 *
 * We ask all of them every second, more often while there is need, and at once
 * when one of them publishes +switch-master.  Their answer is a hint where to
 * connect, never a proof: the scripts check for themselves whether their server
 * is a master, and whether its history is the blessed one.
 */
#ifndef LOCKBROKER_REDIS_SENTINELS_H
#define LOCKBROKER_REDIS_SENTINELS_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SENTINEL_HOST_SIZE 256

struct link;
struct sentinels;
struct topology_env;

/* A host, by name or by number, and its port.  Plain data. */
struct sentinel_answer {
	char host[SENTINEL_HOST_SIZE];
	uint16_t port;
};

/* How many Sentinels name the same address. */
enum sentinels_verdict {
	SENTINELS_NONE,	  /* none answers, or they are divided */
	SENTINELS_SOME,	  /* more than half of those that answer */
	SENTINELS_AGREED, /* more than half of those configured */
};

/* What they say.  Plain data. */
struct sentinels_answer {
	enum sentinels_verdict verdict;
	char host[SENTINEL_HOST_SIZE]; /* a name or an address */
	uint16_t port;
	unsigned votes; /* for it */
};

/*
 * Reads the answer to SENTINEL get-master-addr-by-name, which may come from
 * anything that listens where a Sentinel was configured.  Returns false, and
 * leaves *out alone, if it names no place to connect to.
 */
bool sentinel_answer_read(const redisReply *reply, struct sentinel_answer *out);

/* Called from the loop whenever one of them has answered, or has failed. */
typedef void sentinels_answered(void *arg);

/* The env must outlive them. */
struct sentinels *sentinels_new(
    const struct topology_env *env, sentinels_answered *answered, void *arg);
void sentinels_start(struct sentinels *s);
void sentinels_free(struct sentinels *s); /* not from its callback */

/* Returns what they say at present. */
struct sentinels_answer sentinels_answer(const struct sentinels *s);

/* Returns what is wrong with the Sentinel that failed last, for display; "" if
 * none did. */
const char *sentinels_why(const struct sentinels *s);

/* Returns the link that asks one of them; NULL if it is down. */
struct link *sentinels_link(const struct sentinels *s, size_t i);

/* Asks soon, and often until called with false, because the master does not
 * serve. */
void sentinels_hurry(struct sentinels *s, bool hurry);

#endif
