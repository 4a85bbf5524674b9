/*
 * The types of settings that are lists: `listen` and `redis.nodes`.  Each item
 * has a place of its own, so these types add their faults themselves.  They
 * look up groups, but open nothing and resolve no host.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "config/file.h"
#include "config/node.h"
#include "config/values.h"

#define EXPECTED_NODE "HOST:PORT, [V6]:PORT or unix:/PATH"
#define EXPECTED_ENTRY "a mapping with either tcp, tls, unix or http"
#define EXPECTED_HOST "HOST:PORT or [V6]:PORT"
#define EXPECTED_FILE "a readable file"

#define MODE_DEFAULT 0660
#define GROUP_MAX 256 /* bytes */
#define PATH_BYTES_MAX 4096

/* Listen: a parser for each key of an item, as config_type's parse. */

static const char *
parse_tcp(struct config_endpoint *endpoint, const char *text)
{
	address_fini(&endpoint->address);
	return address_parse_tcp(&endpoint->address, text, ADDRESS_PORT_ANY);
}

/* The keys that belong to it may come before `tls`. */
static struct config_tls *
tls_of(struct config_endpoint *endpoint)
{
	if (endpoint->tls == NULL) {
		endpoint->tls = xcalloc(1, sizeof(*endpoint->tls));
		endpoint->tls->certificate = xstrdup("");
		endpoint->tls->key = xstrdup("");
		endpoint->tls->client_ca = xstrdup("");
	}
	return endpoint->tls;
}

static void
tls_free(struct config_tls *tls)
{
	if (tls == NULL)
		return;
	free(tls->certificate);
	free(tls->key);
	free(tls->client_ca);
	free(tls);
}

static const char *
parse_tls(struct config_endpoint *endpoint, const char *text)
{
	(void)tls_of(endpoint);
	return parse_tcp(endpoint, text);
}

static const char *
parse_http(struct config_endpoint *endpoint, const char *text)
{
	endpoint->http = true;
	return parse_tcp(endpoint, text);
}

/* The process that speaks TLS finds out whether the file is of use. */
static const char *
parse_path(char **path, const char *text)
{
	const char *why = NULL;

	if (strlen(text) > PATH_BYTES_MAX)
		return "is too long";
	free(*path);
	*path = xstrdup(text);
	if (!config_file_resolve(path, &why))
		return why;
	return access(*path, R_OK) == 0 ? NULL : "can't be read";
}

static const char *
parse_certificate(struct config_endpoint *endpoint, const char *text)
{
	return parse_path(&tls_of(endpoint)->certificate, text);
}

static const char *
parse_key(struct config_endpoint *endpoint, const char *text)
{
	return parse_path(&tls_of(endpoint)->key, text);
}

static const char *
parse_client_ca(struct config_endpoint *endpoint, const char *text)
{
	if (text[0] == '\0')
		return NULL;
	return parse_path(&tls_of(endpoint)->client_ca, text);
}

static const char *const verify_words[] = {
	[CONFIG_VERIFY_NONE] = "none",
	[CONFIG_VERIFY_OPTIONAL] = "optional",
	[CONFIG_VERIFY_REQUIRE] = "require",
};

static const char *
parse_verify(struct config_endpoint *endpoint, const char *text)
{
	unsigned i;

	for (i = 0; i <= CONFIG_VERIFY_REQUIRE; i++)
		if (strcmp(verify_words[i], text) == 0) {
			tls_of(endpoint)->verify = (enum config_verify)i;
			return NULL;
		}
	return "is none of these";
}

static const char *
parse_min_version(struct config_endpoint *endpoint, const char *text)
{
	tls_of(endpoint)->only_1_3 = strcmp(text, "1.3") == 0;
	return tls_of(endpoint)->only_1_3 || strcmp(text, "1.2") == 0
		   ? NULL
		   : "is no version that is spoken";
}

static const char *
parse_proxied(struct config_endpoint *endpoint, const char *text)
{
	endpoint->proxied = strcmp(text, "true") == 0;
	return endpoint->proxied || strcmp(text, "false") == 0
		   ? NULL
		   : "is neither true nor false";
}

