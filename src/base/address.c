/*
 * The form of addresses, in the configuration and on the command line.  It owns
 * only the strings of an address; it must not resolve or open anything.
 */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "base/address.h"
#include "base/parse.h"
#include "base/xmalloc.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define HOST_MAX 253 /* bytes: the longest DNS name */

/* The size of the path without the terminating NUL. */
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

#define TOO_MANY_COLONS "has too many colons; an IPv6 address needs brackets"

/* A name of only digits and dots must be an IPv4 address. */
static const char *
check_name(const char *host)
{
	unsigned char raw[sizeof(struct in_addr)];

	if (host[strspn(host, LETTERS DIGITS "._-")] != '\0')
		return strchr(host, ':') == NULL
			   ? "has a character that host names cannot have"
			   : TOO_MANY_COLONS;
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

/* Texts that look like an address of another kind. */
static const char *
check_form(const char *text)
{
	if (text[0] == '\0')
		return "is empty";
	if (strstr(text, "://") != NULL)
		return "is a URL, not HOST:PORT; set its user, password and "
		       "TLS by the settings for them";
	if (strchr(text, '@') != NULL)
		return "has a user before the host";
	return NULL;
}

/*
 * The host begins at text, or after the bracket.  *port is NULL if no port is
 * given.
 */
static const char *
split(const char *text, bool optional, size_t *host_len, const char **port)
{
	const char *colon = strrchr(text, ':'), *end = strchr(text, ']');

	*port = NULL;
	*host_len = strlen(text);
	if (text[0] == '[' && end == NULL)
		return "lacks a ']'";
	if (text[0] == '[') {
		*host_len = (size_t)(end - text - 1);
		if (end[1] != '\0' && end[1] != ':')
			return "has something other than :PORT after the ']'";
		*port = end[1] == ':' ? end + 2 : NULL;
	} else if (colon != NULL && (!optional || strchr(text, ':') == colon)) {
		*host_len = (size_t)(colon - text);
		*port = colon + 1;
	}
	if (*port != NULL || optional)
		return NULL;
	return text[strspn(text, "0123456789")] == '\0' ? "has no host"
							: "has no port";
}

const char *
address_parse_tcp(struct address *out, const char *text, enum address_port need)
{
	bool brackets = text[0] == '[';
	uint64_t number = ADDRESS_PORT;
	const char *why, *port;
	size_t host_len;

	memset(out, 0, sizeof(*out));
	why = check_form(text);
	if (why != NULL)
		return why;
	why = split(text, need == ADDRESS_PORT_ASSUMED, &host_len, &port);
	if (why != NULL)
		return why;
	if (port != NULL &&
	    (!parse_number(port, strlen(port), UINT16_MAX, &number) ||
		(number == 0 && need != ADDRESS_PORT_ANY)))
		return "has no valid port";
	out->host = xstrndup(text + brackets, host_len);
	out->port = (uint16_t)number;
	/* A bare IPv6 address has more than one colon, and no port after it. */
	why = check_host(
	    out->host, brackets || (port == NULL && strchr(text, ':') != NULL));
	if (why != NULL)
		address_fini(out);
	return why == NULL || brackets || port != NULL ||
		       strchr(text, ':') == NULL
		   ? why
		   : TOO_MANY_COLONS;
}

const char *
address_shown(const char *text, char shown[ADDRESS_SIZE])
{
	const char *at = strrchr(text, '@'), *scheme = strstr(text, "://");
	int n = scheme != NULL ? (int)(scheme - text) + 3 : 0;

	if (at == NULL || scheme > at)
		return text;
	snprintf(shown, ADDRESS_SIZE, "%.*s...%s", n, text, at);
	return shown;
}

const char *
address_parse_unix(struct address *out, const char *path)
{
	const char *p;

	memset(out, 0, sizeof(*out));
	if (path[0] != '/')
		return "is not an absolute path";
	if (strlen(path) > UNIX_PATH_MAX)
		return "is too long for the path of a Unix socket";
	for (p = path; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return "has a control character in it";
	out->path = xstrdup(path);
	return NULL;
}

const char *
address_format(const struct address *address, char buf[ADDRESS_SIZE])
{
	int n;

	if (address->path != NULL)
		n = snprintf(buf, ADDRESS_SIZE, "unix:%s", address->path);
	else if (strchr(address->host, ':') != NULL)
		n = snprintf(
		    buf, ADDRESS_SIZE, "[%s]:%u", address->host, address->port);
	else
		n = snprintf(
		    buf, ADDRESS_SIZE, "%s:%u", address->host, address->port);
	assert(n > 0 && n < ADDRESS_SIZE);
	return buf;
}

/* Compares host names as the DNS does, without regard to case. */
bool
address_same(const struct address *a, const struct address *b)
{
	if ((a->path == NULL) != (b->path == NULL))
		return false;
	if (a->path != NULL)
		return strcmp(a->path, b->path) == 0;
	return a->port == b->port && strcasecmp(a->host, b->host) == 0;
}

void
address_fini(struct address *address)
{
	free(address->host);
	free(address->path);
	memset(address, 0, sizeof(*address));
}
