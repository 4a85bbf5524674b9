/*
 * The identifiers and flags of the verbs (verbs.def), for code that needs no
 * words: the core, and the code that makes requests for it.
 */
#ifndef LOCKBROKER_BASE_VERB_H
#define LOCKBROKER_BASE_VERB_H

enum verb_id {
#define VERB(id, ...) VERB_##id,
#include "base/verbs.def"
#undef VERB
	VERB_MAX
};

/* The right that a verb requires, if there are users. */
enum right {
	RIGHT_NONE,  /* none: also before AUTH */
	RIGHT_USER,  /* any user, or the anonymous one */
	RIGHT_WATCH, /* on each name: `watch` or `lock` */
	RIGHT_LOCK,  /* on each name */
	RIGHT_ADMIN
};

/* The flags of verbs.def. */
enum verb_flag {
	VERB_FLAG_ROWS = 1,
	VERB_FLAG_GIVES_BACK = 2,
	VERB_FLAG_ONE_SERVER = 4,
	VERB_FLAG_LOCAL = 8,
	VERB_FLAG_LINES = 16
};

#endif
