/*
 * Descriptors that one process of the broker hands to the next.  Their numbers
 * follow the standard streams, as those from systemd do, and an environment
 * variable says what each is:
 *
 *	LOCKBROKER_HANDED=1:channel,lines,lines*,http,passed
 *
 * 1 is the version, and an asterisk follows a socket whose listener was
 * configured with port 0: the kernel has chosen its port.
 */
#ifndef LOCKBROKER_BASE_HANDED_H
#define LOCKBROKER_BASE_HANDED_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/* clang-format off */
#define HANDED_KINDS(KIND) \
	KIND(CHANNEL, "channel") /* to the process that hands over */ \
	KIND(LEAVING, "leaving") /* to a process that it replaced itself */ \
	KIND(REDIS, "redis")     /* what keeps an embedded Redis alive */ \
	KIND(REDIS_DATA, "redis-data") /* the lock of its data directory */ \
	KIND(PASSED, "passed")   /* a socket of the service manager */ \
	KIND(LINES, "lines")     /* listening sockets, by protocol */ \
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
	unsigned number; /* in the list to which it was added */
};

/* The descriptors that a process is about to hand over.  Owns none of them. */
struct handed_list {
	struct handed v[HANDED_MAX];
	size_t n;
	bool full; /* some did not fit */
};

void handed_add(
    struct handed_list *list, enum handed_kind kind, bool any_port, int fd);

/* Is it a listening socket? */
bool handed_is_place(enum handed_kind kind);

/* The word for a kind, as used between processes. */
const char *handed_word(enum handed_kind kind);

/* Returns NAME=value for the environment; the caller frees it. */
char *handed_text(const struct handed_list *list);

/*
 * To be called before anything else opens descriptors.  Removes the variable
 * from the environment.  Returns false if it is malformed.
 */
bool handed_take(void) __attribute__((warn_unused_result));

/*
 * Takes one more descriptor, handed to a process that was not started for that:
 * it is spare, and of use if an address cannot be bound anew.  Returns false,
 * and closes fd, if the word is unknown.
 */
bool handed_receive(const char *word, int fd)
    __attribute__((warn_unused_result));

/* Are the handed descriptors spare? */
bool handed_is_spare(void);

/* The numbers of the claimed descriptors, as claimed; -1: no more. */
int handed_claimed(size_t i);

/* Is there a descriptor of that kind that is not taken yet? */
bool handed_has(enum handed_kind kind);

/* Returns a descriptor of that kind, which the caller owns now; or -1. */
int handed_next(enum handed_kind kind);

/*
 * Returns the socket that listens at this address, whatever its kind; for port
 * 0, one of that kind that was configured with port 0, too; or -1.  The caller
 * owns it now.
 */
int handed_claim(
    const struct sockaddr *sa, socklen_t len, enum handed_kind kind);

/*
 * Returns a TCP socket that listens at an address: it was handed over, or is
 * bound; where the handed ones are spare, only what cannot be bound is claimed.
 * -1: neither is possible, and errno says why it cannot be bound.
 */
int handed_listen(
    const struct addrinfo *ai, enum handed_kind kind, int backlog);

/* Closes unclaimed descriptors, and removes the paths of such sockets, except
 * spare ones: the process that handed them over continues to use them. */
void handed_drop(void);

#endif
