/*
 * Reads errors of Redis.
 *
 * A script may have carried something out before it raises an error.  Versions
 * report such errors in different ways:
 *
 *	6	ERR Error running script (call to f_SHA): @user_script:12:
 *		@user_script: 12: TEXT
 *	7	CODE TEXT script: SHA, on @user_script:12.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "store/refusal.h"

static const struct refusal refusals[] = {
#define REFUSAL(prefix, action, event, text) \
	{ prefix, sizeof(prefix) - 1, REFUSAL_##action, event, text },
	REFUSALS(REFUSAL)
#undef REFUSAL
};

static const struct refusal *
find(const char *words)
{
	size_t i, len = strlen(words);
	const struct refusal *r;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		r = &refusals[i];
		if (strncmp(words, r->prefix, r->prefix_len) == 0 &&
		    (len == r->prefix_len || words[r->prefix_len] == ' '))
			return r;
	}
	return NULL;
}

/* Leaves out what comes before the words of the error itself, if that arose in
 * a script; true: it did. */
static bool
skip_place(char *s)
{
	static const char place[] = "user_script";
	char *words = s, *at;

	while ((at = strstr(words, place)) != NULL) {
		words = at + sizeof(place) - 1;
		words += strspn(words, ": 0123456789");
	}
	memmove(s, words, strlen(words) + 1);
	return words != s;
}

/* Leaves out the digest of the script in which it arose; true: there is one. */
static bool
cut_digest(char *s)
{
	static const char before[] = " script: ";
	char *at = s;

	while ((at = strstr(at, before)) != NULL) {
		if (strspn(at + sizeof(before) - 1, "0123456789abcdef") == 40) {
			*at = '\0';
			return true;
		}
		at++;
	}
	return false;
}

bool
refusal_lacks(const struct refusal *refusal)
{
	return refusal->action == REFUSAL_LACKS ||
	       strcmp(refusal->event, "redis-noperm") == 0;
}

void
refusal_read(struct refused *r, const char *error, size_t len)
{
	char text[512];
	size_t i, n = len < sizeof(text) ? len : sizeof(text) - 1;
	char *words = text, *args;

	memcpy(text, error, n);
	text[n] = '\0';
	for (i = 0; i < n; i++)
		if (text[i] < ' ' || text[i] > '~')
			text[i] = '?';
	args = strstr(text, ", with args");
	if (args != NULL)
		*args = '\0';
	r->inside = cut_digest(text);
	r->inside = skip_place(text) || r->inside;
	r->refusal = find(words);
	if (r->refusal == NULL && strncmp(words, "ERR ", 4) == 0) {
		words += 4;
		r->refusal = find(words);
	}
	if (r->refusal != NULL && r->refusal->action == REFUSAL_LACKS)
		r->inside = true;
	snprintf(r->words, sizeof(r->words), "%.*s", REFUSAL_WORDS - 1, words);
}

void
refusal_text(const struct refused *r, char text[REFUSAL_TEXT])
{
	if (r->refusal == NULL)
		snprintf(text, REFUSAL_TEXT, "Redis refuses: %s", r->words);
	else
		snprintf(
		    text, REFUSAL_TEXT, "%s (%s)", r->refusal->text, r->words);
}
