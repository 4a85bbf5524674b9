/*
 * Fuzzes the parts of HTTP that the daemon parses itself: any bytes serve as a
 * path, a query, and some headers.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "http/basic.h"
#include "http/listen.h"
#include "http/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is decoded is never longer; what can't be decoded leaves nothing. */
static void
check_codes(struct span text)
{
	struct buf back;

	buf_init(&back);
	if (path_decode(&back, text))
		assert(buf_len(&back) <= text.n);
	else
		assert(buf_len(&back) == 0);
	buf_clear(&back);
	if (query_decode(&back, text))
		assert(buf_len(&back) <= text.n);
	else
		assert(buf_len(&back) == 0);
	buf_fini(&back);
}

static void
check_headers(const char *text)
{
	struct span user, password, value;
	struct buf mem;

	(void)accept_openmetrics(text);
	(void)http_host_is_local(text);
	if (query_find(text, "name", &value))
		assert(value.p >= text &&
		       value.p + value.n <= text + strlen(text));
	buf_init(&mem);
	if (basic_parse(text, &mem, &user, &password)) {
		assert(user.p == buf_data(&mem));
		assert(
		    password.p + password.n == buf_data(&mem) + buf_len(&mem));
		assert(memchr(user.p, ':', user.n) == NULL);
	}
	buf_fini(&mem);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);

	check_codes((struct span){ (const char *)data, size });
	check_headers(text);
	free(text);
	return 0;
}
