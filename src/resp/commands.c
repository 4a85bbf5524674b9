/* The table of commands, and the search for the row of a request. */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "resp/commands.h"
#include "wire/verbs.h"

/* The maximum length that Redis quotes of an unknown command. */
#define QUOTE_BYTES_MAX 128

#define F(x) RESP_FLAG_##x
const struct resp_row resp_rows[RESP_MAX] = {
#define COMMAND(id, word, arity, right, first, last, step, flags, handler)   \
	[RESP_##id] = { word, sizeof(word) - 1, arity, RIGHT_##right, first, \
		last, step, flags },
#include "resp/commands.def"
#undef COMMAND
};
#undef F

bool
resp_says(struct span word, const char *other)
{
	return verb_same_word(word, span_of(other));
}

static enum resp_id
find_word(struct span word)
{
	unsigned i;

	for (i = 0; i < RESP_MAX; i++)
		if (verb_same_word(word,
			(struct span){ resp_rows[i].word, resp_rows[i].len }))
			return (enum resp_id)i;
	return RESP_MAX;
}

static enum resp_id
find_sub(enum resp_id of, struct span word)
{
	size_t at = resp_rows[of].len + 1;
	unsigned i;

	/* The rows of its subcommands follow their command. */
	for (i = of + 1; i < RESP_MAX; i++) {
		const struct resp_row *row = &resp_rows[i];

		if (row->len <= at || row->word[at - 1] != '|' ||
		    memcmp(row->word, resp_rows[of].word, at - 1) != 0)
			return RESP_MAX;
		if (verb_same_word(
			word, (struct span){ row->word + at, row->len - at }))
			return (enum resp_id)i;
	}
	return RESP_MAX;
}

/* Cleans the word: the text must continue after a byte that is 0. */
static void
quote(struct buf *why, struct span word, size_t max)
{
	size_t n = word.n < max ? word.n : max, start;

	buf_addc(why, '\'');
	start = buf_len(why);
	buf_add(why, word.p, n);
	text_clean(buf_data(why) + start, n, ' ');
	buf_addc(why, '\'');
}

/* Hints for commands that a client may expect here. */
static const struct {
	const char *word, *hint;
} hints[] = {
	{ "WATCH", "; lockbroker watches names, with OBSERVE" },
	{ "SENTINEL", "; configure the broker as a single server" },
};

static const char *
hint(struct span word)
{
	unsigned i;

	for (i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (resp_says(word, hints[i].word))
			return hints[i].hint;
	return "; lockbroker stores no data, only locks";
}

void
resp_unknown(const struct span *words, unsigned nwords, struct buf *why)
{
	size_t start;
	unsigned i;

	buf_adds(why, "unknown command ");
	quote(why, words[0], QUOTE_BYTES_MAX);
	buf_adds(why, ", with args beginning with: ");
	start = buf_len(why);
	for (i = 1; i < nwords && buf_len(why) - start < QUOTE_BYTES_MAX; i++) {
		quote(why, words[i], QUOTE_BYTES_MAX - (buf_len(why) - start));
		buf_addc(why, ' ');
	}
	buf_adds(why, hint(words[0]));
}

static enum resp_id
unknown_sub(enum resp_id of, struct span word, struct buf *why)
{
	const char *p;

	buf_adds(why, "unknown subcommand ");
	quote(why, word, QUOTE_BYTES_MAX);
	buf_adds(why, ". Try ");
	for (p = resp_rows[of].word; *p != '\0'; p++)
		buf_addc(why, parse_upper(*p));
	buf_adds(why, " HELP.");
	return RESP_MAX;
}

static enum resp_id
with_arity(enum resp_id id, unsigned nwords, struct buf *why)
{
	int arity = resp_rows[id].arity;

	if (arity < 0 ? nwords >= (unsigned)-arity : nwords == (unsigned)arity)
		return id;
	buf_adds(why, "wrong number of arguments for '");
	buf_adds(why, resp_rows[id].word);
	buf_adds(why, "' command");
	return RESP_MAX;
}

enum resp_id
resp_find(const struct span *words, unsigned nwords, struct buf *why)
{
	enum resp_id id = find_word(words[0]), sub;

	assert(nwords > 0);
	if (id == RESP_MAX) {
		resp_unknown(words, nwords, why);
		return RESP_MAX;
	}
	if (!(resp_rows[id].flags & RESP_FLAG_SUBS) || nwords == 1)
		return with_arity(id, nwords, why);
	sub = find_sub(id, words[1]);
	return sub == RESP_MAX ? unknown_sub(id, words[1], why)
			       : with_arity(sub, nwords, why);
}

unsigned
resp_names(enum resp_id id, unsigned nwords, unsigned *first)
{
	const struct resp_row *row = &resp_rows[id];
	int last = row->last < 0 ? (int)nwords + row->last : row->last;

	*first = (unsigned)row->first;
	if (row->step == 0 || last < row->first)
		return 0;
	return (unsigned)((last - row->first) / row->step + 1);
}
