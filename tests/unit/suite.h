/*
 * What the unit-test programs share.
 *
 * There is one program for each library, test_LIB.c, with a main() that hands
 * a table of functions to suite_run().  Each function makes the test cases of
 * one module, and is in test_MODULE.c.  A program links the library that it
 * tests and those below it, and nothing else: a layer that uses more than it
 * may does not link.
 */
#ifndef LOCKBROKER_TESTS_UNIT_SUITE_H
#define LOCKBROKER_TESTS_UNIT_SUITE_H

#include <check.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef TCase *(*suite_case)(void);

/* Runs all cases; returns the exit status for main(). */
int suite_run(const char *name, const suite_case *cases, size_t n);

#endif
