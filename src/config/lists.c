/*
 * The types of settings that are lists: `listen` and `redis.nodes`.  Each
 * item has a place of its own, so these add their faults themselves.  Looks up
 * groups; opens nothing and resolves no host.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/node.h"
#include "config/values.h"

#define EXPECTED_LISTEN "HOST:PORT or [V6]:PORT"
#define EXPECTED_BOOL "true or false"
#define EXPECTED_NODE "HOST:PORT, [V6]:PORT or unix:/PATH"
#define EXPECTED_UNIX "an absolute path of at most 107 bytes, or \"\""
#define EXPECTED_MODE "3 or 4 octal digits such as \"0660\""
#define EXPECTED_ENTRY "a mapping with either tcp or unix"

#define MODE_DEFAULT 0660
#define GROUP_MAX 256 /* bytes */

/* --- listen */

enum entry_key {
	ENTRY_TCP,
	ENTRY_PROXIED,
	ENTRY_UNIX,
	ENTRY_MODE,
	ENTRY_GROUP,
	ENTRY_KEYS
};

static const char *const entry_keys[ENTRY_KEYS] = {
	[ENTRY_TCP] = "tcp",
	[ENTRY_PROXIED] = "proxied",
	[ENTRY_UNIX] = "unix",
	[ENTRY_MODE] = "mode",
	[ENTRY_GROUP] = "group",
};

/*
 * One item of `listen` while it is read: its values by key, borrowed from the
 * tree; NULL where a key was not given.
 */
struct entry {
	const struct config_node *at[ENTRY_KEYS];
};

static enum entry_key
entry_key_find(const char *key)
{
	size_t i = 0;

	while (i < ENTRY_KEYS && strcmp(entry_keys[i], key) != 0)
		i++;
	return (enum entry_key)i;
}

static bool
entry_value_is_text(
    const struct config_node *node, struct config_faults *faults)
{
	if (node->refused)
		return false;
	if (node->kind == CONFIG_NODE_SCALAR)
		return true;
	config_node_fault(node, faults, "is %s, expected a single value",
	    config_node_kind_name(node));
	return false;
}

/* Sorts the keys of an item; false when some were unusable. */
static bool
entry_read(struct entry *entry, const struct config_node *item,
    struct config_faults *faults)
{
	bool ok = true;

	memset(entry, 0, sizeof(*entry));
	for (const struct config_node *n = item->first; n != NULL;
	     n = n->next) {
		enum entry_key key;

		if (n->refused) {
			ok = false;
			continue;
		}
		key = entry_key_find(n->key);
		if (key == ENTRY_KEYS) {
			config_node_fault_key(n, faults,
			    "unknown key, expected tcp, proxied, unix, mode or "
			    "group");
			ok = false;
			continue;
		}
		if (entry_value_is_text(n, faults))
			entry->at[key] = n;
		else
			ok = false;
	}
	return ok;
}

/* Which keys may stand together. */
static bool
entry_check(const struct entry *entry, struct config_faults *faults)
{
	static const enum entry_key not_beside_tcp[] = { ENTRY_UNIX, ENTRY_MODE,
		ENTRY_GROUP };
	size_t n = sizeof(not_beside_tcp) / sizeof(not_beside_tcp[0]);
	const struct config_node *proxied = entry->at[ENTRY_PROXIED];
	bool ok = true;

	if (entry->at[ENTRY_TCP] == NULL && proxied != NULL) {
		config_node_fault_key(
		    proxied, faults, "given, expected only beside tcp");
		return false;
	}
	if (entry->at[ENTRY_TCP] == NULL)
		return true;
	for (size_t i = 0; i < n; i++) {
		enum entry_key key = not_beside_tcp[i];

		if (entry->at[key] == NULL)
			continue;
		config_node_fault_key(entry->at[key], faults,
		    "given beside tcp, expected %s",
		    key == ENTRY_UNIX ? EXPECTED_ENTRY : "only beside unix");
		ok = false;
	}
	return ok;
}

