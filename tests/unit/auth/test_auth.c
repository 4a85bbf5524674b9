/*
 * The unit tests of src/auth.
 */
#include "config.h"

#include "suite.h"
#include "test_auth.h"

int
main(void)
{
	static const suite_case cases[] = {
		pattern_cases,
		secret_cases,
		hasher_cases,
		users_cases,
	};

	return suite_run("auth", cases, COUNT(cases));
}
