/*
 * The test cases of test_base, one function for each module of src/base.
 */
#ifndef LOCKBROKER_TESTS_UNIT_TEST_BASE_H
#define LOCKBROKER_TESTS_UNIT_TEST_BASE_H

#include <check.h>

TCase *address_cases(void);
TCase *buf_cases(void);
TCase *crc16_cases(void);
TCase *cursor_cases(void);
TCase *exec_cases(void);
TCase *handed_cases(void);
TCase *hash_cases(void);
TCase *heap_cases(void);
TCase *json_cases(void);
TCase *log_cases(void);
TCase *parse_cases(void);
TCase *freelist_cases(void);
TCase *proxy_header_cases(void);
TCase *syslog_out_cases(void);
TCase *table_cases(void);
TCase *times_cases(void);
TCase *xmalloc_cases(void);

#endif
