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

char *
name_line(const char *line)
{
	char one[VALUE_SIZE], two[VALUE_SIZE];
	int n = (int)strcspn(line, " "), rc;
	const char *rest = line + n;
	struct pair p;
	char *out;

	if (pair_text(line, "kept", one, VALUE_SIZE)[0] == '\0' &&
	    pair_text(line, "limit", one, VALUE_SIZE)[0] != '\0')
		rc = asprintf(&out,
		    "%.*s state=%s" COLUMNS_SPACE "of" COLUMNS_SPACE "%s%s", n,
		    line, pair_text(line, "permits", two, VALUE_SIZE), one,
		    rest);
	else if (one[0] != '\0' &&
		 pair_text(line, "was", two, VALUE_SIZE)[0] != '\0')
		rc = asprintf(&out,
		    "%.*s state=kept age=%s holder=(was" COLUMNS_SPACE "%s)%s",
		    n, line, one, two, rest);
	else if (one[0] != '\0')
		rc = asprintf(
		    &out, "%.*s state=kept age=%s%s", n, line, one, rest);
	else if (!pair_find(line, "holder", &p) &&
		 pair_text(line, "broker", one, VALUE_SIZE)[0] != '\0')
		rc = asprintf(&out, "%.*s holder=at" COLUMNS_SPACE "%s%s", n,
		    line, one, rest);
	else
		rc = asprintf(&out, "%s", line);
	if (rc < 0)
		abort();
	return out;
}