static const char *
parse_mode(struct config_endpoint *endpoint, const char *text)
{
	size_t n = strlen(text);

	if ((n != 3 && n != 4) || strspn(text, "01234567") != n)
		return "is not a mode";
	endpoint->mode = (unsigned)strtoul(text, NULL, 8);
	return endpoint->mode > 0777 ? "has more than permissions" : NULL;
}

/*
 * Is there such a group?  If the system can't say, as when a user directory is
 * not up yet, the attempt to listen decides, because that is worth repeating.
 */
static bool
group_may_be(const char *name)
{
	errno = 0;
	return name[0] == '\0' || getgrnam(name) != NULL ||
	       (errno != 0 && errno != ENOENT);
}

static const char *
parse_group(struct config_endpoint *endpoint, const char *text)
{
	const char *p;

	for (p = text; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == ':' || *p == 0x7f)
			return "has a character that no group has";
	if (strlen(text) > GROUP_MAX)
		return "is too long";
	if (!group_may_be(text))
		return "is not a group on this host";
	free(endpoint->group);
	endpoint->group = xstrdup(text);
	return NULL;
}

/*
 * Returns systemd's first runtime directory with the default name of the
 * socket, or NULL if we don't run under systemd.  The caller frees it.  A
 * directory with too long a name counts as none: the defaults never fail.
 */
static char *
default_socket(void)
{
	static const char name[] = "/lockbrokerd.sock";
	const char *directory = getenv("RUNTIME_DIRECTORY");
	struct address address;
	char *path;
	size_t n;

	if (directory == NULL || directory[0] != '/')
		return NULL;
	n = strcspn(directory, ":");
	path = xmalloc(n + sizeof(name));
	memcpy(path, directory, n);
	memcpy(path + n, name, sizeof(name));
	if (address_parse_unix(&address, path) == NULL) {
		address_fini(&address);
		return path;
	}
	free(path);
	return NULL;
}

/* "" means the default, and no address if there is none. */
static const char *
parse_unix(struct config_endpoint *endpoint, const char *text)
{
	char *path = text[0] == '\0' ? default_socket() : xstrdup(text);
	const char *why = NULL;

	address_fini(&endpoint->address);
	if (path != NULL)
		why = address_parse_unix(&endpoint->address, path);
	free(path);
	return why;
}

enum entry_key {
	ENTRY_TCP,
	ENTRY_PROXIED,
	ENTRY_TLS,
	ENTRY_CERTIFICATE,
	ENTRY_KEY,
	ENTRY_CLIENT_CA,
	ENTRY_VERIFY,
	ENTRY_MIN_VERSION,
	ENTRY_UNIX,
	ENTRY_MODE,
	ENTRY_GROUP,
	ENTRY_HTTP,
	ENTRY_KEYS
};

/* Keys that another key may stand beside. */
#define ALONE 0u
#define TCP (1u << ENTRY_TCP)
#define TLS (1u << ENTRY_TLS)
#define UNIX (1u << ENTRY_UNIX)

static const struct {
	const char *name;
	const char *(*parse)(
	    struct config_endpoint *endpoint, const char *text);
	const char *expected;
	unsigned beside; /* a mask of those that may stand beside it */
} entry_keys[ENTRY_KEYS] = {
	[ENTRY_TCP] = { "tcp", parse_tcp, EXPECTED_HOST, ALONE },
	[ENTRY_PROXIED] = { "proxied", parse_proxied, "true or false",
	    TCP | TLS },
	[ENTRY_TLS] = { "tls", parse_tls, EXPECTED_HOST, ALONE },
	[ENTRY_CERTIFICATE] = { "certificate", parse_certificate, EXPECTED_FILE,
	    TLS },
	[ENTRY_KEY] = { "key", parse_key, EXPECTED_FILE, TLS },
	[ENTRY_CLIENT_CA] = { "client_ca", parse_client_ca,
	    EXPECTED_FILE ", or \"\"", TLS },
	[ENTRY_VERIFY] = { "verify", parse_verify, "none, optional or require",
	    TLS },
	[ENTRY_MIN_VERSION] = { "min_version", parse_min_version,
	    "\"1.2\" or \"1.3\"", TLS },
	[ENTRY_UNIX] = { "unix", parse_unix,
	    "an absolute path of at most 107 bytes, or \"\"", ALONE },
	[ENTRY_MODE] = { "mode", parse_mode,
	    "3 or 4 octal digits such as \"0660\"", UNIX },
	[ENTRY_GROUP] = { "group", parse_group, "the name of a group", UNIX },
	[ENTRY_HTTP] = { "http", parse_http, EXPECTED_HOST, ALONE },
};

