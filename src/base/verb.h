/*
 * The identifiers and flags of the verbs (verbs.def), for code that needs no
 * words: the core, and the makers of requests to it.
 */
#ifndef LOCKBROKER_BASE_VERB_H
#define LOCKBROKER_BASE_VERB_H

enum verb_id {
#define VERB(id, ...) VERB_##id,
#include "base/verbs.def"
#undef VERB
	VERB_MAX
};

/* The right that a verb needs, if there are users. */
enum right {
	RIGHT_NONE,  /* nothing: also before AUTH */
	RIGHT_USER,  /* to be any user, or the anonymous one */
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
