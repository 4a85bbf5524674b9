/* The options of a client's socket, and the identity of its peer. */
#ifndef LOCKBROKER_FRONT_SOCKOPT_H
#define LOCKBROKER_FRONT_SOCKOPT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/*
 * For TCP: small replies leave at once, and a host that has vanished is noticed
 * within unreachable_ms, whether or not it owes us an acknowledgement.
 */
void sockopt_client(int fd, int64_t unreachable_ms);

/* Returns "10.0.0.7:5512"; the caller frees it. */
char *sockopt_peer_tcp(int fd);

/* Returns "pid:4711". admin: root or our own user; uid: -1 if not known. */
char *sockopt_peer_unix(int fd, bool *admin, int64_t *uid);

/*
 * Stores the groups of the peer of a Unix socket, the primary one and as many
 * others as there is room for.  Returns how many it stored.
 */
size_t sockopt_peer_groups(int fd, gid_t *gids, size_t max);

/* "HOST:PORT", "[V6]:PORT" or "unix:/PATH"; the caller frees it. */
char *sockopt_name(const struct sockaddr_storage *sa, socklen_t len);

#endif
