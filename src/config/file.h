/*
 * Names of files in the configuration.
 */
#ifndef LOCKBROKER_CONFIG_FILE_H
#define LOCKBROKER_CONFIG_FILE_H

#include <stdbool.h>

/*
 * Replaces CONFIG_FILE_CREDENTIALS at the beginning of a path by systemd's
 * directory for the files of LoadCredential=.  Returns false if there is no
 * such directory; *why then ends the sentence "FILE ...".
 */
#define CONFIG_FILE_CREDENTIALS "${CREDENTIALS_DIRECTORY}/"
bool config_file_resolve(char **path, const char **why)
    __attribute__((warn_unused_result));

#endif
