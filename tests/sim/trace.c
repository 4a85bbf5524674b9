/*
 * The ring of trace lines and their hash (FNV-1a).
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "trace.h"

void
trace_init(struct trace *t, bool on, bool print)
{
	memset(t, 0, sizeof(*t));
	t->on = on || print;
	t->print = print;
	t->hash = 0xcbf29ce484222325u;
}

void
trace_add(struct trace *t, int64_t now_us, const char *fmt, ...)
{
	char *line = t->ring[t->lines++ % TRACE_LINES];
	const char *p;
	va_list ap;
	int n;

	n = snprintf(line, TRACE_WIDTH, "%3" PRId64 ".%06" PRId64 " ",
	    now_us / 1000000, now_us % 1000000);
	va_start(ap, fmt);
	vsnprintf(line + n, (size_t)(TRACE_WIDTH - n), fmt, ap);
	va_end(ap);
	for (p = line; *p != '\0'; p++)
		t->hash = (t->hash ^ (uint8_t)*p) * 0x100000001b3u;
	if (t->print)
		puts(line);
}

void
trace_dump(const struct trace *t)
{
	uint64_t i = t->lines > TRACE_LINES ? t->lines - TRACE_LINES : 0;

	for (; i < t->lines; i++)
		printf("  %s\n", t->ring[i % TRACE_LINES]);
}
