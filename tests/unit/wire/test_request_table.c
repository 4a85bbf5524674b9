/*
 * Rules that hold for every row of the command table: each verb is tried with
 * each option, with too few words and with too many.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"
#include "test_wire.h"
#include "wire/request.h"

/* A good and a malformed value for each type of option. */
static const char *const samples[][2] = {
	[OPTION_TYPE_DURATION] = { "30s", "30" },
	[OPTION_TYPE_WAIT] = { "forever", "never" },
	[OPTION_TYPE_NUMBER] = { "2", "2x" },
	[OPTION_TYPE_MODE] = { "shared", "both" },
	[OPTION_TYPE_KIND] = { "latch", "door" },
	[OPTION_TYPE_END] = { "quit", "reset" },
	[OPTION_TYPE_YES] = { "yes", "perhaps" },
	[OPTION_TYPE_VALUE] = { "v=1", "" },
	[OPTION_TYPE_TRACE] = { "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	    "00" },
	[OPTION_TYPE_LABEL] = { "cron", "!cron" },
	[OPTION_TYPE_SECRET] = { "0f1e", "" },
};

/* The verb with n words and with the options whose bits are set. */
static void
build(struct buf *line, const struct verb *v, unsigned n, uint32_t given)
{
	unsigned i;

	buf_clear(line);
	buf_adds(line, v->word);
	for (i = 0; i < n; i++)
		buf_addf(line, " w%u", i);
	for (i = 0; i < OPTION_MAX; i++)
		if ((given >> i) & 1)
			buf_addf(line, " %s=%s", options[i].key,
			    samples[options[i].type][0]);
}

/* The code of the error; ERR_NONE if the line is good. */
static enum err_code
outcome(const struct buf *line, const char *mentions)
{
	enum request_status status;
	enum err_code code = ERR_NONE;
	struct request r;
	struct buf why;

	buf_init(&why);
	status = request_parse(&r, buf_data(line), buf_len(line), &code, &why);
	buf_addc(&why, '\0');
	ck_assert(status == REQUEST_OK || status == REQUEST_BAD);
	ck_assert_int_eq(status == REQUEST_BAD, code != ERR_NONE);
	if (status == REQUEST_BAD)
		ck_assert_msg(strstr(buf_data(&why), mentions), "%.*s: %s",
		    (int)buf_len(line), buf_data(line), buf_data(&why));
	buf_fini(&why);
	return code;
}

START_TEST(number_of_words)
{
	const struct verb *v = &verbs[_i];
	struct buf line;
	unsigned n;

	buf_init(&line);
	for (n = 0; n <= NAMES_MAX + 2; n++) {
		build(&line, v, n, v->required);
		if (n >= v->words_min && n <= v->words_max)
			ck_assert_int_eq(outcome(&line, ""), ERR_NONE);
		else if (n > NAMES_MAX && v->words_max == NAMES_MAX)
			ck_assert_int_eq(outcome(&line, "names"), ERR_LIMIT);
		else
			ck_assert_int_eq(
			    outcome(&line, v->usage), ERR_BAD_REQUEST);
	}
	buf_fini(&line);
}
END_TEST

START_TEST(required_options)
{
	const struct verb *v = &verbs[_i];
	struct buf line;
	unsigned o;

	buf_init(&line);
	for (o = 0; o < OPTION_MAX; o++) {
		uint32_t bit = UINT32_C(1) << o;

		build(&line, v, v->words_min, v->options & ~bit);
		ck_assert_int_eq(outcome(&line, v->usage),
		    v->required & bit ? ERR_BAD_REQUEST : ERR_NONE);
	}
	buf_fini(&line);
}
END_TEST

START_TEST(each_option_with_each_verb)
{
	const struct verb *v = &verbs[_i];
	struct buf line;
	unsigned o;

	buf_init(&line);
	for (o = 0; o < OPTION_MAX; o++) {
		const char *key = options[o].key;
		uint32_t bit = UINT32_C(1) << o;
		enum err_code want =
		    v->options & bit ? ERR_NONE : ERR_BAD_OPTION;

		build(&line, v, v->words_min, v->required | bit);
		ck_assert_int_eq(outcome(&line, key), want);
		/* An option that is given twice. */
		buf_addf(&line, " %s=%s", key, samples[options[o].type][0]);
		ck_assert_int_eq(outcome(&line, key), ERR_BAD_OPTION);
		/* A malformed option. */
		build(&line, v, v->words_min, v->required & ~bit);
		buf_addf(&line, " %s=%s", key, samples[options[o].type][1]);
		ck_assert_int_eq(outcome(&line, key), ERR_BAD_OPTION);
	}
	buf_fini(&line);
}
END_TEST

START_TEST(names_are_checked_where_words_are_names)
{
	const struct verb *v = &verbs[_i];
	struct buf line;

	if (v->words_max == 0)
		return;
	buf_init(&line);
	build(&line, v, v->words_min > 0 ? v->words_min - 1 : 0, 0);
	buf_adds(&line, " @x");
	ck_assert_int_eq(outcome(&line, "@x"),
	    v->kind != VERB_WORDS_NAMES ? ERR_NONE : ERR_BAD_NAME);
	buf_fini(&line);
}
END_TEST

TCase *
request_table_cases(void)
{
	TCase *tc = tcase_create("request-table");

	tcase_add_loop_test(tc, number_of_words, 0, VERB_MAX);
	tcase_add_loop_test(tc, required_options, 0, VERB_MAX);
	tcase_add_loop_test(tc, each_option_with_each_verb, 0, VERB_MAX);
	tcase_add_loop_test(
	    tc, names_are_checked_where_words_are_names, 0, VERB_MAX);
	return tc;
}
