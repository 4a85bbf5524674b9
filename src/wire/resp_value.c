/* See resp_value.h. */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "wire/resp_value.h"

static void
end_line(struct buf *b)
{
	buf_add(b, "\r\n", 2);
}

/* Cleans the text after the sign, so that it stays one line. */
static void
add_line(struct buf *b, char sign, struct span text)
{
	size_t start;

	buf_addc(b, sign);
	start = buf_len(b);
	if (text.n > 0)
		buf_add(b, text.p, text.n);
	text_clean(buf_data(b) + start, buf_len(b) - start, ' ');
	end_line(b);
}

static void
add_head(struct buf *b, char sign, size_t n)
{
	buf_addc(b, sign);
	buf_add_u64(b, n);
	end_line(b);
}

void
resp_simple(struct buf *b, const char *text)
{
	add_line(b, '+', (struct span){ text, strlen(text) });
}

void
resp_error(struct buf *b, struct span text)
{
	add_line(b, '-', text);
}

void
resp_int(struct buf *b, int64_t n)
{
	buf_addc(b, ':');
	if (n < 0)
		buf_addc(b, '-');
	buf_add_u64(b, n < 0 ? -(uint64_t)n : (uint64_t)n);
	end_line(b);
}

void
resp_bulk(struct buf *b, struct span value)
{
	add_head(b, '$', value.n);
	if (value.n > 0)
		buf_add(b, value.p, value.n);
	end_line(b);
}

void
resp_word(struct buf *b, const char *value)
{
	resp_bulk(b, (struct span){ value, strlen(value) });
}

void
resp_null(struct buf *b, bool three)
{
	buf_adds(b, three ? "_\r\n" : "$-1\r\n");
}

void
resp_null_array(struct buf *b, bool three)
{
	buf_adds(b, three ? "_\r\n" : "*-1\r\n");
}

void
resp_array(struct buf *b, size_t n)
{
	add_head(b, '*', n);
}

void
resp_map(struct buf *b, bool three, size_t n)
{
	add_head(b, three ? '%' : '*', three ? n : 2 * n);
}

void
resp_push(struct buf *b, bool three, size_t n)
{
	add_head(b, three ? '>' : '*', n);
}

void
resp_text(struct buf *b, bool three, struct span text)
{
	if (!three) {
		resp_bulk(b, text);
		return;
	}
	add_head(b, '=', text.n + 4);
	buf_adds(b, "txt:");
	buf_add(b, text.p, text.n);
	end_line(b);
}
