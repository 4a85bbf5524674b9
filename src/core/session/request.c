/*
 * Requests by owner and reference.
 *
 * The owner is part of the key, so that no session can cancel a request of
 * another.  Only requests that wait are in the table: what is granted can't be
 * cancelled any more, and comes back only if the grant is taken back.
 */
#include "config.h"

#include "core/session/request.h"

/* The table hashes and compares the bytes of the key: it has no padding. */
static const char *
key_of(const struct table_link *link, size_t *len)
{
	const struct request_key *k =
	    container_of_const(link, struct request_key, link);

	*len = sizeof(k->key);
	return (const char *)&k->key;
}

void
requests_init(struct table *t)
{
	table_init(t, key_of);
}

void
requests_add(struct table *t, struct request_key *k, const struct owner *owner,
    uint64_t ref)
{
	assert(!k->listed);
	k->key.owner = owner;
	k->key.ref = ref;
	k->listed = true;
	table_add(t, &k->link);
}

void
requests_remove(struct table *t, struct request_key *k)
{
	if (k->listed)
		table_remove(t, &k->link);
	k->listed = false;
}

struct request_key *
requests_find(const struct table *t, const struct owner *owner, uint64_t ref)
{
	struct request_key k = { .key = { owner, ref } };
	struct table_link *link =
	    table_find(t, (const char *)&k.key, sizeof(k.key));

	return link == NULL ? NULL
			    : container_of(link, struct request_key, link);
}
