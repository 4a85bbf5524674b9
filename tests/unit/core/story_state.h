/*
 * The state of a story that is being told, for story.c, which drives the core,
 * and for story_said.c, which writes what the core says.
 */
#ifndef LOCKBROKER_TESTS_UNIT_STORY_STATE_H
#define LOCKBROKER_TESTS_UNIT_STORY_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/core.h"

#define WORDS_MAX 24
#define FLIGHT_MAX 256
#define SHARDS_MAX 9
#define KEYS_MAX 16
#define SERVER_ZERO_MS INT64_C(1000000000)

/* An operation that has not been answered yet. */
struct flight {
	uint64_t id;
	int64_t sent_ms;
	enum op_kind kind;
	uint32_t shard;
	uint64_t need;
	char name[256];
};

/* The latest state of a shard's guard. */
struct said {
	char met[64]; /* what a note says; "": there is none */
	bool reported;
	struct guard_report report;
	char text[128];
	char history[HISTORY_BYTES + 1];
	char node[NODE_BYTES + 1];
	char set[SET_MAX_BYTES + 1];
	char open[8];
};

/* One story being told. */
struct story {
	struct core_config config;
	struct core *core; /* NULL until the first line that drives */
	struct effects fx;
	struct flight flights[FLIGHT_MAX];
	size_t nflights;
	int64_t now_ms;
	int64_t clock_ms; /* by how much the server's clock was moved */
	bool stamped;	  /* effects show their time */
	char warm_name[4], *warm_names; /* locks.warm_names: one pattern */
	int64_t away_ms; /* what heartbeats that ask for it are answered */
	struct said said[SHARDS_MAX];
	char keys[KEYS_MAX][128]; /* of sessions */
	uint64_t key_of;	  /* the one whose turn is next */
	struct buf *out;
	const char *words[WORDS_MAX];
	size_t nwords;
};

/* The story is malformed at this line: aborts. */
void story_fail(const struct story *st, const char *what)
    __attribute__((noreturn));

/* `10`, `10s`, or `forever`. */
int64_t story_number(const struct story *st, const char *s);

/* The id in the word at this place. */
uint64_t story_id(const struct story *st, size_t i);

/* The value of `key=` among the words, or NULL; and whether there is this
 * word. */
const char *story_option(const struct story *st, const char *key);
bool story_flag(const struct story *st, const char *word);

/* The same as a number. */
int64_t story_option_num(
    const struct story *st, const char *key, int64_t otherwise);

/* Runs a line `config` (story_config.c). */
void story_configure(struct story *st);

/* Lets the core make a step, and writes what it says. */
void story_step(struct story *st, struct core_event *ev);

/* Runs a line about token holds (story_token.c). */
void story_token(struct story *st);
void story_unheard(struct story *st);
void story_write_token(struct story *st, const struct effect *e);

/* Runs a line about sessions (story_session.c). */
void story_session(struct story *st);
void story_leave(struct story *st);
void story_stay(struct story *st);
void story_left(struct story *st);
void story_resume(struct story *st);
void story_user(struct story *st);
void story_has(struct story *st);
void story_write_key(struct story *st, const char *key, size_t len);

/* The text that answers a BROKERS: `,` is a space, `;` ends a line. */
#define LINES_MAX 512
const char *story_lines(char out[LINES_MAX], const char *text);

/* Begins a line of the core's output. */
void story_begin_line(struct story *st);

/* Writes everything that the core wants done, and keeps its operations. */
void story_write(struct story *st);

#endif
