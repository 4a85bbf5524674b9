/*
 * Messages between systemd and the daemon: sd_notify(3), its watchdog, and
 * sockets passed at the start (sd_listen_fds(3)).
 *
 * Both protocols are declared stable and are a few lines each; libsystemd
 * would bring half a dozen libraries with it.
 */
#ifndef LOCKBROKER_DAEMON_PROCESS_SYSTEMD_H
#define LOCKBROKER_DAEMON_PROCESS_SYSTEMD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The way to the service manager; there may be none. */
struct systemd {
	int fd;		       /* -1: no service manager listens */
	struct sockaddr_un to; /* named each time: may be bound anew */
	socklen_t to_len;
	int64_t watchdog_ms; /* how often it wants a sign of life; 0: never */
};

/*
 * Both read the environment and take the variables out of it, so that they
 * are not passed on to a child.
 */
void systemd_init(struct systemd *n);
void systemd_fini(struct systemd *n);

/*
 * Sends a line such as "READY=1".  A line is lost if it is not taken within a
 * moment; or at once, which is better for a line that is sent again and again.
 */
enum systemd_patience { SYSTEMD_WAIT, SYSTEMD_TRY };
void systemd_send(const struct systemd *n, enum systemd_patience patience,
    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Descriptors 3 to 3 + the result - 1 were passed; they are close-on-exec. */
#define SYSTEMD_LISTEN_FD_FIRST 3
size_t systemd_listen_fds(void);

#endif
