/*
 * Lines to the system's log, as syslog(3) sends them, but without waiting:
 * syslog(3) blocks as long as the daemon behind /dev/log does not read.
 */
#ifndef LOCKBROKER_BASE_SYSLOG_OUT_H
#define LOCKBROKER_BASE_SYSLOG_OUT_H

#include <stdbool.h>
#include <stddef.h>

/* The destination of lines.  Its owner sets the path, and fd to -1. */
struct syslog_out {
	const char *path; /* of a Unix socket */
	int fd;		  /* -1: not connected; sending connects */
	bool stream;	  /* false: it takes datagrams */
};

/*
 * Sends a line with the priority and facility of <syslog.h>.  On false, the
 * line is lost: the socket cannot take it at the moment.
 */
bool syslog_out_send(struct syslog_out *s, int priority, const char *text,
    size_t n) __attribute__((warn_unused_result));

void syslog_out_close(struct syslog_out *s);

#endif
