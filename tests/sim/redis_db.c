/*
 * Keys and items of the model of Redis, and the look-up of commands.  A key
 * ends lazily, by the server's clock, as soon as something asks for it, which
 * is also all that a script could see of Redis' own way.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/xmalloc.h"

#include "answer.h"
#include "redis_db.h"

#define FOUND_MAX 64 /* commands that are remembered */

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct redis_key *key =
	    container_of_const(link, struct redis_key, by_name);

	*len = key->name_len;
	return key->name;
}

void
redis_db_put(struct redis_db *db, struct redis_key *key)
{
	table_add(&db->by_name, &key->by_name);
	TAILQ_INSERT_TAIL(&db->keys, key, in_all);
}

void
redis_db_take(struct redis_db *db, struct redis_key *key)
{
	table_remove(&db->by_name, &key->by_name);
	TAILQ_REMOVE(&db->keys, key, in_all);
}

void
redis_db_init(struct redis_db *db)
{
	memset(db, 0, sizeof(*db));
	table_init(&db->by_name, name_of);
	TAILQ_INIT(&db->keys);
	db->master = true;
}

static void
item_free(struct redis_item *item)
{
	free(item->text);
	free(item->value);
}

void
redis_db_delete(struct redis_db *db, struct redis_key *key)
{
	size_t i;

	redis_db_take(db, key);
	for (i = 0; i < key->n; i++)
		item_free(&key->items[i]);
	free(key->items);
	free(key);
}

void
redis_db_clear(struct redis_db *db)
{
	while (!TAILQ_EMPTY(&db->keys))
		redis_db_delete(db, TAILQ_FIRST(&db->keys));
	table_fini(&db->by_name);
}

void
redis_db_copy(struct redis_db *to, const struct redis_db *from)
{
	const struct redis_key *key;

	redis_db_clear(to);
	TAILQ_FOREACH (key, &from->keys, in_all)
		redis_db_put_copy(to, key);
}

static bool
key_ended(const struct redis_db *db, const struct redis_key *key)
{
	return key->end_ms >= 0 && db->now_us / 1000 > key->end_ms;
}

struct redis_key *
redis_db_find(struct redis_db *db, struct text name)
{
	struct table_link *link = table_find(&db->by_name, name.p, name.len);
	struct redis_key *key;

	if (link == NULL)
		return NULL;
	key = container_of(link, struct redis_key, by_name);
	if (key_ended(db, key)) {
		if (db->changed != NULL)
			db->changed(db->arg, 2,
			    (const struct text[]){ { "DEL", 3 }, name });
		redis_db_delete(db, key);
		return NULL;
	}
	return key;
}

struct redis_key *
redis_db_make(struct redis_db *db, struct text name, enum redis_type type)
{
	struct redis_key *key = redis_db_find(db, name);

	if (key != NULL)
		return key;
	key = xcalloc(1, sizeof(*key) + name.len + 1);
	memcpy(key->name, name.p, name.len);
	key->name_len = name.len;
	key->type = type;
	key->end_ms = -1;
	redis_db_put(db, key);
	return key;
}

void
redis_db_put_copy(struct redis_db *db, const struct redis_key *key)
{
	struct text name = { key->name, key->name_len }, value;
	struct table_link *link = table_find(&db->by_name, name.p, name.len);
	const struct redis_item *item;
	struct redis_key *copy;
	size_t i;

	if (link != NULL)
		redis_db_delete(
		    db, container_of(link, struct redis_key, by_name));
	copy = redis_db_make(db, name, key->type);
	copy->end_ms = key->end_ms;
	for (i = 0; i < key->n; i++) {
		item = &key->items[i];
		value = (struct text){ item->value, item->value_len };
		redis_key_insert(copy, i,
		    (struct text){ item->text, item->len },
		    item->value != NULL ? &value : NULL, item->score);
	}
}

void
redis_db_expire(struct redis_db *db)
{
	struct redis_key *key, *next;

	TAILQ_FOREACH_SAFE (key, &db->keys, in_all, next) {
		if (key_ended(db, key))
			redis_db_delete(db, key);
	}
}

void
redis_key_insert(struct redis_key *key, size_t at, struct text text,
    const struct text *value, double score)
{
	struct redis_item *item;

	assert(at <= key->n);
	if (key->n == key->size) {
		key->size = key->size > 0 ? key->size * 2 : 4;
		key->items =
		    xrealloc(key->items, key->size * sizeof(*key->items));
	}
	item = &key->items[at];
	memmove(item + 1, item, (key->n - at) * sizeof(*item));
	key->n++;
	memset(item, 0, sizeof(*item));
	item->text = xstrndup(text.p, text.len);
	item->len = text.len;
	item->score = score;
	if (value != NULL) {
		item->value = xstrndup(value->p, value->len);
		item->value_len = value->len;
	}
}

void
redis_key_remove(struct redis_key *key, size_t at)
{
	assert(at < key->n);
	item_free(&key->items[at]);
	key->n--;
	memmove(&key->items[at], &key->items[at + 1],
	    (key->n - at) * sizeof(key->items[0]));
}

size_t
redis_key_index(const struct redis_key *key, struct text text)
{
	size_t i;

	for (i = 0; i < key->n; i++)
		if (key->items[i].len == text.len &&
		    memcmp(key->items[i].text, text.p, text.len) == 0)
			return i;
	return key->n;
}

void
redis_key_set_value(struct redis_key *key, size_t at, struct text value)
{
	struct redis_item *item = &key->items[at];
	char *copy;

	/* Mostly it is a time, as long as the one before. */
	if (item->value_len == value.len) {
		memmove(item->value, value.p, value.len);
		return;
	}
	copy = xstrndup(value.p, value.len);
	free(item->value);
	item->value = copy;
	item->value_len = value.len;
}

