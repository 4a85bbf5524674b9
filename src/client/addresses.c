/* Parses the addresses of -S and LOCKBROKER. */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "client/addresses.h"

#ifndef LOCKBROKER_SOCKET
#define LOCKBROKER_SOCKET "/run/lockbrokerd/lockbrokerd.sock"
#endif

#define TLS "tls://"
#define LOCAL LOCKBROKER_SOCKET ",127.0.0.1:" ADDRESS_PORT_TEXT

/*
 * Adds the address at s. Returns NULL, or the end of a sentence that says what
 * is wrong with it.
 */
static const char *
list_add(struct address_list *list, const char *s, size_t n)
{
	struct place place = { .text = xstrndup(s, n) };
	const char *why;

	if (strchr(place.text, ' ') != NULL) {
		why = "has a space in it; commas separate addresses";
	} else if (strncmp(place.text, TLS, strlen(TLS)) == 0) {
		place.tls = true;
		why = address_parse_tcp(
		    &place.at, place.text + strlen(TLS), ADDRESS_PORT_GIVEN);
	} else if (place.text[0] == '/')
		why = address_parse_unix(&place.at, place.text);
	else if (strncmp(place.text, "unix:/", 6) == 0)
		why = address_parse_unix(&place.at, place.text + 5);
	else
		why = address_parse_tcp(
		    &place.at, place.text, ADDRESS_PORT_ASSUMED);
	if (why != NULL) {
		free(place.text);
		return why;
	}
	list->items =
	    xrealloc(list->items, (list->n + 1) * sizeof(list->items[0]));
	list->items[list->n++] = place;
	return NULL;
}

bool
address_list_parse(
    struct address_list *list, const char *text, const char **why)
{
	const char *p = text;
	size_t n;

	memset(list, 0, sizeof(*list));
	for (;;) {
		n = strcspn(p, ",");
		*why = list_add(list, p, n);
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
	const char *why;
	bool ok = address_list_parse(list, LOCAL, &why);

	assert(ok);
	(void)ok;
}

void
address_list_trust(struct address_list *list, const struct tls_files *files)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		list->items[i].files = *files;
}

void
address_list_fini(struct address_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		free(list->items[i].text);
		address_fini(&list->items[i].at);
	}
	free(list->items);
	memset(list, 0, sizeof(*list));
}
