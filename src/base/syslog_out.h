/*
 * Lines to the system's log, as syslog(3) sends them, but without waiting: that
 * one blocks for as long as the daemon behind /dev/log reads nothing.
 */
#ifndef LOCKBROKER_BASE_SYSLOG_OUT_H
#define LOCKBROKER_BASE_SYSLOG_OUT_H

#include <stdbool.h>
#include <stddef.h>

/* Where lines go.  Whoever has it sets the path, and fd to -1. */
struct syslog_out {
	const char *path; /* of a Unix socket */
	int fd;		  /* -1: not connected, which sending does */
	bool stream;	  /* it is one; else datagrams */
};

/*
 * Sends a line with priority and facility, as <syslog.h> has them.  False where
 * it can't be taken at the moment: then it is lost.
 */
bool syslog_out_send(struct syslog_out *s, int priority, const char *text,
    size_t n) __attribute__((warn_unused_result));

void syslog_out_close(struct syslog_out *s);

#endif
