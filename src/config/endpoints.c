/*
 * The types of settings that are lists of addresses: `listen` and
 * `redis.nodes`.  They look up groups, but open nothing and resolve no host.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/file.h"
#include "config/node.h"

#define EXPECTED_NODE "HOST:PORT, [V6]:PORT or unix:/PATH"
#define EXPECTED_ENTRY "a mapping with either tcp, tls, unix or http"
#define EXPECTED_HOST \
	"HOST:PORT or [V6]:PORT (0.0.0.0:PORT for every address of IPv4)"
#define SINGLE "a single value"

#define MODE_DEFAULT 0660

/* Addresses. */

static const char *
parse_host(struct address *out, const char *text)
{
	return address_parse_tcp(out, text, ADDRESS_PORT_ANY);
}

/*
 * "" stands for the default name of the socket in systemd's first runtime
 * directory, and for no address if we don't run under systemd.  A directory
 * with too long a name counts as none: the defaults never fail.
 */
static const char *
parse_socket(struct address *out, const char *text)
{
	const char *directory = getenv("RUNTIME_DIRECTORY");
	struct buf path;

	if (text[0] != '\0')
		return address_parse_unix(out, text);
	if (directory == NULL || directory[0] != '/')
		return NULL;
	buf_init(&path);
	buf_addf(&path, "%.*s/lockbrokerd.sock%c", (int)strcspn(directory, ":"),
	    directory, '\0');
	(void)!address_parse_unix(out, buf_data(&path));
	buf_fini(&path);
	return NULL;
}

static const char *
parse_node(struct address *out, const char *text)
{
	if (strncmp(text, "unix:", 5) == 0)
		return address_parse_unix(out, text + 5);
	if (strstr(text, "://") != NULL)
		return "is a URL; put its user, password, database and TLS "
		       "into redis.user, redis.password_file, redis.database "
		       "and redis.tls";
	return address_parse_tcp(out, text, ADDRESS_PORT_GIVEN);
}

#define TYPE(id, ...) \
	static const struct config_type id##_type = { __VA_ARGS__ }
#define ADDRESS_OF(parser)                                      \
	.kind = CONFIG_ADDRESS, .size = sizeof(struct address), \
	.parse_address = (parser)

TYPE(host, ADDRESS_OF(parse_host), .expected = EXPECTED_HOST, .shape = SINGLE);
TYPE(socket, ADDRESS_OF(parse_socket), .is_path = true,
    .expected = "an absolute path of at most 107 bytes, or \"\"",
    .shape = SINGLE);
TYPE(node, ADDRESS_OF(parse_node), .expected = EXPECTED_NODE);

const struct config_type config_type_NODES = {
	CONFIG_LIST_OF(struct config_nodes, node_type),
	.noun = "node",
	.expected = "a list of " EXPECTED_NODE,
};

/* Keys that an item of `listen` may have besides the address. */

/* The process that speaks TLS checks whether the file is usable. */
static const char *
file_check(const char *text)
{
	const char *why = NULL;
	char *path = xstrdup(text);

	if (config_file_resolve(&path, &why) && access(path, R_OK) != 0)
		why = "cannot be read";
	free(path);
	return why;
}

static const char *
authorities_check(const char *text)
{
	return text[0] == '\0' ? NULL : file_check(text);
}

/*
 * If the system cannot say whether the group exists, for example when a user
 * directory is not available yet, the attempt to listen decides, because that
 * can be repeated.
 */
static const char *
group_check(const char *text)
{
	const char *p;

	for (p = text; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == ':' || *p == 0x7f)
			return "has a character that group names cannot have";
	errno = 0;
	if (text[0] == '\0' || getgrnam(text) != NULL ||
	    (errno != 0 && errno != ENOENT))
		return NULL;
	return "is not a group on this host";
}

static const char *
mode_parse(const char *text, int64_t *value)
{
	size_t n = strlen(text);

	if ((n != 3 && n != 4) || strspn(text, "01234567") != n)
		return "is not a mode";
	*value = (int64_t)strtoul(text, NULL, 8);
	return *value > 0777 ? "has more than permissions" : NULL;
}

static void
mode_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	snprintf(buf, CONFIG_NUMBER_SIZE, "%04o", (unsigned)value);
}

TYPE(file, CONFIG_TEXT_OF(file_check), .expected = "a readable file",
    .shape = SINGLE);
TYPE(authorities, CONFIG_TEXT_OF(authorities_check),
    .expected = "a readable file, or \"\"", .shape = SINGLE);
TYPE(group, CONFIG_TEXT_OF(group_check), .expected = "the name of a group",
    .shape = SINGLE);
TYPE(proxied, CONFIG_CHOICE_OF("is none of these"), .shape = SINGLE);
TYPE(verify, CONFIG_CHOICE_OF("is none of these"), .shape = SINGLE);
TYPE(version, CONFIG_CHOICE_OF("is not a supported version"), .is_quoted = true,
    .expected = "\"1.2\" or \"1.3\"", .shape = SINGLE);
TYPE(mode, CONFIG_NUMBER_OF(unsigned, mode_parse, mode_format),
    .is_quoted = true, .expected = "3 or 4 octal digits such as \"0660\"",
    .shape = SINGLE);

/* An item of `listen`. */

/* In the order of enum proxied. */
static const char *const choices_proxied[] = { "false", "true", "header",
	NULL };
static const char *const choices_verify[] = { "none", "optional", "require",
	NULL };
static const char *const choices_version[] = { "1.2", "1.3", NULL };

#define AT(member) .offset = offsetof(struct config_endpoint, member)

