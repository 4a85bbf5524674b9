/*
 * The command lines of `lockbroker run`, `elect` and `lock`.
 */
#ifndef LOCKBROKER_CLI_RUN_OPTIONS_H
#define LOCKBROKER_CLI_RUN_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/run_request.h"

/* What happens to the command when its lock is lost. */
enum on_lost { ON_LOST_TERM, ON_LOST_KILL, ON_LOST_IGNORE };

/* Their words, in the same order. */
#define ON_LOST_WORDS "term", "kill", "ignore"

enum run_kind {
	RUN_ONCE,  /* run: once */
	RUN_ELECT, /* runs again until the command ends */
	RUN_LOCK,  /* holds the lock without a command */
	RUN_KINDS_MAX
};

/* Texts belong to the command line. */
struct run_options {
	struct request request;
	bool nonblock;	       /* -n; makes wait_ms 0 */
	int conflict_exit;     /* status if busy or timed out */
	int64_t kill_after_ms; /* from TERM to KILL */
	int64_t grace_ms;      /* of the session; 0: none */
	enum run_kind kind;
	enum on_lost on_lost;
	bool verbose;
	bool quiet;	    /* shows no progress */
	const char *label;  /* NULL: generated */
	const char *string; /* for the shell, or NULL */
	char **argv;	    /* the command, or NULL */
};

/* Returns 0, or the exit status for usage after printing why. */
int run_options_parse(
    struct run_options *o, enum run_kind kind, int argc, char **argv);

/* How to read the command line of each, and its lines of the help. */
struct run_words {
	const char *begin; /* for options_init() */
	const struct option *longs;
	const char *help;
};

extern const struct run_words run_words[RUN_KINDS_MAX];

#endif
