/*
 * Sets of servers that vote, as texts: `VERSION:ID,ID,...`.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/parts/quorum/voter_set.h"

void
voter_copy(char *to, size_t size, const char *from, size_t n)
{
	n = n < size ? n : size - 1;
	if (n > 0)
		memcpy(to, from, n);
	to[n] = '\0';
}

/* Sets come from servers, so nothing of their form is taken for granted. */
void
set_parse(struct set *s, const char *text)
{
	char *end;

	memset(s, 0, sizeof(*s));
	s->version = strtoul(text, &end, 10);
	while ((*end == ':' || *end == ',') && s->n < QUORUM_SERVERS_MAX &&
	       strlen(end) > NODE_BYTES) {
		voter_copy(s->ids[s->n++], NODE_BYTES + 1, end + 1, NODE_BYTES);
		end += 1 + NODE_BYTES;
	}
}

static int
compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Ids are written in order, so that equal sets have equal texts: texts are what
 * servers and this file compare. */
void
set_write(struct set *s, char *text, size_t size)
{
	size_t n;
	unsigned i;

	qsort(s->ids, s->n, sizeof(s->ids[0]), compare);
	n = (size_t)snprintf(text, size, "%" PRIu64, s->version);
	for (i = 0; i < s->n; i++)
		n += (size_t)snprintf(
		    text + n, size - n, "%c%s", i == 0 ? ':' : ',', s->ids[i]);
}

bool
set_has(const struct set *s, const char *id)
{
	unsigned i;

	for (i = 0; i < s->n; i++)
		if (strcmp(s->ids[i], id) == 0)
			return true;
	return false;
}

uint64_t
set_version(const char *text)
{
	return strtoul(text, NULL, 10);
}
