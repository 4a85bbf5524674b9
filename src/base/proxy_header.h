/*
 * The header that a proxy sends before the bytes of its client (PROXY protocol,
 * version 1, a line, or 2, binary): it gives the client's address.
 */
#ifndef LOCKBROKER_BASE_PROXY_HEADER_H
#define LOCKBROKER_BASE_PROXY_HEADER_H

#include <stddef.h>
#include <stdint.h>

/* The longest header that is accepted. */
#define PROXY_HEADER_MAX 536

/* "[V6]:PORT" with its NUL. */
#define PROXY_PEER_SIZE 56

/* How clients come to a listener. */
enum proxied {
	PROXIED_NO,
	PROXIED_YES,	/* through proxies, which may close for them */
	PROXIED_HEADER, /* ... and send the client's address */
	PROXIED_MAX
};

enum proxy_header_got {
	PROXY_HEADER_PART, /* all bytes so far belong to one */
	PROXY_HEADER_WHOLE,
	PROXY_HEADER_NONE /* this cannot become one */
};

struct proxy_header {
	size_t size;		    /* in bytes */
	char peer[PROXY_PEER_SIZE]; /* the client; "": the peer of the socket */
};

/* Reads a header from the beginning of a stream; `out` is set on WHOLE. */
enum proxy_header_got proxy_header_read(
    const char *data, size_t len, struct proxy_header *out);

/* Says by the first bytes alone whether a stream begins with a header: WHOLE if
 * it does. */
enum proxy_header_got proxy_header_begins(const char *data, size_t len);

/* The time that a proxy has to send it; `first_line_ms`: limits.first_line. */
static inline int64_t
proxy_header_ms(int64_t first_line_ms)
{
	return first_line_ms > 0 ? first_line_ms : 5000;
}

#endif
