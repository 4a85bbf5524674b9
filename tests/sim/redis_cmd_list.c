/*
 * Commands of the model of Redis on lists.  The first item is the left end.
 */
#include "config.h"

#include "answer.h"
#include "redis_db.h"

static redisReply *
push(struct redis_db *db, int argc, const struct text *argv, bool left)
{
	struct redis_key *key = redis_db_make(db, argv[1], REDIS_LIST);
	int i;

	if (key->type != REDIS_LIST)
		return answer_wrongtype();
	for (i = 2; i < argc; i++)
		redis_key_insert(key, left ? 0 : key->n, argv[i], NULL, 0);
	return answer_int((long long)key->n);
}

static redisReply *
cmd_lpush(struct redis_db *db, int argc, const struct text *argv)
{
	return push(db, argc, argv, true);
}

static redisReply *
cmd_rpush(struct redis_db *db, int argc, const struct text *argv)
{
	return push(db, argc, argv, false);
}

static redisReply *
item_answer(const struct redis_key *key, size_t at)
{
	return answer_text(key->items[at].text, key->items[at].len);
}

static redisReply *
pop_one(struct redis_key *key, bool left)
{
	size_t at = left ? 0 : key->n - 1;
	redisReply *reply = item_answer(key, at);

	redis_key_remove(key, at);
	return reply;
}

static redisReply *
pop(struct redis_db *db, int argc, const struct text *argv, bool left)
{
	struct redis_key *key = redis_db_find(db, argv[1]);
	redisReply *reply;
	long long count = 1;
	size_t i;

	if (argc > 3)
		return answer_error("ERR wrong number of arguments");
	if (argc == 3 && (!text_int(argv[2], &count) || count < 0))
		return answer_error("ERR value is out of range, must be "
				    "positive");
	if (key == NULL)
		return answer_nil();
	if (key->type != REDIS_LIST)
		return answer_wrongtype();
	if ((size_t)count > key->n)
		count = (long long)key->n;
	if (argc == 2) {
		reply = pop_one(key, left);
	} else {
		reply = answer_array((size_t)count);
		for (i = 0; i < (size_t)count; i++)
			reply->element[i] = pop_one(key, left);
	}
	if (key->n == 0)
		redis_db_delete(db, key);
	return reply;
}

static redisReply *
cmd_lpop(struct redis_db *db, int argc, const struct text *argv)
{
	return pop(db, argc, argv, true);
}

static redisReply *
cmd_rpop(struct redis_db *db, int argc, const struct text *argv)
{
	return pop(db, argc, argv, false);
}

static redisReply *
cmd_llen(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	return redis_count_items(db, argv, REDIS_LIST);
}

static redisReply *
cmd_lindex(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	long long at;

	(void)argc;
	if (key != NULL && key->type != REDIS_LIST)
		return answer_wrongtype();
	if (!text_int(argv[2], &at))
		return answer_not_int();
	if (key == NULL)
		return answer_nil();
	if (at < 0)
		at += (long long)key->n;
	if (at < 0 || at >= (long long)key->n)
		return answer_nil();
	return item_answer(key, (size_t)at);
}

static redisReply *
cmd_lrange(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	long long from, to, n, i;
	redisReply *reply;

	(void)argc;
	if (!text_int(argv[2], &from) || !text_int(argv[3], &to))
		return answer_not_int();
	if (key != NULL && key->type != REDIS_LIST)
		return answer_wrongtype();
	n = key != NULL ? (long long)key->n : 0;
	from = from < 0 ? from + n : from;
	to = to < 0 ? to + n : to;
	from = from < 0 ? 0 : from;
	to = to >= n ? n - 1 : to;
	if (from > to)
		return answer_array(0);
	reply = answer_array((size_t)(to - from + 1));
	for (i = from; i <= to; i++)
		reply->element[i - from] = item_answer(key, (size_t)i);
	return reply;
}

static bool
item_is(const struct redis_key *key, size_t at, struct text text)
{
	const struct redis_item *item = &key->items[at];

	return item->len == text.len &&
	       __builtin_memcmp(item->text, text.p, text.len) == 0;
}

static redisReply *
cmd_lrem(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key = redis_db_find(db, argv[1]);
	long long count, removed = 0;
	size_t i, at;
	bool back;

	(void)argc;
	if (!text_int(argv[2], &count))
		return answer_not_int();
	if (key == NULL)
		return answer_int(0);
	if (key->type != REDIS_LIST)
		return answer_wrongtype();
	back = count < 0;
	count = back ? -count : count;
	for (i = 0; i < key->n && (count == 0 || removed < count);) {
		at = back ? key->n - 1 - i : i;
		if (!item_is(key, at, argv[3])) {
			i++;
			continue;
		}
		redis_key_remove(key, at);
		removed++;
	}
	if (key->n == 0)
		redis_db_delete(db, key);
	return answer_int(removed);
}

/* Without its options. */
static redisReply *
cmd_lpos(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	size_t at;

	(void)argc;
	if (key == NULL)
		return answer_nil();
	if (key->type != REDIS_LIST)
		return answer_wrongtype();
	at = redis_key_index(key, argv[2]);
	return at < key->n ? answer_int((long long)at) : answer_nil();
}

const struct redis_command redis_list_commands[] = {
	{ "LPUSH", -3, cmd_lpush, REDIS_WRITE | REDIS_DENY_OOM },
	{ "RPUSH", -3, cmd_rpush, REDIS_WRITE | REDIS_DENY_OOM },
	{ "LPOP", -2, cmd_lpop, REDIS_WRITE },
	{ "RPOP", -2, cmd_rpop, REDIS_WRITE },
	{ "LLEN", 2, cmd_llen, 0 },
	{ "LINDEX", 3, cmd_lindex, 0 },
	{ "LRANGE", 4, cmd_lrange, 0 },
	{ "LREM", 4, cmd_lrem, REDIS_WRITE },
	{ "LPOS", 3, cmd_lpos, 0 },
	{ NULL, 0, NULL, 0 },
};
