/*
 * Loads, dumps and replaces the configuration.  This file owns no state: all
 * state is in struct config and, while loading, in struct config_draft.
 *
 *	file -> text -> tree (node.c) -> values by fields.def (values.c)
 *	-> defaults for the rest -> rules between them (rules.c)
 *
 * Defaults go through the same parser as the file, so no default can exist that
 * the parser would refuse.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/users.h"
#include "base/buf.h"
#include "base/small_file.h"
#include "base/span.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/file.h"
#include "config/node.h"
#include "config/overrides.h"
#include "config/rules.h"

#define NAME_MAX_BYTES 64
#define PASSWORD_MAX_BYTES 4096
#define USERS_MAX_BYTES ((size_t)1024 * 1024)
#define LIST_SIZE 512

#define ID(name) CONFIG_FIELD_##name

/* Defaults. */

static void
set_default(struct config *config, const struct config_field *field)
{
	void *slot = config_field_slot(field, config);
	struct config_faults faults;
	struct config_node *root;
	bool ok;

	config_value_clear(field, slot);
	if (field->type->absent != NULL)
		return;
	config_faults_init(&faults);
	ok =
	    config_node_parse(&root, field->def, strlen(field->def), &faults) &&
	    config_value_set(field, root, slot);
	assert(ok);
	config_node_free(root);
	config_faults_fini(&faults);
}

/* From the tree. */

static void
fault_unknown(const struct config_node *node, const char *section)
{
	char suggestion[CONFIG_SUGGEST_SIZE];
	char list[LIST_SIZE];

	if (config_field_suggest(section, node->key, suggestion) != NULL)
		config_node_fault_key(
		    node, "unknown key, did you mean %s?", suggestion);
	else
		config_node_fault_key(node, "unknown key, expected one of: %s",
		    config_field_list(section, list, sizeof(list)));
}

/*
 * Takes one value.  A key without a value, such as `listen:`, or with null
 * counts as not given.
 */
static void
take(struct config_draft *draft, const struct config_field *field,
    const struct config_node *node)
{
	enum config_field_id id = (enum config_field_id)(field - config_fields);
	void *slot = config_field_slot(field, draft->config);

	if (node->null ||
	    (field->type->kind >= CONFIG_LIST && config_node_is_empty(node)))
		return;
	draft->given[id] = node;
	if (!config_value_set(field, node, slot))
		draft->bad[id] = true;
	if (draft->bad[id])
		set_default(draft->config, field);
}

/* Does a path lead to a section that all processes of a broker share? */
static bool
is_shared(const char *path)
{
	static const char *const sections[] = { "auth", "limits", "log" };
	size_t i, n = strcspn(path, ".");

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (strlen(sections[i]) == n &&
		    strncmp(path, sections[i], n) == 0)
			return true;
	return false;
}

/*
 * Reads a section, or the whole text, which is the section "" and calls this
 * for its sections.  A section with every line commented out is empty.
 */
static void
take_section(struct config_draft *draft, const struct config_node *node,
    const char *section)
{
	const struct config_field *field;
	const struct config_node *n;
	char list[LIST_SIZE];

	if (node == NULL || node->refused || config_node_is_empty(node))
		return;
	if (node->kind != CONFIG_NODE_MAPPING) {
		config_node_fault(node, "is %s, expected a mapping with: %s",
		    config_node_kind_name(node),
		    config_field_list(section, list, sizeof(list)));
		return;
	}
	for (n = node->first; n != NULL; n = n->next) {
		if (section[0] == '\0' && draft->config->shared &&
		    !is_shared(n->key))
			continue;
		field = config_field_find(section, n->key);
		if (field == NULL)
			fault_unknown(n, section);
		else if (section[0] == '\0' &&
			 config_field_leaf(field) != field->path)
			take_section(draft, n, n->key);
		else
			take(draft, field, n);
	}
}

/* Values from outside the file. */

/*
 * A broker without a name uses that of its host, with a dash for each byte that
 * is not allowed in a broker's name.
 */
