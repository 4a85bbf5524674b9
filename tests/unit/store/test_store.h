/*
 * The test cases of the store.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_STORE_H
#define LOCKBROKER_TESTS_UNIT_TEST_STORE_H

#include <check.h>

TCase *answers_cases(void);
TCase *growth_cases(void);
TCase *rows_cases(void);

#endif
