/*
 * Descriptors that one process of the broker hands to the next.  They stand
 * behind the standard streams, as those of systemd do, and a variable of the
 * environment says what each is:
 *
 *	LOCKBROKER_HANDED=1:channel,lines,lines*,http,passed
 *
 * 1 is the version, and an asterisk stands behind a socket whose place was
 * configured with port 0: the kernel has chosen its port.
 */
#ifndef LOCKBROKER_BASE_HANDED_H
#define LOCKBROKER_BASE_HANDED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* clang-format off */
#define HANDED_KINDS(KIND) \
	KIND(CHANNEL, "channel") /* to the process that hands over */ \
	KIND(LEAVING, "leaving") /* to one that it has replaced itself */ \
	KIND(REDIS, "redis")     /* what keeps an embedded Redis alive */ \
	KIND(REDIS_DATA, "redis-data") /* the lock of its data */ \
	KIND(PASSED, "passed")   /* a socket of the service manager */ \
	KIND(LINES, "lines")     /* listening sockets, by what they speak */ \
	KIND(TLS, "tls") \
	KIND(HTTP, "http")
/* clang-format on */

enum handed_kind {
#define KIND(id, word) HANDED_##id,
	HANDED_KINDS(KIND)
#undef KIND
};

#define HANDED_VARIABLE "LOCKBROKER_HANDED"
#define HANDED_FIRST 3 /* the descriptor */
#define HANDED_MAX 1024

struct handed {
	enum handed_kind kind;
	bool any_port;
	int fd;
	unsigned number; /* in the list that it was added to */
};

/* What a process is about to hand over.  Owns no descriptor. */
struct handed_list {
	struct handed v[HANDED_MAX];
	size_t n;
	bool full; /* there was more */
};

void handed_add(
    struct handed_list *list, enum handed_kind kind, bool any_port, int fd);

/* Is it a socket that listens? */
bool handed_is_place(enum handed_kind kind);

/* The word for a kind, as between processes. */
const char *handed_word(enum handed_kind kind);

/* Returns NAME=value for the environment; the caller frees it. */
char *handed_text(const struct handed_list *list);

/*
 * To be called first of all that opens descriptors.  Takes the variable out of
 * the environment.  Returns false if it makes no sense.
 */
bool handed_take(void) __attribute__((warn_unused_result));

/*
 * Takes one more, which was handed to a process that was not started for that:
 * it is spare, and of use where an address can't be bound anew.  Returns false,
 * and closes fd, if the word is not known.
 */
bool handed_receive(const char *word, int fd)
    __attribute__((warn_unused_result));

/* Is what was handed spare? */
bool handed_is_spare(void);

/* The numbers of those that were claimed, in that order; -1: no more. */
int handed_claimed(size_t i);

/* Is there one of that kind which nobody has taken yet? */
bool handed_has(enum handed_kind kind);

/* Returns a descriptor of that kind, the caller's from now on; or -1. */
int handed_next(enum handed_kind kind);

/*
 * Returns the socket that listens at this address, whatever it was for, and for
 * port 0 one of that kind whose port did not matter either; or -1.  It is the
 * caller's from now on.
 */
int handed_claim(
    const struct sockaddr *sa, socklen_t len, enum handed_kind kind);

/* Closes what nobody has claimed, and removes the paths of such sockets, but of
 * those that were spare: who handed them over goes on with them. */
void handed_drop(void);

#endif
