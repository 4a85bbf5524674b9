/*
 * From a line to a request: the one gate that checks framing, arity, names and
 * options against the command table before any handler runs.
 *
 * One pass over the words, after one over the bytes for control characters.  It
 * allocates nothing but the text of an error.  Errors quote the client's words
 * only cleaned and cut, and never a word that may be a secret.
 */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "wire/request.h"

#define QUOTE_BYTES_MAX 64

/* The state of one request_parse(). */
struct parser {
	struct request *r;
	const struct verb *v;
	const char *p;	 /* the next byte to look at */
	const char *end; /* after the last byte of the line */
	enum err_code *code;
	struct buf *why;
};

/* A word, and its first '=' or NULL if it has none. */
struct word {
	struct span text;
	const char *eq;
};

static const char *const http_methods[] = { "GET", "POST", "PUT", "HEAD",
	"DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE" };

static enum request_status
refuse(struct parser *ps, enum err_code code, const char *text)
{
	*ps->code = code;
	buf_adds(ps->why, text);
	return REQUEST_BAD;
}

/* Refuses with `what "quoted" text`, quoting what the client sent. */
static enum request_status
refuse_quoting(struct parser *ps, enum err_code code, const char *what,
    struct span quoted, const char *text)
{
	buf_adds(ps->why, what);
	buf_adds(ps->why, " \"");
	text_add(ps->why, quoted, QUOTE_BYTES_MAX);
	buf_adds(ps->why, "\" ");
	return refuse(ps, code, text);
}

static enum request_status
refuse_usage(struct parser *ps, const char *text)
{
	buf_adds(ps->why, text);
	buf_adds(ps->why, "; usage: ");
	return refuse(ps, ERR_BAD_REQUEST, ps->v->usage);
}

/* Returns false at the end of the line. */
static bool
next_word(struct parser *ps, struct word *w)
{
	const char *p = ps->p;

	while (p < ps->end && *p == ' ')
		p++;
	w->text.p = p;
	w->eq = NULL;
	for (; p < ps->end && *p != ' '; p++)
		if (*p == '=' && w->eq == NULL)
			w->eq = p;
	w->text.n = (size_t)(p - w->text.p);
	ps->p = p;
	return w->text.n > 0;
}

/*
 * Eight bytes at a time: the high bit of a byte of the result is set if the
 * byte is below ' ' or is DEL.  A byte with its own high bit set is no control
 * character; nor can it make the next byte look like one, because the sums
 * carry nothing out of the lower seven bits.
 */
static uint64_t
control_bits(uint64_t bytes)
{
	const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t low = bytes & 0x7f * each;
	uint64_t not_below = low + (0x80 - ' ') * each;
	uint64_t not_del = (low ^ 0x7f * each) + 0x7f * each;

	return ~(bytes | (not_below & not_del)) & 0x80 * each;
}

static bool
has_control(const char *line, size_t n)
{
	uint64_t bytes;

	for (; n >= sizeof(bytes); line += sizeof(bytes), n -= sizeof(bytes)) {
		memcpy(&bytes, line, sizeof(bytes));
		if (control_bits(bytes) != 0)
			return true;
	}
	memset(&bytes, ' ', sizeof(bytes));
	memcpy(&bytes, line, n);
	return control_bits(bytes) != 0;
}

/* Words that a web page can make a browser send. */
static bool
is_http(struct span word)
{
	size_t i;

	if (span_begins(word, "Host:"))
		return true;
	for (i = 0; i < sizeof(http_methods) / sizeof(http_methods[0]); i++)
		if (span_is(word, http_methods[i]))
			return true;
	return false;
}

static bool
is_tag(struct span tag)
{
	size_t i;
	char c;

	if (tag.n == 0 || tag.n > TAG_MAX_BYTES)
		return false;
	for (i = 0; i < tag.n; i++) {
		c = tag.p[i];
		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			(c >= '0' && c <= '9') || c == '_' || c == '.' ||
			c == '-'))
			return false;
	}
	return true;
}

static enum request_status
refuse_verb(struct parser *ps, struct span word)
{
	enum verb_id id = verb_suggest(word.p, word.n);

	buf_adds(ps->why, "no command \"");
	text_add(ps->why, word, QUOTE_BYTES_MAX);
	buf_addc(ps->why, '"');
	if (id != VERB_MAX) {
		buf_adds(ps->why, ", did you mean ");
		buf_adds(ps->why, verbs[id].word);
		buf_addc(ps->why, '?');
	} else {
		buf_addc(ps->why, ';');
	}
	return refuse(ps, ERR_UNKNOWN_COMMAND, " HELP lists all");
}

/* The tag and the verb. */
static enum request_status
parse_head(struct parser *ps, const char *line, size_t n)
{
	struct request *r = ps->r;
	struct word w;

	if (!next_word(ps, &w))
		return REQUEST_EMPTY;
	if (w.text.p[0] == '@') {
		w.text.p++;
		w.text.n--;
		if (!is_tag(w.text))
			return refuse(ps, ERR_BAD_REQUEST,
			    "a tag is 1 to 16 of A-Z a-z 0-9 _ . -");
		r->tag = w.text;
		if (!next_word(ps, &w))
			return refuse(
			    ps, ERR_BAD_REQUEST, "no command after the tag");
	}
	r->verb = verb_find(w.text.p, w.text.n);
	/* No verb is an HTTP method, so only unknown words cost this search. */
	if (r->verb == VERB_MAX && r->tag.n == 0 && is_http(w.text))
		return REQUEST_HTTP;
	if (has_control(line, n))
		return refuse(ps, ERR_BAD_REQUEST,
		    "the line contains a control character");
	if (r->verb == VERB_MAX)
		return refuse_verb(ps, w.text);
	ps->v = &verbs[r->verb];
	return REQUEST_OK;
}

