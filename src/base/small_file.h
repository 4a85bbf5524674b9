/* Reads a small file into memory. */
#ifndef LOCKBROKER_BASE_SMALL_FILE_H
#define LOCKBROKER_BASE_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the content of a file of at most max bytes, with a NUL after it that
 * *length does not count; the caller frees it.  On failure it returns NULL, and
 * *why ends the sentence "FILE ...".  With must_be_regular it never blocks; a
 * configuration may also be a pipe.
 */
char *small_file_read(const char *path, bool must_be_regular, size_t max,
    size_t *length, const char **why) __attribute__((warn_unused_result));

/*
 * Returns the password in a regular file of at most 4 KB: its first line,
 * because programs may end such a file with more than one line end.  On failure
 * as above.
 */
char *small_file_password(const char *path, const char **why)
    __attribute__((warn_unused_result));

/* Wipes a text, which may be a secret or NULL, and frees it. */
void small_file_wipe(char *text);

#endif
