/*
 * The addresses of brokers: HOST:PORT, [V6]:PORT, HOST, tls://HOST:PORT, or
 * /PATH of a Unix socket, separated by commas. This module only parses them;
 * client.c connects.
 */
#ifndef LOCKBROKER_CLIENT_ADDRESSES_H
#define LOCKBROKER_CLIENT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/address.h"

/*
 * The files that TLS needs; borrowed. NULL: the CAs of the system, and no
 * client certificate.
 */
struct tls_files {
	const char *ca;
	const char *cert;
	const char *key;
};

/* One address to try. Belongs to its list. */
struct place {
	char *text; /* as given, for messages and the prompt */
	struct address at;
	bool tls;
	struct tls_files files;
};

/* The addresses to try, in order. The owner calls address_list_fini(). */
struct address_list {
	struct place *items;
	size_t n;
};

/*
 * Returns false if an item is malformed; then `*why` is the end of the sentence
 * "the address TEXT ...".
 */
bool address_list_parse(
    struct address_list *list, const char *text, const char **why);

/* Adds the local socket, then the local port. Either may not be there yet. */
void address_list_local(struct address_list *list);

/* Sets the files for those addresses that use TLS. */
void address_list_trust(
    struct address_list *list, const struct tls_files *files);

void address_list_fini(struct address_list *list);

#endif
