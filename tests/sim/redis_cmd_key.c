/*
 * Commands of the model of Redis on any key, on strings and on hashes, and
 * commands on the server itself.
 */
#include "config.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"
#include "redis_db.h"

static struct text
item_text(const struct redis_item *item)
{
	return (struct text){ item->text, item->len };
}

static struct text
item_value(const struct redis_item *item)
{
	return (struct text){ item->value, item->value_len };
}

static redisReply *
cmd_get(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);

	(void)argc;
	if (key == NULL)
		return answer_nil();
	if (key->type != REDIS_STRING)
		return answer_wrongtype();
	return answer_bytes(item_text(&key->items[0]));
}

/* What the words after SET key value ask for. */
struct set_options {
	bool nx, xx, keepttl, get;
	int64_t end_ms; /* -1: never */
};

/* One word, or a word and a number.  Returns an error or NULL. */
static redisReply *
set_option(const struct redis_db *db, struct set_options *o, int argc,
    const struct text *argv, int *i)
{
	struct text word = argv[*i];
	long long n;
	bool relative, seconds;

	o->nx |= text_is(word, "NX");
	o->xx |= text_is(word, "XX");
	o->get |= text_is(word, "GET");
	o->keepttl |= text_is(word, "KEEPTTL");
	if (text_is(word, "NX") || text_is(word, "XX") ||
	    text_is(word, "GET") || text_is(word, "KEEPTTL"))
		return NULL;
	relative = text_is(word, "PX") || text_is(word, "EX");
	seconds = text_is(word, "EX") || text_is(word, "EXAT");
	if (!relative && !text_is(word, "PXAT") && !text_is(word, "EXAT"))
		return answer_syntax();
	if (++*i >= argc || o->end_ms >= 0)
		return answer_syntax();
	if (!text_int(argv[*i], &n))
		return answer_not_int();
	if (n <= 0 || (seconds && n > LLONG_MAX / 1000))
		return answer_error("ERR invalid expire time in 'set' command");
	o->end_ms = seconds ? n * 1000 : n;
	if (relative)
		o->end_ms += db->now_us / 1000;
	return NULL;
}

static void
string_set(struct redis_db *db, struct text name, struct text value)
{
	struct redis_key *key = redis_db_find(db, name);
	char *copy = xstrndup(value.p, value.len);

	if (key != NULL)
		redis_db_delete(db, key);
	key = redis_db_make(db, name, REDIS_STRING);
	redis_key_insert(key, 0, (struct text){ copy, value.len }, NULL, 0);
	free(copy);
}

static redisReply *
cmd_set(struct redis_db *db, int argc, const struct text *argv)
{
	struct set_options o = { .end_ms = -1 };
	struct redis_key *key;
	redisReply *old;
	int i;

	for (i = 3; i < argc; i++) {
		redisReply *fault = set_option(db, &o, argc, argv, &i);

		if (fault != NULL)
			return fault;
	}
	if ((o.nx && o.xx) || (o.keepttl && o.end_ms >= 0))
		return answer_syntax();
	key = redis_db_find(db, argv[1]);
	if (o.get && key != NULL && key->type != REDIS_STRING)
		return answer_wrongtype();
	old = o.get && key != NULL ? answer_bytes(item_text(key->items))
				   : answer_nil();
	if ((o.nx && key != NULL) || (o.xx && key == NULL))
		return old;
	if (o.keepttl && key != NULL)
		o.end_ms = key->end_ms;
	string_set(db, argv[1], argv[2]);
	redis_db_find(db, argv[1])->end_ms = o.end_ms;
	if (o.get)
		return old;
	answer_free(old);
	return answer_status("OK");
}

static redisReply *
cmd_del(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key;
	int i, n = 0;

	for (i = 1; i < argc; i++) {
		key = redis_db_find(db, argv[i]);
		if (key == NULL)
			continue;
		redis_db_delete(db, key);
		n++;
	}
	return answer_int(n);
}

static redisReply *
cmd_exists(struct redis_db *db, int argc, const struct text *argv)
{
	int i, n = 0;

	for (i = 1; i < argc; i++)
		n += redis_db_find(db, argv[i]) != NULL;
	return answer_int(n);
}

