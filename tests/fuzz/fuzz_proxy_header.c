/*
 * Fuzzes headers of the PROXY protocol: whatever is whole stays the same when
 * more follows, and is not whole with a byte less.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/proxy_header.h"
#include "base/xmalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In a block of its own, so that a sanitizer sees what is read behind it. */
static enum proxy_header_got
read_first(const uint8_t *data, size_t size, struct proxy_header *out)
{
	char *copy = xmalloc(size + 1);
	char *text = copy + 1;
	enum proxy_header_got got;

	memcpy(text, data, size);
	got = proxy_header_read(text, size, out);
	if (got != PROXY_HEADER_NONE)
		assert(proxy_header_begins(text, size) != PROXY_HEADER_NONE);
	free(copy);
	return got;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proxy_header header, shorter;
	enum proxy_header_got got = read_first(data, size, &header);

	if (got == PROXY_HEADER_PART)
		assert(size < PROXY_HEADER_MAX);
	if (got != PROXY_HEADER_WHOLE)
		return 0;
	assert(header.size > 0 && header.size <= size);
	assert(header.size <= PROXY_HEADER_MAX);
	assert(strlen(header.peer) < sizeof(header.peer));
	assert(
	    strspn(header.peer, "0123456789abcdef.:[]") == strlen(header.peer));
	assert(read_first(data, header.size, &shorter) == PROXY_HEADER_WHOLE);
	assert(shorter.size == header.size);
	assert(
	    read_first(data, header.size - 1, &shorter) == PROXY_HEADER_PART);
	return 0;
}
