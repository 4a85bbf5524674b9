/*
 * The unit tests of src/front: real sockets, a handler of their own.
 */
#include "config.h"

#include "suite.h"
#include "test_front.h"

int
main(void)
{
	static const suite_case cases[] = {
		lines_cases,
		ends_cases,
		bounds_cases,
		listen_cases,
		heartbeat_cases,
		proxied_cases,
		turns_cases,
	};

	return suite_run("front", cases, COUNT(cases));
}
