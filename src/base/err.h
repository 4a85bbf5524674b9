/*
 * The error codes of the protocol, one list.
 *
 * ERROR(identifier, "word on the wire")
 */
#ifndef LOCKBROKER_BASE_ERR_H
#define LOCKBROKER_BASE_ERR_H

#define ERRORS(ERROR)                             \
	ERROR(UNKNOWN_COMMAND, "unknown-command") \
	ERROR(BAD_REQUEST, "bad-request")         \
	ERROR(BAD_NAME, "bad-name")               \
	ERROR(BAD_OPTION, "bad-option")           \
	ERROR(TOO_LONG, "too-long")               \
	ERROR(NOT_HELD, "not-held")               \
	ERROR(NOT_FOUND, "not-found")             \
	ERROR(LOST, "lost")                       \
	ERROR(DEADLOCK, "deadlock")               \
	ERROR(MISMATCH, "mismatch")               \
	ERROR(EXISTS, "exists")                   \
	ERROR(BROKEN, "broken")                   \
	ERROR(LIMIT, "limit")                     \
	ERROR(AUTH, "auth")                       \
	ERROR(DENIED, "denied")                   \
	ERROR(UNAVAILABLE, "unavailable")         \
	ERROR(UNSUPPORTED, "unsupported")         \
	ERROR(SHUTDOWN, "shutdown")               \
	ERROR(INTERNAL, "internal")

enum err_code {
	ERR_NONE = 0,
#define ERROR(id, word) ERR_##id,
	ERRORS(ERROR)
#undef ERROR
	    ERR_MAX
};

/* The word on the wire; "none" for ERR_NONE. */
const char *err_word(enum err_code code);

#endif
