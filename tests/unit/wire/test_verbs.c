/*
 * The tables of verbs and options.
 */
#include "config.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/xmalloc.h"
#include "suite.h"
#include "test_wire.h"
#include "wire/verbs.h"

#define MANUAL_SIZE 100000

START_TEST(each_verb_is_found)
{
	const struct verb *v = &verbs[_i];
	char word[32];
	size_t i;

	ck_assert_uint_eq(v->len, strlen(v->word));
	ck_assert_uint_eq(verb_find(v->word, v->len), (unsigned)_i);
	for (i = 0; i <= v->len; i++)
		word[i] = (char)tolower((unsigned char)v->word[i]);
	ck_assert_uint_eq(verb_find(word, v->len), (unsigned)_i);
	word[0] = v->word[0];
	ck_assert_uint_eq(verb_find(word, v->len), (unsigned)_i);
	/* Whole words only. */
	word[v->len] = 'x';
	ck_assert_uint_eq(verb_find(word, v->len + 1), VERB_MAX);
	word[v->len - 1] = '#';
	ck_assert_uint_eq(verb_find(word, v->len), VERB_MAX);
}
END_TEST

START_TEST(each_option_is_found)
{
	const struct option *o = &options[_i];

	ck_assert_uint_eq(o->len, strlen(o->key));
	ck_assert_uint_eq(option_find(o->key, o->len), (unsigned)_i);
	ck_assert_uint_ne(option_find(o->key, o->len - 1), (unsigned)_i);
}
END_TEST

/* What a row must satisfy, so that the parser can rely on it. */
START_TEST(each_row_makes_sense)
{
	const struct verb *v = &verbs[_i];

	ck_assert_uint_le(v->words_min, v->words_max);
	ck_assert_uint_le(v->words_max, NAMES_MAX);
	ck_assert_uint_eq(v->options & ~((UINT32_C(1) << OPTION_MAX) - 1), 0);
	ck_assert_uint_eq(v->required & ~v->options, 0);
	ck_assert_mem_eq(v->usage, v->word, v->len);
	ck_assert(v->usage[v->len] == '\0' || v->usage[v->len] == ' ');
	ck_assert_uint_gt(strlen(v->help), 0);
}
END_TEST

/* The usage names each option, in brackets unless it is required. */
START_TEST(the_usage_names_the_options)
{
	const struct verb *v = &verbs[_i];
	unsigned id;

	for (id = 0; id < OPTION_MAX; id++) {
		uint32_t bit = UINT32_C(1) << id;
		char key[32] = " ", optional[32] = "[";

		strcat(strcat(key, options[id].key), "=");
		strcat(strcat(optional, options[id].key), "=");
		ck_assert_int_eq(
		    !!strstr(v->usage, key), (v->required & bit) != 0);
		ck_assert_int_eq(!!strstr(v->usage, optional),
		    (v->options & ~v->required & bit) != 0);
	}
}
END_TEST

START_TEST(without_users_some_verbs_are_for_administrators)
{
	unsigned i;

	for (i = 0; i < VERB_MAX; i++)
		ck_assert_int_eq(verb_has((enum verb_id)i, VERB_FLAG_LOCAL),
		    i == VERB_UNLOCK_FORCE || i == VERB_DRILL ||
			i == VERB_DRAIN || i == VERB_REPLACE ||
			i == VERB_TAKEOVER);
}
END_TEST

/* A verb with a wait= may wait; so its row says how long it waits without
 * one. */
START_TEST(what_waits_has_a_wait)
{
	const struct verb *v = &verbs[_i];
	bool waits = v->options & (UINT32_C(1) << OPTION_WAIT);

	ck_assert_int_eq(v->wait_ms, waits ? WAIT_FOREVER : 0);
}
END_TEST

/* The right to a name allows a verb for that name alone; one without names is
 * about all of them. */
START_TEST(rights_on_names_are_of_verbs_with_names)
{
	const struct verb *v = &verbs[_i];

	if (v->right == RIGHT_LOCK || v->right == RIGHT_WATCH)
		ck_assert(v->words_min > 0 || v->words_max == 0);
	if (v->right == RIGHT_NONE)
		ck_assert(v->kind != VERB_WORDS_NAMES || v->words_max == 0);
	if (verb_has((enum verb_id)_i, VERB_FLAG_LOCAL))
		ck_assert_int_eq(v->right, RIGHT_ADMIN);
}
END_TEST

