/*
 * The load driver: options and the table of modes.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

/* What may be asked for.  `mode` is NULL where nothing is measured. */
static const struct {
	const char *name;
	void (*run)(struct load *load);
	const struct mode *mode;
	const char *help;
} kinds[] = {
	{ "broker", load_run, &mode_broker, NULL },
	{ "fresh", load_run, &mode_fresh, NULL },
	{ "try", load_run, &mode_try, NULL },
	{ "shared", load_run, &mode_shared, NULL },
	{ "permits", load_run, &mode_permits, NULL },
	{ "several", load_run, &mode_several, NULL },
	{ "each", load_run, &mode_each, NULL },
	{ "direct", load_run, &mode_direct, NULL },
	{ "simple", load_run, &mode_simple, NULL },
	{ "simple-fresh", load_run, &mode_simple_fresh, NULL },
	{ "token", load_run, &mode_token, NULL },
	{ "pubsub", load_run, &mode_pubsub, NULL },
	{ "hold", hold_run, NULL, "hold locks at a broker until stdin ends" },
	{ "idle", idle_run, NULL, "stay connected until stdin ends" },
	{ "shake", shake_run, NULL, "shake hands over TLS, -m times each" },
};

#define KINDS_N (sizeof(kinds) / sizeof(kinds[0]))

static void
usage(void)
{
	size_t i;

	fputs("usage: loadgen [OPTION ...] MODE ADDRESS[,ADDRESS...]\n"
	      "  -c N  clients (50)\n"
	      "  -n N  names that they share (0: each has its own)\n"
	      "  -m N  hold, shake: locks or handshakes of each client (1)\n"
	      "  -d S  seconds to measure (3)\n"
	      "  -u S  seconds before that (0.3)\n"
	      "  -w U  microseconds between grant and release (0)\n"
	      "  -t U  microseconds between release and request (0)\n"
	      "  -s ADDRESS  a plain one to prepare Redis at (the first)\n"
	      "  -p NAME=PID  tell the processor time of that process\n"
	      "an ADDRESS is HOST:PORT, tls://HOST:PORT or /PATH; a MODE is\n",
	    stderr);
	for (i = 0; i < KINDS_N; i++)
		fprintf(stderr, "  %-7s %s\n", kinds[i].name,
		    kinds[i].mode != NULL ? kinds[i].mode->help
					  : kinds[i].help);
	exit(2);
}

static unsigned
number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end != '\0' || text[0] < '0' || text[0] > '9' || n > 10000000)
		fail("%s: no number", text);
	return (unsigned)n;
}

static double
seconds(const char *text)
{
	char *end;
	double s = strtod(text, &end);

	if (*end != '\0' || end == text || s < 0 || s > 3600)
		fail("%s: not a time in seconds", text);
	return s;
}

static void
add_process(struct load *load, const char *text)
{
	struct process *p = &load->processes[load->nprocesses];
	size_t n = strcspn(text, "=");

	if (load->nprocesses == PROCESSES_MAX || text[n] != '=' ||
	    n >= sizeof(p->name))
		fail("%s: not NAME=PID", text);
	memcpy(p->name, text, n);
	p->pid = (pid_t)number(text + n + 1);
	load->nprocesses++;
}

static void
add_addresses(struct load *load, char *text)
{
	char *save, *one = strtok_r(text, ",", &save);

	for (; one != NULL; one = strtok_r(NULL, ",", &save)) {
		if (load->naddresses == ADDRESSES_MAX)
			fail("too many addresses");
		load->addresses[load->naddresses++] = one;
	}
	if (load->naddresses == 0)
		usage();
}

static void
option(struct load *load, int opt, const char *arg)
{
	switch (opt) {
	case 'c':
		load->clients = number(arg);
		break;
	case 'n':
		load->names = number(arg);
		break;
	case 'm':
		load->each = number(arg);
		break;
	case 'd':
		load->seconds = seconds(arg);
		break;
	case 'u':
		load->warm_seconds = seconds(arg);
		break;
	case 'w':
		load->work_us = number(arg);
		break;
	case 't':
		load->think_us = number(arg);
		break;
	case 's':
		load->prepared = arg;
		break;
	case 'p':
		add_process(load, arg);
		break;
	default:
		usage();
	}
}

int
main(int argc, char **argv)
{
	static struct load load = {
		.clients = 50,
		.each = 1,
		.seconds = 3,
		.warm_seconds = 0.3,
	};
	size_t i;
	int opt;

	while ((opt = getopt(argc, argv, "c:n:m:d:u:w:t:s:p:")) != -1)
		option(&load, opt, optarg);
	if (argc - optind != 2 || load.clients == 0)
		usage();
	add_addresses(&load, argv[optind + 1]);
	if (load.prepared == NULL)
		load.prepared = load.addresses[0];
	for (i = 0; i < KINDS_N; i++) {
		if (strcmp(kinds[i].name, argv[optind]) != 0)
			continue;
		load.mode = kinds[i].mode;
		kinds[i].run(&load);
		return 0;
	}
	usage();
}
