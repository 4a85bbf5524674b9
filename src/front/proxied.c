/*
 * The PROXY protocol: a client whose proxy must send its address is not opened
 * before the header has come.  On other listeners, a connection that begins
 * with a header is closed without an answer: each of its requests would get the
 * answer to another one.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "front/conn.h"
#include "front/state.h"

static void
take_header(struct conn *c, const struct proxy_header *header)
{
	buf_consume(&c->in, header->size);
	if (header->peer[0] != '\0') {
		free(c->peer);
		c->peer = xstrdup(header->peer);
		c->peer_told = true;
	}
	c->headless = false;
	c->front->nunopened++;
	timeouts_set(c, TIMEOUT_SILENT);
}

bool
proxied_told(struct conn *c)
{
	struct proxy_header header;

	if (!c->headless || c->end)
		return !c->headless;
	switch (proxy_header_read(buf_data(&c->in), buf_len(&c->in), &header)) {
	case PROXY_HEADER_WHOLE:
		take_header(c, &header);
		return true;
	case PROXY_HEADER_PART:
		if (c->eof || c->hup)
			front_end(c, CONN_END_DEAD);
		break;
	default:
		front_wrong_header(c,
		    "it does not begin with a PROXY protocol header, which "
		    "`proxied: header` in `listen` requires");
		break;
	}
	c->idle = true;
	return false;
}

bool
proxied_meets_header(struct conn *c)
{
	enum proxy_header_got got;

	if (c->spoke || buf_len(&c->in) == 0)
		return false;
	got = proxy_header_begins(buf_data(&c->in), buf_len(&c->in));
	if (got == PROXY_HEADER_WHOLE)
		front_wrong_header(c,
		    "a proxy sends the PROXY protocol: set `proxied: header` "
		    "for this address in `listen`, or turn it off in the "
		    "proxy");
	return got != PROXY_HEADER_NONE;
}
