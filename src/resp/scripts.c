/*
 * Recognizes scripts, and remembers some.
 *
 * A script is recognized by its sha1, which EVALSHA sends, or by its normal
 * form or its meaning, because libraries and programs write the same thing in
 * their own ways.  Form and meaning are computed once for a text: the broker
 * keeps the sha1s of some texts with the script that each turned out to be.
 * The oldest is replaced first; once a user has had its share, the oldest of
 * that user.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/xmalloc.h"
#include "resp/lua_form.h"
#include "resp/lua_meaning.h"
#include "resp/scripts.h"

#define REMEMBERED_MAX 256
#define SHARE_MAX 64 /* of one user */

/* The sha1 of the normal form of each script. */
static const char *const normals[SCRIPT_MAX] = {
#define TEXT(sha1, id, from)
#define FORM(id, text)
#define SCRIPT(id, normal, ...) [SCRIPT_##id] = normal,
#include "resp/scripts.def"
#undef SCRIPT
#undef FORM
#undef TEXT
};

/* The text of a script as some library sends it. */
static const struct text {
	const char *sha1;
	enum script_id id;
} texts[] = {
#define SCRIPT(id, ...)
#define FORM(id, text)
#define TEXT(sha1, id, from) { sha1, SCRIPT_##id },
#include "resp/scripts.def"
#undef TEXT
#undef FORM
#undef SCRIPT
};

/* Scripts that programs write themselves; their sums are computed at start. */
static const struct form {
	const char *text;
	enum script_id id;
} forms[] = {
#define SCRIPT(id, ...)
#define FORM(id, text) { text, SCRIPT_##id },
#define TEXT(sha1, id, from)
#include "resp/scripts.def"
#undef TEXT
#undef FORM
#undef SCRIPT
};

#define FORMS (sizeof(forms) / sizeof(forms[0]))

struct known {
	uint64_t seq; /* 0: an empty slot */
	struct sha1 sum;
	struct sha1 user; /* of its name */
	enum script_id id;
};

struct scripts {
	struct known known[REMEMBERED_MAX];
	const struct resp_scripts *more; /* NULL: none */
	struct sha1 forms[FORMS];
	uint64_t learnt; /* number of texts learnt so far */
};

/* Known texts. */

/* The tables have digits: one sum becomes digits, not each row a sum. */
static bool
same(const char hex[SHA1_HEX_SIZE], const char *row)
{
	return row != NULL && strcasecmp(hex, row) == 0;
}

/* The sum of the normal form.  Returns false if no form is certain. */
static bool
form_of(struct sha1 *sum, struct span text)
{
	struct buf form;
	bool sure;

	buf_init(&form);
	sure = lua_form(&form, text);
	sha1_of(sum, (struct span){ buf_data(&form), buf_len(&form) });
	buf_fini(&form);
	return sure;
}

/* The same of the meaning. */
static bool
meaning_of(struct sha1 *sum, struct span text, bool *computes)
{
	struct buf meaning;
	bool sure;

	buf_init(&meaning);
	sure = lua_meaning(&meaning, text, computes);
	sha1_of(sum, (struct span){ buf_data(&meaning), buf_len(&meaning) });
	buf_fini(&meaning);
	return sure;
}

static enum script_id
by_normal_form(struct span text)
{
	char hex[SHA1_HEX_SIZE];
	struct sha1 sum;
	size_t i;

	if (!form_of(&sum, text))
		return SCRIPT_MAX;
	sha1_hex(&sum, hex);
	for (i = 0; i < SCRIPT_MAX; i++)
		if (same(hex, normals[i]))
			return (enum script_id)i;
	return SCRIPT_MAX;
}

static enum script_id
by_meaning(const struct scripts *s, struct span text)
{
	bool computes = false;
	struct sha1 sum;
	size_t i;

	if (!meaning_of(&sum, text, &computes))
		return SCRIPT_MAX;
	for (i = 0; i < FORMS; i++)
		if (memcmp(sum.v, s->forms[i].v, SHA1_BYTES) == 0)
			return forms[i].id + (enum script_id)computes;
	return SCRIPT_MAX;
}