static void
name_broker(struct config_broker *broker)
{
	char name[NAME_MAX_BYTES + 1] = "";
	char *p;

	if (broker->name[0] != '\0')
		return;
	/* A longer name is cut, and gethostname() may or may not report it. */
	if (gethostname(name, sizeof(name)) != 0)
		name[NAME_MAX_BYTES] = '\0';
	name[NAME_MAX_BYTES] = '\0';
	for (p = name; *p != '\0'; p++)
		if (strchr(CONFIG_NAME_CHARACTERS, *p) == NULL)
			*p = '-';
	free(broker->name);
	broker->name = xstrdup(name[0] == '\0' ? "broker" : name);
}

/*
 * Resolves the path of a file, which may be a credential.  If max is not 0,
 * replaces *text by the content of the file, at most max bytes.  Returns false
 * after a fault.
 */
static bool
take_file(const struct config_draft *draft, enum config_field_id id,
    char **path, char **text, size_t max, const char *what)
{
	bool is_password = max == PASSWORD_MAX_BYTES;
	char quoted[CONFIG_QUOTE_SIZE];
	const char *why = NULL;
	char *content = NULL;
	size_t length;

	if (config_file_resolve(path, &why) && is_password)
		content = small_file_password(*path, &why);
	else if (why == NULL && max > 0)
		content = small_file_read(*path, true, max, &length, &why);
	if (content != NULL && !is_password && strlen(content) != length)
		why = "contains a NUL character";
	if (why != NULL) {
		small_file_wipe(content);
		config_draft_fault(draft, id, id,
		    "%s%s cannot be read (%s), expected a readable file%s",
		    id == CONFIG_FIELD_AUTH ? "users_file: " : "",
		    config_quote(quoted, *path), why, what);
	} else if (content != NULL) {
		small_file_wipe(*text);
		*text = content;
	}
	return why == NULL;
}

static void
take_password(const struct config_draft *draft, enum config_field_id id,
    char **path, char **password)
{
	/* A password in addition to its file is a fault already. */
	if ((*path)[0] != '\0' && (*password)[0] == '\0')
		take_file(draft, id, path, password, PASSWORD_MAX_BYTES,
		    " with a password");
}

static void
set_files(const struct config_draft *draft)
{
	struct config_redis *redis = &draft->config->redis;

	take_file(draft, ID(REDIS_TLS_CA), &redis->tls_ca, NULL, 0, "");
	take_file(draft, ID(REDIS_TLS_CERT), &redis->tls_cert, NULL, 0, "");
	take_file(draft, ID(REDIS_TLS_KEY), &redis->tls_key, NULL, 0, "");
	redis->sentinel_password = xstrdup("");
	take_password(draft, ID(REDIS_PASSWORD_FILE), &redis->password_file,
	    &redis->password);
	take_password(draft, ID(REDIS_SENTINEL_PASSWORD_FILE),
	    &redis->sentinel_password_file, &redis->sentinel_password);
}

