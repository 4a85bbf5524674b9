/*
 * The table of the settings, and searches in it.  It holds only constants, and
 * reads no values.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "base/slips.h"
#include "config/config.h"
#include "config/fields.h"

/* In the order of the enums: config_mode, log_level, log_target, log_format. */
static const char *const choices_mode[] = { "embedded", "standalone",
	"sentinel", "cluster", "quorum", NULL };
static const char *const choices_level[] = { "debug", "info", "notice",
	"warning", "error", NULL };
static const char *const choices_to[] = { "stderr", "syslog", NULL };
static const char *const choices_format[] = { "text", "json", NULL };

const struct config_field config_fields[CONFIG_FIELDS] = {
#define FIELD(                                                                \
    id, path_, type_, member, min_, max_, choices_, def_, reloadable_, help_) \
	[CONFIG_FIELD_##id] = {                                               \
		.path = (path_),                                              \
		.type = &config_type_##type_,                                 \
		.offset = offsetof(struct config, member),                    \
		.min = (min_),                                                \
		.max = (max_),                                                \
		.choices = (choices_),                                        \
		.def = (def_),                                                \
		.reloadable = (reloadable_),                                  \
		.help = (help_),                                              \
	},
#include "config/fields.def"
#undef FIELD
};

/* No setting or section has a longer name. */
#define WORD_MAX 40

void *
config_field_slot(const struct config_field *field, struct config *config)
{
	return (char *)config + field->offset;
}

const char *
config_field_leaf(const struct config_field *field)
{
	const char *dot = strchr(field->path, '.');

	return dot == NULL ? field->path : dot + 1;
}

/*
 * Returns the first row from *i on with another name at a level than `name`,
 * which it replaces.  In a section, the names are those of settings; at the
 * top, "", those of sections and of settings without a section.  Each name
 * comes once, because the settings of a section are in consecutive rows.
 * Returns NULL after the last.
 */
static const struct config_field *
next_name(const char *section, size_t *i, char name[WORD_MAX])
{
	size_t skip = strlen(section), n;

	for (; *i < CONFIG_FIELDS; (*i)++) {
		const char *next = config_fields[*i].path;

		if (skip > 0) {
			if (strncmp(next, section, skip) != 0 ||
			    next[skip] != '.')
				continue;
			next += skip + 1;
		}
		n = strcspn(next, ".");
		if (strlen(name) == n && memcmp(name, next, n) == 0)
			continue;
		snprintf(name, WORD_MAX, "%.*s", (int)n, next);
		return &config_fields[*i];
	}
	return NULL;
}

const struct config_field *
config_field_find(const char *section, const char *name)
{
	const struct config_field *field;
	char next[WORD_MAX] = "";
	size_t i = 0;

	do
		field = next_name(section, &i, next);
	while (field != NULL && strcmp(next, name) != 0);
	return field;
}

const char *
config_field_suggest(
    const char *section, const char *leaf, char buf[CONFIG_SUGGEST_SIZE])
{
	struct slips_nearest nearest;
	char name[WORD_MAX] = "";
	size_t i = 0;

	slips_begin(&nearest, leaf);
	while (next_name(section, &i, name) != NULL)
		if (slips_offer(&nearest, name))
			snprintf(buf, CONFIG_SUGGEST_SIZE, "%s%s%s", section,
			    section[0] == '\0' ? "" : ".", name);
	if (nearest.found != NULL)
		return buf;
	for (i = 0; i < CONFIG_FIELDS; i++)
		if (strcmp(config_field_leaf(&config_fields[i]), leaf) == 0)
			return strcpy(buf, config_fields[i].path);
	return NULL;
}

const char *
config_field_list(const char *section, char *buf, size_t size)
{
	char name[WORD_MAX] = "";
	size_t used = 0;
	size_t i = 0;

	buf[0] = '\0';
	while (next_name(section, &i, name) != NULL) {
		int n = snprintf(buf + used, size - used, "%s%s",
		    used == 0 ? "" : ", ", name);

		assert(n > 0 && (size_t)n < size - used);
		used += (size_t)n;
	}
	return buf;
}