static bool
fault_value(const struct config_node *node, struct config_faults *faults,
    const char *why, const char *expected)
{
	char quoted[CONFIG_QUOTE_SIZE];

	config_node_fault(node, faults, "%s %s, expected %s",
	    config_quote(quoted, node->text), why, expected);
	return false;
}

static bool
parse_proxied(
    const struct config_node *node, bool *proxied, struct config_faults *faults)
{
	const char *why = config_type_BOOL.parse(NULL, node->text, proxied);

	return why == NULL || fault_value(node, faults, why, EXPECTED_BOOL);
}

static bool
parse_mode(const struct config_node *node, unsigned *mode,
    struct config_faults *faults)
{
	const char *text = node->text;
	size_t n = strlen(text);

	if ((n != 3 && n != 4) || strspn(text, "01234567") != n)
		return fault_value(
		    node, faults, "is not a mode", EXPECTED_MODE);
	*mode = (unsigned)strtoul(text, NULL, 8);
	if (*mode > 0777)
		return fault_value(
		    node, faults, "has more than permissions", EXPECTED_MODE);
	return true;
}

/*
 * Is there such a group?  Where the system can't say, as when a directory of
 * users is not up yet, the attempt to listen decides: that is worth repeating.
 */
static bool
group_may_be(const char *name)
{
	errno = 0;
	return name[0] == '\0' || getgrnam(name) != NULL ||
	       (errno != 0 && errno != ENOENT);
}

static bool
parse_group(
    const struct config_node *node, char **group, struct config_faults *faults)
{
	const char *text = node->text;

	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == ':' || *p == 0x7f)
			return fault_value(node, faults,
			    "has a character that no group has",
			    "the name of a group");
	if (strlen(text) > GROUP_MAX)
		return fault_value(
		    node, faults, "is too long", "the name of a group");
	if (!group_may_be(text))
		return fault_value(node, faults, "is not a group on this host",
		    "the name of a group");
	*group = xstrdup(text);
	return true;
}

/*
 * systemd's first runtime directory, with the default name of the socket, or
 * NULL where we don't run under systemd.  The caller frees it.  A directory
 * that no socket fits in counts as none: the defaults never fail.
 */
static char *
default_socket(void)
{
	static const char name[] = "/lockbrokerd.sock";
	const char *directory = getenv("RUNTIME_DIRECTORY");
	struct config_address address;
	char *path;
	size_t n;

	if (directory == NULL || directory[0] != '/')
		return NULL;
	n = strcspn(directory, ":");
	path = xmalloc(n + sizeof(name));
	memcpy(path, directory, n);
	memcpy(path + n, name, sizeof(name));
	if (config_address_parse_unix(&address, path) == NULL) {
		config_address_fini(&address);
		return path;
	}
	free(path);
	return NULL;
}

static const char *
parse_socket(const struct config_node *node, struct config_address *address)
{
	char *path =
	    node->text[0] == '\0' ? default_socket() : xstrdup(node->text);
	const char *why;

	memset(address, 0, sizeof(*address));
	if (path == NULL)
		return NULL; /* the default, and there is none: skipped */
	why = config_address_parse_unix(address, path);
	free(path);
	return why;
}

static void
endpoint_fini(struct config_endpoint *endpoint)
{
	config_address_fini(&endpoint->address);
	free(endpoint->group);
}

/* Reads the values of an entry, whichever there are, for all their faults. */
static bool
endpoint_parse(struct config_endpoint *endpoint, const struct entry *entry,
    struct config_faults *faults)
{
	const struct config_node *tcp = entry->at[ENTRY_TCP];
	const struct config_node *path = entry->at[ENTRY_UNIX];
	const struct config_node *mode = entry->at[ENTRY_MODE];
	const struct config_node *group = entry->at[ENTRY_GROUP];
	const char *why = NULL;
	bool ok = true;

