/*
 * The type of the section auth: a mapping with users, each with the patterns of
 * its names.  Each key in it is a row of one of two tables.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <stdlib.h>
#include <string.h>

#include "auth/pattern.h"
#include "auth/secret.h"
#include "auth/settings.h"
#include "auth/users.h"
#include "base/xmalloc.h"
#include "config/faults.h"
#include "config/node.h"
#include "config/values.h"

#define EXPECTED_USER "a mapping with name, and lock, watch, deny or admin"

/*
 * A parser for each value: it sets what is at `slot`, and adds its own faults.
 */

typedef bool value_parser(
    const struct config_node *node, void *slot, struct config_faults *faults);

static bool
parse_text(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	if (!config_node_is(node, CONFIG_NODE_SCALAR, faults, "a single value"))
		return false;
	free(*(char **)slot);
	*(char **)slot = xstrdup(node->text);
	return true;
}

static bool
parse_name(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	const char *why;

	if (!parse_text(node, slot, faults))
		return false;
	why = user_name_why(node->text);
	return why == NULL ||
	       config_node_fault_value(node, faults, why, "the name of a user");
}

/* Faults never show the value itself. */
static bool
parse_hash(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	const char *why;

	if (!parse_text(node, slot, faults))
		return false;
	why = node->text[0] != '\0' ? secret_hash_why(node->text) : NULL;
	if (why != NULL)
		config_node_fault(node, faults, "%s", why);
	return why == NULL;
}

static bool
parse_bool(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	if (!config_node_is(node, CONFIG_NODE_SCALAR, faults, "true or false"))
		return false;
	*(bool *)slot = strcmp(node->text, "true") == 0;
	return *(bool *)slot || strcmp(node->text, "false") == 0 ||
	       config_node_fault_value(
		   node, faults, "is neither true nor false", "true or false");
}

static void
words_fini(struct auth_words *words)
{
	size_t i;

	for (i = 0; i < words->n; i++)
		free(words->v[i]);
	free(words->v);
	memset(words, 0, sizeof(*words));
}

static void
rights_fini(struct auth_rights *rights)
{
	words_fini(&rights->lock);
	words_fini(&rights->watch);
	words_fini(&rights->deny);
}

/* Takes a list of words, and checks each one. */
static bool
parse_words(const struct config_node *node, struct auth_words *words,
    const char *(*check)(const char *text), const char *expected,
    struct config_faults *faults)
{
	const struct config_node *n;
	const char *why;
	bool ok = true;

	if (!config_node_is(node, CONFIG_NODE_LIST, faults, "a list"))
		return false;
	words_fini(words); /* not empty if the key comes twice, which is a fault
			      already */
	words->v = xcalloc(node->count + 1, sizeof(*words->v));
	for (n = node->first; n != NULL; n = n->next) {
		if (!config_node_is(n, CONFIG_NODE_SCALAR, faults, expected)) {
			ok = false;
			continue;
		}
		why = check(n->text);
		ok = (why == NULL ||
			 config_node_fault_value(n, faults, why, expected)) &&
		     ok;
		words->v[words->n++] = xstrdup(n->text);
	}
	return ok;
}

static bool
parse_patterns(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	return parse_words(node, slot, pattern_why,
	    "a name, or the beginning of one with '*' behind it", faults);
}

static const char *
peer_why(const char *text)
{
	const char *name = text[0] == '%' ? text + 1 : text;

	if (name[0] == '\0')
		return "is empty";
	return strpbrk(name, " \t:/%") == NULL
		   ? NULL
		   : "has a character that no user or group has";
}

static bool
parse_peers(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	return parse_words(node, slot, peer_why,
	    "a user of this host, or a group as \"%group\"", faults);
}

static const char *
certificate_why(const char *text)
{
	static const char *const kinds[] = { "CN=", "DNS:", "URI:" };
	size_t i, n;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = strlen(kinds[i]);
		if (strncmp(text, kinds[i], n) == 0)
			return text[n] == '\0' ? "names nothing" : NULL;
	}
	return "is no name of a certificate";
}

static bool
parse_certificates(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	return parse_words(
	    node, slot, certificate_why, "CN=..., DNS:... or URI:...", faults);
}

/* The keys of a user.  The last ones are also those of anonymous. */

