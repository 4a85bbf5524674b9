/*
 * The runner of unit tests.  Each test runs in a process of its own, unless
 * CK_FORK=no is in the environment.
 */
#include "config.h"

#include <stdlib.h>

#include "suite.h"

int
suite_run(const char *name, const suite_case *cases, size_t n)
{
	Suite *s = suite_create(name);
	SRunner *sr;
	size_t i;
	int failed;

	/* Check gives a test 4 seconds; a busy machine needs more. */
	(void)setenv("CK_TIMEOUT_MULTIPLIER", "4", 0);
	for (i = 0; i < n; i++)
		suite_add_tcase(s, cases[i]());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
