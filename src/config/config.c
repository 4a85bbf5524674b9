/*
 * Loads, dumps and replaces the configuration.  This file owns no state: all
 * state is in struct config and, while loading, in struct config_draft.
 *
 *	file -> text -> tree (node.c) -> values by fields.def (values.c)
 *	-> defaults for the rest -> rules between them (check.c)
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
#include "base/xmalloc.h"
#include "config/check.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/file.h"
#include "config/node.h"

#define NAME_MAX_BYTES 64
#define PASSWORD_MAX_BYTES 4096
#define USERS_MAX_BYTES ((size_t)1024 * 1024)
#define LIST_SIZE 512

/* From the tree. */

static void
fault_unknown(const struct config_node *node, const char *section,
    struct config_faults *faults)
{
	char suggestion[CONFIG_SUGGEST_SIZE];
	char list[LIST_SIZE];

	if (config_field_suggest(section, node->key, suggestion) != NULL)
		config_node_fault_key(
		    node, faults, "unknown key, did you mean %s?", suggestion);
	else
		config_node_fault_key(node, faults,
		    "unknown key, expected one of: %s",
		    config_field_list(section, list, sizeof(list)));
}

/*
 * Takes one value.  A key without a value, such as `listen:`, counts as not
 * given.
 */
static void
take(struct config_draft *draft, const struct config_field *field,
    const struct config_node *node)
{
	enum config_field_id id = (enum config_field_id)(field - config_fields);
	void *slot = config_field_slot(field, draft->config);

	if (field->type->kind >= CONFIG_LIST && config_node_is_empty(node))
		return;
	draft->given[id] = node;
	if (!config_value_set(field, node, slot, draft->faults))
		draft->bad[id] = true;
}

/*
 * Returns the first key of a section, or of the whole text.  Returns NULL if
 * there is none, or if it is no mapping.  With every line commented out it is
 * empty.
 */
static const struct config_node *
first_key(struct config_draft *draft, const struct config_node *node,
    const char *section)
{
	char list[LIST_SIZE];

	if (node == NULL || node->refused || config_node_is_empty(node))
		return NULL;
	if (node->kind != CONFIG_NODE_MAPPING)
		config_node_fault(node, draft->faults,
		    "is %s, expected a mapping with: %s",
		    config_node_kind_name(node),
		    config_field_list(section, list, sizeof(list)));
	return node->kind == CONFIG_NODE_MAPPING ? node->first : NULL;
}

/* Returns false if the section has no such setting. */
static bool
take_setting(struct config_draft *draft, const struct config_node *node,
    const char *section)
{
	const struct config_field *field =
	    config_field_find(section, node->key);

	if (field != NULL)
		take(draft, field, node);
	return field != NULL;
}

static void
take_tree(struct config_draft *draft, const struct config_node *root)
{
	const struct config_node *top, *n;

	for (top = first_key(draft, root, ""); top != NULL; top = top->next) {
		if (take_setting(draft, top, ""))
			continue;
		if (!config_field_is_section(top->key)) {
			fault_unknown(top, "", draft->faults);
			continue;
		}
		n = first_key(draft, top, top->key);
		for (; n != NULL; n = n->next)
			if (!take_setting(draft, n, top->key))
				fault_unknown(n, top->key, draft->faults);
	}
}

/* Defaults, and values from outside the file. */

static void
set_default(struct config *config, const struct config_field *field)
{
	struct config_faults faults;
	struct config_node *root;
	bool ok;

	if (field->type->absent != NULL)
		return;
	config_faults_init(&faults);
	ok =
	    config_node_parse(&root, field->def, strlen(field->def), &faults) &&
	    config_value_set(
		field, root, config_field_slot(field, config), &faults);
	assert(ok);
	config_node_free(root);
	config_faults_fini(&faults);
}

static void
set_defaults(struct config_draft *draft)
{
	size_t i;

	for (i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];

		if (draft->given[i] != NULL && !draft->bad[i])
			continue;
		config_value_clear(
		    field, config_field_slot(field, draft->config));
		set_default(draft->config, field);
	}
}

/*
 * Returns the name of the host, with a dash for each byte that a broker's name
 * can't have.
 */