	if (tcp != NULL)
		why =
		    config_address_parse_tcp(&endpoint->address, tcp->text, 0);
	if (why != NULL)
		ok = fault_value(tcp, faults, why, EXPECTED_LISTEN);
	if (entry->at[ENTRY_PROXIED] != NULL)
		ok = parse_proxied(entry->at[ENTRY_PROXIED], &endpoint->proxied,
			 faults) &&
		     ok;
	why = NULL;
	if (path != NULL) {
		config_address_fini(&endpoint->address);
		why = parse_socket(path, &endpoint->address);
	}
	if (why != NULL)
		ok = fault_value(path, faults, why, EXPECTED_UNIX);
	if (mode != NULL)
		ok = parse_mode(mode, &endpoint->mode, faults) && ok;
	if (group != NULL)
		ok = parse_group(group, &endpoint->group, faults) && ok;
	else
		endpoint->group = xstrdup("");
	return ok;
}

/* The same port twice can't be bound; port 0 is another one each time. */
static bool
endpoint_is_new(
    const struct config_listen *listen, const struct config_endpoint *endpoint)
{
	const struct config_address *address = &endpoint->address;

	if (address->path == NULL && address->port == 0)
		return true;
	for (size_t i = 0; i < listen->n; i++)
		if (config_address_same(&listen->v[i].address, address))
			return false;
	return true;
}

/* Reads one item; false when it has faults.  May give no address at all. */
static bool
endpoint_read(struct config_endpoint *endpoint, const struct config_node *item,
    struct config_faults *faults)
{
	struct entry entry;
	bool ok;

	ok = entry_read(&entry, item, faults);
	if (ok && entry.at[ENTRY_TCP] == NULL && entry.at[ENTRY_UNIX] == NULL) {
		config_node_fault(item, faults,
		    "has neither tcp nor unix, expected " EXPECTED_ENTRY);
		ok = false;
	}
	ok = entry_check(&entry, faults) && ok;
	return endpoint_parse(endpoint, &entry, faults) && ok;
}

static bool
listen_add(struct config_listen *listen, const struct config_node *item,
    struct config_faults *faults)
{
	struct config_endpoint endpoint = { .mode = MODE_DEFAULT };
	bool ok;

	if (item->refused)
		return false;
	if (item->kind != CONFIG_NODE_MAPPING) {
		config_node_fault(item, faults,
		    "is %s, expected " EXPECTED_ENTRY,
		    config_node_kind_name(item));
		return false;
	}
	ok = endpoint_read(&endpoint, item, faults);
	if (!ok ||
	    (endpoint.address.path == NULL && endpoint.address.host == NULL)) {
		endpoint_fini(&endpoint);
		return ok;
	}
	if (endpoint_is_new(listen, &endpoint)) {
		listen->v[listen->n++] = endpoint;
		return true;
	}
	config_node_fault(
	    item, faults, "the same address is given twice, expected it once");
	endpoint_fini(&endpoint);
	return false;
}

static void
listen_fini(void *slot)
{
	struct config_listen *listen = slot;

	for (size_t i = 0; i < listen->n; i++)
		endpoint_fini(&listen->v[i]);
	free(listen->v);
	memset(listen, 0, sizeof(*listen));
}

static bool
listen_parse(const struct config_field *field, const struct config_node *node,
    void *slot, struct config_faults *faults)
{
	struct config_listen *listen = slot;
	bool ok = true;

	(void)field;
	listen->v = xcalloc(node->count + 1, sizeof(*listen->v));
	for (const struct config_node *n = node->first; n != NULL; n = n->next)
		ok = listen_add(listen, n, faults) && ok;
	if (!ok)
		listen_fini(slot);
	return ok;
}

static void
listen_expected(const struct config_field *field, char *buf, size_t size)
{
	(void)field;
	snprintf(buf, size, "a list of mappings, each with either tcp or unix");
}

static void
listen_dump(const struct config_field *field, const void *slot, FILE *out)
{
	const struct config_listen *listen = slot;
	char text[CONFIG_ADDRESS_SIZE];

	(void)field;
	fputs(listen->n == 0 ? " []\n" : "\n", out);
	for (size_t i = 0; i < listen->n; i++) {
		const struct config_endpoint *e = &listen->v[i];

		if (e->address.path == NULL) {
			fprintf(out, "  - tcp: \"%s\"\n    proxied: %s\n",
			    config_address_format(&e->address, text),
			    e->proxied ? "true" : "false");
			continue;
		}
		fputs("  - unix: ", out);
		config_value_write_quoted(e->address.path, out);
		fprintf(out, "\n    mode: \"%04o\"\n    group: ", e->mode);
		config_value_write_quoted(e->group, out);
		fputc('\n', out);
	}
}

