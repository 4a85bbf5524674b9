/*
 * The modules of the unit tests of src/redis.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_REDIS_H
#define LOCKBROKER_TESTS_UNIT_TEST_REDIS_H

#include <check.h>

TCase *redis_cases(void);
TCase *replica_cases(void);
TCase *cluster_cases(void);
TCase *misbehaviour_cases(void);
TCase *embedded_cases(void);
TCase *sentinel_cases(void);

#endif