static const struct key {
	const char *name;
	value_parser *parse;
	size_t offset; /* in struct auth_user */
} user_keys[] = {
	{ "name", parse_name, offsetof(struct auth_user, name) },
	{ "hash", parse_hash, offsetof(struct auth_user, hash) },
	{ "unix", parse_peers, offsetof(struct auth_user, peers) },
	{ "certificate", parse_certificates,
	    offsetof(struct auth_user, certificates) },
	{ "admin", parse_bool, offsetof(struct auth_user, rights.admin) },
	{ "lock", parse_patterns, offsetof(struct auth_user, rights.lock) },
	{ "watch", parse_patterns, offsetof(struct auth_user, rights.watch) },
	{ "deny", parse_patterns, offsetof(struct auth_user, rights.deny) },
};

#define USER_KEYS (sizeof(user_keys) / sizeof(user_keys[0]))
#define ANONYMOUS_KEYS 3 /* at the end of the table */

static bool
parse_user_key(struct auth_user *user, const struct key *keys, size_t n,
    const struct config_node *node, struct config_faults *faults)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(keys[i].name, node->key) == 0)
			return keys[i].parse(
			    node, (char *)user + keys[i].offset, faults);
	if (!node->refused)
		config_node_fault_key(node, faults, "unknown key, expected %s",
		    n == USER_KEYS ? "name, hash, unix, certificate, lock, "
				     "watch, deny or admin"
				   : "lock, watch or deny");
	return false;
}

static bool
parse_user_keys(struct auth_user *user, const struct key *keys, size_t n,
    const struct config_node *item, struct config_faults *faults)
{
	const struct config_node *node;
	bool ok = true;

	for (node = item->first; node != NULL; node = node->next)
		ok = parse_user_key(user, keys, n, node, faults) && ok;
	return ok;
}

