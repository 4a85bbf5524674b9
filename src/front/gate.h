/*
 * The gate: the only way from what a client sends to a handler.
 *
 * Takes a request apart and answers what is wrong with it: its form, its
 * privilege, a tag in use, too many requests under way.  What passes is
 * handed to the handler of the front.
 */
#ifndef LOCKBROKER_FRONT_GATE_H
#define LOCKBROKER_FRONT_GATE_H

struct conn;
struct wire_frame;

enum gate_verdict {
	GATE_DONE,
	GATE_LATER, /* when the client has read what it was told before */
	GATE_CLOSED /* the connection is to be closed without an answer */
};

enum gate_verdict gate_pass(struct conn *c, const struct wire_frame *frame)
    __attribute__((warn_unused_result));

#endif
