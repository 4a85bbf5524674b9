/*
 * The test cases of the configuration.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_CONFIG_H
#define LOCKBROKER_TESTS_UNIT_TEST_CONFIG_H

#include <check.h>

TCase *hostile_cases(void);
TCase *reload_cases(void);

#endif
