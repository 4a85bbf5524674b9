/*
 * Ablations: protections that can be switched off, one at a time, to see that
 * the checker notices.  A protection whose absence nobody notices is either
 * not needed or not tested.
 */
#ifndef LOCKBROKER_SIM_ABLATE_H
#define LOCKBROKER_SIM_ABLATE_H

#include <stdbool.h>

struct topology;

/* Protections outside the scripts. */
enum ablation_switch {
	ABLATE_SCRIPT,
	ABLATE_WARM, /* a script; all else is judged as where nothing is wrong */
	ABLATE_KILL,
	ABLATE_ARRIVAL,
	ABLATE_FLUSH,
	ABLATE_GRACE,
	ABLATE_KEPT,
	ABLATE_FEW,
	ABLATE_WAIT,
	ABLATE_WATCH,
	ABLATE_DRILL_GRANTS,
	ABLATE_DRILL_TOLD,
	ABLATE_PASS,
	ABLATE_HURRY,
	ABLATE_CATCH_UP,
	ABLATE_RESET,
	ABLATE_PROXIED,
	ABLATE_QUIT_ONLY,
	ABLATE_LEAVE,
	ABLATE_ASIDE,
	ABLATE_TRUST,
	ABLATE_HEARTBEAT,
	ABLATE_GAIN,
	ABLATE_MANY, /* a script, with many brokers */
	ABLATE_TWIN,
	ABLATE_ASK,
	ABLATE_STAY,
	ABLATE_LEAVES, /* a script, with brokers that are replaced */
	/* With pollers: a script, and the others. */
	ABLATE_TOKENS,
	ABLATE_PLACE,
	ABLATE_LATE,
	ABLATE_STOP,
	ABLATE_WARM_TOKENS, /* a script; all else is judged as for WARM */
	/* With threads of programs: a script, and the other. */
	ABLATE_THREADS,
	ABLATE_TOLD
};

#define ABLATION_EDITS_MAX 4

/* One row: edits to the text of both scripts, or a switch. */
struct ablation {
	const char *name; /* TOPOLOGY/NAME, unless it is standalone */
	const char *what;
	unsigned seeds; /* the checker must notice it within so many */
	enum ablation_switch off;
	unsigned faults; /* that bring it to light */
	unsigned uses;	 /* the same, of what clients use */
	struct {
		const char *from, *to;
	} edits[ABLATION_EDITS_MAX];
};

extern const struct ablation ablations[]; /* a NULL name ends it */

/* What the scripts of a version before slots lack. */
extern const struct ablation ablation_earlier;

const struct ablation *ablation_find(const char *name);

/* The topology in which the protection matters; NULL: there is none of that
 * name. */
const struct topology *ablation_topology(const struct ablation *a);

/* Are there pollers?  NULL counts as no. */
bool ablation_of_tokens(const struct ablation *a);

/* Is it about warm names?  Then each run is hasty. */
bool ablation_of_warmth(const struct ablation *a);

/*
 * The text of a script without the protection.  The caller frees it.
 */
char *ablation_edit(const struct ablation *a, const char *source);

/* Does every edit of the row fit one of the sources? */
bool ablation_fits(
    const struct ablation *a, const char *keep, const char *acquire);

#endif