static char *
name_of_host(void)
{
	char name[NAME_MAX_BYTES + 1] = "";
	char *p;

	/* A longer name is cut, and gethostname() may or may not report it. */
	if (gethostname(name, sizeof(name)) != 0)
		name[NAME_MAX_BYTES] = '\0';
	name[NAME_MAX_BYTES] = '\0';
	for (p = name; *p != '\0'; p++)
		if (strchr(CONFIG_NAME_CHARACTERS, *p) == NULL)
			*p = '-';
	return xstrdup(name[0] == '\0' ? "broker" : name);
}

/* Cuts off one line end: editors and `echo` add it. */
static void
strip_newline(char *text, size_t *length)
{
	if (*length > 0 && text[*length - 1] == '\n')
		text[--*length] = '\0';
	if (*length > 0 && text[*length - 1] == '\r')
		text[--*length] = '\0';
}

/*
 * A file that a setting names: how its name is found, and what is expected of
 * it.  Constant.
 */
struct named_file {
	enum config_field_id id;
	size_t max; /* bytes; 0: who uses it reads it */
	bool is_password;
	const char *expected;
};

/* Returns what is wrong with a text, or NULL. */
static const char *
text_why(const struct named_file *file, char *text, size_t length)
{
	if (file->is_password)
		strip_newline(text, &length);
	if (strlen(text) != length)
		return "a NUL character in it";
	return file->is_password && length == 0 ? "nothing in it" : NULL;
}

/*
 * Finds a file that is named as a credential, and puts what is in it in place
 * of *text.  Returns false after a fault.
 */
static bool
take_file(const struct config_draft *draft, const struct named_file *file,
    char **path, char **text)
{
	char quoted[CONFIG_QUOTE_SIZE];
	const char *why = NULL;
	char *content = NULL;
	size_t length;

	if (config_file_resolve(path, &why) && file->max > 0)
		content =
		    config_file_read(*path, true, file->max, &length, &why);
	if (content != NULL)
		why = text_why(file, content, length);
	if (why == NULL && content != NULL) {
		config_file_free(*text);
		*text = content;
	}
	if (why == NULL)
		return true;
	config_file_free(content);
	config_draft_fault(draft, file->id, file->id,
	    "%s%s can't be used (%s), expected a readable file%s",
	    file->id == CONFIG_FIELD_AUTH ? "users_file: " : "",
	    config_quote(quoted, *path), why, file->expected);
	return false;
}

static void
set_files(const struct config_draft *draft)
{
	struct config_redis *redis = &draft->config->redis;
	const struct {
		struct named_file file;
		char **path;
		char **text;
	} files[] = {
		{ { CONFIG_FIELD_REDIS_TLS_CA, .expected = "" }, &redis->tls_ca,
		    NULL },
		{ { CONFIG_FIELD_REDIS_TLS_CERT, .expected = "" },
		    &redis->tls_cert, NULL },
		{ { CONFIG_FIELD_REDIS_TLS_KEY, .expected = "" },
		    &redis->tls_key, NULL },
		{ { CONFIG_FIELD_REDIS_PASSWORD_FILE, PASSWORD_MAX_BYTES, true,
		      " with a password" },
		    &redis->password_file, &redis->password },
		{ { CONFIG_FIELD_REDIS_SENTINEL_PASSWORD_FILE,
		      PASSWORD_MAX_BYTES, true, " with a password" },
		    &redis->sentinel_password_file, &redis->sentinel_password },
	};
	size_t i;

	redis->sentinel_password = xstrdup("");
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		/* A password beside its file is a fault already. */
		if ((*files[i].path)[0] != '\0' &&
		    (files[i].text == NULL || (*files[i].text)[0] == '\0'))
			(void)!take_file(draft, &files[i].file, files[i].path,
			    files[i].text);
}

