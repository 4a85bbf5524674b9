/*
 * Fuzzes the packets between the broker and the process that speaks TLS: any
 * datagram either consists of texts, each with its end, or the other side
 * counts as gone.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "relay/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All texts lie within the datagram, one after the other. */
static void
check_texts(const struct packet *p)
{
	const char *end = p->bytes + p->len, *at = p->bytes;
	unsigned i;

	assert(p->n > 0 && p->n <= PACKET_TEXTS_MAX);
	for (i = 0; i < p->n; i++) {
		assert(packet_text(p, i) == at);
		at += strlen(at) + 1;
		assert(at <= end);
		(void)packet_num(p, i);
	}
	assert(packet_text(p, p->n)[0] == '\0');
	assert(packet_num(p, p->n) == 0);
	assert(packet_is(p, packet_text(p, 0), p->n - 1));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packet *p = xcalloc(1, sizeof(*p));
	enum packet_end end;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		0, fds) < 0)
		abort();
	if (size > 0 && size <= PACKET_BYTES_MAX &&
	    send(fds[0], data, size, 0) == (ssize_t)size) {
		end = packet_receive(fds[1], p);
		assert(end == PACKET_OK || end == PACKET_GONE);
		if (end == PACKET_OK)
			check_texts(p);
		packet_drop_fd(p);
	}
	close(fds[0]);
	close(fds[1]);
	free(p);
	return 0;
}
