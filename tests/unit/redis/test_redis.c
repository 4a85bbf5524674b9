/*
 * The unit tests of src/redis.
 */
#include "config.h"

#include "suite.h"
#include "test_redis.h"

int
main(void)
{
	static const suite_case cases[] = {
		redis_cases,
		replica_cases,
		cluster_cases,
		misbehaviour_cases,
		embedded_cases,
		sentinel_cases,
	};

	return suite_run("redis", cases, COUNT(cases));
}
