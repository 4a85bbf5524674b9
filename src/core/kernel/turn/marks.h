/*
 * What measurements keep with a name and with a request: room for it in their
 * structs, which no other module reads.  And how a wait ends.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_MARKS_H
#define LOCKBROKER_CORE_KERNEL_TURN_MARKS_H

#include <stdint.h>

#include "base/list.h"

/* The class of a name, kept with the name.  All zero: not looked up yet. */
struct measure_mark {
	uint8_t class; /* a slot of the classes */
	uint8_t epoch; /* of the configuration in which it was looked up */
};

/* How a wait ends.  A wait that ends with NONE does not count: a re-entry. */
enum measure_result {
	RESULT_GRANTED,
	RESULT_TIMEOUT,
	RESULT_CANCELLED,
	RESULT_REFUSED,
	RESULTS,
	RESULT_BUSY = RESULTS,
	RESULT_NONE
};

/* A part of each request.  The list of a class is in the order of time. */
struct measure_wait {
	TAILQ_ENTRY(measure_wait) in_class;
	int64_t since_ms;
	uint8_t class; /* that of the name when the request came */
};

#endif
