/*
 * `lockbroker top`: waits by class of names, from two answers to STATS.
 */
#ifndef LOCKBROKER_CLI_TOP_CLASSES_H
#define LOCKBROKER_CLI_TOP_CLASSES_H

#include <stddef.h>
#include <stdint.h>

/* One class: what STATS says of it, and a line to show. */
struct top_class {
	char *name;
	uint64_t waiters, held, oldest_ms, lost;
	uint64_t granted, given_up, wait_ms; /* in all */
	char *text;
};

/*
 * The owner begins with zeros and calls top_classes_fini().  There is nothing
 * to show while the broker has just one class.
 */
struct top_classes {
	struct top_class *v; /* the most waiters first */
	size_t n;
};

/*
 * Takes the next answer, so long after the one before; 0: there was none
 * before.
 */
void top_classes_take(
    struct top_classes *t, char *const *lines, size_t n, int64_t elapsed_ms);
void top_classes_fini(struct top_classes *t);

#endif
