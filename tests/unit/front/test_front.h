/*
 * The test cases of src/front.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_FRONT_H
#define LOCKBROKER_TESTS_UNIT_TEST_FRONT_H

#include <check.h>

TCase *lines_cases(void);
TCase *ends_cases(void);
TCase *bounds_cases(void);
TCase *listen_cases(void);
TCase *heartbeat_cases(void);
TCase *proxied_cases(void);
TCase *turns_cases(void);

#endif
