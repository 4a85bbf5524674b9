#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/parse.h"
#include "base/proxy_header.h"
#include "base/span.h"

static const char signature[] = "\r\n\r\n\0\r\nQUIT\n";
static const char word[] = "PROXY ";

#define SIGNATURE_BYTES (sizeof(signature) - 1)
#define WORD_BYTES (sizeof(word) - 1)
#define LINE_BYTES_MAX 107 /* of version 1, with its end */

/* Version 2: the signature, version and command, family, length. */
#define HEAD_BYTES (SIGNATURE_BYTES + 4)

static enum proxy_header_got
compare(const char *data, size_t len, const char *with, size_t with_len)
{
	const size_t n = len < with_len ? len : with_len;

	if (memcmp(data, with, n) != 0)
		return PROXY_HEADER_NONE;
	return n == with_len ? PROXY_HEADER_WHOLE : PROXY_HEADER_PART;
}

enum proxy_header_got
proxy_header_begins(const char *data, size_t len)
{
	if (len == 0)
		return PROXY_HEADER_PART;
	return data[0] == signature[0]
		   ? compare(data, len, signature, SIGNATURE_BYTES)
		   : compare(data, len, word, WORD_BYTES);
}

/* An address in network form; an IPv4 address mapped to IPv6 counts as IPv4. */
static void
name_peer(
    char peer[PROXY_PEER_SIZE], int family, const void *address, unsigned port)
{
	char host[INET6_ADDRSTRLEN] = "?";
	struct in6_addr six;

	if (family == AF_INET6) {
		memcpy(&six, address, sizeof(six));
		if (IN6_IS_ADDR_V4MAPPED(&six)) {
			family = AF_INET;
			address = &six.s6_addr[12];
		}
	}
	(void)inet_ntop(family, address, host, sizeof(host));
	snprintf(peer, PROXY_PEER_SIZE,
	    family == AF_INET6 ? "[%.45s]:%u" : "%.45s:%u", host, port);
}

/* Version 1. */

/* Takes the next word of a line; words are separated by one space. */
static struct span
next_word(struct span *line)
{
	const char *space = memchr(line->p, ' ', line->n);
	struct span first = { line->p,
		space != NULL ? (size_t)(space - line->p) : line->n };
	size_t taken = first.n + (space != NULL ? 1 : 0);

	line->p += taken;
	line->n -= taken;
	return first;
}

static bool
read_address(struct span text, int family, struct in6_addr *out)
{
	char copy[INET6_ADDRSTRLEN];

	if (text.n >= sizeof(copy))
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	return inet_pton(family, copy, out) == 1;
}

/* "TCP4 FROM TO PORT PORT", or "UNKNOWN" and anything after it. */
static bool
read_words(struct span line, struct proxy_header *out)
{
	struct span kind = next_word(&line);
	const int family = span_is(kind, "TCP6") ? AF_INET6 : AF_INET;
	struct in6_addr from, to;
	struct span ends[2], ports[2];
	uint64_t port, other;

	if (span_is(kind, "UNKNOWN"))
		return true;
	ends[0] = next_word(&line);
	ends[1] = next_word(&line);
	ports[0] = next_word(&line);
	ports[1] = line;
	if ((family == AF_INET && !span_is(kind, "TCP4")) ||
	    !read_address(ends[0], family, &from) ||
	    !read_address(ends[1], family, &to) ||
	    !parse_number(ports[0].p, ports[0].n, UINT16_MAX, &port) ||
	    !parse_number(ports[1].p, ports[1].n, UINT16_MAX, &other))
		return false;
	name_peer(out->peer, family, &from, (unsigned)port);
	return true;
}

static enum proxy_header_got
read_line(const char *data, size_t len, struct proxy_header *out)
{
	const char *end =
	    memchr(data, '\n', len < LINE_BYTES_MAX ? len : LINE_BYTES_MAX);
	struct span line = { data + WORD_BYTES, 0 };

	if (end == NULL)
		return len < LINE_BYTES_MAX ? PROXY_HEADER_PART
					    : PROXY_HEADER_NONE;
	if (end[-1] != '\r')
		return PROXY_HEADER_NONE;
	line.n = (size_t)(end - 1 - line.p);
	out->size = (size_t)(end + 1 - data);
	return read_words(line, out) ? PROXY_HEADER_WHOLE : PROXY_HEADER_NONE;
}

/* Version 2. */

/* The part after the head, by family: two addresses and two ports. */
static const struct {
	int family;
	size_t size; /* of one address */
} families[] = {
	{ AF_UNSPEC, 0 }, { AF_INET, sizeof(struct in_addr) },
	{ AF_INET6, sizeof(struct in6_addr) },
	{ AF_UNIX, 0 }, /* a process on the host of the proxy */
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

static enum proxy_header_got
read_binary(const char *data, size_t len, struct proxy_header *out)
{
	const unsigned char *head = (const unsigned char *)data;
	unsigned command, family, transport, rest;
	size_t size = 0;

	if (len < HEAD_BYTES)
		return PROXY_HEADER_PART;
	head += SIGNATURE_BYTES;
	command = head[0] & 0xf;
	family = head[1] >> 4;
	transport = head[1] & 0xf;
	rest = (unsigned)head[2] << 8 | head[3];
	if (head[0] >> 4 != 2 || command > 1 ||
	    HEAD_BYTES + rest > PROXY_HEADER_MAX)
		return PROXY_HEADER_NONE;
	out->size = HEAD_BYTES + rest;
	/* Otherwise it is LOCAL: the proxy itself checks on us. */
	if (command == 1) {
		if (family >= FAMILIES || transport > 2)
			return PROXY_HEADER_NONE;
		size = families[family].size;
	}
	if (size > 0 && rest < 2 * size + 4)
		return PROXY_HEADER_NONE;
	if (len < out->size)
		return PROXY_HEADER_PART;
	head += 4;
	if (size > 0)
		name_peer(out->peer, families[family].family, head,
		    (unsigned)head[2 * size] << 8 | head[2 * size + 1]);
	return PROXY_HEADER_WHOLE;
}

enum proxy_header_got
proxy_header_read(const char *data, size_t len, struct proxy_header *out)
{
	enum proxy_header_got begins = proxy_header_begins(data, len);

	memset(out, 0, sizeof(*out));
	if (begins != PROXY_HEADER_WHOLE)
		return begins;
	return data[0] == signature[0] ? read_binary(data, len, out)
				       : read_line(data, len, out);
}
