/*
 * Scripts of lock libraries, by the sha1 of their text, by its normal form
 * (lua_form.h), or by what it means (lua_meaning.h).
 */
#ifndef LOCKBROKER_RESP_SCRIPTS_H
#define LOCKBROKER_RESP_SCRIPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "resp/ask.h"
#include "resp/sha1.h"

/* Of each row there is one more, for texts of that meaning whose number Lua
 * reads. */
enum script_id {
#define SCRIPT(id, ...) SCRIPT_##id, SCRIPT_##id##_COMPUTES,
#define TEXT(sha1, id, from)
#define FORM(id, text)
#include "resp/scripts.def"
#undef FORM
#undef TEXT
#undef SCRIPT
	SCRIPT_MAX /* known to be none of them */
};

/* Texts whose normal form was looked up, and what they turned out to be. */
struct scripts;

struct scripts *scripts_new(void);
void scripts_free(struct scripts *s);

/* The texts that the configuration adds, which must live as long as they count;
 * those of scripts.def come first. */
struct resp_scripts;
void scripts_configure(struct scripts *s, const struct resp_scripts *more);

/* Returns false if the sha1 is of no known text of a script. */
bool scripts_find(
    const struct scripts *s, const struct sha1 *sum, enum script_id *id);

/* Looks up a text and remembers it for the user, in the place of the oldest of
 * this user if that has its share. *news: this was the first time. */
enum script_id scripts_learn(struct scripts *s, struct span user,
    struct span text, struct sha1 *sum, bool *news);

/*
 * Reads the words (number of keys, keys, arguments) as what the script asks
 * for, at `clock_ms` since 1970.  On false, `why` has an error.
 */
bool scripts_ask(struct ask *a, enum script_id id, const struct span *words,
    unsigned nwords, int64_t clock_ms, struct buf *why)
    __attribute__((warn_unused_result));

/*
 * Some scripts are for many names, each with an argument of its own.  Returns
 * for how many, 0 if it is no such script; scripts_ask_one() reads the part for
 * the one with that number, from 0 on.
 */
unsigned scripts_each(
    enum script_id id, const struct span *words, unsigned nwords);
bool scripts_ask_one(struct ask *a, enum script_id id, const struct span *words,
    unsigned nwords, unsigned i, int64_t clock_ms, struct buf *why)
    __attribute__((warn_unused_result));

#endif
