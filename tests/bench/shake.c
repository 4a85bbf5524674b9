/*
 * A storm: connections that shake hands over TLS and go.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load.h"
#include "secure.h"

static void
shake(const struct load *load)
{
	unsigned i;
	int fd;

	for (i = 0; i < load->each; i++) {
		fd = peer_connect(load->addresses[i % load->naddresses]);
		secure_free(secure_new(fd));
		(void)close(fd);
	}
}

/* As many processes as there are clients: a handshake blocks. */
void
shake_run(struct load *load)
{
	uint64_t started_ns = now_ns();
	unsigned i;
	int status;

	for (i = 0; i < load->clients; i++) {
		switch (fork()) {
		case -1:
			fail("fork failed");
		case 0:
			shake(load);
			_exit(0);
		default:
			break;
		}
	}
	for (i = 0; i < load->clients; i++)
		if (wait(&status) < 0 || status != 0)
			fail("a handshake failed");
	printf("{\"mode\": \"shake\", \"handshakes\": %u, \"per_s\": %.1f}\n",
	    load->clients * load->each,
	    load->clients * load->each /
		((double)(now_ns() - started_ns) / 1e9));
}