/* First the keys of addresses, in the order of enum config_place. */
static const struct config_field endpoint_keys[] = {
	{ "tcp", &host_type, AT(address) },
	{ "tls", &host_type, AT(address) },
	{ "unix", &socket_type, AT(address) },
	{ "http", &host_type, AT(address) },
	{ "proxied", &proxied_type, AT(proxied), .choices = choices_proxied },
	{ "certificate", &file_type, AT(tls.certificate) },
	{ "key", &file_type, AT(tls.key) },
	{ "client_ca", &authorities_type, AT(tls.client_ca) },
	{ "verify", &verify_type, AT(tls.verify), .choices = choices_verify },
	{ "min_version", &version_type, AT(tls.min_version),
	    .choices = choices_version },
	{ "mode", &mode_type, AT(mode) },
	{ "group", &group_type, AT(group) },
};

#define ENDPOINT_KEYS (sizeof(endpoint_keys) / sizeof(endpoint_keys[0]))

#define TCP (1u << CONFIG_PLACE_TCP)
#define TLS (1u << CONFIG_PLACE_TLS)
#define UNIX (1u << CONFIG_PLACE_UNIX)
#define HTTP (1u << CONFIG_PLACE_HTTP)

/* The kinds of addresses that each key belongs to. */
static const unsigned places[ENDPOINT_KEYS] = { TCP, TLS, UNIX, HTTP, TCP | TLS,
	TLS, TLS, TLS, TLS, TLS, UNIX, UNIX };

static bool
endpoint_has(const void *value, const struct config_field *key)
{
	const struct config_endpoint *endpoint = value;

	return (places[key - endpoint_keys] & 1u << endpoint->place) != 0;
}

/* Checks which keys may be combined. */
static bool
check_beside(
    const struct config_endpoint *endpoint, const struct config_node *node)
{
	const struct config_node *n;
	bool ok = true;
	size_t i;

	for (i = 0; i < ENDPOINT_KEYS; i++) {
		n = config_node_child(node, endpoint_keys[i].path);
		if (n == NULL || endpoint_has(endpoint, &endpoint_keys[i]))
			continue;
		config_node_fault_key(n, "given with %s, expected %s",
		    endpoint_keys[endpoint->place].path,
		    i < CONFIG_PLACE_MAX ? EXPECTED_ENTRY
		    : places[i] == UNIX	 ? "only with unix"
		    : places[i] == TLS	 ? "only with tls"
					 : "only with tcp or tls");
		ok = false;
	}
	return ok;
}

/* Checks that the keys that TLS requires are given. */
static bool
check_tls(const struct config_node *node)
{
	if (config_node_child(node, "certificate") != NULL &&
	    config_node_child(node, "key") != NULL)
		return true;
	config_node_fault_key(config_node_child(node, "tls"),
	    "has no certificate or no key, expected both with it");
	return false;
}

/* Resolves the paths of the files of TLS, whose keys are all valid. */
static bool
finish_tls(struct config_tls *tls, const struct config_node *node)
{
	const char *why = "this build is without TLS, expected tcp or unix";
	const char *key = "tls";
	bool found = CONFIG_WITH_TLS &&
		     config_file_resolve(&tls->certificate, &why) &&
		     config_file_resolve(&tls->key, &why) &&
		     config_file_resolve(&tls->client_ca, &why);

	if (found && tls->verify != CONFIG_VERIFY_NONE &&
	    tls->client_ca[0] == '\0') {
		key = "verify";
		why = "given without client_ca, expected the file of the CAs "
		      "that sign client certificates";
	} else if (found) {
		return true;
	}
	config_node_fault_key(config_node_child(node, key), "%s", why);
	return false;
}

static bool
finish_endpoint(void *value, const struct config_node *node, bool ok)
{
	struct config_endpoint *endpoint = value;
	size_t place = 0;

	while (place < CONFIG_PLACE_MAX &&
	       config_node_child(node, endpoint_keys[place].path) == NULL)
		place++;
	if (place == CONFIG_PLACE_MAX) {
		if (ok)
			config_node_fault(node,
			    "has neither tcp, tls, unix nor http, "
			    "expected " EXPECTED_ENTRY);
		return false;
	}
	endpoint->place = (enum config_place)place;
	if (config_node_child(node, "mode") == NULL)
		endpoint->mode = MODE_DEFAULT;
	ok = check_beside(endpoint, node) && ok;
	if (endpoint->place != CONFIG_PLACE_TLS)
		return ok;
	ok = check_tls(node) && ok;
	return ok && finish_tls(&endpoint->tls, node);
}

TYPE(endpoint, CONFIG_MAPPING_OF(struct config_endpoint, endpoint_keys),
    .expected = EXPECTED_ENTRY, .has = endpoint_has, .finish = finish_endpoint,
    .known = "tcp, tls, unix or http, or one of the keys that go with them");

/* Drops items without an address: `unix: ""`. */
static bool
finish_listen(void *value, const struct config_node *node, bool ok)
{
	struct config_listen *listen = value;
	size_t i, n = 0;

	(void)node;
	for (i = 0; ok && i < listen->n; i++) {
		struct config_endpoint *endpoint = &listen->v[i];

		if (endpoint->address.path != NULL ||
		    endpoint->address.host != NULL)
			listen->v[n++] = *endpoint;
		else
			config_value_clear(config_type_LISTEN.item, endpoint);
	}
	if (ok)
		listen->n = n;
	return ok;
}

const struct config_type config_type_LISTEN = {
	CONFIG_LIST_OF(struct config_listen, endpoint_type),
	.noun = "address",
	.expected =
	    "a list of mappings, each with either tcp, tls, unix or http",
	.finish = finish_listen,
};
