/*
 * The gate: the only way from a line to a handler.
 *
 * Takes a line apart and answers what is wrong with it: its form, its
 * privilege, a tag in use, too many requests under way.  What passes is
 * handed to the handler of the front.
 */
#ifndef LOCKBROKER_FRONT_GATE_H
#define LOCKBROKER_FRONT_GATE_H

#include <stddef.h>

struct conn;

enum gate_verdict {
	GATE_DONE,
	GATE_LATER, /* when the client has read what it was told before */
	GATE_CLOSED /* the connection is to be closed without an answer */
};

enum gate_verdict gate_line(struct conn *c, const char *line, size_t len)
    __attribute__((warn_unused_result));

#endif
