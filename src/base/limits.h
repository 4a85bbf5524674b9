/*
 * Settings that may change while a broker runs.  Each section of the
 * configuration goes as a whole to the part that uses it, so that no setting
 * can be forgotten on the way. lockbrokerd.yaml(5) documents each.
 */
#ifndef LOCKBROKER_BASE_LIMITS_H
#define LOCKBROKER_BASE_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Names: literal ones, or prefixes with '*' after them. */
struct name_patterns {
	char **v;
	size_t n;
};

#define WARM_AUTO (-1) /* a part of the lease, without plain Redis clients */
#define WARM_AUTO_PART 50

/* `locks`, except for the lease */
struct lock_limits {
	unsigned handovers; /* grants in a row while another broker waits */
	int64_t max_grace_ms;
	int64_t max_hold_ms;	 /* 0: no limit */
	int64_t default_hold_ms; /* 0: none */
	int64_t max_keep_ms;
	int64_t max_delay_ms;
	int64_t max_ttl_ms; /* of latches */
	/* How long a cached lease is kept; 0: not at all; or WARM_AUTO. */
	int64_t warm_ms;
	struct name_patterns warm_names; /* the names that this applies to */
};

/* `limits` */
struct client_limits {
	unsigned clients;	/* also of sessions; 0: no limit */
	size_t line;		/* bytes, without the line end */
	size_t output;		/* bytes not yet read by the client */
	unsigned holds;		/* names that a session may hold or wait for */
	unsigned requests;	/* tagged and waiting, of one connection */
	unsigned waiters;	/* requests waiting for one name */
	unsigned unowned;	/* reserved names (without a holder) */
	int64_t first_line_ms;	/* time for a first line; 0: no limit */
	int64_t unreachable_ms; /* until a vanished host is given up */
};

#define METRICS_CLASSES_MAX 64

/* A class of names: literal names, or prefixes with '*' after them. */
struct metrics_class {
	char *name;
	char **names;
	size_t n;
};

/* `resp.scripts`: a script of a lock library, and its meaning. */
struct resp_script {
	char *sha1; /* of the text, in hexadecimal digits */
	char *as;   /* acquire, release, extend or query */
};

struct resp_scripts {
	struct resp_script *v;
	size_t n;
};

#define RESP_SCRIPTS_MAX 64

/* `metrics`; a name belongs to the first class that matches */
struct metrics_settings {
	struct metrics_class *v;
	size_t n;
};

#endif
