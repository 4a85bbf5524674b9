/* See options.h. */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/slips.h"
#include "cli/options.h"
#include "cli/say.h"

void
options_init(struct options *o, const char *begin)
{
	memset(o, 0, sizeof(*o));
	strcpy(o->letters, begin);
}

void
options_add_one(struct options *o, const struct option *option)
{
	char *end = o->letters + strlen(o->letters);
	size_t n = 0;

	while (o->longs[n].name != NULL)
		n++;
	assert(n < OPTIONS_MAX);
	o->longs[n] = *option;
	if (option->val > UCHAR_MAX)
		return;
	*end++ = (char)option->val;
	if (option->has_arg == required_argument)
		*end = ':';
}

void
options_add(struct options *o, const struct option *longs)
{
	for (; longs->name != NULL; longs++)
		options_add_one(o, longs);
}

static bool
is_long(const char *word)
{
	return word[0] == '-' && word[1] == '-';
}

/*
 * Returns how many options begin with this text. getopt accepts it if there is
 * only one.
 */
static unsigned
count_of(const char *name, size_t n, const struct option *longs)
{
	unsigned count = 0;

	for (; longs->name != NULL; longs++)
		count += strncmp(longs->name, name, n) == 0;
	return count;
}

static int
unknown_long(const char *written, const struct option *longs)
{
	const size_t n = strcspn(written, "=");
	struct slips_nearest nearest;
	char name[SLIPS_LEN_MAX + 1];

	if (count_of(written, n, longs) > 1)
		return say_usage("'--%s' is ambiguous", written);
	snprintf(name, sizeof(name), "%.*s", (int)n, written);
	slips_begin(&nearest, name);
	for (; longs->name != NULL; longs++)
		(void)slips_offer(&nearest, longs->name);
	if (nearest.found != NULL)
		return say_usage("'--%s' is not an option; did you mean --%s?",
		    name, nearest.found);
	return say_usage("'--%s' is not an option", name);
}

int
options_fault(int opt, char *const *argv, const struct option *longs)
{
	/* The last word that getopt examined; letters may be combined. */
	const char *word = argv[optind - 1];

	if (opt == ':' && is_long(word))
		return say_usage("%s needs a value", word);
	if (opt == ':')
		return say_usage("-%c needs a value", optopt);
	if (optopt == 0 && is_long(word))
		return unknown_long(word + 2, longs);
	if (is_long(word) && strchr(word, '=') != NULL)
		return say_usage(
		    "%.*s takes no value", (int)strcspn(word, "="), word);
	return say_usage("'-%c' is not an option", optopt);
}