static bool
listen_same(const void *a, const void *b)
{
	const struct config_listen *la = a;
	const struct config_listen *lb = b;

	if (la->n != lb->n)
		return false;
	for (size_t i = 0; i < la->n; i++)
		if (!config_address_same(
			&la->v[i].address, &lb->v[i].address) ||
		    la->v[i].proxied != lb->v[i].proxied ||
		    la->v[i].mode != lb->v[i].mode ||
		    strcmp(la->v[i].group, lb->v[i].group) != 0)
			return false;
	return true;
}

const struct config_type config_type_LISTEN = {
	.is_list = true,
	.parse_list = listen_parse,
	.expected = listen_expected,
	.dump = listen_dump,
	.same = listen_same,
	.fini = listen_fini,
};

/* --- redis.nodes */

static const char *
parse_node(struct config_address *address, const char *text)
{
	if (strncmp(text, "unix:", 5) == 0)
		return config_address_parse_unix(address, text + 5);
	return config_address_parse_tcp(address, text, 1);
}

static bool
nodes_add(struct config_nodes *nodes, const struct config_node *item,
    struct config_faults *faults)
{
	struct config_address address;
	const char *why;

	if (item->refused)
		return false;
	if (item->kind != CONFIG_NODE_SCALAR) {
		config_node_fault(item, faults,
		    "is %s, expected " EXPECTED_NODE,
		    config_node_kind_name(item));
		return false;
	}
	why = parse_node(&address, item->text);
	if (why != NULL)
		return fault_value(item, faults, why, EXPECTED_NODE);
	for (size_t i = 0; i < nodes->n; i++) {
		if (!config_address_same(&nodes->v[i], &address))
			continue;
		config_address_fini(&address);
		return fault_value(
		    item, faults, "is given twice", "each node once");
	}
	nodes->v[nodes->n++] = address;
	return true;
}

static void
nodes_fini(void *slot)
{
	struct config_nodes *nodes = slot;

	for (size_t i = 0; i < nodes->n; i++)
		config_address_fini(&nodes->v[i]);
	free(nodes->v);
	memset(nodes, 0, sizeof(*nodes));
}

static bool
nodes_parse(const struct config_field *field, const struct config_node *node,
    void *slot, struct config_faults *faults)
{
	struct config_nodes *nodes = slot;
	bool ok = true;

	(void)field;
	nodes->v = xcalloc(node->count + 1, sizeof(*nodes->v));
	for (const struct config_node *n = node->first; n != NULL; n = n->next)
		ok = nodes_add(nodes, n, faults) && ok;
	if (!ok)
		nodes_fini(slot);
	return ok;
}

static void
nodes_expected(const struct config_field *field, char *buf, size_t size)
{
	(void)field;
	snprintf(buf, size, "a list of %s", EXPECTED_NODE);
}

static void
nodes_dump(const struct config_field *field, const void *slot, FILE *out)
{
	const struct config_nodes *nodes = slot;
	char text[CONFIG_ADDRESS_SIZE];

	(void)field;
	fputs(nodes->n == 0 ? " []\n" : "\n", out);
	for (size_t i = 0; i < nodes->n; i++) {
		fputs("    - ", out);
		config_value_write_quoted(
		    config_address_format(&nodes->v[i], text), out);
		fputc('\n', out);
	}
}

static bool
nodes_same(const void *a, const void *b)
{
	const struct config_nodes *na = a;
	const struct config_nodes *nb = b;

	if (na->n != nb->n)
		return false;
	for (size_t i = 0; i < na->n; i++)
		if (!config_address_same(&na->v[i], &nb->v[i]))
			return false;
	return true;
}

const struct config_type config_type_NODES = {
	.is_list = true,
	.parse_list = nodes_parse,
	.expected = nodes_expected,
	.dump = nodes_dump,
	.same = nodes_same,
	.fini = nodes_fini,
};
