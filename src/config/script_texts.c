/*
 * The type of resp.scripts: texts of lock libraries, each with its sha1 and its
 * meaning.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <string.h>

#include "base/limits.h"
#include "config/fields.h"

#define SHA1_DIGITS 40
#define EXPECTED_SCRIPT "a mapping with sha1 and as"

static const char *
sha1_check(const char *text)
{
	if (strlen(text) != SHA1_DIGITS)
		return "does not have 40 digits";
	return text[strspn(text, "0123456789abcdefABCDEF")] != '\0'
		   ? "has a character that is not a hexadecimal digit"
		   : NULL;
}

static const char *
meaning_check(const char *text)
{
	static const char *const known[] = { "acquire", "release", "extend",
		"query" };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i]) == 0)
			return NULL;
	return "is none of them";
}

static const struct config_type sha1_type = { CONFIG_TEXT_OF(sha1_check),
	.expected = "the sha1 of a script, 40 hexadecimal digits" };
static const struct config_type meaning_type = { CONFIG_TEXT_OF(meaning_check),
	.expected = "acquire, release, extend or query" };

static const struct config_field script_keys[] = {
	{ "sha1", &sha1_type, .offset = offsetof(struct resp_script, sha1) },
	{ "as", &meaning_type, .offset = offsetof(struct resp_script, as) },
};

static const struct config_type script_type = {
	CONFIG_MAPPING_OF(struct resp_script, script_keys),
	.required = 2,
	.expected = EXPECTED_SCRIPT,
	.known = "sha1 or as",
};

const struct config_type config_type_SCRIPTS = {
	CONFIG_LIST_OF(struct resp_scripts, script_type),
	.expected = "a list of scripts, each " EXPECTED_SCRIPT,
	.noun = "script",
};
