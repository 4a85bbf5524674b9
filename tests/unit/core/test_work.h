/*
 * What the tests of bounded work share.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_WORK_H
#define LOCKBROKER_TESTS_UNIT_TEST_WORK_H

#include <check.h>
#include <stdio.h>

#include "work_rig.h"

/* 100,000 names, spread over so many sessions. */
void hold_many(struct work_rig *r, unsigned sessions);

TCase *crowd_cases(void);
TCase *claim_cases(void);
TCase *request_cases(void);

#endif
