/*
 * Reads a small file as a whole.
 */
#ifndef LOCKBROKER_CONFIG_FILE_H
#define LOCKBROKER_CONFIG_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the content of a file of at most max bytes, with a NUL after it that
 * *length does not count; the caller frees it.  On failure it returns NULL, and
 * *why ends the sentence "FILE ...".  With must_be_regular it never blocks; a
 * configuration may also be a pipe.
 */
char *config_file_read(const char *path, bool must_be_regular, size_t max,
    size_t *length, const char **why) __attribute__((warn_unused_result));

/* Wipes a text, which may be a secret or NULL, and frees it. */
void config_file_free(char *text);

/*
 * Replaces CONFIG_FILE_CREDENTIALS at the beginning of a path by the directory
 * in which systemd keeps the files of LoadCredential=.  Returns false if there
 * is no such directory; *why then ends the sentence "FILE ...".
 */
#define CONFIG_FILE_CREDENTIALS "${CREDENTIALS_DIRECTORY}/"
bool config_file_resolve(char **path, const char **why)
    __attribute__((warn_unused_result));

#endif
