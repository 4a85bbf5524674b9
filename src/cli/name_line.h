/*
 * A line of NAMES for people.
 */
#ifndef LOCKBROKER_CLI_NAME_LINE_H
#define LOCKBROKER_CLI_NAME_LINE_H

/* Returns the line with fields for people before its other fields: if a key
 * occurs twice, the first counts.  The caller frees it. */
char *name_line(const char *line);

#endif