/* The manual page as one text, with continued lines joined. */
static char *
read_manual(void)
{
	const char *top = getenv("LOCKBROKER_SRC");
	char path[4096], *text = xmalloc(MANUAL_SIZE), *at;
	size_t n;
	FILE *in;

	(void)snprintf(path, sizeof(path), "%s/man/lockbroker-protocol.7",
	    top ? top : ".");
	in = fopen(path, "r");
	ck_assert_msg(
	    in != NULL, "%s: set LOCKBROKER_SRC to the sources", path);
	n = fread(text, 1, MANUAL_SIZE - 1, in);
	ck_assert_uint_lt(n, MANUAL_SIZE - 1);
	fclose(in);
	text[n] = '\0';
	for (at = strstr(text, "\\\n"); at; at = strstr(at, "\\\n"))
		memmove(at, at + 2, strlen(at + 2) + 1);
	return text;
}

/* Finds an item of the manual page that has this heading and nothing else. */
static bool
has_item(const char *manual, const char *head)
{
	char item[256];

	(void)snprintf(item, sizeof(item), "\n.It Li %s\n", head);
	return strstr(manual, item) != NULL;
}

#define ERROR(id, word) word,
static const char *const error_words[] = { ERRORS(ERROR) };
#undef ERROR

START_TEST(the_manual_has_every_verb_and_code)
{
	char *manual = read_manual();
	unsigned i;

	for (i = 0; i < VERB_MAX; i++)
		ck_assert_msg(
		    has_item(manual, verbs[i].usage), "%s", verbs[i].usage);
	for (i = 0; i < COUNT(error_words); i++)
		ck_assert_msg(
		    has_item(manual, error_words[i]), "%s", error_words[i]);
	ck_assert(!has_item(manual, "FROBNICATE"));
	free(manual);
}
END_TEST

struct suggest_row {
	const char *word;
	enum verb_id id;
};

static const struct suggest_row suggestions[] = {
	{ "LOKC", VERB_LOCK }, /* exchanged */
	{ "LCK", VERB_LOCK },  /* left out */
	{ "LOCKS", VERB_LOCK },
	{ "lick", VERB_LOCK },
	{ "UNLOK", VERB_UNLOCK },
	{ "UNLOCC", VERB_UNLOCK },
	{ "UNLCOKK", VERB_UNLOCK }, /* two slips */
	{ "TRY-LOCK", VERB_TRYLOCK },
	{ "AQUIRE", VERB_ACQUIRE },
	{ "STAT", VERB_STATS },
	{ "LOCK", VERB_LOCK }, /* no slip at all */
	{ "EXIT", VERB_MAX },
	{ "HLEP", VERB_HELP },
	{ "", VERB_MAX },
	{ "L", VERB_MAX },
	{ "SET", VERB_MAX },
	{ "FROBNICATE", VERB_MAX },
	{ "UNLOCK-FORCED", VERB_UNLOCK_FORCE },
	{ "UNLOCK-FORCEDUNLOCK-FORCEDUNLOCK-FORCED", VERB_MAX },
};

START_TEST(suggestion)
{
	const struct suggest_row *row = &suggestions[_i];

	ck_assert_msg(verb_suggest(row->word, strlen(row->word)) == row->id,
	    "\"%s\"", row->word);
}
END_TEST

TCase *
verbs_cases(void)
{
	TCase *tc = tcase_create("verbs");

	tcase_add_loop_test(tc, each_verb_is_found, 0, VERB_MAX);
	tcase_add_loop_test(tc, each_option_is_found, 0, OPTION_MAX);
	tcase_add_loop_test(tc, each_row_makes_sense, 0, VERB_MAX);
	tcase_add_loop_test(tc, the_usage_names_the_options, 0, VERB_MAX);
	tcase_add_test(tc, the_manual_has_every_verb_and_code);
	tcase_add_test(tc, without_users_some_verbs_are_for_administrators);
	tcase_add_loop_test(tc, what_waits_has_a_wait, 0, VERB_MAX);
	tcase_add_loop_test(
	    tc, rights_on_names_are_of_verbs_with_names, 0, VERB_MAX);
	tcase_add_loop_test(tc, suggestion, 0, (int)COUNT(suggestions));
	return tc;
}
