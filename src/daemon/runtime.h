/*
 * Where a broker leaves what the next one of its name must know, and in which
 * boot.
 */
#ifndef LOCKBROKER_DAEMON_RUNTIME_H
#define LOCKBROKER_DAEMON_RUNTIME_H

#include <stddef.h>
#include <sys/types.h>

#define BOOT_BYTES 40

/*
 * Returns the path of a file NAME + end in systemd's first runtime directory;
 * NULL: there is none.  The caller frees it.
 */
char *runtime_path(const char *broker, const char *end);

/* Tells the id of the boot; "-" if it is hidden (ProcSubset=pid). */
void runtime_boot(char out[BOOT_BYTES]);

/*
 * Returns the number of bytes read, with a NUL after them; negative: errno says
 * why there are none.
 */
ssize_t runtime_read(const char *path, char *out, size_t size);

#endif
