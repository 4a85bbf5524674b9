/*
 * A server that greets like Redis and then misbehaves, in a process of its
 * own, which ends with the test.
 */
#ifndef LOCKBROKER_TESTS_UNIT_FAKE_REDIS_H
#define LOCKBROKER_TESTS_UNIT_FAKE_REDIS_H

#include <sys/types.h>

struct fake {
	pid_t pid;
	unsigned *subscribed; /* how often it was asked; shared with the
			       * process */
	char dir[64];
	char path[80];
};

/* What it says instead of Redis' answer; NULL: nothing, or what Redis says. */
struct fake_words {
	const char *hello;    /* to a command connection, when it is greeted */
	const char *answer;   /* to each EVALSHA and SENTINEL */
	const char *greeting; /* to each command of a greeting */
	const char *subscribed; /* to SUBSCRIBE */
	const char *news;	/* to a subscriber, a little later */
	const char *version;	/* of Redis */
	unsigned answers;	/* only so many are given; 0: all */
};

void fake_start_words(struct fake *f, const struct fake_words *words);

/* Starts one with only those two. */
void fake_start(struct fake *f, const char *hello, const char *answer);

/* It claims to be Redis 6, which can't read a script that begins with `#!`. */
void fake_start_old(struct fake *f, const char *answer);

/* Accepts connections and never says a word. */
void fake_start_silent(struct fake *f);

void fake_stop(struct fake *f);

#endif
