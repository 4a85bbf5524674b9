/* The program's own part of the recipes in C. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

struct lockbroker;

extern const char *argument;

int report(const char *day, struct lockbroker *lb);
void bill(uint64_t fence);
int convert(const char *path, struct lockbroker *lb);
int64_t compute(struct lockbroker *lb);

/* The recipes. */
int nightly_report(struct lockbroker *lb, const char *day);
int lead(struct lockbroker *lb, const char *address);
int leader(struct lockbroker *lb, char **address);
int thumbnail(struct lockbroker *lb, const char *path);

#endif
