/*
 * Where brokers are: parsing of the addresses that -S and LOCKBROKER give.
 */
#include "config.h"

#include "cli/address.h"

#include "base/xmalloc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#ifndef LOCKBROKER_SOCKET
#define LOCKBROKER_SOCKET "/run/lockbrokerd/lockbrokerd.sock"
#endif

/* Takes over path, host and port. */
static void
list_add(
    struct address_list *list, char *text, char *path, char *host, char *port)
{
	struct address *a;

	list->items =
	    xrealloc(list->items, (list->n + 1) * sizeof(list->items[0]));
	a = &list->items[list->n++];
	a->text = text;
	a->path = path;
	a->host = host;
	a->port = port;
}

static const char *
path_parse(struct address_list *list, const char *s, size_t n)
{
	const struct sockaddr_un *un = NULL;

	if (n >= sizeof(un->sun_path))
		return "is a path too long for a socket";
	list_add(list, xstrndup(s, n), xstrndup(s, n), NULL, NULL);
	return NULL;
}

static bool
port_ok(const char *s, size_t n)
{
	unsigned long port = 0;
	size_t i;

	if (n == 0 || n > 5)
		return false;
	for (i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		port = port * 10 + (unsigned long)(s[i] - '0');
	}
	return port > 0 && port <= 65535;
}

/* A bare V6 address has more than one colon, and no port after it. */
static const char *
host_parse(struct address_list *list, const char *s, size_t n)
{
	const char *end = s + n, *host_end = end, *port = NULL, *colon;
	const char *host = s;

	colon = memchr(s, ':', n);
	if (s[0] == '[') {
		host_end = memchr(s, ']', n);
		if (host_end == NULL)
			return "lacks a ']'";
		if (host_end + 1 < end && host_end[1] != ':')
			return "has something other than :PORT after the ']'";
		host = s + 1;
		port = host_end + 1 < end ? host_end + 2 : NULL;
	} else if (colon != NULL &&
		   memchr(colon + 1, ':', (size_t)(end - colon - 1)) == NULL) {
		host_end = colon;
		port = colon + 1;
	}
	if (host == host_end)
		return "has no host";
	if (port != NULL && !port_ok(port, (size_t)(end - port)))
		return "has no valid port (1 to 65535)";
	list_add(list, xstrndup(s, n), NULL,
	    xstrndup(host, (size_t)(host_end - host)),
	    port != NULL ? xstrndup(port, (size_t)(end - port))
			 : xstrdup(ADDRESS_PORT));
	return NULL;
}

bool
address_list_parse(
    struct address_list *list, const char *text, const char **why)
{
	const char *p = text;
	size_t n;

	memset(list, 0, sizeof(*list));
	*why = NULL;
	for (;;) {
		n = strcspn(p, ",");
		if (n == 0)
			*why = "is empty";
		else if (p[0] == '/')
			*why = path_parse(list, p, n);
		else if (strncmp(p, "unix:/", 6) == 0)
			*why = path_parse(list, p + 5, n - 5);
		else
			*why = host_parse(list, p, n);
		if (*why != NULL) {
			address_list_fini(list);
			return false;
		}
		if (p[n] == '\0')
			return true;
		p += n + 1;
	}
}

void
address_list_local(struct address_list *list)
{
	memset(list, 0, sizeof(*list));
	(void)path_parse(list, LOCKBROKER_SOCKET, strlen(LOCKBROKER_SOCKET));
	list_add(list, xstrdup("127.0.0.1:" ADDRESS_PORT), NULL,
	    xstrdup("127.0.0.1"), xstrdup(ADDRESS_PORT));
}

void
address_list_fini(struct address_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		free(list->items[i].text);
		free(list->items[i].path);
		free(list->items[i].host);
		free(list->items[i].port);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}
