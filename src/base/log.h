/*
 * The log: one line an event, `time level event key=value ...`.
 *
 * Event names are stable words (`lock-lost`, `redis-down`): people grep for
 * them.  Values that come from outside are quoted and escaped, so that a lock
 * name cannot forge a line.  This is the only global state of the program.
 *
 *	LOG(WARNING, "redis-down", LOG_S("node", node), LOG_N("retry_ms", ms));
 */
#ifndef LOCKBROKER_BASE_LOG_H
#define LOCKBROKER_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level {
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_INFO,
	LOG_LEVEL_NOTICE,
	LOG_LEVEL_WARNING,
	LOG_LEVEL_ERROR
};

enum log_target { LOG_TO_STDERR, LOG_TO_SYSLOG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* `log` of the configuration. */
struct log_settings {
	enum log_level level;
	enum log_target to;
	enum log_format format;
	bool audit; /* a line `lock-ended` for each lock that was held */
};

/* A value of a log line: a number, or bytes that the logger escapes. */
struct log_value {
	const char *key;
	const char *str; /* NULL: a number */
	size_t len;	 /* of str */
	int64_t num;
};

/* clang-format off */
#define LOG_S(key, s) { (key), log_string(s), log_strlen(s), 0 }
#define LOG_IF(key, s) \
	{ (s) != NULL ? (key) : NULL, log_string(s), log_strlen(s), 0 }
#define LOG_B(key, p, n) { (key), (p), (n), 0 }
#define LOG_N(key, n) { (key), NULL, 0, (int64_t)(n) }
/* clang-format on */

/* NULL is logged as an empty string; by LOG_IF, as a last value, not at all. */
const char *log_string(const char *s);
size_t log_strlen(const char *s);

/*
 * Before the first call, LOG_LEVEL_NOTICE and above go to stderr as text.  May
 * be called again after a reload of the configuration.
 */
void log_setup(const struct log_settings *settings);
bool log_enabled(enum log_level level);

/* From then on each line goes only to this function, and the strings are valid
 * until it returns. */
typedef void log_reader(void *arg, enum log_level level, const char *event,
    const struct log_value *values, size_t n);
void log_to(log_reader *reader, void *arg);

/* The number of bytes that could not be written and were dropped. */
uint64_t log_dropped(void);

/* The latest error, as "EVENT: VALUE" with its first value; "": none. */
const char *log_last_error(void);

/* Values at the end that have no key are dropped. */
void log_values(enum log_level level, const char *event,
    const struct log_value *values, size_t n);

/*
 * LOG(level, event, values ...); the values may be left out.  A dummy ends the
 * list, because C11 allows no empty list; log_values() drops it.
 */
#define LOG(...) LOG_LIST(__VA_ARGS__, { NULL, NULL, 0, 0 })

#define LOG_LIST(level, event, ...)                                        \
	do {                                                               \
		if (log_enabled(LOG_LEVEL_##level)) {                      \
			const struct log_value log_v_[] = { __VA_ARGS__ }; \
			log_values(LOG_LEVEL_##level, (event), log_v_,     \
			    sizeof(log_v_) / sizeof(log_v_[0]));           \
		}                                                          \
	} while (0)

#endif
