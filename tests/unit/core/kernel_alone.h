/*
 * A core without parts, or with those of a test.
 */
#ifndef LOCKBROKER_TESTS_UNIT_KERNEL_ALONE_H
#define LOCKBROKER_TESTS_UNIT_KERNEL_ALONE_H

#include <check.h>

struct core_part;

/* The parts of cores that are made from now on, with NULL at the end. */
extern const struct core_part *const *kernel_parts;

/* kernel_part.c: what a part may say to a grant. */
TCase *kernel_part_cases(void);

#endif