/* A value that is no string is nil. */
static redisReply *
cmd_mget(struct redis_db *db, int argc, const struct text *argv)
{
	redisReply *reply = answer_array((size_t)argc - 1);
	const struct redis_key *key;
	int i;

	for (i = 1; i < argc; i++) {
		key = redis_db_find(db, argv[i]);
		reply->element[i - 1] =
		    key != NULL && key->type == REDIS_STRING
			? answer_bytes(item_text(&key->items[0]))
			: answer_nil();
	}
	return reply;
}

static redisReply *
expire_at(struct redis_db *db, struct text name, long long at_ms)
{
	struct redis_key *key = redis_db_find(db, name);

	if (key == NULL)
		return answer_int(0);
	if (at_ms <= db->now_us / 1000)
		redis_db_delete(db, key);
	else
		key->end_ms = at_ms;
	return answer_int(1);
}

static redisReply *
cmd_pexpire(struct redis_db *db, int argc, const struct text *argv)
{
	long long n;

	(void)argc;
	if (!text_int(argv[2], &n))
		return answer_not_int();
	return expire_at(db, argv[1], db->now_us / 1000 + n);
}

static redisReply *
cmd_pexpireat(struct redis_db *db, int argc, const struct text *argv)
{
	long long n;

	(void)argc;
	if (!text_int(argv[2], &n))
		return answer_not_int();
	return expire_at(db, argv[1], n);
}

static redisReply *
cmd_pttl(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);

	(void)argc;
	if (key == NULL)
		return answer_int(-2);
	if (key->end_ms < 0)
		return answer_int(-1);
	return answer_int(key->end_ms - db->now_us / 1000);
}

static redisReply *
cmd_persist(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key = redis_db_find(db, argv[1]);

	(void)argc;
	if (key == NULL || key->end_ms < 0)
		return answer_int(0);
	key->end_ms = -1;
	return answer_int(1);
}

static redisReply *
cmd_type(struct redis_db *db, int argc, const struct text *argv)
{
	static const char *const names[] = { "string", "hash", "list", "zset" };
	const struct redis_key *key = redis_db_find(db, argv[1]);

	(void)argc;
	return answer_status(key != NULL ? names[key->type] : "none");
}

static redisReply *
increase(struct redis_db *db, struct text name, long long by)
{
	struct redis_key *key = redis_db_find(db, name);
	long long n = 0;
	int64_t end_ms = -1;
	char text[32];
	int len;

	if (key != NULL && key->type != REDIS_STRING)
		return answer_wrongtype();
	if (key != NULL && !text_int(item_text(&key->items[0]), &n))
		return answer_not_int();
	if (__builtin_add_overflow(n, by, &n))
		return answer_error("ERR increment or decrement would "
				    "overflow");
	if (key != NULL)
		end_ms = key->end_ms;
	len = snprintf(text, sizeof(text), "%lld", n);
	string_set(db, name, (struct text){ text, (size_t)len });
	redis_db_find(db, name)->end_ms = end_ms;
	return answer_int(n);
}

static redisReply *
cmd_incr(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	return increase(db, argv[1], 1);
}

static redisReply *
cmd_incrby(struct redis_db *db, int argc, const struct text *argv)
{
	long long n;

	(void)argc;
	if (!text_int(argv[2], &n))
		return answer_not_int();
	return increase(db, argv[1], n);
}

/* Hashes. */

static redisReply *
cmd_hset(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key;
	int i, made = 0;
	size_t at;

	if (argc % 2 != 0)
		return answer_error(
		    "ERR wrong number of arguments for 'hset' command");
	key = redis_db_make(db, argv[1], REDIS_HASH);
	if (key->type != REDIS_HASH)
		return answer_wrongtype();
	for (i = 2; i < argc; i += 2) {
		at = redis_key_index(key, argv[i]);
		if (at < key->n) {
			redis_key_set_value(key, at, argv[i + 1]);
			continue;
		}
		redis_key_insert(key, key->n, argv[i], &argv[i + 1], 0);
		made++;
	}
	return answer_int(made);
}

