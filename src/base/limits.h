/*
 * What may change while a broker runs: sections of the configuration that are
 * handed whole to whoever minds them, so that a setting can't be forgotten on
 * the way.  lockbrokerd.yaml(5) documents each.
 */
#ifndef LOCKBROKER_BASE_LIMITS_H
#define LOCKBROKER_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* `locks`, but the lease. */
struct lock_limits {
	unsigned handovers; /* grants in a row while another broker waits */
	int64_t max_grace_ms;
	int64_t max_hold_ms;	 /* 0: no bound */
	int64_t default_hold_ms; /* 0: none */
	int64_t max_keep_ms;
	int64_t max_delay_ms;
	int64_t max_ttl_ms; /* of latches */
};

/* `limits` */
struct client_limits {
	unsigned clients;	/* also sessions that are left; 0: any number */
	size_t line;		/* bytes, without the line end */
	size_t output;		/* bytes not yet read by the client */
	unsigned holds;		/* things one session may hold or wait for */
	unsigned requests;	/* tagged and waiting, of one connection */
	unsigned waiters;	/* requests waiting for one name */
	unsigned unowned;	/* names that are kept for nobody */
	int64_t first_line_ms;	/* 0: for ever */
	int64_t unreachable_ms; /* until a vanished host is given up */
};

#define METRICS_CLASSES_MAX 64

/* A class of names: literal ones, or beginnings with '*' behind them. */
struct metrics_class {
	char *name;
	char **names;
	size_t n;
};

/* `metrics`; the first class that fits a name is its class. */
struct metrics_settings {
	struct metrics_class *v;
	size_t n;
};

#endif
