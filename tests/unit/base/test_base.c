/*
 * The unit tests of src/base.
 */
#include "config.h"

#include "suite.h"
#include "test_base.h"

int
main(void)
{
	static const suite_case cases[] = {
		address_cases,
		buf_cases,
		crc16_cases,
		cursor_cases,
		exec_cases,
		handed_cases,
		hash_cases,
		heap_cases,
		json_cases,
		log_cases,
		parse_cases,
		freelist_cases,
		proxy_header_cases,
		syslog_out_cases,
		table_cases,
		times_cases,
		xmalloc_cases,
	};

	return suite_run("base", cases, COUNT(cases));
}