static redisReply *
hash_field(const struct redis_key *key, struct text field)
{
	size_t at;

	if (key == NULL)
		return answer_nil();
	at = redis_key_index(key, field);
	if (at == key->n)
		return answer_nil();
	return answer_bytes(item_value(&key->items[at]));
}

static redisReply *
cmd_hget(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);

	(void)argc;
	if (key != NULL && key->type != REDIS_HASH)
		return answer_wrongtype();
	return hash_field(key, argv[2]);
}

static redisReply *
cmd_hmget(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	redisReply *reply;
	int i;

	if (key != NULL && key->type != REDIS_HASH)
		return answer_wrongtype();
	reply = answer_array((size_t)argc - 2);
	for (i = 2; i < argc; i++)
		reply->element[i - 2] = hash_field(key, argv[i]);
	return reply;
}

static redisReply *
cmd_hdel(struct redis_db *db, int argc, const struct text *argv)
{
	return redis_remove_items(db, argc, argv, REDIS_HASH);
}

static redisReply *
cmd_hlen(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	return redis_count_items(db, argv, REDIS_HASH);
}

static redisReply *
cmd_hgetall(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);
	redisReply *reply;
	size_t i;

	(void)argc;
	if (key == NULL)
		return answer_array(0);
	if (key->type != REDIS_HASH)
		return answer_wrongtype();
	reply = answer_array(key->n * 2);
	for (i = 0; i < key->n; i++) {
		reply->element[2 * i] = answer_bytes(item_text(&key->items[i]));
		reply->element[2 * i + 1] =
		    answer_bytes(item_value(&key->items[i]));
	}
	return reply;
}

static redisReply *
cmd_hexists(struct redis_db *db, int argc, const struct text *argv)
{
	const struct redis_key *key = redis_db_find(db, argv[1]);

	(void)argc;
	if (key != NULL && key->type != REDIS_HASH)
		return answer_wrongtype();
	return answer_int(
	    key != NULL && redis_key_index(key, argv[2]) < key->n);
}

static redisReply *
cmd_hincrby(struct redis_db *db, int argc, const struct text *argv)
{
	struct redis_key *key = redis_db_find(db, argv[1]);
	long long n = 0, by;
	struct text value;
	char text[32];
	size_t at;

	(void)argc;
	if (!text_int(argv[3], &by))
		return answer_not_int();
	if (key != NULL && key->type != REDIS_HASH)
		return answer_wrongtype();
	if (key == NULL)
		key = redis_db_make(db, argv[1], REDIS_HASH);
	at = redis_key_index(key, argv[2]);
	if (at < key->n && !text_int(item_value(&key->items[at]), &n))
		return answer_error("ERR hash value is not an integer");
	n += by;
	value.p = text;
	value.len = (size_t)snprintf(text, sizeof(text), "%lld", n);
	if (at < key->n)
		redis_key_set_value(key, at, value);
	else
		redis_key_insert(key, key->n, argv[2], &value, 0);
	return answer_int(n);
}

/* The server. */

static redisReply *
cmd_publish(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	if (db->publish == NULL)
		return answer_int(0);
	return answer_int(db->publish(db->arg, argv[1], argv[2]));
}

/* Every script calls these two, so they do without snprintf(). */
static redisReply *
answer_digits(int64_t n)
{
	char text[24], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	return answer_text(p, (size_t)(text + sizeof(text) - p));
}

static redisReply *
cmd_time(struct redis_db *db, int argc, const struct text *argv)
{
	redisReply *reply = answer_array(2);

	(void)argc;
	(void)argv;
	assert(db->now_us >= 0);
	reply->element[0] = answer_digits(db->now_us / 1000000);
	reply->element[1] = answer_digits(db->now_us % 1000000);
	return reply;
}