/* Makes the users from the section auth, unless that has faults. */
static void
set_users(const struct config_draft *draft)
{
	struct config *config = draft->config;
	struct auth_settings *auth = &config->auth;
	struct buf why;
	char *line, *rest;

	if (!auth->given || draft->bad[ID(AUTH)])
		return;
	if (auth->users_file[0] != '\0' &&
	    !take_file(draft, ID(AUTH), &auth->users_file, &auth->users_text,
		USERS_MAX_BYTES, " with lines NAME:HASH"))
		return;
	buf_init(&why);
	config->users = users_new(&config->auth, &why);
	buf_addc(&why, '\0');
	rest = buf_data(&why);
	while (config->users == NULL && (line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			config_draft_fault(
			    draft, ID(AUTH), ID(AUTH), "%s", line);
	buf_fini(&why);
}

/* Public. */

static bool
load_text(struct config *config, const char *name, struct span text,
    const struct config_options *options, struct config_faults *faults)
{
	struct config_draft draft = { .config = config, .faults = faults };
	size_t before = faults->n, i;
	struct config_node *root;

	memset(config, 0, sizeof(*config));
	config->shared = options != NULL && options->shared;
	config_faults_context(faults, name);
	if (config_node_parse(&root, text.p, text.n, faults)) {
		config_options_apply(&root, options, faults);
		for (i = 0; i < CONFIG_FIELDS; i++)
			set_default(config, &config_fields[i]);
		take_section(&draft, root, "");
		name_broker(&config->broker);
		config_check(&draft);
		set_files(&draft);
		set_users(&draft);
	}
	config_node_free(root);
	if (faults->n == before)
		return true;
	config_free(config);
	return false;
}

bool
config_load_buffer(struct config *config, const char *name, const char *text,
    size_t length, struct config_faults *faults)
{
	return load_text(
	    config, name, (struct span){ text, length }, NULL, faults);
}

bool
config_load(struct config *config, const char *file,
    const struct config_options *options, struct config_faults *faults)
{
	const char *why;
	size_t length;
	char *text;
	bool ok;

	memset(config, 0, sizeof(*config));
	if (file == NULL)
		return load_text(config, "defaults", (struct span){ "", 0 },
		    options, faults);
	text =
	    small_file_read(file, false, CONFIG_NODE_TEXT_MAX, &length, &why);
	if (text == NULL) {
		config_faults_context(faults, file);
		config_faults_add(faults,
		    "cannot be read (%s), expected a file of at most %d KB",
		    why, CONFIG_NODE_TEXT_MAX / 1024);
		return false;
	}
	ok = load_text(
	    config, file, (struct span){ text, length }, options, faults);
	small_file_wipe(text);
	return ok;
}

void
config_free(struct config *config)
{
	size_t i;

	for (i = 0; i < CONFIG_FIELDS; i++)
		config_value_clear(&config_fields[i],
		    config_field_slot(&config_fields[i], config));
	small_file_wipe(config->redis.sentinel_password);
	users_free(config->users);
	memset(config, 0, sizeof(*config));
}

void
config_dump(const struct config *config, FILE *out)
{
	const char *section = "";
	struct buf text;
	size_t i;

	buf_init(&text);
	for (i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];
		size_t n = (size_t)(config_field_leaf(field) - field->path);

		if (n == 0 || strncmp(section, field->path, n) != 0) {
			buf_adds(&text, i == 0 ? "" : "\n");
			if (n > 0)
				buf_addf(
				    &text, "%.*s:\n", (int)n - 1, field->path);
		}
		section = field->path;
		/* A password from a file need not be in a dump. */
		if (!field->type->is_secret ||
		    config->redis.password_file[0] == '\0')
			config_value_dump(field,
			    (const char *)config + field->offset,
			    n == 0 ? 0 : 2, false, &text);
	}
	(void)fwrite(buf_data(&text), 1, buf_len(&text), out);
	buf_fini(&text);
}

/* Writes a value as a string, "" for a list and for a secret. */
static void
write_value(const struct config_field *field, const void *slot, struct buf *out)
{
	buf_init(out);
	if (field->type->kind == CONFIG_TEXT && !field->type->is_secret)
		buf_adds(out, *(char *const *)slot);
	else if (!field->type->is_secret && field->type->kind < CONFIG_LIST)
		config_value_write(field, slot, out);
	buf_addc(out, '\0');
}

/* Does the password come from the same file as before? */
static bool
same_file(const struct config *config, const struct config *fresh)
{
	const char *path = config->redis.password_file;

	return path[0] != '\0' && strcmp(path, fresh->redis.password_file) == 0;
}

size_t
config_reload_diff(struct config *config, struct config *fresh,
    config_changed *changed, void *arg)
{
	struct users *users = config->users;
	struct buf old, new;
	size_t copied = 0;
	size_t i;

	for (i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];
		void *to = config_field_slot(field, config);
		void *from = config_field_slot(field, fresh);

		if ((fresh->shared && !is_shared(field->path)) ||
		    config_value_same(field, to, from))
			continue;
		/* It is read again at each login to Redis. */
		if (field->type->is_secret && same_file(config, fresh))
			continue;
		write_value(field, to, &old);
		write_value(field, from, &new);
		changed(arg, field->path, field->reloadable, buf_data(&old),
		    buf_data(&new));
		buf_fini(&old);
		buf_fini(&new);
		if (!field->reloadable)
			continue;
		config_value_take(field, to, from);
		copied++;
	}
	/* The host's groups and users may have changed, too. */
	config->users = fresh->users;
	fresh->users = users;
	return copied;
}