/*
 * One item of `listen` while it is read: the nodes of its keys, borrowed from
 * the tree; NULL if a key was not given.
 */
struct entry {
	const struct config_node *at[ENTRY_KEYS];
};

/* Takes one key of an item. */
static bool
entry_take(struct entry *entry, struct config_endpoint *endpoint,
    const struct config_node *node, struct config_faults *faults)
{
	size_t key = 0;
	const char *why;

	while (key < ENTRY_KEYS && strcmp(entry_keys[key].name, node->key) != 0)
		key++;
	if (key == ENTRY_KEYS) {
		config_node_fault_key(node, faults,
		    "unknown key, expected tcp, tls, unix or http, or one of "
		    "the keys beside them");
		return false;
	}
	entry->at[key] = node;
	if (!config_node_is(node, CONFIG_NODE_SCALAR, faults, "a single value"))
		return false;
	why = entry_keys[key].parse(endpoint, node->text);
	return why == NULL || config_node_fault_value(
				  node, faults, why, entry_keys[key].expected);
}

/* Returns the key that tells what the item is; ENTRY_KEYS: none does. */
static enum entry_key
entry_main(const struct entry *entry)
{
	static const enum entry_key mains[] = { ENTRY_TCP, ENTRY_TLS,
		ENTRY_UNIX, ENTRY_HTTP };
	size_t i;

	for (i = 0; i < sizeof(mains) / sizeof(mains[0]); i++)
		if (entry->at[mains[i]] != NULL)
			return mains[i];
	return ENTRY_KEYS;
}

/* Checks which keys stand together. */
static bool
entry_check(const struct entry *entry, struct config_faults *faults)
{
	enum entry_key main_key = entry_main(entry);
	bool ok = true;
	size_t i;

	for (i = 0; main_key != ENTRY_KEYS && i < ENTRY_KEYS; i++) {
		if (entry->at[i] == NULL || i == main_key ||
		    (entry_keys[i].beside & 1u << main_key) != 0)
			continue;
		config_node_fault_key(entry->at[i], faults,
		    "given beside %s, expected %s", entry_keys[main_key].name,
		    entry_keys[i].beside == 0	   ? EXPECTED_ENTRY
		    : entry_keys[i].beside == UNIX ? "only beside unix"
		    : entry_keys[i].beside == TLS  ? "only beside tls"
						   : "only beside tcp or tls");
		ok = false;
	}
	return ok;
}

/* Checks that all keys are there that TLS needs. */
static bool
tls_check(const struct entry *entry, const struct config_endpoint *endpoint,
    struct config_faults *faults)
{
	const struct config_node *tls = entry->at[ENTRY_TLS];
	const struct config_node *verify = entry->at[ENTRY_VERIFY];

	if (tls == NULL)
		return true;
#ifndef HAVE_TLS
	config_node_fault_key(
	    tls, faults, "this build is without TLS, expected tcp or unix");
	return false;
#endif
	if (entry->at[ENTRY_CERTIFICATE] == NULL ||
	    entry->at[ENTRY_KEY] == NULL) {
		config_node_fault_key(tls, faults,
		    "has no certificate or no key, expected both beside it");
		return false;
	}
	if (endpoint->tls->verify == CONFIG_VERIFY_NONE ||
	    endpoint->tls->client_ca[0] != '\0')
		return true;
	config_node_fault_key(verify, faults,
	    "given without client_ca, expected the file of those who vouch "
	    "for clients");
	return false;
}

/*
 * Reads one item.  Returns false if it has faults.  It may give no address at
 * all.
 */
