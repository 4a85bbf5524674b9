/*
 * The test cases of test_auth, one function for each module of src/auth.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_AUTH_H
#define LOCKBROKER_TESTS_UNIT_TEST_AUTH_H

#include <check.h>

TCase *hasher_cases(void);
TCase *pattern_cases(void);
TCase *secret_cases(void);
TCase *users_cases(void);

#endif
