/*
 * Marks reserved names, says how many permits are out, and where to find a
 * holder.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/columns.h"
#include "cli/name_line.h"
#include "client/message.h"

#define VALUE_SIZE 300 /* of a label, a peer, or the name of a broker */

/* Returns the value of a field as text: "" if there is none. */
static const char *
value_of(const char *line, const char *key, char text[VALUE_SIZE])
{
	struct pair p;

	text[0] = '\0';
	if (pair_find(line, key, &p))
		snprintf(text, VALUE_SIZE, "%.*s", (int)p.value_len, p.value);
	return text;
}

char *
name_line(const char *line)
{
	char one[VALUE_SIZE], two[VALUE_SIZE];
	int n = (int)strcspn(line, " "), rc;
	const char *rest = line + n;
	struct pair p;
	char *out;

	if (value_of(line, "kept", one)[0] == '\0' &&
	    value_of(line, "limit", one)[0] != '\0')
		rc = asprintf(&out,
		    "%.*s state=%s" COLUMNS_SPACE "of" COLUMNS_SPACE "%s%s", n,
		    line, value_of(line, "permits", two), one, rest);
	else if (one[0] != '\0' && value_of(line, "was", two)[0] != '\0')
		rc = asprintf(&out,
		    "%.*s state=kept age=%s holder=(was" COLUMNS_SPACE "%s)%s",
		    n, line, one, two, rest);
	else if (one[0] != '\0')
		rc = asprintf(
		    &out, "%.*s state=kept age=%s%s", n, line, one, rest);
	else if (!pair_find(line, "holder", &p) &&
		 value_of(line, "broker", one)[0] != '\0')
		rc = asprintf(&out, "%.*s holder=at" COLUMNS_SPACE "%s%s", n,
		    line, one, rest);
	else
		rc = asprintf(&out, "%s", line);
	if (rc < 0)
		abort();
	return out;
}
