/*
 * The gate.  It owns nothing and keeps no state: whatever it must remember
 * about a connection is in struct conn.
 */
#include "config.h"

#include "base/err.h"
#include "front/conn.h"
#include "front/front.h"
#include "front/gate.h"
#include "front/state.h"
#include "wire/protocol.h"
#include "wire/verbs.h"

/*
 * Verbs that release something or end a wait: a client at its limit needs
 * these.
 */
static bool
gate_relieves(enum verb_id verb)
{
	return verb_has(verb, VERB_FLAG_GIVES_BACK) ||
	       verbs[verb].words_min == 0 ||
	       verbs[verb].kind != VERB_WORDS_NAMES;
}

static bool
gate_refuse(struct conn *c, const struct request *r)
{
	const struct front *f = c->front;

	if (r->tag.n == 0)
		return false;
	if (conn_tag_ref(c, r->tag) != 0) {
		conn_refuse(c, r, ERR_BAD_REQUEST, "this tag is still in use");
		return true;
	}
	if (c->npending >= f->limits.requests && !gate_relieves(r->verb)) {
		conn_refuse(c, r, ERR_LIMIT,
		    "%u requests of this connection are already waiting",
		    c->npending);
		return true;
	}
	return false;
}

enum gate_verdict
gate_pass(struct conn *c, const struct wire_frame *frame)
{
	struct front *f = c->front;
	struct request r;
	enum err_code code = ERR_NONE;

	switch (c->protocol->parse(&r, frame->p, frame->n, &code, &f->why)) {
	case REQUEST_EMPTY:
		return GATE_DONE;
	case REQUEST_HTTP:
		return GATE_CLOSED;
	case REQUEST_BAD:
		conn_refuse_with(c, &r, code, &f->why);
		f->handler->refused(f->arg, c);
		return GATE_DONE;
	case REQUEST_FOREIGN:
		f->handler->command(f->arg, c, &r);
		return GATE_DONE;
	case REQUEST_OK:
		break;
	}
	if (c->counted > 0 && verb_has(r.verb, VERB_FLAG_ROWS))
		return GATE_LATER;
	if (!gate_refuse(c, &r))
		f->handler->request(f->arg, c, &r);
	return GATE_DONE;
}
