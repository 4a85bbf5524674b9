/*
 * The gate: the only way from what a client sends to a handler.
 *
 * It parses a request and refuses a malformed one, a tag in use, and too many
 * requests under way.  It hands the others to the handler of the front.
 */
#ifndef LOCKBROKER_FRONT_GATE_H
#define LOCKBROKER_FRONT_GATE_H

struct conn;
struct wire_frame;

enum gate_verdict {
	GATE_DONE,
	GATE_LATER, /* when the client has read its earlier answers */
	GATE_CLOSED /* close the connection without an answer */
};

enum gate_verdict gate_pass(struct conn *c, const struct wire_frame *frame)
    __attribute__((warn_unused_result));

#endif
