/*
 * The audit file (log.audit): a line of JSON for each hold that is over.
 *
 * A thread of its own opens and writes it, so that no disk stops the loop.
 * Lines wait for it in memory, no more than AUDIT_WAITING_MAX bytes; what does
 * not fit, or can't be written, is lost, counted, and told in the log.
 */
#ifndef LOCKBROKER_DAEMON_AUDIT_H
#define LOCKBROKER_DAEMON_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#define AUDIT_WAITING_MAX (1024 * 1024)

struct audit;

struct audit *audit_new(void);

/* What waits is written, if that can be done soon. */
void audit_free(struct audit *a);

/* Opens this file, also if it is the same again; "": none. */
void audit_open(struct audit *a, const char *path);

/* A line, with its end. */
void audit_line(struct audit *a, const char *line, size_t n);

/* Lines that were lost. */
uint64_t audit_lost(struct audit *a);

#endif
