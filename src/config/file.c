/*
 * File names may begin with the directory of credentials, which differs between
 * units and is unknown to the author of the configuration.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xmalloc.h"
#include "config/file.h"

bool
config_file_resolve(char **path, const char **why)
{
	size_t n = strlen(CONFIG_FILE_CREDENTIALS);
	const char *directory = getenv("CREDENTIALS_DIRECTORY");
	struct buf full;

	if (strncmp(*path, CONFIG_FILE_CREDENTIALS, n) != 0)
		return true;
	if (directory == NULL || directory[0] != '/') {
		*why = "CREDENTIALS_DIRECTORY is not set: LoadCredential= in "
		       "the unit sets it; to try it out, set it yourself";
		return false;
	}
	buf_init(&full);
	buf_addf(&full, "%s/%s", directory, *path + n);
	free(*path);
	*path = xstrndup(buf_data(&full), buf_len(&full));
	buf_fini(&full);
	return true;
}