static enum script_id
by_text(const struct scripts *s, struct span text)
{
	enum script_id id = by_normal_form(text);

	return id != SCRIPT_MAX ? id : by_meaning(s, text);
}

/* In the order of scripts.def. */
static const struct {
	const char *word;
	enum script_id id;
} meanings[] = {
	{ "acquire", SCRIPT_AS_ACQUIRE },
	{ "release", SCRIPT_AS_RELEASE },
	{ "extend", SCRIPT_AS_EXTEND },
	{ "query", SCRIPT_AS_QUERY },
};

static enum script_id
by_configuration(const struct scripts *s, const char hex[SHA1_HEX_SIZE])
{
	size_t i, k, n = s->more != NULL ? s->more->n : 0;

	for (i = 0; i < n; i++)
		for (k = 0; k < sizeof(meanings) / sizeof(meanings[0]) &&
			    same(hex, s->more->v[i].sha1);
		     k++)
			if (strcmp(s->more->v[i].as, meanings[k].word) == 0)
				return meanings[k].id;
	return SCRIPT_MAX;
}

void
scripts_configure(struct scripts *s, const struct resp_scripts *more)
{
	s->more = more;
}

static const struct known *
find(const struct scripts *s, const struct sha1 *sum)
{
	unsigned i;

	for (i = 0; i < REMEMBERED_MAX; i++)
		if (s->known[i].seq > 0 && sha1_same(&s->known[i].sum, sum))
			return &s->known[i];
	return NULL;
}

/* Returns the slot for one more text: an empty one, or the oldest; once the
 * user has its share, the oldest of this user. */
static struct known *
place_for(struct scripts *s, const struct sha1 *user)
{
	struct known *oldest = &s->known[0], *own = NULL, *k;
	unsigned n = 0;

	for (k = s->known; k < s->known + REMEMBERED_MAX; k++) {
		if (k->seq < oldest->seq)
			oldest = k;
		if (k->seq == 0 || !sha1_same(&k->user, user))
			continue;
		n++;
		if (own == NULL || k->seq < own->seq)
			own = k;
	}
	return oldest->seq == 0 || n < SHARE_MAX ? oldest : own;
}

bool
scripts_find(
    const struct scripts *s, const struct sha1 *sum, enum script_id *id)
{
	const struct known *k = find(s, sum);
	char hex[SHA1_HEX_SIZE];
	unsigned i;

	*id = SCRIPT_MAX;
	sha1_hex(sum, hex);
	if (k != NULL)
		*id = k->id;
	for (i = 0; k == NULL && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (same(hex, texts[i].sha1))
			*id = texts[i].id;
	if (*id == SCRIPT_MAX)
		*id = by_configuration(s, hex);
	return *id != SCRIPT_MAX;
}

enum script_id
scripts_learn(struct scripts *s, struct span user, struct span text,
    struct sha1 *sum, bool *news)
{
	const struct known *k;
	struct known *place;
	enum script_id id;
	struct sha1 of;

	*news = false;
	sha1_of(sum, text);
	if (scripts_find(s, sum, &id))
		return id;
	k = find(s, sum);
	if (k != NULL)
		return k->id;
	*news = true;
	sha1_of(&of, user);
	place = place_for(s, &of);
	*place = (struct known){ ++s->learnt, *sum, of, by_text(s, text) };
	return place->id;
}

struct scripts *
scripts_new(void)
{
	struct scripts *s = xcalloc(1, sizeof(*s));
	bool sure, computes;
	size_t i;

	for (i = 0; i < FORMS; i++) {
		sure =
		    meaning_of(&s->forms[i], span_of(forms[i].text), &computes);
		assert(sure);
		(void)sure;
	}
	return s;
}

void
scripts_free(struct scripts *s)
{
	free(s);
}
