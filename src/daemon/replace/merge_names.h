/*
 * Names that several processes of a broker know of: each name of a kind once,
 * with what all of them know.  See merge.h.
 */
#ifndef LOCKBROKER_DAEMON_REPLACE_MERGE_NAMES_H
#define LOCKBROKER_DAEMON_REPLACE_MERGE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field.h"
#include "base/span.h"

struct merge_names;

struct merge_names *merge_names_new(void);
void merge_names_free(struct merge_names *names);

/* A process knows of so many names. */
void merge_names_more(struct merge_names *names, uint64_t total);

/* One of them does not count. */
void merge_names_less(struct merge_names *names);

/* A row of NAMES, of a process that leaves or of this one.  All is copied. */
void merge_names_add(struct merge_names *names, bool leaving, struct span name,
    const struct field *fields, size_t n, const char *arena);

/* After all were added: the busiest come first, as in NAMES; by age: those that
 * have been held longest. */
void merge_names_order(struct merge_names *names, bool by_age);

/* The fields of the next name; returns how many, or 0.  They live until the
 * next call. */
size_t merge_names_take(struct merge_names *names, struct span *name,
    const struct field **fields, const char **arena);

/* How many names there are: those that several rows told of count once. */
uint64_t merge_names_total(const struct merge_names *names);

#endif
