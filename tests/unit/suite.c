/*
 * The runner of unit tests.  Tests run each in a process of its own, unless
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

	/* Of Check's 4 seconds a test, on machines with other things to do. */
	(void)setenv("CK_TIMEOUT_MULTIPLIER", "4", 0);
	for (i = 0; i < n; i++)
		suite_add_tcase(s, cases[i]());
	sr = srunner_create(s);
	srunner_run_all(sr, CK_ENV);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
