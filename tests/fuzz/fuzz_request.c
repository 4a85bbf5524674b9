/*
 * Fuzzes the finder and the parser of request lines: any bytes are a request
 * that keeps to the protocol, or an error that makes one line of reply.
 *
 * The input is taken as a stream of lines, each in an allocation of its own
 * size, and once more as a single line that contains the line ends.
 */
#include "config.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "wire/protocol.h"
#include "wire/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
within(struct span s, const char *line, size_t n)
{
	return s.n == 0 || (s.p >= line && s.p + s.n <= line + n);
}

/* Exactly one line: it ends with CRLF, and nothing else in it ends a line. */
static void
check_is_one_line(const struct buf *b)
{
	const char *p = buf_data(b);
	size_t i, n = buf_len(b);

	assert(n > 2 && p[n - 2] == '\r' && p[n - 1] == '\n');
	for (i = 0; i < n - 2; i++)
		assert((unsigned char)p[i] >= ' ' && p[i] != 0x7f);
	assert(parse_utf8(p, n));
}

/* The rules for names, written once more and in another way. */
static void
check_name(struct span name, size_t max)
{
	size_t i;

	assert(name.n >= 1 && name.n <= max);
	assert(name.p[0] != '@' && name.p[0] != '!');
	assert(parse_utf8(name.p, name.n));
	for (i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		assert(c > ' ' && c != 0x7f && c != '=');
		if (i > 0 && (unsigned char)name.p[i - 1] == 0xc2)
			assert(c >= 0xa0);
	}
}

static void
check_words(const struct request *r, const char *line, size_t n)
{
	const struct verb *v = &verbs[r->verb];
	unsigned i, j;

	assert(r->nwords >= v->words_min && r->nwords <= v->words_max);
	for (i = 0; i < r->nwords; i++) {
		assert(r->words[i].n > 0 && within(r->words[i], line, n));
		if (v->kind != VERB_WORDS_NAMES)
			continue;
		check_name(r->words[i], NAME_MAX_BYTES);
		for (j = 0; j < i; j++)
			assert(r->words[j].n != r->words[i].n ||
			       memcmp(r->words[j].p, r->words[i].p,
				   r->words[i].n) != 0);
	}
}

static void
check_option(
    const struct request *r, enum option_id id, const char *line, size_t n)
{
	const struct option *o = &options[id];
	int64_t num = r->num[id];

	switch (o->type) {
	case OPTION_TYPE_WAIT:
		if (num == WAIT_FOREVER)
			break;
		/* FALLTHROUGH */
	case OPTION_TYPE_DURATION:
		assert(num >= (int64_t)o->min && num <= DURATION_MS_MAX);
		break;
	case OPTION_TYPE_NUMBER:
		assert(num >= (int64_t)o->min && num < INT64_C(1) << 53);
		break;
	case OPTION_TYPE_MODE:
		assert(num == MODE_EXCLUSIVE || num == MODE_SHARED);
		break;
	case OPTION_TYPE_KIND:
		assert(num >= KIND_LOCK && num <= KIND_BARRIER);
		break;
	case OPTION_TYPE_END:
		assert(num == END_CLOSE || num == END_QUIT);
		break;
	case OPTION_TYPE_YES:
		assert(num == 0 || num == 1);
		break;
	case OPTION_TYPE_TRACE:
		assert(text_is_trace(r->str[id]));
		break;
	case OPTION_TYPE_VALUE:
		assert(text_value_why(r->str[id]) == NULL);
		assert(within(r->str[id], line, n));
		break;
	case OPTION_TYPE_LABEL:
		check_name(r->str[id], LABEL_MAX_BYTES);
		/* FALLTHROUGH */
	case OPTION_TYPE_SECRET:
		assert(r->str[id].n > 0 && within(r->str[id], line, n));
		break;
	}
}

static void
check_request(const struct request *r, const char *line, size_t n)
{
	const struct verb *v;
	unsigned id;

	assert(r->verb < VERB_MAX);
	v = &verbs[r->verb];
	assert((r->given & ~v->options) == 0);
	assert((v->required & ~r->given) == 0);
	check_words(r, line, n);
	for (id = 0; id < OPTION_MAX; id++)
		if (request_has(r, (enum option_id)id))
			check_option(r, (enum option_id)id, line, n);
	if (request_has(r, OPTION_LIMIT) && request_has(r, OPTION_PERMITS))
		assert(r->num[OPTION_PERMITS] <= r->num[OPTION_LIMIT]);
}

static void
check_error(const struct request *r, enum err_code code, const struct buf *why)
{
	const struct wire_reply refusal = { .tag = r->tag,
		.verb = r->verb,
		.status = STATUS_ERR,
		.code = code,
		.text = { buf_data(why), buf_len(why) } };
	struct buf reply;

	assert(code > ERR_NONE && code < ERR_MAX);
	assert(buf_len(why) > 0 && parse_utf8(buf_data(why), buf_len(why)));
	buf_init(&reply);
	wire_lines.reply(&reply, &refusal);
	check_is_one_line(&reply);
	buf_fini(&reply);
}

static void
try_line(const uint8_t *data, size_t n)
{
	enum request_status status;
	enum err_code code = ERR_NONE;
	char *line = xmalloc(n);
	struct request r;
	struct buf why;

	buf_init(&why);
	if (n > 0)
		memcpy(line, data, n);
	/* The parser must not see anything that the last line left behind. */
	memset(&r, 0x5a, sizeof(r));
	status = request_parse(&r, line, n, &code, &why);
	assert(r.tag.n <= TAG_MAX_BYTES && within(r.tag, line, n));
	if (status == REQUEST_BAD)
		check_error(&r, code, &why);
	else
		assert(code == ERR_NONE && buf_len(&why) == 0);
	if (status == REQUEST_OK)
		check_request(&r, line, n);
	buf_fini(&why);
	free(line);
}

/*
 * Bytes that arrive one by one make the same request as all at once, or are
 * refused as early; each part is in an allocation of its own size.
 */
static void
try_frame(const uint8_t *data, size_t n, size_t max)
{
	enum frame_status status = FRAME_PART, once;
	struct wire_frame f = { NULL, 0, 0 }, g = { NULL, 0, 0 };
	enum err_code code = ERR_NONE;
	size_t scanned = 0, none = 0, have;
	char *part = NULL;
	struct buf why;

	buf_init(&why);
	for (have = 1; have <= n && status == FRAME_PART; have++) {
		free(part);
		part = xmalloc(have);
		memcpy(part, data, have);
		status = wire_lines.frame(
		    &f, part, have, max, &scanned, &code, &why);
		once =
		    wire_lines.frame(&g, part, have, max, &none, &code, &why);
		assert(once == status && f.n == g.n && f.size == g.size);
		none = 0;
	}
	assert((status == FRAME_REFUSED) == (code == ERR_TOO_LONG));
	if (status == FRAME_WHOLE)
		assert(f.n <= max && f.n < f.size && f.size == have - 1);
	free(part);
	buf_fini(&why);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0;

	try_line(data, size);
	while (at < size) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		size_t n = end ? (size_t)(end - data) - at : size - at;

		/* Lines end with LF or CRLF, as for the reader of lines. */
		try_line(data + at,
		    n > 0 && end && data[at + n - 1] == '\r' ? n - 1 : n);
		try_frame(data + at, size - at, 64);
		at += n + 1;
	}
	return 0;
}
