/*
 * Requests in RESP: an array of strings, `*N`, then `$LENGTH` and the bytes of
 * each.
 *
 * No length makes the broker reserve memory: when more bytes have come, it
 * looks at all of them again from the first, which is cheap because there are
 * few words.  It refuses a malformed request in the words of Redis and closes
 * the connection, because the beginning of the next request is unknown.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "wire/protocol.h"
#include "wire/resp_value.h"

/* The longest useful length with its sign and line end. */
#define LENGTH_BYTES_MAX 24

enum step { STEP_DONE, STEP_PART, STEP_WRONG };

/* How far a request has been examined. */
struct walk {
	const char *p;
	const char *begin;
	const char *end;
	struct buf *why;
};

static enum step
wrong(struct walk *w, const char *what)
{
	buf_adds(w->why, "Protocol error: ");
	buf_adds(w->why, what);
	return STEP_WRONG;
}

/*
 * Takes digits, perhaps with a sign.  Returns false if the number is of no use.
 */
static bool
to_number(const char *p, size_t n, int64_t *out)
{
	bool negative = n > 0 && p[0] == '-';
	uint64_t v;

	if (!parse_number(p + negative, n - negative, 999999999, &v) ||
	    (negative && v == 0))
		return false;
	*out = negative ? -(int64_t)v : (int64_t)v;
	return true;
}

/* `*N` or `$N` with its line end. */
static enum step
take_length(
    struct walk *w, int64_t *out, const char *if_wrong, const char *if_long)
{
	size_t have = (size_t)(w->end - w->p);
	size_t n = have < LENGTH_BYTES_MAX ? have : LENGTH_BYTES_MAX;
	const char *nl = memchr(w->p, '\n', n);

	if (nl == NULL)
		return n < LENGTH_BYTES_MAX ? STEP_PART : wrong(w, if_long);
	n = (size_t)(nl - w->p);
	if (w->p[n - 1] != '\r' || !to_number(w->p + 1, n - 2, out))
		return wrong(w, if_wrong);
	w->p = nl + 1;
	return STEP_DONE;
}

static enum step
expect(struct walk *w, char sign)
{
	char what[] = "expected '?', got '?'";

	if (w->p == w->end)
		return STEP_PART;
	if (*w->p == sign)
		return STEP_DONE;
	what[10] = sign;
	what[sizeof(what) - 3] = *w->p;
	text_clean(what, sizeof(what) - 1, ' ');
	return wrong(w, what);
}

static enum step
take_word(struct walk *w, struct span *word)
{
	enum step step = expect(w, '$');
	size_t used;
	int64_t n;

	if (step == STEP_DONE)
		step = take_length(
		    w, &n, "invalid bulk length", "too big bulk count string");
	if (step != STEP_DONE)
		return step;
	used = (size_t)(w->p - w->begin);
	if (n < 0 || (size_t)n + 2 > RESP_BYTES_MAX - used)
		return wrong(w, "invalid bulk length");
	if ((size_t)(w->end - w->p) < (size_t)n + 2)
		return STEP_PART;
	*word = (struct span){ w->p, (size_t)n };
	w->p += n;
	if (memcmp(w->p, "\r\n", 2) != 0)
		return wrong(w, "expected CRLF behind a string");
	w->p += 2;
	return STEP_DONE;
}

static const char long_array[] = "invalid multibulk length";

static bool
is_script(struct span word)
{
	return verb_same_word(word, (struct span){ "EVAL", 4 }) ||
	       verb_same_word(word, (struct span){ "EVALSHA", 7 });
}

/* Takes all words.  A request of 0 words asks for nothing. */
static enum step
take_request(
    struct walk *w, struct span words[RESP_WORDS_MAX], unsigned *nwords)
{
	enum step step = expect(w, '*');
	int64_t n = 0, i;

	*nwords = 0;
	if (step == STEP_DONE)
		step = take_length(
		    w, &n, long_array, "too big mbulk count string");
	if (step == STEP_DONE &&
	    (n > RESP_WORDS_MAX ||
		(n > NAMES_MAX && w->p < w->end && *w->p != '$')))
		return wrong(w, long_array);
	for (i = 0; i < n && step == STEP_DONE; i++) {
		step = take_word(w, &words[(*nwords)++]);
		if (i == 0 && n > NAMES_MAX && step == STEP_DONE &&
		    !is_script(words[0]))
			return wrong(w, long_array);
	}
	return step;
}

enum frame_status
resp_frame(struct wire_frame *f, const char *data, size_t have, size_t max,
    size_t *scanned, enum err_code *code, struct buf *why)
{
	struct walk w = { data, data, data + have, why };
	struct span words[RESP_WORDS_MAX];
	unsigned nwords;

	(void)max; /* the limit of a line */
	(void)scanned;
	f->p = data;
	f->n = f->size = 0;
	if (have == 0)
		return FRAME_PART;
	switch (take_request(&w, words, &nwords)) {
	case STEP_DONE:
		f->n = f->size = (size_t)(w.p - data);
		return FRAME_WHOLE;
	case STEP_PART:
		return FRAME_PART;
	case STEP_WRONG:
		break;
	}
	*code = ERR_BAD_REQUEST;
	return FRAME_REFUSED;
}

/* Commands of the broker whose names Redis uses for others. */
static const struct {
	struct span word;
	enum verb_id verb;
} others[] = {
	{ { "OBSERVE", 7 }, VERB_WATCH },
	{ { "UNOBSERVE", 9 }, VERB_UNWATCH },
};

/* Returns the verb that a command of this name means, or VERB_MAX. */
static enum verb_id
resp_verb(struct span word)
{
	enum verb_id id = verb_find(word.p, word.n);
	unsigned i;

	if (id != VERB_MAX)
		return verb_has(id, VERB_FLAG_LINES) ? VERB_MAX : id;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (verb_same_word(others[i].word, word))
			return others[i].verb;
	return VERB_MAX;
}

enum request_status
resp_parse(struct request *r, const char *p, size_t n, enum err_code *code,
    struct buf *why)
{
	struct walk w = { p, p, p + n, why };
	struct span words[RESP_WORDS_MAX];
	enum verb_id verb;
	unsigned nwords;

	request_init(r);
	if (take_request(&w, words, &nwords) != STEP_DONE || nwords == 0)
		return REQUEST_EMPTY;
	verb = resp_verb(words[0]);
	if (verb != VERB_MAX)
		return request_parse_words(
		    r, verb, words + 1, nwords - 1, code, why);
	memcpy(r->words, words, nwords * sizeof(words[0]));
	r->nwords = nwords;
	return REQUEST_FOREIGN;
}
