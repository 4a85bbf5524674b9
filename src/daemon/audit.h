/*
 * The audit file (log.audit): a line of JSON for each hold that is over.
 *
 * A thread opens and writes the file, so that no disk stops the loop.  Lines
 * wait for the thread in memory, at most AUDIT_WAITING_MAX bytes.  A line that
 * does not fit, or can't be written, is lost; the broker counts it and logs the
 * loss.
 */
#ifndef LOCKBROKER_DAEMON_AUDIT_H
#define LOCKBROKER_DAEMON_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#define AUDIT_WAITING_MAX (1024 * 1024)

struct audit;

struct audit *audit_new(void);

/* Frees it.  Waiting lines are still written if that can be done soon. */
void audit_free(struct audit *a);

/* Opens this file, even if it is the same as before; "": no file. */
void audit_open(struct audit *a, const char *path);

/* Writes a line, which includes its end. */
void audit_line(struct audit *a, const char *line, size_t n);

/* Returns how many lines were lost. */
uint64_t audit_lost(struct audit *a);

#endif