/* Makes the users from the section auth, unless that has faults. */
static void
set_users(const struct config_draft *draft)
{
	static const struct named_file file = { CONFIG_FIELD_AUTH,
		USERS_MAX_BYTES, false, " with lines NAME:HASH" };
	struct config *config = draft->config;
	struct auth_settings *auth = &config->auth;
	struct buf why;
	char *line, *rest;

	if (!auth->given || draft->bad[CONFIG_FIELD_AUTH] ||
	    (auth->users_file[0] != '\0' &&
		!take_file(draft, &file, &auth->users_file, &auth->users_text)))
		return;
	buf_init(&why);
	config->users = users_new(&config->auth, &why);
	buf_addc(&why, '\0');
	rest = buf_data(&why);
	while (config->users == NULL && (line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			config_draft_fault(draft, CONFIG_FIELD_AUTH,
			    CONFIG_FIELD_AUTH, "%s", line);
	buf_fini(&why);
}

static void
complete(struct config_draft *draft)
{
	struct config_broker *broker = &draft->config->broker;

	set_defaults(draft);
	if (broker->name[0] == '\0') {
		free(broker->name);
		broker->name = name_of_host();
	}
	config_check(draft);
	set_files(draft);
	set_users(draft);
}

/* Public. */

bool
config_load_buffer(struct config *config, const char *name, const char *text,
    size_t length, struct config_faults *faults)
{
	struct config_draft draft = { .config = config, .faults = faults };
	size_t before = faults->n;
	struct config_node *root;

	memset(config, 0, sizeof(*config));
	config_faults_context(faults, name);
	if (config_node_parse(&root, text, length, faults)) {
		take_tree(&draft, root);
		complete(&draft);
	}
	config_node_free(root);
	if (faults->n == before)
		return true;
	config_free(config);
	return false;
}

bool
config_load(
    struct config *config, const char *file, struct config_faults *faults)
{
	const char *why;
	size_t length;
	char *text;
	bool ok;

	memset(config, 0, sizeof(*config));
	if (file == NULL)
		return config_load_buffer(config, "defaults", "", 0, faults);
	text =
	    config_file_read(file, false, CONFIG_NODE_TEXT_MAX, &length, &why);
	if (text == NULL) {
		config_faults_context(faults, file);
		config_faults_add(faults,
		    "can't be read (%s), expected a file of at most %d KB", why,
		    CONFIG_NODE_TEXT_MAX / 1024);
		return false;
	}
	ok = config_load_buffer(config, file, text, length, faults);
	config_file_free(text);
	return ok;
}

void
config_default(struct config *config)
{
	struct config_faults faults;
	bool ok;

	config_faults_init(&faults);
	ok = config_load(config, NULL, &faults);
	assert(ok);
	config_faults_fini(&faults);
}

void
config_free(struct config *config)
{
	size_t i;

	for (i = 0; i < CONFIG_FIELDS; i++)
		config_value_clear(&config_fields[i],
		    config_field_slot(&config_fields[i], config));
	config_file_free(config->redis.sentinel_password);
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
		size_t n = config_field_section_length(field);

		if (n == 0 || strncmp(section, field->path, n + 1) != 0) {
			buf_adds(&text, i == 0 ? "" : "\n");
			if (n > 0)
				buf_addf(&text, "%.*s:\n", (int)n, field->path);
		}
		section = field->path;
		/* A password from a file is not needed in a dump. */
		if (!field->type->is_secret ||
		    config->redis.password_file[0] == '\0')
			config_value_dump(field,
			    config_field_slot_const(field, config),
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
	if (!field->type->is_secret && field->type->kind < CONFIG_LIST)
		config_value_write(field, slot, out);
	buf_addc(out, '\0');
}

static void
tell_change(const struct config_field *field, const void *from, const void *to,
    config_changed *changed, void *arg)
{
	struct buf old, new;

	write_value(field, from, &old);
	write_value(field, to, &new);
	changed(arg, field->path, field->reloadable, buf_data(&old),
	    buf_data(&new));
	buf_fini(&old);
	buf_fini(&new);
}

size_t
config_reload_diff(struct config *config, struct config *fresh,
    config_changed *changed, void *arg)
{
	struct users *users = config->users;
	size_t copied = 0;
	size_t i;

	for (i = 0; i < CONFIG_FIELDS; i++) {
		const struct config_field *field = &config_fields[i];
		void *to = config_field_slot(field, config);
		void *from = config_field_slot(field, fresh);

		if (config_value_same(field, to, from))
			continue;
		tell_change(field, to, from, changed, arg);
		if (!field->reloadable)
			continue;
		config_value_take(field, to, from);
		copied++;
	}
	/* The host's groups and users may have changed, too. */
	config->users = fresh->users;
	fresh->users = users;
	/* A file of the same name may hold another password now. */
	if (strcmp(config->redis.sentinel_password,
		fresh->redis.sentinel_password) != 0 &&
	    strcmp(config->redis.sentinel_password_file,
		fresh->redis.sentinel_password_file) == 0)
		changed(arg, "redis.sentinel_password_file", false, "", "");
	return copied;
}
