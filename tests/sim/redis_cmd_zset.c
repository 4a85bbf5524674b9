/*
 * Commands of the model of Redis on sorted sets.  Items stand in order of
 * score and, if scores are equal, of their bytes.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "redis_db.h"

enum zadd_flags {
	ZADD_NX = 1 << 0,
	ZADD_XX = 1 << 1,
	ZADD_GT = 1 << 2,
	ZADD_LT = 1 << 3,
	ZADD_CH = 1 << 4
};

static const struct {
	const char *word;
	unsigned flag;
} zadd_words[] = {
	{ "NX", ZADD_NX },
	{ "XX", ZADD_XX },
	{ "GT", ZADD_GT },
	{ "LT", ZADD_LT },
	{ "CH", ZADD_CH },
};

static bool
item_before(const struct redis_item *a, double score, struct text text)
{
	size_t n = a->len < text.len ? a->len : text.len;
	int order;

	if (a->score < score || a->score > score)
		return a->score < score;
	order = memcmp(a->text, text.p, n);
	return order != 0 ? order < 0 : a->len < text.len;
}

static void
zset_insert(struct redis_key *key, struct text text, double score)
{
	size_t at = 0;

	while (at < key->n && item_before(&key->items[at], score, text))
		at++;
	redis_key_insert(key, at, text, NULL, score);
}

/* Returns 1 if the member is new, 2 if its score changed, else 0. */
static int
zset_put(struct redis_key *key, struct text text, double score, unsigned flags)
{
	size_t at = redis_key_index(key, text);
	double old;

	if (at == key->n) {
		if (flags & ZADD_XX)
			return 0;
		zset_insert(key, text, score);
		return 1;
	}
	old = key->items[at].score;
	if ((flags & ZADD_NX) || ((flags & ZADD_GT) && score <= old) ||
	    ((flags & ZADD_LT) && score >= old))
		return 0;
	if (!(old < score) && !(old > score))
		return 0;
	redis_key_remove(key, at);
	zset_insert(key, text, score);
	return 2;
}

static unsigned
zadd_flag(struct text word)
{
	size_t i;

	for (i = 0; i < sizeof(zadd_words) / sizeof(zadd_words[0]); i++)
		if (text_is(word, zadd_words[i].word))
			return zadd_words[i].flag;
	return 0;
}

static redisReply *
cmd_zadd(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key;
	unsigned flags = 0, flag;
	int i = 2, j, n = 0, put;
	double score;

	for (; i < argc; i++) {
		flag = zadd_flag(argv[i]);
		if (flag == 0)
			break;
		flags |= flag;
	}
	if (i >= argc || (argc - i) % 2 != 0)
		return answer_syntax();
	for (j = i; j < argc; j += 2)
		if (!text_double(argv[j], &score))
			return answer_error("ERR value is not a valid float");
	key = redis_db_find(db, argv[1]);
	if (key != NULL && key->type != REDIS_ZSET)
		return answer_wrongtype();
	if (key == NULL && (flags & ZADD_XX))
		return answer_int(0);
	if (key == NULL)
		key = redis_db_make(db, argv[1], REDIS_ZSET);
	for (j = i; j < argc; j += 2) {
		text_double(argv[j], &score);
		put = zset_put(key, argv[j + 1], score, flags);
		n += put == 1 || (put == 2 && (flags & ZADD_CH));
	}
	return answer_int(n);
}

/* Items from..to (`to` not included), with their scores if asked for. */
static redisReply *
slice(const struct redis_key *key, size_t from, size_t to, bool scores)
{
	size_t step = scores ? 2 : 1, i;
	redisReply *reply = answer_array((to - from) * step);

	for (i = from; i < to; i++) {
		reply->element[(i - from) * step] =
		    answer_text(key->items[i].text, key->items[i].len);
		if (scores)
			reply->element[(i - from) * step + 1] =
			    answer_double(key->items[i].score);
	}
	return reply;
}

/* A bound of a range of scores: `5`, `(5`, `-inf`, `+inf`. */
struct bound {
	double score;
	bool open;
};

static bool
bound_parse(struct text text, struct bound *out)
{
	out->open = text.len > 0 && text.p[0] == '(';
	if (out->open) {
		text.p++;
		text.len--;
	}
	return text_double(text, &out->score);
}

/* The items of the range are from..to (`to` not included). */
static void
range_find(const struct redis_key *key, struct bound lo, struct bound hi,
    size_t *from, size_t *to)
{
	size_t i = 0;

	while (i < key->n && (lo.open ? key->items[i].score <= lo.score
				      : key->items[i].score < lo.score))
		i++;
	*from = i;
	while (i < key->n && (hi.open ? key->items[i].score < hi.score
				      : key->items[i].score <= hi.score))
		i++;
	*to = i;
}