bool
text_is(struct text text, const char *word)
{
	return strlen(word) == text.len &&
	       strncasecmp(text.p, word, text.len) == 0;
}

bool
text_int(struct text text, long long *out)
{
	char copy[32], *end;

	if (text.len == 0 || text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	if (copy[0] == ' ' || copy[0] == '+')
		return false;
	errno = 0;
	*out = strtoll(copy, &end, 10);
	return errno == 0 && *end == '\0';
}

bool
text_double(struct text text, double *out)
{
	char copy[64], *end;

	if (text.len == 0 || text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	*out = strtod(copy, &end);
	return *end == '\0' && !isnan(*out);
}

redisReply *
answer_bytes(struct text text)
{
	return answer_text(text.p, text.len);
}

redisReply *
answer_wrongtype(void)
{
	return answer_error("WRONGTYPE Operation against a key holding the "
			    "wrong kind of value");
}

redisReply *
answer_syntax(void)
{
	return answer_error("ERR syntax error");
}

redisReply *
answer_not_int(void)
{
	return answer_error("ERR value is not an integer or out of range");
}

redisReply *
answer_double(double d)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%.17g", d);

	return answer_text(text, (size_t)len);
}

static const struct redis_command *
search(struct text name)
{
	static const struct redis_command *const tables[] = {
		redis_key_commands, redis_list_commands, redis_zset_commands
	};
	const struct redis_command *c;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (c = tables[i]; c->name != NULL; c++)
			if (((name.p[0] ^ c->name[0]) & ~0x20) == 0 &&
			    text_is(name, c->name))
				return c;
	return NULL;
}

/* What was found is remembered, by some of its letters. */
const struct redis_command *
redis_command_find(struct text name)
{
	static const struct redis_command *found[FOUND_MAX];
	const struct redis_command **at = found;

	if (name.len > 1)
		at += ((uint8_t)name.p[0] + 7u * (uint8_t)name.p[1] +
			  11u * (uint8_t)name.p[name.len - 1] + name.len) %
		      FOUND_MAX;
	if (*at == NULL || !text_is(name, (*at)->name))
		*at = search(name);
	return *at;
}

/* The index of a number of milliseconds from now; 0: there is none. */
static int
relative_at(int argc, const struct text *argv)
{
	int i;

	if (text_is(argv[0], "PEXPIRE"))
		return 2;
	for (i = 3; i + 1 < argc && text_is(argv[0], "SET"); i++)
		if (text_is(argv[i], "PX"))
			return i + 1;
	return 0;
}

/*
 * Redis replicates what a command has done, and when: a key ends on a replica
 * when it would have ended on its master.
 */
static void
tell_change(struct redis_db *db, int argc, const struct text *argv)
{
	struct text words[REDIS_WORDS_MAX];
	char end[24];
	int at = relative_at(argc, argv), len;
	const struct redis_key *key;

	assert(argc <= REDIS_WORDS_MAX);
	memcpy(words, argv, (size_t)argc * sizeof(*argv));
	key = at > 0 ? redis_db_find(db, argv[1]) : NULL;
	if (key != NULL) {
		len =
		    snprintf(end, sizeof(end), "%lld", (long long)key->end_ms);
		words[at] = (struct text){ end, (size_t)len };
		if (text_is(argv[0], "SET"))
			words[at - 1] = (struct text){ "PXAT", 4 };
		else
			words[0] = (struct text){ "PEXPIREAT", 9 };
	} else if (at > 0) {
		words[0] = (struct text){ "DEL", 3 };
		argc = 2;
	}
	db->changed(db->arg, argc, words);
}

redisReply *
redis_db_execute(struct redis_db *db, const struct redis_command *c, int argc,
    const struct text *argv)
{
	redisReply *reply = c->run(db, argc, argv);

	if ((c->flags & REDIS_WRITE) && db->changed != NULL &&
	    reply->type != REDIS_REPLY_ERROR && reply->type != REDIS_REPLY_NIL)
		tell_change(db, argc, argv);
	return reply;
}

redisReply *
redis_db_run(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_command *c = redis_command_find(argv[0]);
	char text[128];

	if (c == NULL) {
		snprintf(text, sizeof(text), "ERR unknown command '%.*s'",
		    (int)(argv[0].len < 64 ? argv[0].len : 64), argv[0].p);
		return answer_error(text);
	}
	if (c->arity > 0 ? argc != c->arity : argc < -c->arity)
		return answer_error("ERR wrong number of arguments");
	return redis_db_execute(db, c, argc, argv);
}

redisReply *
redis_remove_items(struct redis_db *db, int argc, const struct text *argv,
    enum redis_type type)
{
	struct redis_key *key = redis_db_find(db, argv[1]);
	int i, n = 0;
	size_t at;

	if (key == NULL)
		return answer_int(0);
	if (key->type != type)
		return answer_wrongtype();
	for (i = 2; i < argc; i++) {
		at = redis_key_index(key, argv[i]);
		if (at == key->n)
			continue;
		redis_key_remove(key, at);
		n++;
	}
	if (key->n == 0)
		redis_db_delete(db, key);
	return answer_int(n);
}

redisReply *
redis_count_items(
    struct redis_db *db, const struct text *argv, enum redis_type type)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);

	if (key != NULL && key->type != type)
		return answer_wrongtype();
	return answer_int(key != NULL ? (long long)key->n : 0);
}