static void
secret_fini(char *text)
{
	if (text != NULL)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void
user_fini(struct auth_user *user)
{
	free(user->name);
	secret_fini(user->hash);
	words_fini(&user->peers);
	words_fini(&user->certificates);
	rights_fini(&user->rights);
}

static bool
is_new(const struct auth_users *users, const char *name)
{
	size_t i;

	for (i = 0; i < users->n; i++)
		if (strcmp(users->v[i].name, name) == 0)
			return false;
	return true;
}

static bool
add_user(struct auth_users *users, const struct config_node *item,
    struct config_faults *faults)
{
	struct auth_user user = { .hash = xstrdup("") };
	bool ok =
	    config_node_is(item, CONFIG_NODE_MAPPING, faults, EXPECTED_USER) &&
	    parse_user_keys(&user, user_keys, USER_KEYS, item, faults);

	if (ok && user.name == NULL)
		config_node_fault(
		    item, faults, "has no name, expected " EXPECTED_USER);
	else if (ok && !is_new(users, user.name))
		config_node_fault(item, faults,
		    "the user %s is given twice, expected it once", user.name);
	else if (ok) {
		users->v[users->n++] = user;
		return true;
	}
	user_fini(&user);
	return false;
}

/* The keys of the section. */

static void
users_fini(struct auth_users *users)
{
	size_t i;

	for (i = 0; i < users->n; i++)
		user_fini(&users->v[i]);
	free(users->v);
	memset(users, 0, sizeof(*users));
}

static bool
parse_users(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	struct auth_users *users = slot;
	const struct config_node *item;
	bool ok = true;

	if (config_node_is_empty(node))
		return true;
	if (!config_node_is(node, CONFIG_NODE_LIST, faults, "a list of users"))
		return false;
	users_fini(users);
	users->v = xcalloc(node->count + 1, sizeof(*users->v));
	for (item = node->first; item != NULL; item = item->next)
		ok = add_user(users, item, faults) && ok;
	return ok;
}

static bool
parse_anonymous(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	struct auth_anonymous *anonymous = slot;
	struct auth_user user = { 0 };
	bool ok;

	anonymous->given = true;
	if (config_node_is_empty(node))
		return true;
	if (!config_node_is(node, CONFIG_NODE_MAPPING, faults,
		"a mapping with lock, watch or deny"))
		return false;
	ok = parse_user_keys(&user, user_keys + USER_KEYS - ANONYMOUS_KEYS,
	    ANONYMOUS_KEYS, node, faults);
	rights_fini(&anonymous->rights);
	anonymous->rights = user.rights;
	return ok;
}

static const struct section_key {
	const char *name;
	value_parser *parse;
	size_t offset; /* in struct auth_settings */
} section_keys[] = {
	{ "users_file", parse_text,
	    offsetof(struct auth_settings, users_file) },
	{ "users", parse_users, offsetof(struct auth_settings, users) },
	{ "anonymous", parse_anonymous,
	    offsetof(struct auth_settings, anonymous) },
};

#define SECTION_KEYS (sizeof(section_keys) / sizeof(section_keys[0]))

static bool
parse_section_key(struct auth_settings *auth, const struct config_node *node,
    struct config_faults *faults)
{
	size_t i;

	for (i = 0; i < SECTION_KEYS; i++)
		if (strcmp(section_keys[i].name, node->key) == 0)
			return section_keys[i].parse(node,
			    (char *)auth + section_keys[i].offset, faults);
	if (!node->refused)
		config_node_fault_key(node, faults,
		    "unknown key, expected users_file, users or anonymous");
	return false;
}

static void
auth_fini(void *slot)
{
	struct auth_settings *auth = slot;

	users_fini(&auth->users);
	free(auth->users_file);
	secret_fini(auth->users_text);
	rights_fini(&auth->anonymous.rights);
	memset(auth, 0, sizeof(*auth));
}

static bool
auth_parse(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	struct auth_settings *auth = slot;
	const struct config_node *n;
	bool ok = true;

	auth->given = true;
	auth->users_file = xstrdup("");
	auth->users_text = xstrdup("");
	for (n = node->first; n != NULL; n = n->next)
		ok = parse_section_key(auth, n, faults) && ok;
	if (!ok)
		auth_fini(slot);
	return ok;
}

/* Writes values.  Two values are compared by what would be written. */

static void
dump_words(const char *key, const char *indent, const struct auth_words *words,
    FILE *out)
{
	size_t i;

	fprintf(out, "%s%s: [", indent, key);
	for (i = 0; i < words->n; i++) {
		if (i > 0)
			fputs(", ", out);
		config_value_write_quoted(words->v[i], out);
	}
	fputs("]\n", out);
}

static void
dump_rights(const struct auth_rights *rights, const char *indent, FILE *out)
{
	dump_words("lock", indent, &rights->lock, out);
	dump_words("watch", indent, &rights->watch, out);
	dump_words("deny", indent, &rights->deny, out);
}

static void
dump_user(const struct auth_user *user, FILE *out)
{
	static const char indent[] = "      ";

	fputs("    - name: ", out);
	config_value_write_quoted(user->name, out);
	fputc('\n', out);
	if (user->hash[0] != '\0')
		fprintf(out,
		    "%s# hash: \"********\" is set and not shown here; put it "
		    "in again\n",
		    indent);
	dump_words("unix", indent, &user->peers, out);
	dump_words("certificate", indent, &user->certificates, out);
	dump_rights(&user->rights, indent, out);
	fprintf(out, "%sadmin: %s\n", indent,
	    user->rights.admin ? "true" : "false");
}

static void
auth_dump(const void *slot, FILE *out)
{
	const struct auth_settings *auth = slot;
	size_t i;

	if (!auth->given) {
		fputs(" # absent: everybody may do everything\n", out);
		return;
	}
	fputs("\n  users_file: ", out);
	config_value_write_quoted(auth->users_file, out);
	fprintf(out, "\n  users:%s\n", auth->users.n == 0 ? " []" : "");
	for (i = 0; i < auth->users.n; i++)
		dump_user(&auth->users.v[i], out);
	if (!auth->anonymous.given)
		return;
	fputs("  anonymous:\n", out);
	dump_rights(&auth->anonymous.rights, "    ", out);
}

static bool
same_secrets(const struct auth_settings *a, const struct auth_settings *b)
{
	size_t i;

	if (a->users.n != b->users.n ||
	    strcmp(a->users_text, b->users_text) != 0)
		return false;
	for (i = 0; i < a->users.n; i++)
		if (strcmp(a->users.v[i].hash, b->users.v[i].hash) != 0)
			return false;
	return true;
}

static char *
as_yaml(const struct auth_settings *auth)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	if (out == NULL)
		abort();
	auth_dump(auth, out);
	if (fclose(out) != 0)
		abort();
	return text;
}

/*
 * Two values are the same if they have the same secrets and are written the
 * same.
 */
static bool
auth_same(const void *a, const void *b)
{
	const struct auth_settings *one = a, *other = b;
	char *x, *y;
	bool same;

	if (!one->given || !other->given)
		return one->given == other->given;
	if (!same_secrets(one, other))
		return false;
	x = as_yaml(one);
	y = as_yaml(other);
	same = strcmp(x, y) == 0;
	free(x);
	free(y);
	return same;
}

const struct config_type config_type_AUTH = {
	.is_list = true,
	.is_mapping = true,
	.size = sizeof(struct auth_settings),
	.expected = "a mapping with users_file, users or anonymous",
	.parse_list = auth_parse,
	.dump = auth_dump,
	.same = auth_same,
	.fini = auth_fini,
};