static redisReply *
cmd_info(struct redis_db *db, int argc, const struct text *argv)
{
	char text[512], *end;

	(void)argc;
	(void)argv;
	end = stpcpy(text, "# Replication\r\nrole:");
	end = stpcpy(end, db->master ? "master" : "slave");
	end =
	    stpcpy(end, "\r\nconnected_slaves:0\r\n"
			"master_failover_state:no-failover\r\nmaster_replid:");
	end = stpcpy(end, db->replid);
	end = stpcpy(end,
	    "\r\nmaster_replid2:0000000000000000000000000000000000000000\r\n"
	    "master_repl_offset:0\r\nsecond_repl_offset:-1\r\n"
	    "repl_backlog_active:0\r\n");
	return answer_text(text, (size_t)(end - text));
}

/* All keys, in the order in which they came; who asks looks at their names. */
static redisReply *
answer_keys(const struct redis_db *db)
{
	const struct redis_key *key;
	redisReply *reply;
	size_t n = 0;

	TAILQ_FOREACH (key, &db->keys, in_all)
		n++;
	reply = answer_array(n);
	n = 0;
	TAILQ_FOREACH (key, &db->keys, in_all)
		reply->element[n++] = answer_text(key->name, key->name_len);
	return reply;
}

/* SCAN with MATCH and COUNT, which are hints to this model: it tells all at
 * once. */
static redisReply *
cmd_scan(struct redis_db *db, int argc, const struct text *argv)
{
	redisReply *reply = answer_array(2);

	(void)argc;
	(void)argv;
	reply->element[0] = answer_text("0", 1);
	reply->element[1] = answer_keys(db);
	return reply;
}

/* CLUSTER KEYSLOT and GETKEYSINSLOT: all keys are in one slot. */
static redisReply *
cmd_cluster(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	if (text_is(argv[1], "KEYSLOT"))
		return answer_int(0);
	return answer_keys(db);
}

static redisReply *
cmd_flushall(struct redis_db *db, int argc, const struct text *argv)
{
	(void)argc;
	(void)argv;
	redis_db_clear(db);
	return answer_status("OK");
}

const struct redis_command redis_key_commands[] = {
	{ "GET", 2, cmd_get, 0 },
	{ "SET", -3, cmd_set, REDIS_WRITE | REDIS_DENY_OOM },
	{ "DEL", -2, cmd_del, REDIS_WRITE },
	{ "UNLINK", -2, cmd_del, REDIS_WRITE },
	{ "MGET", -2, cmd_mget, 0 },
	{ "EXISTS", -2, cmd_exists, 0 },
	{ "PEXPIRE", 3, cmd_pexpire, REDIS_WRITE },
	{ "PEXPIREAT", 3, cmd_pexpireat, REDIS_WRITE },
	{ "PTTL", 2, cmd_pttl, 0 },
	{ "PERSIST", 2, cmd_persist, REDIS_WRITE },
	{ "TYPE", 2, cmd_type, 0 },
	{ "INCR", 2, cmd_incr, REDIS_WRITE | REDIS_DENY_OOM },
	{ "INCRBY", 3, cmd_incrby, REDIS_WRITE | REDIS_DENY_OOM },
	{ "HSET", -4, cmd_hset, REDIS_WRITE | REDIS_DENY_OOM },
	{ "HGET", 3, cmd_hget, 0 },
	{ "HMGET", -3, cmd_hmget, 0 },
	{ "HDEL", -3, cmd_hdel, REDIS_WRITE },
	{ "HGETALL", 2, cmd_hgetall, 0 },
	{ "HLEN", 2, cmd_hlen, 0 },
	{ "HEXISTS", 3, cmd_hexists, 0 },
	{ "HINCRBY", 4, cmd_hincrby, REDIS_WRITE | REDIS_DENY_OOM },
	{ "PUBLISH", 3, cmd_publish, 0 },
	{ "TIME", 1, cmd_time, 0 },
	{ "INFO", -1, cmd_info, 0 },
	{ "SCAN", -2, cmd_scan, 0 },
	{ "CLUSTER", -3, cmd_cluster, 0 },
	{ "FLUSHALL", -1, cmd_flushall, REDIS_WRITE | REDIS_NO_SCRIPT },
	{ NULL, 0, NULL, 0 },
};
