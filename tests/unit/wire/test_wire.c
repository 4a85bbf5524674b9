/*
 * The unit tests of src/wire.
 */
#include "config.h"

#include "suite.h"
#include "test_wire.h"

int
main(void)
{
	static const suite_case cases[] = {
		text_cases,
		verbs_cases,
		request_cases,
		request_table_cases,
		reply_cases,
		resp_cases,
	};

	return suite_run("wire", cases, COUNT(cases));
}
