/*
 * Collects the faults of a configuration as lines of text.  It owns the lines,
 * and prints nothing.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/faults.h"

/* Bytes of a value that a message shows; each may take 4 bytes when escaped. */
#define QUOTE_TEXT_MAX 40

/* Room for the part of a line before the sentence. */
#define HEAD_SIZE 512

void
config_faults_init(struct config_faults *faults)
{
	memset(faults, 0, sizeof(*faults));
}

void
config_faults_fini(struct config_faults *faults)
{
	size_t i;

	for (i = 0; i < faults->n; i++)
		free(faults->lines[i]);
	free(faults->context);
	config_faults_init(faults);
}

void
config_faults_context(struct config_faults *faults, const char *name)
{
	free(faults->context);
	faults->context = name == NULL ? NULL : xstrdup(name);
	faults->first = faults->n;
}

static const char *
context(const struct config_faults *faults)
{
	return faults->context == NULL ? "configuration" : faults->context;
}

/* A place as one number, for comparisons; no text has 2^24 columns. */
static long long
place_of(struct config_mark at)
{
	return ((long long)at.line << 24) + at.column;
}

/*
 * Adds a line after the lines of the same place or an earlier one: the loader
 * finds faults in several passes, and users read them in the order of the file.
 */
static void
push(struct config_faults *faults, long long place, const char *line)
{
	size_t i = faults->n;

	for (; i > faults->first && faults->places[i - 1] > place; i--) {
		faults->lines[i] = faults->lines[i - 1];
		faults->places[i] = faults->places[i - 1];
	}
	faults->lines[i] = xstrdup(line);
	faults->places[i] = place;
	faults->n++;
}

void
config_faults_at(struct config_faults *faults, struct config_mark at,
    const char *key, const char *fmt, ...)
{
	char line[CONFIG_FAULT_SIZE];
	va_list args;
	size_t used;

	if (faults->n > CONFIG_FAULTS_MAX)
		return;
	if (faults->n == CONFIG_FAULTS_MAX) {
		snprintf(line, sizeof(line),
		    "%s: more faults were found, not shown here",
		    context(faults));
		push(faults, LLONG_MAX, line);
		return;
	}
	if (key == NULL)
		snprintf(line, sizeof(line), "%s", context(faults));
	else if (at.line == 0)
		snprintf(line, HEAD_SIZE, "-o: %s", key);
	else
		snprintf(line, HEAD_SIZE, "%s:%d:%d: %s", context(faults),
		    at.line, at.column, key);
	used = strlen(line);
	snprintf(line + used, sizeof(line) - used, ": ");
	used = strlen(line);
	va_start(args, fmt);
	vsnprintf(line + used, sizeof(line) - used, fmt, args);
	va_end(args);
	push(faults, place_of(at), line);
}

const char *
config_quote(char buf[CONFIG_QUOTE_SIZE], const char *text)
{
	size_t length = strlen(text), n = length;
	char *p = buf;
	size_t i;

	/* Never half of a UTF-8 sequence. */
	if (length > QUOTE_TEXT_MAX)
		for (n = QUOTE_TEXT_MAX; n > 0 && (text[n] & 0xc0) == 0x80;)
			n--;
	*p++ = '\'';
	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		/* Many terminals take C2 80 to C2 9F as controls. */
		if (c < 0x20 || c == 0x7f)
			p += sprintf(p, "\\x%02x", c);
		else if (c == 0xc2 && (unsigned char)text[i + 1] < 0xa0)
			p += sprintf(p, "\\x%02x", (unsigned char)text[++i]);
		else
			*p++ = (char)c;
	}
	p += sprintf(p, "%s'", n < length ? "..." : "");
	*p = '\0';
	return buf;
}
