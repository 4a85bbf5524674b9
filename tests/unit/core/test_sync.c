/*
 * Tests of semaphores, latches and barriers: the core alone, its store played
 * by hand, so that every outcome can be had at every moment.
 */
#include "config.h"

#include "test_sync.h"

int
main(void)
{
	const suite_case cases[] = { case_semaphore, case_latch, case_barrier };

	return suite_run("sync", cases, COUNT(cases));
}
