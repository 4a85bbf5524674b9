/*
 * The data of a model of Redis: keys with a type and an end, and the commands
 * on them that the scripts use, with the replies that Redis 7 would give.
 *
 * What a key holds is small here, so each type is one vector of items: the
 * only one of a string, fields of a hash (in order of insertion), elements of
 * a list, members of a sorted set (in order of score).
 */
#ifndef LOCKBROKER_SIM_REDIS_DB_H
#define LOCKBROKER_SIM_REDIS_DB_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/table.h"

#define REDIS_REPLID_LEN 40
#define REDIS_WORDS_MAX 512 /* of a command: adopt.lua reads 500 keys */

enum redis_type { REDIS_STRING, REDIS_HASH, REDIS_LIST, REDIS_ZSET };

/* Bytes that somebody else owns. */
struct text {
	const char *p;
	size_t len;
};

struct redis_item {
	char *text; /* owned */
	size_t len;
	char *value; /* owned; of a hash */
	size_t value_len;
	double score; /* of a sorted set */
};

/* One key.  Owned by its table; the name is part of the allocation. */
struct redis_key {
	enum redis_type type;
	int64_t end_ms; /* by the server's clock; -1: never */
	struct redis_item *items;
	size_t n, size;
	size_t name_len;
	struct table_link by_name;
	TAILQ_ENTRY(redis_key) in_all; /* in the order in which they came */
	char name[];
};

/* The number of those who got the message. */
typedef int publish_fn(void *arg, struct text channel, struct text message);

/* Told each change of the data, as a command that a replica can repeat:
 * times are absolute. */
typedef void change_fn(void *arg, int argc, const struct text *argv);

/* All of one server's data, and what commands need to know of the server. */
struct redis_db {
	struct table by_name;
	TAILQ_HEAD(, redis_key) keys;
	int64_t now_us; /* the server's clock */
	bool master;
	char replid[REDIS_REPLID_LEN + 1];
	publish_fn *publish;
	change_fn *changed; /* NULL: nobody repeats it */
	void *arg;
};

void redis_db_init(struct redis_db *db);
void redis_db_clear(struct redis_db *db);

/* Replaces what is in `to` by a copy. */
void redis_db_copy(struct redis_db *to, const struct redis_db *from);

/* The key, unless it does not exist or has ended. */
struct redis_key *redis_db_find(struct redis_db *db, struct text name);

/* The same, made where there is none. */
struct redis_key *redis_db_make(
    struct redis_db *db, struct text name, enum redis_type type);
void redis_db_delete(struct redis_db *db, struct redis_key *key);

/* Moves a key in, or out. */
void redis_db_put(struct redis_db *db, struct redis_key *key);
void redis_db_take(struct redis_db *db, struct redis_key *key);

/* Puts a copy of a key in, in place of one of that name. */
void redis_db_put_copy(struct redis_db *db, const struct redis_key *key);

/* Deletes what has ended. */
void redis_db_expire(struct redis_db *db);

/* Items.  A NULL value means none. */
void redis_key_insert(struct redis_key *key, size_t at, struct text text,
    const struct text *value, double score);
void redis_key_remove(struct redis_key *key, size_t at);

/* The index of the item, or key->n. */
size_t redis_key_index(const struct redis_key *key, struct text text);
void redis_key_set_value(struct redis_key *key, size_t at, struct text value);

/* One command. */
typedef redisReply *redis_fn(
    struct redis_db *db, int argc, const struct text *argv);

enum redis_command_flags {
	REDIS_WRITE = 1 << 0,
	REDIS_DENY_OOM = 1 << 1,
	REDIS_NO_SCRIPT = 1 << 2
};

struct redis_command {
	const char *name;
	int arity; /* with the name; negative: at least */
	redis_fn *run;
	unsigned flags;
};

/* The tables of commands; a NULL name ends each. */
extern const struct redis_command redis_key_commands[];
extern const struct redis_command redis_list_commands[];
extern const struct redis_command redis_zset_commands[];

const struct redis_command *redis_command_find(struct text name);

/* Runs it, and tells what it has changed. */
redisReply *redis_db_execute(struct redis_db *db, const struct redis_command *c,
    int argc, const struct text *argv);

/* Looks the command up, checks the number of arguments and runs it. */
redisReply *redis_db_run(
    struct redis_db *db, int argc, const struct text *argv);

/* What commands share. */
bool text_is(struct text text, const char *word); /* case-insensitive */
bool text_int(struct text text, long long *out);
bool text_double(struct text text, double *out);
redisReply *answer_bytes(struct text text);
redisReply *answer_wrongtype(void);
redisReply *answer_syntax(void);
redisReply *answer_not_int(void);
redisReply *answer_double(double d);

/* Removes the items that argv[2] and the words after it name; counts items. */
redisReply *redis_remove_items(struct redis_db *db, int argc,
    const struct text *argv, enum redis_type type);
redisReply *redis_count_items(
    struct redis_db *db, const struct text *argv, enum redis_type type);

#endif
