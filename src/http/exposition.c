/*
 * See exposition.h.  A scrape may have thousands of lines, so none of them uses
 * printf.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "http/exposition.h"

static const char *const types[] = {
	[EXPOSITION_COUNTER] = "counter",
	[EXPOSITION_GAUGE] = "gauge",
	[EXPOSITION_HISTOGRAM] = "histogram",
	[EXPOSITION_INFO] = "info",
};

const char *
exposition_content_type(bool openmetrics)
{
	return openmetrics ? "application/openmetrics-text; version=1.0.0; "
			     "charset=utf-8"
			   : "text/plain; version=0.0.4; charset=utf-8";
}

void
exposition_begin(struct exposition *x, struct buf *out, bool openmetrics)
{
	*x = (struct exposition){ .out = out, .openmetrics = openmetrics };
}

void
exposition_end(struct exposition *x)
{
	if (x->openmetrics)
		buf_adds(x->out, "# EOF\n");
}

/* Help texts keep their quotes, except in OpenMetrics. */
static void
add_escaped(struct buf *out, const char *text, bool quotes)
{
	const char *special = quotes ? "\n\\\"" : "\n\\";
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, special);
		buf_add(out, text, n);
		if (text[n] == '\0')
			return;
		buf_adds(out, text[n] == '\n'  ? "\\n"
			      : text[n] == '"' ? "\\\""
					       : "\\\\");
	}
}

/* Writes the name of the family as comments need it. */
static void
add_family(struct exposition *x)
{
	buf_adds(x->out, x->prefix);
	buf_add(x->out, x->name, x->name_len);
	if (x->openmetrics)
		return;
	if (x->type == EXPOSITION_COUNTER)
		buf_adds(x->out, "_total");
	if (x->type == EXPOSITION_INFO)
		buf_adds(x->out, "_info");
}

static size_t
without(const char *name, const char *end)
{
	size_t n = strlen(name), tail = strlen(end);

	assert(n > tail && strcmp(name + n - tail, end) == 0);
	return n - tail;
}

void
exposition_family(struct exposition *x, const char *prefix, const char *name,
    enum exposition_type type, const char *help)
{
	x->prefix = prefix;
	x->name = name;
	x->type = type;
	x->name_len = type == EXPOSITION_COUNTER ? without(name, "_total")
		      : type == EXPOSITION_INFO	 ? without(name, "_info")
						 : strlen(name);
	buf_adds(x->out, "# HELP ");
	add_family(x);
	buf_addc(x->out, ' ');
	add_escaped(x->out, help, x->openmetrics);
	buf_adds(x->out, "\n# TYPE ");
	add_family(x);
	buf_addc(x->out, ' ');
	buf_adds(x->out,
	    type == EXPOSITION_INFO && !x->openmetrics ? "gauge" : types[type]);
	buf_addc(x->out, '\n');
}

static void
add_label(struct buf *out, const char *key, const char *value, char *before)
{
	buf_addc(out, *before);
	*before = ',';
	buf_adds(out, key);
	buf_adds(out, "=\"");
	add_escaped(out, value, true);
	buf_addc(out, '"');
}

/* Writes the name and the labels, and for a bucket the start of its bound. */
static void
add_start(struct exposition *x, const char *suffix,
    const struct exposition_label *l, bool bucket)
{
	char before = '{';

	buf_adds(x->out, x->prefix);
	buf_add(x->out, x->name, x->name_len);
	buf_adds(x->out, suffix);
	for (; l != NULL && l->key != NULL; l++)
		add_label(x->out, l->key, l->value, &before);
	if (bucket) {
		buf_addc(x->out, before);
		buf_adds(x->out, "le=\"");
	} else if (before == ',') {
		buf_addc(x->out, '}');
	}
}

/* Writes a whole line except for its value. */
static void
add_sample(struct exposition *x, const char *suffix,
    const struct exposition_label *labels)
{
	add_start(x, suffix, labels, false);
	buf_addc(x->out, ' ');
}

static const char *
suffix(const struct exposition *x)
{
	return x->type == EXPOSITION_COUNTER ? "_total"
	       : x->type == EXPOSITION_INFO  ? "_info"
					     : "";
}

/* Writes a decimal fraction: n units, of which `unit` make 1. */
static void
add_fraction(struct buf *out, uint64_t n, uint64_t unit)
{
	uint64_t rest = n % unit;

	buf_add_u64(out, n / unit);
	buf_addc(out, '.');
	do {
		unit /= 10;
		buf_addc(out, (char)('0' + rest / unit));
		rest %= unit;
	} while (rest > 0);
}

void
exposition_number(
    struct exposition *x, const struct exposition_label *labels, uint64_t value)
{
	add_sample(x, suffix(x), labels);
	buf_add_u64(x->out, value);
	buf_addc(x->out, '\n');
}

void
exposition_ms(
    struct exposition *x, const struct exposition_label *labels, int64_t ms)
{
	add_sample(x, suffix(x), labels);
	add_fraction(x->out, ms > 0 ? (uint64_t)ms : 0, 1000);
	buf_addc(x->out, '\n');
}

void
exposition_us(
    struct exposition *x, const struct exposition_label *labels, int64_t us)
{
	add_sample(x, suffix(x), labels);
	add_fraction(x->out, us > 0 ? (uint64_t)us : 0, 1000000);
	buf_addc(x->out, '\n');
}

/*
 * All histograms of a family have the same bounds, so their texts are made
 * once.
 */
static void
set_bounds(struct exposition *x, const struct exposition_histogram *h)
{
	struct buf text;
	size_t i;

	assert(h->nbuckets <= EXPOSITION_BUCKETS);
	if (x->le == h->le)
		return;
	x->le = h->le;
	buf_init(&text);
	for (i = 0; i + 1 < h->nbuckets; i++) {
		buf_clear(&text);
		add_fraction(&text, (uint64_t)h->le[i], h->per_second);
		snprintf(x->le_text[i], sizeof(x->le_text[i]), "%.*s",
		    (int)buf_len(&text), buf_data(&text));
	}
	snprintf(x->le_text[i], sizeof(x->le_text[i]), "+Inf");
	buf_fini(&text);
}

/* Appends the bytes at `at` once more. */
static void
add_again(struct buf *out, size_t at, size_t n)
{
	char *to = buf_reserve(out, n);

	memcpy(to, buf_data(out) + at, n);
	buf_added(out, n);
}

/* All lines of a histogram begin alike, so their beginning is made once. */
void
exposition_histogram(struct exposition *x,
    const struct exposition_label *labels, const struct exposition_histogram *h)
{
	size_t i, at = buf_len(x->out), n = 0;
	uint64_t count = 0;

	set_bounds(x, h);
	for (i = 0; i < h->nbuckets; i++) {
		count += h->counts[i];
		if (i == 0) {
			add_start(x, "_bucket", labels, true);
			n = buf_len(x->out) - at;
		} else {
			add_again(x->out, at, n);
		}
		buf_adds(x->out, x->le_text[i]);
		buf_adds(x->out, "\"} ");
		buf_add_u64(x->out, count);
		buf_addc(x->out, '\n');
	}
	add_sample(x, "_sum", labels);
	add_fraction(x->out, h->sum, h->per_second);
	buf_addc(x->out, '\n');
	add_sample(x, "_count", labels);
	buf_add_u64(x->out, count);
	buf_addc(x->out, '\n');
}
