/*
 * The test cases of test_wire, one function for each module of src/wire.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_WIRE_H
#define LOCKBROKER_TESTS_UNIT_TEST_WIRE_H

#include <check.h>

TCase *reply_cases(void);
TCase *request_cases(void);
TCase *request_table_cases(void);
TCase *resp_cases(void);
TCase *text_cases(void);
TCase *verbs_cases(void);

#endif
