/*
 * Reads a small file as a whole.
 */
#ifndef LOCKBROKER_CONFIG_FILE_H
#define LOCKBROKER_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The content of a file of at most max bytes, with a NUL behind it that
 * *length does not count; the caller frees it.  NULL when that can't be had,
 * and then *why ends the sentence "FILE ...".  A file that must be regular
 * never blocks the caller; a configuration may also be a pipe.
 */
char *config_file_read(const char *path, bool must_be_regular, size_t max,
    size_t *length, const char **why) __attribute__((warn_unused_result));

/*
 * Puts the directory in which systemd keeps what LoadCredential= names in the
 * place of CONFIG_FILE_CREDENTIALS, if the path begins with that.  False: there
 * is no such directory; *why then ends the sentence "FILE ...".
 */
#define CONFIG_FILE_CREDENTIALS "${CREDENTIALS_DIRECTORY}/"
bool config_file_resolve(char **path, const char **why)
    __attribute__((warn_unused_result));

#endif
