/*
 * Requests by owner and reference.
 */
#include "config.h"

#include "core/session/request.h"

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
