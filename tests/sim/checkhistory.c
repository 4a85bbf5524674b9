/*
 * checkhistory: says what is wrong in a history (README, "Histories").
 *
 *	checkhistory [--late MS] [--longest MS] [FILE]
 *
 * Exit status 0: nothing is wrong; 1: something is, one line each on stdout;
 * 2: it can't be read.
 */
#include "config.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "history.h"

static void
print_fault(void *arg, const char *text)
{
	(void)arg;
	puts(text);
}

static void
usage(void)
{
	fprintf(
	    stderr, "usage: checkhistory [--late MS] [--longest MS] [FILE]\n");
	exit(2);
}

/* Milliseconds as microseconds. */
static int64_t
take_ms(const char *text)
{
	char *end;
	long long ms = strtoll(text, &end, 10);

	if (end == text || *end != '\0' || ms < 0)
		usage();
	return ms * 1000;
}

static int
check(FILE *in, const struct history_limits *limits)
{
	struct history history;
	size_t faults;

	history_init(&history);
	if (!history_read(&history, in, print_fault, NULL)) {
		history_fini(&history);
		return 2;
	}
	faults = history_check(&history, limits, print_fault, NULL);
	printf("%zu events, %zu faults\n", history.n, faults);
	history_fini(&history);
	return faults == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "late", required_argument, NULL, 'l' },
		{ "longest", required_argument, NULL, 'L' },
		{ NULL, 0, NULL, 0 },
	};
	struct history_limits limits = { -1, -1 };
	FILE *in = stdin;
	int c, status;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'l')
			limits.late_us = take_ms(optarg);
		else if (c == 'L')
			limits.longest_us = take_ms(optarg);
		else
			usage();
	}
	if (argc - optind > 1)
		usage();
	if (argc - optind == 1) {
		in = fopen(argv[optind], "r");
		if (in == NULL) {
			perror(argv[optind]);
			return 2;
		}
	}
	status = check(in, &limits);
	if (in != stdin)
		fclose(in);
	return status;
}
