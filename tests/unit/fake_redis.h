/*
 * A server that greets like Redis and then misbehaves, in a process of its
 * own, which ends with the test.
 */
#ifndef LOCKBROKER_TESTS_UNIT_FAKE_REDIS_H
#define LOCKBROKER_TESTS_UNIT_FAKE_REDIS_H

#include <sys/types.h>

struct fake {
	pid_t pid;
	char dir[64];
	char path[80];
};

/*
 * Greeted, it says `hello` (if any) and answers each EVALSHA and SENTINEL with
 * `answer`.
 */
void fake_start(struct fake *f, const char *hello, const char *answer);

/* Says to be Redis 6, which can't read a script that begins with `#!`. */
void fake_start_old(struct fake *f, const char *answer);

/* Accepts connections and never says a word. */
void fake_start_silent(struct fake *f);

void fake_stop(struct fake *f);

#endif