/* WITHSCORES and LIMIT offset count. */
static bool
range_options(int argc, const struct text *argv, int i, bool *scores,
    long long *offset, long long *count)
{
	while (i < argc) {
		if (text_is(argv[i], "WITHSCORES")) {
			*scores = true;
			i++;
			continue;
		}
		if (!text_is(argv[i], "LIMIT") || i + 2 >= argc ||
		    !text_int(argv[i + 1], offset) ||
		    !text_int(argv[i + 2], count))
			return false;
		i += 3;
	}
	return true;
}

static redisReply *
cmd_zrangebyscore(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key;
	struct bound lo, hi;
	long long offset = 0, count = -1;
	size_t from, to;
	bool scores = false;

	if (!bound_parse(argv[2], &lo) || !bound_parse(argv[3], &hi))
		return answer_error("ERR min or max is not a float");
	if (!range_options(argc, argv, 4, &scores, &offset, &count))
		return answer_syntax();
	key = redis_db_find(db, argv[1]);
	if (key == NULL)
		return answer_array(0);
	if (key->type != REDIS_ZSET)
		return answer_wrongtype();
	range_find(key, lo, hi, &from, &to);
	if (offset < 0 || (size_t)offset >= to - from)
		return answer_array(0);
	from += (size_t)offset;
	if (count >= 0 && (size_t)count < to - from)
		to = from + (size_t)count;
	return slice(key, from, to, scores);
}

static redisReply *
cmd_zrange(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	long long from, to, n;
	bool scores = false;

	if (argc == 5)
		scores = text_is(argv[4], "WITHSCORES");
	if (argc > 5 || (argc == 5 && !scores))
		return answer_syntax();
	if (!text_int(argv[2], &from) || !text_int(argv[3], &to))
		return answer_not_int();
	if (key == NULL)
		return answer_array(0);
	if (key->type != REDIS_ZSET)
		return answer_wrongtype();
	n = (long long)key->n;
	from = from < 0 ? from + n : from;
	to = to < 0 ? to + n : to;
	from = from < 0 ? 0 : from;
	to = to >= n ? n - 1 : to;
	if (from > to)
		return answer_array(0);
	return slice(key, (size_t)from, (size_t)to + 1, scores);
}

static redisReply *
cmd_zrem(struct redis_db *db, int argc, const struct text *argv)
{
	return redis_remove_items(db, argc, argv, REDIS_ZSET);
}

static redisReply *
cmd_zcard(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	return redis_count_items(db, argv, REDIS_ZSET);
}

static redisReply *
cmd_zscore(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	size_t at;

	(void)argc;
	if (key == NULL)
		return answer_nil();
	if (key->type != REDIS_ZSET)
		return answer_wrongtype();
	at = redis_key_index(key, argv[2]);
	if (at == key->n)
		return answer_nil();
	return answer_double(key->items[at].score);
}

static redisReply *
cmd_zrank(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	size_t at;

	(void)argc;
	if (key == NULL)
		return answer_nil();
	if (key->type != REDIS_ZSET)
		return answer_wrongtype();
	at = redis_key_index(key, argv[2]);
	return at < key->n ? answer_int((long long)at) : answer_nil();
}

static redisReply *
cmd_zremrangebyscore(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key;
	struct bound lo, hi;
	size_t from, to, i;

	(void)argc;
	if (!bound_parse(argv[2], &lo) || !bound_parse(argv[3], &hi))
		return answer_error("ERR min or max is not a float");
	key = redis_db_find(db, argv[1]);
	if (key == NULL)
		return answer_int(0);
	if (key->type != REDIS_ZSET)
		return answer_wrongtype();
	range_find(key, lo, hi, &from, &to);
	for (i = from; i < to; i++)
		redis_key_remove(key, from);
	if (key->n == 0)
		redis_db_delete(db, key);
	return answer_int((long long)(to - from));
}

static redisReply *
cmd_zpopmin(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key = redis_db_find(db, argv[1]);
	redisReply *reply;

	if (argc > 2)
		return answer_syntax();
	if (key == NULL)
		return answer_array(0);
	if (key->type != REDIS_ZSET)
		return answer_wrongtype();
	reply = slice(key, 0, 1, true);
	redis_key_remove(key, 0);
	if (key->n == 0)
		redis_db_delete(db, key);
	return reply;
}

const struct redis_command redis_zset_commands[] = {
	{ "ZADD", -4, cmd_zadd, REDIS_WRITE | REDIS_DENY_OOM },
	{ "ZREM", -3, cmd_zrem, REDIS_WRITE },
	{ "ZRANGE", -4, cmd_zrange, 0 },
	{ "ZRANGEBYSCORE", -4, cmd_zrangebyscore, 0 },
	{ "ZSCORE", 3, cmd_zscore, 0 },
	{ "ZRANK", 3, cmd_zrank, 0 },
	{ "ZCARD", 2, cmd_zcard, 0 },
	{ "ZREMRANGEBYSCORE", 4, cmd_zremrangebyscore, REDIS_WRITE },
	{ "ZPOPMIN", -2, cmd_zpopmin, REDIS_WRITE },
	{ NULL, 0, NULL, 0 },
};
