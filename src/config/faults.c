/*
 * Collects the faults of a configuration as lines of text.  Owns the lines;
 * prints nothing.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include "config/faults.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

/* Bytes of a value that a message shows; each may need 4 when escaped. */
#define QUOTE_TEXT_MAX 40

/* A line holds a file's name, a dotted path, and a sentence. */
#define LINE_SIZE 1024

void
config_faults_init(struct config_faults *faults)
{
	memset(faults, 0, sizeof(*faults));
}

void
config_faults_fini(struct config_faults *faults)
{
	for (size_t i = 0; i < faults->n; i++)
		free(faults->lines[i]);
	free(faults->lines);
	free(faults->context);
	config_faults_init(faults);
}

void
config_faults_context(struct config_faults *faults, const char *name)
{
	free(faults->context);
	faults->context = name == NULL ? NULL : xstrdup(name);
}

static void
push(struct config_faults *faults, const char *line)
{
	if (faults->n == faults->size) {
		faults->size = faults->size == 0 ? 8 : faults->size * 2;
		faults->lines = xrealloc(
		    faults->lines, faults->size * sizeof(*faults->lines));
	}
	faults->lines[faults->n++] = xstrdup(line);
}

/* Adds "HEAD: SENTENCE"; the line after the last that fits says so. */
static void __attribute__((format(printf, 3, 0)))
add(struct config_faults *faults, const char *head, const char *fmt,
    va_list args)
{
	char line[LINE_SIZE];
	size_t used;

	if (faults->full)
		return;
	if (faults->n == CONFIG_FAULTS_MAX) {
		faults->full = true;
		snprintf(line, sizeof(line),
		    "%s: more faults follow, which are not shown", head);
		push(faults, line);
		return;
	}
	snprintf(line, sizeof(line), "%s: ", head);
	used = strlen(line);
	vsnprintf(line + used, sizeof(line) - used, fmt, args);
	push(faults, line);
}

static const char *
context(const struct config_faults *faults)
{
	return faults->context == NULL ? "configuration" : faults->context;
}

void
config_faults_add(struct config_faults *faults, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(faults, context(faults), fmt, args);
	va_end(args);
}

void
config_faults_at(struct config_faults *faults, int line, int column,
    const char *key, const char *fmt, ...)
{
	char head[LINE_SIZE / 2];
	va_list args;

	snprintf(head, sizeof(head), "%s:%d:%d: %s", context(faults), line,
	    column, key);
	va_start(args, fmt);
	add(faults, head, fmt, args);
	va_end(args);
}

/* How many bytes to show: never half of a UTF-8 sequence. */
static size_t
shown_length(const char *text, size_t length)
{
	size_t n = QUOTE_TEXT_MAX;

	if (length <= QUOTE_TEXT_MAX)
		return length;
	while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

const char *
config_quote(char buf[CONFIG_QUOTE_SIZE], const char *text)
{
	size_t length = strlen(text);
	size_t n = shown_length(text, length);
	char *p = buf;

	*p++ = '\'';
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f)
			p += sprintf(p, "\\x%02x", c);
		else
			*p++ = (char)c;
	}
	p += sprintf(p, "%s'", n < length ? "..." : "");
	*p = '\0';
	return buf;
}
