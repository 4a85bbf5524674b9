/*
 * Lines of a ledger.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crc16.h"
#include "base/parse.h"
#include "base/text.h"
#include "daemon/ledger_line.h"

#define CHECK_BYTES 4
#define WORDS_MAX 7 /* without the check */

/* Begins a line; end_line() adds its check, and its end. */
static size_t
begin_line(const struct buf *out)
{
	return buf_len(out);
}

static void
end_line(struct buf *out, size_t start)
{
	uint16_t check = crc16(buf_data(out) + start, buf_len(out) - start);

	buf_addf(out, " %04x\n", check);
}

static void
add_ms(struct buf *out, int64_t ms)
{
	if (ms == TOKEN_HOLD_ALWAYS)
		buf_adds(out, " -");
	else
		buf_addf(out, " %" PRId64, ms > 0 ? ms : 0);
}

void
ledger_add_head(
    struct buf *out, uint64_t number, const char *boot, int64_t floor_ms)
{
	size_t start = begin_line(out);

	buf_addf(out, "tokens 1 %" PRIu64 " %s", number, boot);
	add_ms(out, floor_ms);
	end_line(out, start);
}

void
ledger_add_hold(struct buf *out, const struct token_hold *hold, int64_t day_ms)
{
	size_t start = begin_line(out);

	buf_adds(out, "+ ");
	buf_add_u64(out, hold->fence);
	add_ms(out, hold->since_ms);
	add_ms(out, hold->until_ms);
	add_ms(out, day_ms);
	buf_addc(out, ' ');
	buf_add(out, hold->client, hold->client_len);
	buf_addc(out, ' ');
	buf_add(out, hold->name, hold->name_len);
	end_line(out, start);
}

void
ledger_add_over(struct buf *out, const char *name, size_t name_len)
{
	size_t start = begin_line(out);

	buf_adds(out, "- ");
	buf_add(out, name, name_len);
	end_line(out, start);
}

/* Reading. */

/* Returns the number of words; more than WORDS_MAX if there are too many. */
static unsigned
split(const char *text, size_t len, struct span v[WORDS_MAX])
{
	unsigned n = 0;
	const char *end;
	size_t word;

	for (;;) {
		end = memchr(text, ' ', len);
		word = end != NULL ? (size_t)(end - text) : len;
		if (n == WORDS_MAX)
			return WORDS_MAX + 1;
		v[n++] = (struct span){ text, word };
		if (end == NULL)
			return n;
		text += word + 1;
		len -= word + 1;
	}
}

static bool
is_word(struct span s, const char *word)
{
	return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

static bool
parse_ms(struct span s, int64_t *out)
{
	uint64_t ms;

	*out = TOKEN_HOLD_ALWAYS;
	if (is_word(s, "-"))
		return true;
	if (!parse_number(s.p, s.n, TOKEN_HOLD_ALWAYS - 1, &ms))
		return false;
	*out = (int64_t)ms;
	return true;
}

static bool
parse_name(struct span s, struct token_hold *hold)
{
	hold->name = s.p;
	hold->name_len = s.n;
	return text_name_why(s, NAME_MAX_BYTES) == NULL;
}

static bool
parse_hold(const struct span v[WORDS_MAX], struct ledger_line *out)
{
	struct token_hold *hold = &out->hold;

	hold->client = v[5].p;
	hold->client_len = v[5].n;
	return parse_number(v[1].p, v[1].n, UINT64_MAX, &hold->fence) &&
	       hold->fence > 0 && parse_ms(v[2], &hold->since_ms) &&
	       parse_ms(v[3], &hold->until_ms) &&
	       parse_ms(v[4], &out->day_ms) && v[5].n > 0 &&
	       parse_name(v[6], hold);
}

static bool
parse_words(const struct span *v, unsigned n, struct ledger_line *out)
{
	if (n == 5 && is_word(v[0], "tokens") && is_word(v[1], "1")) {
		out->word = LEDGER_HEAD;
		out->boot = v[3];
		return v[3].n > 0 &&
		       parse_number(v[2].p, v[2].n, UINT64_MAX, &out->number) &&
		       parse_ms(v[4], &out->floor_ms);
	}
	if (n == 7 && is_word(v[0], "+")) {
		out->word = LEDGER_HELD;
		return parse_hold(v, out);
	}
	out->word = LEDGER_OVER;
	return n == 2 && is_word(v[0], "-") && parse_name(v[1], &out->hold);
}

bool
ledger_parse(const char *text, size_t len, struct ledger_line *out)
{
	struct span v[WORDS_MAX];
	char check[CHECK_BYTES + 1];
	unsigned n;

	memset(out, 0, sizeof(*out));
	if (len <= CHECK_BYTES + 1 || text[len - CHECK_BYTES - 1] != ' ')
		return false;
	len -= CHECK_BYTES + 1;
	snprintf(check, sizeof(check), "%04x", crc16(text, len));
	if (memcmp(check, text + len + 1, CHECK_BYTES) != 0)
		return false;
	n = split(text, len, v);
	return n <= WORDS_MAX && parse_words(v, n, out);
}
