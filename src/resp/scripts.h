/*
 * Scripts of lock libraries, recognized by the sha1 of their text, by its
 * normal form (lua_form.h), or by its meaning (lua_meaning.h).
 */
#ifndef LOCKBROKER_RESP_SCRIPTS_H
#define LOCKBROKER_RESP_SCRIPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "resp/ask.h"
#include "resp/sha1.h"

/* Each row has a second identifier, for scripts of that meaning whose number
 * Lua reads. */
enum script_id {
#define SCRIPT(id, ...) SCRIPT_##id, SCRIPT_##id##_COMPUTES,
#define TEXT(sha1, id, from)
#define FORM(id, text)
#include "resp/scripts.def"
#undef FORM
#undef TEXT
#undef SCRIPT
	SCRIPT_MAX /* known to be no script of a lock library */
};

/* Scripts whose normal form was looked up, and the results. */
struct scripts;

struct scripts *scripts_new(void);
void scripts_free(struct scripts *s);

/* The scripts that the configuration adds, which must live as long as they are
 * used; those of scripts.def come first. */
struct resp_scripts;
void scripts_configure(struct scripts *s, const struct resp_scripts *more);

/* Returns false if no known script has this sha1. */
bool scripts_find(
    const struct scripts *s, const struct sha1 *sum, enum script_id *id);

/* Looks up a script and remembers it for the user, in place of the oldest one,
 * or of the oldest of this user once the user has its share.  *news: this was
 * the first time. */
enum script_id scripts_learn(struct scripts *s, struct span user,
    struct span text, struct sha1 *sum, bool *news);

/*
 * Parses the words (number of keys, keys, arguments) into the request of the
 * script, at `clock_ms` since 1970.  On false, `why` has an error.
 */
bool scripts_ask(struct ask *a, enum script_id id, const struct span *words,
    unsigned nwords, int64_t clock_ms, struct buf *why)
    __attribute__((warn_unused_result));

/*
 * Some scripts work on several names, each with an argument of its own.
 * Returns how many names, 0 for another script; scripts_ask_one() parses the
 * part of one name, by its index from 0.
 */
unsigned scripts_each(
    enum script_id id, const struct span *words, unsigned nwords);
bool scripts_ask_one(struct ask *a, enum script_id id, const struct span *words,
    unsigned nwords, unsigned i, int64_t clock_ms, struct buf *why)
    __attribute__((warn_unused_result));

#endif
