/*
 * Tests of src/http, but for its sockets: tests/system/test_http.py has those.
 */
#include "config.h"

#include "test_http.h"

int
main(void)
{
	static const suite_case cases[] = { case_path, case_basic, case_hosts,
		case_exposition };

	return suite_run("http", cases, COUNT(cases));
}
