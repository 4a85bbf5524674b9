/*
 * A load: clients that take and give back a lock in a closed loop, each with
 * one request under way, and what was measured.
 *
 *	take -> granted -> (work) -> give -> given -> (think) -> take ...
 *
 * A mode says how a lock is taken and given.  To add one: a file with a
 * struct mode, a row in loadgen.c.
 */
#ifndef LOCKBROKER_BENCH_LOAD_H
#define LOCKBROKER_BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "measure.h"
#include "peer.h"

#define ADDRESSES_MAX 1024
#define PROCESSES_MAX 16

enum step { STEP_TAKE, STEP_WORK, STEP_GIVE, STEP_THINK };

/* How a lock is taken and given.  Constant. */
struct mode {
	const char *name;
	const char *help;
	size_t (*frame)(const char *text, size_t n);
	void (*prepare)(struct peers *peers); /* once; may be NULL */
	void (*open)(struct peer *p);	      /* for each; may be NULL */
	void (*take)(struct peer *p);
	void (*give)(struct peer *p);
	/* Calls load_granted() or load_given() when it is. */
	void (*answer)(struct peer *p, const char *text, size_t n);
};

/* A process whose processor time is told. */
struct process {
	char name[32];
	pid_t pid;
	uint64_t cpu_ns; /* at the start */
};

/* What is asked for, and what was measured.  Lives on main()'s stack. */
struct load {
	const struct mode *mode;
	char *addresses[ADDRESSES_MAX];
	size_t naddresses;
	const char *prepared; /* where mode->prepare() connects, plainly */
	struct process processes[PROCESSES_MAX];
	size_t nprocesses;
	unsigned clients;
	unsigned names; /* shared by the clients; 0: each has its own */
	unsigned each;	/* hold: locks of each client; shake: handshakes */
	double seconds;
	double warm_seconds; /* before anything is counted */
	unsigned work_us;    /* between grant and release */
	unsigned think_us;   /* between release and the next request */

	bool ending;	 /* nobody takes again */
	unsigned active; /* clients that have not ended */
	uint64_t pairs;
	uint64_t started_ns;
	struct histogram wait;	/* from the request to the grant */
	struct histogram pair;	/* from the request to the end of the release */
	struct histogram round; /* from one grant of a client to its next */
};

static inline struct load *
load_of(const struct peer *p)
{
	return p->peers->arg;
}

void load_granted(struct peer *p);
void load_given(struct peer *p);

/* Runs one and prints what was measured, as an object of JSON. */
void load_run(struct load *load);

/* Connects and holds: both print "ready" and go on until stdin ends. */
void hold_run(struct load *load);
void idle_run(struct load *load);

/* Each client shakes hands so many times over TLS, and goes. */
void shake_run(struct load *load);

extern const struct mode mode_broker;
extern const struct mode mode_fresh;
extern const struct mode mode_try;
extern const struct mode mode_shared;
extern const struct mode mode_permits;
extern const struct mode mode_several;
extern const struct mode mode_each;
extern const struct mode mode_direct;
extern const struct mode mode_simple;
extern const struct mode mode_simple_fresh;
extern const struct mode mode_token;
extern const struct mode mode_pubsub;

#endif