static bool
is_given_name(const struct request *r, struct span name)
{
	unsigned i;

	for (i = 0; i < r->nwords; i++)
		if (span_same(r->words[i], name))
			return true;
	return false;
}

static enum request_status
parse_positional(struct parser *ps, struct span word)
{
	struct request *r = ps->r;
	const char *wrong;

	if (r->given != 0)
		return refuse_usage(ps, "a word after an option");
	if (r->nwords == ps->v->words_max && r->nwords == NAMES_MAX)
		return refuse(ps, ERR_LIMIT, "too many names in one request");
	if (r->nwords == ps->v->words_max)
		return refuse_usage(ps, "too many words");
	if (ps->v->kind == VERB_WORDS_NAMES) {
		wrong = text_name_why(word, NAME_MAX_BYTES);
		if (wrong != NULL)
			return refuse_quoting(
			    ps, ERR_BAD_NAME, "the name", word, wrong);
		if (is_given_name(r, word))
			return refuse_quoting(ps, ERR_BAD_REQUEST, "the name",
			    word, "is given twice");
	}
	r->words[r->nwords++] = word;
	return REQUEST_OK;
}

static enum request_status
parse_option(struct parser *ps, const struct word *w)
{
	struct request *r = ps->r;
	struct span key = { w->text.p, (size_t)(w->eq - w->text.p) };
	struct span value = { w->eq + 1, w->text.n - key.n - 1 };
	enum option_id id = option_find(key.p, key.n);
	uint32_t bit;

	if (id == OPTION_MAX)
		return refuse_quoting(
		    ps, ERR_BAD_OPTION, "the option", key, "does not exist");
	bit = UINT32_C(1) << id;
	if (!(ps->v->options & bit)) {
		buf_adds(ps->why, ps->v->word);
		buf_adds(ps->why, " takes no option ");
		return refuse(ps, ERR_BAD_OPTION, options[id].key);
	}
	if (r->given & bit) {
		buf_adds(ps->why, options[id].key);
		return refuse(ps, ERR_BAD_OPTION, "= is given twice");
	}
	if (!value_parse(id, value, &r->num[id], &r->str[id], ps->why))
		return refuse(ps, ERR_BAD_OPTION, "");
	r->given |= bit;
	return REQUEST_OK;
}

/* Checks what can be checked only when all words are known. */
static enum request_status
parse_end(struct parser *ps)
{
	const struct request *r = ps->r;

	if (r->nwords < ps->v->words_min)
		return refuse_usage(ps, "a word is missing");
	if ((r->given & ps->v->required) != ps->v->required)
		return refuse_usage(ps, "an option is missing");
	if (request_has(r, OPTION_PERMITS) && request_has(r, OPTION_LIMIT) &&
	    r->num[OPTION_PERMITS] > r->num[OPTION_LIMIT])
		return refuse(
		    ps, ERR_BAD_OPTION, "permits= is more than limit=");
	return REQUEST_OK;
}

/* Takes a word that follows the verb. */
static enum request_status
parse_word(struct parser *ps, const struct word *w)
{
	bool raw =
	    ps->v->kind == VERB_WORDS_RAW && ps->r->nwords < ps->v->words_max;

	return w->eq != NULL && !raw ? parse_option(ps, w)
				     : parse_positional(ps, w->text);
}

void
request_init(struct request *r)
{
	r->tag = (struct span){ NULL, 0 };
	r->verb = VERB_MAX;
	r->nwords = 0;
	r->given = 0;
	memset(r->num, 0, sizeof(r->num));
	memset(r->str, 0, sizeof(r->str));
}

enum request_status
request_parse(struct request *r, const char *line, size_t n,
    enum err_code *code, struct buf *why)
{
	struct parser ps = { r, NULL, line, line + n, code, why };
	enum request_status status;
	struct word w;

	request_init(r);
	status = parse_head(&ps, line, n);
	while (status == REQUEST_OK && next_word(&ps, &w))
		status = parse_word(&ps, &w);
	return status == REQUEST_OK ? parse_end(&ps) : status;
}

enum request_status
request_parse_words(struct request *r, enum verb_id verb,
    const struct span *words, unsigned n, enum err_code *code, struct buf *why)
{
	struct parser ps = { r, &verbs[verb], NULL, NULL, code, why };
	enum request_status status = REQUEST_OK;
	struct word w;
	unsigned i;

	request_init(r);
	r->verb = verb;
	for (i = 0; i < n && status == REQUEST_OK; i++) {
		w.text = words[i];
		w.eq = NULL;
		if (w.text.n > 0)
			w.eq = memchr(w.text.p, '=', w.text.n);
		/* For a name, the fault is reported as one of the name. */
		if ((w.eq != NULL || ps.v->kind != VERB_WORDS_NAMES) &&
		    has_control(w.text.p, w.text.n))
			return refuse(&ps, ERR_BAD_REQUEST,
			    "a word contains a control character");
		status = parse_word(&ps, &w);
	}
	return status == REQUEST_OK ? parse_end(&ps) : status;
}
