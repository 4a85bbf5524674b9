/*
 * The form of addresses in the configuration.  Owns nothing beyond the
 * strings of an address; must not resolve or open anything.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include "config/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "base/parse.h"
#include "base/xmalloc.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define HOST_MAX 253 /* bytes: the longest name in the DNS */

/* Everything but a terminating NUL. */
#define UNIX_PATH_MAX (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)

/* An IPv6 address, with an optional %ZONE of letters and digits. */
static bool
is_ipv6(const char *host)
{
	unsigned char raw[sizeof(struct in6_addr)];
	char bare[INET6_ADDRSTRLEN];
	size_t n = strcspn(host, "%");

	if (n >= sizeof(bare))
		return false;
	memcpy(bare, host, n);
	bare[n] = '\0';
	if (host[n] == '%' && (host[n + 1] == '\0' || strlen(host) > HOST_MAX))
		return false;
	if (host[n] == '%' &&
	    host[n + 1 + strspn(host + n + 1, LETTERS DIGITS "._-")] != '\0')
		return false;
	return inet_pton(AF_INET6, bare, raw) == 1;
}

/* What has only digits and dots must be an IPv4 address. */
static const char *
check_name(const char *host)
{
	unsigned char raw[sizeof(struct in_addr)];

	if (host[strspn(host, LETTERS DIGITS "._-")] != '\0')
		return strchr(host, ':') == NULL
			   ? "has a character that no host name has"
			   : "has too many colons; an IPv6 address needs brackets";
	if (strlen(host) > HOST_MAX)
		return "has too long a host name";
	if (host[strspn(host, DIGITS ".")] == '\0' &&
	    inet_pton(AF_INET, host, raw) != 1)
		return "has no valid IPv4 address";
	return NULL;
}

static const char *
check_host(const char *host, bool brackets)
{
	if (host[0] == '\0')
		return "has no host";
	if (!brackets)
		return check_name(host);
	return is_ipv6(host) ? NULL : "has no valid IPv6 address in brackets";
}

const char *
config_address_parse_tcp(
    struct config_address *out, const char *text, unsigned port_min)
{
	const char *colon = strrchr(text, ':');
	bool brackets = text[0] == '[';
	const char *why;
	uint64_t port;
	size_t n;

	memset(out, 0, sizeof(*out));
	if (text[0] == '\0')
		return "is empty";
	if (colon == NULL || (brackets && colon > text && colon[-1] != ']'))
		return "has no port";
	if (!parse_number(colon + 1, strlen(colon + 1), UINT16_MAX, &port) ||
	    port < port_min)
		return "has no valid port";
	n = (size_t)(colon - text);
	out->host = brackets ? xstrndup(text + 1, n - 2) : xstrndup(text, n);
	out->port = (uint16_t)port;
	why = check_host(out->host, brackets);
	if (why != NULL)
		config_address_fini(out);
	return why;
}

const char *
config_address_parse_unix(struct config_address *out, const char *path)
{
	memset(out, 0, sizeof(*out));
	if (path[0] != '/')
		return "is not an absolute path";
	if (strlen(path) > UNIX_PATH_MAX)
		return "is longer than the path of a Unix socket may be";
	for (const char *p = path; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return "has a control character in it";
	out->path = xstrdup(path);
	return NULL;
}

const char *
config_address_format(
    const struct config_address *address, char buf[CONFIG_ADDRESS_SIZE])
{
	int n;

	if (address->path != NULL)
		n = snprintf(
		    buf, CONFIG_ADDRESS_SIZE, "unix:%s", address->path);
	else if (strchr(address->host, ':') != NULL)
		n = snprintf(buf, CONFIG_ADDRESS_SIZE, "[%s]:%u", address->host,
		    address->port);
	else
		n = snprintf(buf, CONFIG_ADDRESS_SIZE, "%s:%u", address->host,
		    address->port);
	assert(n > 0 && n < CONFIG_ADDRESS_SIZE);
	return buf;
}

/* Host names are compared as the DNS does, without regard to case. */
bool
config_address_same(
    const struct config_address *a, const struct config_address *b)
{
	if ((a->path == NULL) != (b->path == NULL))
		return false;
	if (a->path != NULL)
		return strcmp(a->path, b->path) == 0;
	return a->port == b->port && strcasecmp(a->host, b->host) == 0;
}

void
config_address_fini(struct config_address *address)
{
	free(address->host);
	free(address->path);
	memset(address, 0, sizeof(*address));
}
