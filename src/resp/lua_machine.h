/*
 * The common parts of lua_meaning.c and lua_key.c: an abstract run of a script,
 * in which only some values are known.
 */
#ifndef LOCKBROKER_RESP_LUA_MACHINE_H
#define LOCKBROKER_RESP_LUA_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "resp/lua_words.h"

#define LUA_ARGS_MAX 8
#define LUA_LOCALS_MAX 16

enum lua_state {
	LUA_HELD,
	LUA_HELD_FOR_EVER,
	LUA_OTHERS,
	LUA_OTHERS_FOR_EVER,
	LUA_FREE,
	LUA_STATES,
	LUA_OVER /* perhaps held: PEXPIRE may have ended it */
};

enum lua_value_kind {
	LUA_NIL,
	LUA_FALSE,
	LUA_TRUE,
	LUA_INTEGER,
	LUA_TEXT,
	LUA_ARGUMENT, /* KEYS[n], ARGV[n]: a string of any bytes */
	LUA_COMPUTED, /* the number that Lua reads in an argument; or nil */
	LUA_SUM,      /* a COMPUTED, added to LUA_LEFT */
	LUA_LEFT,     /* ms until the end, at least 0 */
	LUA_LEFT_S,
	LUA_VALUE, /* of the key, if it is held */
	LUA_OK	   /* what SET returns */
};

struct lua_value {
	enum lua_value_kind kind;
	int64_t n;	  /* INTEGER; ARGUMENT, COMPUTED, SUM: which, from 1 */
	bool key;	  /* ARGUMENT, COMPUTED, SUM: of KEYS */
	struct span text; /* TEXT */
};

struct lua_machine {
	const struct words *w;
	struct buf *out;
	unsigned at;
	unsigned depth;
	enum lua_state state;
	bool sure;     /* otherwise it has no meaning */
	bool skips;    /* reads text that is not executed */
	bool returned; /* ... nor is the rest, after a return */
	bool direct;   /* an error would be returned as well */
	bool computes; /* Lua has read the number */
	bool plain;    /* Redis reads it */
	bool has_token;
	struct lua_value token; /* an ARGUMENT */
	struct lua_value result;
	struct {
		struct span name;
		struct lua_value value;
	} locals[LUA_LOCALS_MAX];
	unsigned nlocals;
};

/* Nothing is certain from now on.  Returns NIL. */
struct lua_value lua_unsure(struct lua_machine *m);

/* A value is compared with the token: can it be the token? */
bool lua_is_token(struct lua_machine *m, const struct lua_value *v);

void lua_write_argument(struct buf *out, const struct lua_value *v);

/* Executes a command, and writes what it does.  `careful`: its errors would be
 * values. */
struct lua_value lua_command(struct lua_machine *m,
    const struct lua_value *words, unsigned n, bool careful);

#endif
