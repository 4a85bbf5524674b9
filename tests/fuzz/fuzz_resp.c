/*
 * Fuzzes the reader of RESP requests: any bytes are a request whose words lie
 * within them, or an error that makes one line of reply.
 *
 * The input is taken as a stream of requests, each part of it in an allocation
 * of its own size.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "wire/resp_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly one line that begins with '-'. */
static void
check_is_error(const struct buf *b)
{
	const char *p = buf_data(b);
	size_t i, n = buf_len(b);

	assert(n > 3 && p[0] == '-' && p[n - 2] == '\r' && p[n - 1] == '\n');
	for (i = 0; i < n - 2; i++)
		assert((unsigned char)p[i] >= ' ' && p[i] != 0x7f);
}

static void
check_refusal(enum verb_id verb, enum err_code code, const struct buf *why)
{
	const struct wire_reply refusal = { .verb = verb,
		.status = STATUS_ERR,
		.code = code,
		.text = { buf_data(why), buf_len(why) } };
	struct buf reply;

	assert(code > ERR_NONE && code < ERR_MAX && buf_len(why) > 0);
	buf_init(&reply);
	wire_resp3.reply(&reply, &refusal);
	check_is_error(&reply);
	buf_fini(&reply);
}

static void
check_words(const struct request *r, const char *p, size_t n)
{
	unsigned i;

	for (i = 0; i < r->nwords; i++)
		assert(r->words[i].p >= p &&
		       r->words[i].p + r->words[i].n <= p + n);
}

static void
check_request(const struct wire_frame *f, struct buf *why)
{
	enum err_code code = ERR_NONE;
	enum request_status status;
	struct request r;

	/* The parser must not see anything that the last request left
	 * behind. */
	memset(&r, 0x5a, sizeof(r));
	status = wire_resp2.parse(&r, f->p, f->n, &code, why);
	assert(r.tag.n == 0 && status != REQUEST_HTTP);
	if (status == REQUEST_BAD) {
		check_refusal(r.verb, code, why);
		return;
	}
	assert(code == ERR_NONE && buf_len(why) == 0);
	check_words(&r, f->p, f->n);
	if (status == REQUEST_OK)
		assert(r.verb < VERB_MAX &&
		       (!verb_has(r.verb, VERB_FLAG_LINES) ||
			   r.verb == VERB_WATCH || r.verb == VERB_UNWATCH));
	if (status == REQUEST_FOREIGN)
		assert(r.verb == VERB_MAX && r.nwords > 0);
}

/* Feeds the bytes one by one; returns how many a whole request took. */
static size_t
take(const uint8_t *data, size_t n)
{
	enum frame_status status = FRAME_PART;
	struct wire_frame f = { NULL, 0, 0 };
	enum err_code code = ERR_NONE;
	size_t scanned = 0, have;
	char *part = NULL;
	struct buf why;

	buf_init(&why);
	for (have = 1; have <= n && status == FRAME_PART; have++) {
		free(part);
		part = xmalloc(have);
		memcpy(part, data, have);
		status =
		    wire_resp3.frame(&f, part, have, 64, &scanned, &code, &why);
	}
	if (status == FRAME_REFUSED)
		check_refusal(VERB_MAX, code, &why);
	if (status == FRAME_WHOLE) {
		assert(f.size == have - 1 && f.size <= RESP_BYTES_MAX);
		check_request(&f, &why);
	}
	free(part);
	buf_fini(&why);
	return status == FRAME_WHOLE ? f.size : 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t at = 0, n;

	/* Going byte by byte takes time with the square of the length. */
	if (size > 4096)
		size = 4096;
	while (at < size && (n = take(data + at, size - at)) > 0)
		at += n;
	return 0;
}