static bool
endpoint_read(struct config_endpoint *endpoint, const struct config_node *item,
    struct config_faults *faults)
{
	struct entry entry = { 0 };
	bool ok = true;
	const struct config_node *n;

	for (n = item->first; n != NULL; n = n->next)
		ok = entry_take(&entry, endpoint, n, faults) && ok;
	if (ok && entry_main(&entry) == ENTRY_KEYS) {
		config_node_fault(item, faults,
		    "has neither tcp, tls, unix nor http, expected " EXPECTED_ENTRY);
		return false;
	}
	return entry_check(&entry, faults) && ok &&
	       tls_check(&entry, endpoint, faults);
}

static void
endpoint_fini(struct config_endpoint *endpoint)
{
	address_fini(&endpoint->address);
	free(endpoint->group);
	tls_free(endpoint->tls);
}

/* The same port can't be bound twice; port 0 is a new one each time. */
static bool
endpoint_is_new(
    const struct config_listen *listen, const struct config_endpoint *endpoint)
{
	const struct address *address = &endpoint->address;
	size_t i;

	if (address->path == NULL && address->port == 0)
		return true;
	for (i = 0; i < listen->n; i++)
		if (address_same(&listen->v[i].address, address))
			return false;
	return true;
}

static bool
listen_add(struct config_listen *listen, const struct config_node *item,
    struct config_faults *faults)
{
	struct config_endpoint endpoint = { .mode = MODE_DEFAULT,
		.group = xstrdup("") };
	bool ok =
	    config_node_is(item, CONFIG_NODE_MAPPING, faults, EXPECTED_ENTRY) &&
	    endpoint_read(&endpoint, item, faults);
	bool any =
	    endpoint.address.path != NULL || endpoint.address.host != NULL;

	if (ok && any && endpoint_is_new(listen, &endpoint)) {
		listen->v[listen->n++] = endpoint;
		return true;
	}
	endpoint_fini(&endpoint);
	if (ok && any)
		config_node_fault(item, faults,
		    "the same address is given twice, expected it once");
	return ok && !any;
}

static void
listen_fini(void *slot)
{
	struct config_listen *listen = slot;
	size_t i;

	for (i = 0; i < listen->n; i++)
		endpoint_fini(&listen->v[i]);
	free(listen->v);
	memset(listen, 0, sizeof(*listen));
}

static bool
listen_parse(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	struct config_listen *listen = slot;
	bool ok = true;
	const struct config_node *n;

	listen->v = xcalloc(node->count + 1, sizeof(*listen->v));
	for (n = node->first; n != NULL; n = n->next)
		ok = listen_add(listen, n, faults) && ok;
	if (!ok)
		listen_fini(slot);
	return ok;
}

static void
path_dump(const char *key, const char *path, FILE *out)
{
	fprintf(out, "    %s: ", key);
	config_value_write_quoted(path, out);
	fputc('\n', out);
}

static void
tls_dump(const struct config_endpoint *e, FILE *out)
{
	char text[ADDRESS_SIZE];

	fprintf(out, "  - tls: \"%s\"\n    proxied: %s\n",
	    address_format(&e->address, text), e->proxied ? "true" : "false");
	path_dump("certificate", e->tls->certificate, out);
	path_dump("key", e->tls->key, out);
	path_dump("client_ca", e->tls->client_ca, out);
	fprintf(out, "    verify: %s\n    min_version: \"%s\"\n",
	    verify_words[e->tls->verify], e->tls->only_1_3 ? "1.3" : "1.2");
}

