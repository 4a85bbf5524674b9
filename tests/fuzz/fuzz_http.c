/*
 * Fuzzes the parts of HTTP that the daemon parses itself, and how text is put
 * into a page: any bytes serve as a path, a query, some headers, and a name.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "http/basic.h"
#include "http/html.h"
#include "http/listen.h"
#include "http/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The decoder gives back what was encoded, as a path and as a query. */
static void
check_codes(struct span text)
{
	struct buf there, back;

	buf_init(&there);
	buf_init(&back);
	path_encode(&there, text);
	assert(path_decode(
	    &back, (struct span){ buf_data(&there), buf_len(&there) }));
	assert(buf_len(&back) == text.n &&
	       (text.n == 0 || memcmp(buf_data(&back), text.p, text.n) == 0));
	buf_clear(&back);
	if (path_decode(&back, text))
		assert(buf_len(&back) <= text.n);
	else
		assert(buf_len(&back) == 0);
	buf_fini(&there);
	buf_fini(&back);
}

/* No byte breaks out of a text or an attribute, and all of it is UTF-8. */
static void
check_html(struct span text)
{
	struct buf b;
	size_t i;

	buf_init(&b);
	html_text(&b, text);
	for (i = 0; i < buf_len(&b); i++) {
		unsigned char c = (unsigned char)buf_data(&b)[i];

		assert(c >= ' ' && c != 0x7f && strchr("<>\"'", c) == NULL);
	}
	assert(parse_utf8(buf_data(&b), buf_len(&b)));
	buf_fini(&b);
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
	check_html((struct span){ (const char *)data, size });
	check_headers(text);
	free(text);
	return 0;
}
