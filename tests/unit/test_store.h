/*
 * The test cases of the store.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_STORE_H
#define LOCKBROKER_TESTS_UNIT_TEST_STORE_H

#include <check.h>

TCase *renewals_cases(void);

#endif
