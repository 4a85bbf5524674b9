/*
 * lockbroker-tls: the process that speaks TLS for a broker, or for one
 * connection of the lockbroker command.  Its standard input is the socket to
 * the process that started it.
 *
 *	lockbroker-tls broker
 *	lockbroker-tls connect IP PORT NAME CA CERT KEY
 */
#include "config.h"

#include <event2/event.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/timeval.h"
#include "base/xmalloc.h"
#include "tls/accept.h"
#include "tls/control.h"
#include "tls/dial.h"
#include "tls/engine.h"
#include "tls/pipe.h"

#define EXIT_USAGE 2
#define CONNECT_ARGS 8
#define CONNECT_MS 10000
/* After the broker has gone, unsent output has this long to reach clients. */
#define FLUSH_MS 500
/* The most handshakes that run before the loop looks for other events. */
#define SHAKES_MAX 4

/*
 * The process has keys in memory: so no core dump, no debugger, no way to more
 * privileges.  Root keeps only the capability to read the files of other users.
 */
static void
harden(void)
{
	struct rlimit none = { 0, 0 };
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (geteuid() != 0)
		return;
	memset(data, 0, sizeof(data));
	data[0].effective = data[0].permitted = 1u << CAP_DAC_READ_SEARCH;
	(void)syscall(SYS_capset, &head, data);
}

/*
 * Memory that OpenSSL frees has held keys and passwords, and not every version
 * wipes the buffers of its connections.
 */
static void
wiping_free(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	if (p == NULL)
		return;
	explicit_bzero(p, malloc_usable_size(p));
	free(p);
}

static void *
wiping_realloc(void *p, size_t size, const char *file, int line)
{
	size_t had = malloc_usable_size(p);
	void *to = size == 0 ? NULL : malloc(size);

	if (to != NULL && p != NULL)
		memcpy(to, p, had < size ? had : size);
	if (to != NULL || size == 0)
		wiping_free(p, file, line);
	return to;
}

static void *
plain_malloc(size_t size, const char *file, int line)
{
	(void)file;
	(void)line;
	return size == 0 ? NULL : malloc(size);
}

static const struct engine_listener above = {
	.client = control_client,
	.wait = control_wait,
	.ended = control_ended,
	.failed = control_failed,
	.closed = control_closed,
};

static void
engine_init(struct engine *e)
{
	struct event_config *config = event_config_new();

	memset(e, 0, sizeof(*e));
	e->control = -1;
	e->above = &above;
	if (config == NULL ||
	    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) < 0 ||
	    event_config_set_max_dispatch_interval(
		config, NULL, SHAKES_MAX, PRIORITY_SHAKE) < 0)
		abort();
	e->base = event_base_new_with_config(config);
	event_config_free(config);
	if (!e->base || event_base_priority_init(e->base, PRIORITY_MAX) < 0)
		abort();
	TAILQ_INIT(&e->pipes);
	accept_init(e);
	e->clients_max = 1;
}

static void
engine_fini(struct engine *e)
{
	struct pipe *p, *next;

	accept_fini(e);
	TAILQ_FOREACH_SAFE (p, &e->pipes, link, next)
		pipe_free(p);
	context_fini(&e->servers);
	event_base_free(e->base);
}

/* Has all output reached its client? */
static bool
is_flushed(const struct engine *e)
{
	const struct pipe *p;

	TAILQ_FOREACH (p, &e->pipes, link)
		if (p->place && !p->net_shut && !p->deaf)
			return false;
	return true;
}

static void
run(struct engine *e)
{
	if (event_base_loop(e->base, EVLOOP_ONCE) < 0)
		abort();
}

static void
flush(struct engine *e)
{
	const struct timeval tv = ms_to_timeval(FLUSH_MS);

	accept_close(e);
	(void)event_base_loopexit(e->base, &tv);
	while (!event_base_got_exit(e->base) && !is_flushed(e))
		run(e);
}

static int
serve_broker(void)
{
	struct engine e;

	engine_init(&e);
	e.words.ca = "redis.tls_ca";
	e.words.cert = "redis.tls_cert";
	e.words.names = ", or set redis.tls_names to false";
	e.control = STDIN_FILENO;
	control_init(&e);
	while (!e.over)
		run(&e);
	flush(&e);
	control_fini(&e);
	engine_fini(&e);
	return EXIT_SUCCESS;
}

static int
serve_command(char **argv)
{
	char why[CONTEXT_WHY_SIZE];
	struct engine e;
	int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);

	/* The pipe keeps its only copy. */
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	(void)close(STDIN_FILENO);
	engine_init(&e);
	e.words.ca = "--ca";
	e.words.cert = "--cert and --key";
	e.words.names = "";
	e.connect_timeout_ms = CONNECT_MS;
	e.reply_timeout_ms = 30000;
	e.servers.names = true;
	e.servers.ca = xstrdup(argv[5]);
	e.servers.cert = xstrdup(argv[6]);
	e.servers.key = xstrdup(argv[7]);
	if (context_load(&e.servers, why))
		dial(&e, fd, argv[2], (uint16_t)atoi(argv[3]), argv[4]);
	else
		dprintf(fd, "!%s\n", why);
	while (!TAILQ_EMPTY(&e.pipes))
		run(&e);
	engine_fini(&e);
	return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
	harden();
	/* Before OpenSSL has allocated anything. */
	if (CRYPTO_set_mem_functions(
		plain_malloc, wiping_realloc, wiping_free) != 1)
		abort();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "broker") == 0)
		return serve_broker();
	if (argc == CONNECT_ARGS && strcmp(argv[1], "connect") == 0)
		return serve_command(argv);
	fputs("lockbroker-tls: it is started by lockbrokerd and "
	      "lockbroker\n",
	    stderr);
	return EXIT_USAGE;
}
