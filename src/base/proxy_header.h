/*
 * What a proxy that speaks the PROXY protocol (version 1, a line, or 2, binary)
 * sends before the bytes of its client: whose connection it is.
 */
#ifndef LOCKBROKER_BASE_PROXY_HEADER_H
#define LOCKBROKER_BASE_PROXY_HEADER_H

#include <stddef.h>
#include <stdint.h>

/* The longest header that is accepted. */
#define PROXY_HEADER_MAX 536

/* "[V6]:PORT", with its end. */
#define PROXY_PEER_SIZE 56

/* How clients come to a place to listen on. */
enum proxied {
	PROXIED_NO,
	PROXIED_YES,	/* through proxies, which may close for them */
	PROXIED_HEADER, /* and tell whose connection it is */
	PROXIED_MAX
};

enum proxy_header_got {
	PROXY_HEADER_PART, /* all that is there belongs to one */
	PROXY_HEADER_WHOLE,
	PROXY_HEADER_NONE /* this can't become one */
};

struct proxy_header {
	size_t size;		    /* in bytes */
	char peer[PROXY_PEER_SIZE]; /* the client; "": as the socket says */
};

/* Reads a header from the beginning of a stream; `out` is set if it is whole. */
enum proxy_header_got proxy_header_read(
    const char *data, size_t len, struct proxy_header *out);

/* Tells by its first bytes, whatever follows, whether a stream begins with one:
 * WHOLE says so. */
enum proxy_header_got proxy_header_begins(const char *data, size_t len);

/* How long a proxy has to send it; `first_line_ms`: limits.first_line. */
static inline int64_t
proxy_header_ms(int64_t first_line_ms)
{
	return first_line_ms > 0 ? first_line_ms : 5000;
}

#endif
