/*
 * What the unit-test programs share.
 *
 * There is one program for each library, test_LIB.c, with a main() that hands
 * a table of functions to suite_run(); each function makes the test cases of
 * one module and stands in test_MODULE.c.  A program links the library it tests
 * and what is below it, nothing else: what a layer may not use does not link.
 */
#ifndef LOCKBROKER_TESTS_UNIT_SUITE_H
#define LOCKBROKER_TESTS_UNIT_SUITE_H

#include <check.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef TCase *(*suite_case)(void);

/* Runs all of them; returns what main() returns. */
int suite_run(const char *name, const suite_case *cases, size_t n);

#endif
