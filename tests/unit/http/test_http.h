/*
 * The test cases of src/http.
 */
#ifndef LOCKBROKER_TESTS_TEST_HTTP_H
#define LOCKBROKER_TESTS_TEST_HTTP_H

#include "suite.h"

TCase *case_path(void);
TCase *case_basic(void);
TCase *case_hosts(void);
TCase *case_exposition(void);

#endif