static void
listen_dump(const void *slot, FILE *out)
{
	const struct config_listen *listen = slot;
	char text[ADDRESS_SIZE];
	size_t i;

	fputs(listen->n == 0 ? " []\n" : "\n", out);
	for (i = 0; i < listen->n; i++) {
		const struct config_endpoint *e = &listen->v[i];

		if (e->tls != NULL) {
			tls_dump(e, out);
			continue;
		}
		if (e->http) {
			fprintf(out, "  - http: \"%s\"\n",
			    address_format(&e->address, text));
			continue;
		}
		if (e->address.path == NULL) {
			fprintf(out, "  - tcp: \"%s\"\n    proxied: %s\n",
			    address_format(&e->address, text),
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
tls_same(const struct config_tls *a, const struct config_tls *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a->certificate, b->certificate) == 0 &&
	       strcmp(a->key, b->key) == 0 &&
	       strcmp(a->client_ca, b->client_ca) == 0 &&
	       a->verify == b->verify && a->only_1_3 == b->only_1_3;
}

static bool
listen_same(const void *a, const void *b)
{
	const struct config_listen *la = a;
	const struct config_listen *lb = b;
	size_t i;

	if (la->n != lb->n)
		return false;
	for (i = 0; i < la->n; i++)
		if (!address_same(&la->v[i].address, &lb->v[i].address) ||
		    la->v[i].proxied != lb->v[i].proxied ||
		    la->v[i].http != lb->v[i].http ||
		    !tls_same(la->v[i].tls, lb->v[i].tls) ||
		    la->v[i].mode != lb->v[i].mode ||
		    strcmp(la->v[i].group, lb->v[i].group) != 0)
			return false;
	return true;
}

const struct config_type config_type_LISTEN = {
	.is_list = true,
	.expected =
	    "a list of mappings, each with either tcp, tls, unix or http",
	.parse_list = listen_parse,
	.dump = listen_dump,
	.same = listen_same,
	.fini = listen_fini,
};

/* Redis.nodes. */

static bool
nodes_add(struct config_nodes *nodes, const struct config_node *item,
    struct config_faults *faults)
{
	struct address address;
	const char *why;
	size_t i;

	if (!config_node_is(item, CONFIG_NODE_SCALAR, faults, EXPECTED_NODE))
		return false;
	if (strncmp(item->text, "unix:", 5) == 0)
		why = address_parse_unix(&address, item->text + 5);
	else
		why =
		    address_parse_tcp(&address, item->text, ADDRESS_PORT_GIVEN);
	if (why != NULL)
		return config_node_fault_value(
		    item, faults, why, EXPECTED_NODE);
	for (i = 0; i < nodes->n; i++) {
		if (!address_same(&nodes->v[i], &address))
			continue;
		address_fini(&address);
		return config_node_fault_value(
		    item, faults, "is given twice", "each node once");
	}
	nodes->v[nodes->n++] = address;
	return true;
}

static void
nodes_fini(void *slot)
{
	struct config_nodes *nodes = slot;
	size_t i;

	for (i = 0; i < nodes->n; i++)
		address_fini(&nodes->v[i]);
	free(nodes->v);
	memset(nodes, 0, sizeof(*nodes));
}

static bool
nodes_parse(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	struct config_nodes *nodes = slot;
	bool ok = true;
	const struct config_node *n;

	nodes->v = xcalloc(node->count + 1, sizeof(*nodes->v));
	for (n = node->first; n != NULL; n = n->next)
		ok = nodes_add(nodes, n, faults) && ok;
	if (!ok)
		nodes_fini(slot);
	return ok;
}

static void
nodes_dump(const void *slot, FILE *out)
{
	const struct config_nodes *nodes = slot;
	char text[ADDRESS_SIZE];
	size_t i;

	fputs(nodes->n == 0 ? " []\n" : "\n", out);
	for (i = 0; i < nodes->n; i++) {
		fputs("    - ", out);
		config_value_write_quoted(
		    address_format(&nodes->v[i], text), out);
		fputc('\n', out);
	}
}

static bool
nodes_same(const void *a, const void *b)
{
	const struct config_nodes *na = a;
	const struct config_nodes *nb = b;
	size_t i;

	if (na->n != nb->n)
		return false;
	for (i = 0; i < na->n; i++)
		if (!address_same(&na->v[i], &nb->v[i]))
			return false;
	return true;
}

const struct config_type config_type_NODES = {
	.is_list = true,
	.expected = "a list of " EXPECTED_NODE,
	.parse_list = nodes_parse,
	.dump = nodes_dump,
	.same = nodes_same,
	.fini = nodes_fini,
};
