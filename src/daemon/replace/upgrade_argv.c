/*
 * See upgrade_argv.h.  /proc/self/exe would be the file that runs, also after
 * it was replaced, and the version that a link led to at the start.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/xmalloc.h"
#include "daemon/replace/upgrade_argv.h"

#define PATH_BYTES 4096

static struct {
	char program[PATH_BYTES];
	char **argv; /* the array is owned, its texts are not */
	char **environment;
} origin;

static char **
copy(char *const *v)
{
	char **out;
	size_t n = 0;

	while (v[n] != NULL)
		n++;
	out = xcalloc(n + 1, sizeof(*out));
	memcpy(out, v, n * sizeof(*out));
	return out;
}

/* Is this file the program that runs? */
static bool
is_ours(const char *path)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat("/proc/self/exe", &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Notes DIRECTORY/NAME if that is our program. */
static bool
note_in(const char *directory, size_t len, const char *name)
{
	char cwd[PATH_BYTES] = "";
	int n;

	if (len == 0) {
		directory = ".";
		len = 1;
	}
	if (directory[0] != '/' && getcwd(cwd, sizeof(cwd)) == NULL)
		return false;
	n = snprintf(origin.program, sizeof(origin.program), "%s%s%.*s/%s", cwd,
	    cwd[0] != '\0' ? "/" : "", (int)len, directory, name);
	return n > 0 && (size_t)n < sizeof(origin.program) &&
	       is_ours(origin.program);
}

/* Finds the program as the shell has found it. */
static bool
note_searched(const char *name)
{
	const char *path = getenv("PATH");
	size_t len;

	for (; path != NULL && *path != '\0';
	     path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		if (note_in(path, len, name))
			return true;
	}
	return false;
}

static void
note_program(const char *name)
{
	const char *slash = strrchr(name, '/');
	ssize_t n;

	if (slash == name && is_ours(name)) /* in the root directory */
		snprintf(origin.program, sizeof(origin.program), "%s", name);
	else if (slash != NULL
		     ? note_in(name, (size_t)(slash - name), slash + 1)
		     : note_searched(name))
		return;
	n = readlink(
	    "/proc/self/exe", origin.program, sizeof(origin.program) - 1);
	origin.program[n > 0 ? n : 0] = '\0';
}

void
upgrade_argv_note(int argc, char **argv)
{
	free(origin.argv);
	free(origin.environment);
	origin.argv = copy(argv);
	origin.environment = copy(environ);
	note_program(argc > 0 ? argv[0] : "");
}

const char *
upgrade_argv_program(void)
{
	return origin.program;
}

char **
upgrade_argv_arguments(void)
{
	return origin.argv;
}

static bool
is_private(const char *entry)
{
	static const char *const names[] = { "LISTEN_PID=", "LISTEN_FDS=",
		"LISTEN_FDNAMES=", "WATCHDOG_PID=", HANDED_VARIABLE "=" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

char **
upgrade_argv_environment(char *more)
{
	size_t i, n = 0;
	char **out;

	while (origin.environment[n] != NULL)
		n++;
	out = xcalloc(n + 2, sizeof(*out));
	for (i = n = 0; origin.environment[i] != NULL; i++)
		if (!is_private(origin.environment[i]))
			out[n++] = origin.environment[i];
	out[n] = more;
	return out;
}
