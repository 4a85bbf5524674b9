/*
 * The test cases of test_sync, one function for each kind of object.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_SYNC_H
#define LOCKBROKER_TESTS_UNIT_TEST_SYNC_H

#include "suite.h"

TCase *case_semaphore(void);
TCase *case_latch(void);
TCase *case_barrier(void);

#endif
