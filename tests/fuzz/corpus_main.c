/*
 * Runs a fuzz target on stored inputs: this main() stands in for a fuzzing
 * engine in a usual build, so that `make check` replays every corpus.
 *
 * Arguments are files, or directories of which every file is run.  Without
 * arguments it runs the target's own corpus, which the build names as CORPUS,
 * below $LOCKBROKER_SRC.  The target fails by crashing; this program fails if
 * there was nothing to run.  Each file is read into an allocation of exactly
 * its size, so that a sanitizer sees every read beyond it.
 */
#include "config.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What a fuzz target defines. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
die(const char *what, const char *path)
{
	fprintf(stderr, "%s: ", what);
	perror(path);
	exit(EXIT_FAILURE);
}

static void
run_file(const char *path, size_t size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *data = malloc(size == 0 ? 1 : size);

	if (in == NULL)
		die("open", path);
	if (data == NULL || fread(data, 1, size, in) != size)
		die("read", path);
	fclose(in);
	(void)LLVMFuzzerTestOneInput(data, size);
	free(data);
}

/* Runs each file below a path; returns how many it ran. */
static size_t
run_if_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		die("stat", path);
	if (!S_ISREG(st.st_mode))
		return 0;
	run_file(path, (size_t)st.st_size);
	return 1;
}

static size_t
run_directory(const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	size_t n = 0;

	if (directory == NULL)
		die("open", path);
	for (entry = readdir(directory); entry != NULL;
	     entry = readdir(directory)) {
		char file[4096];
		int length =
		    snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);

		if (length < 0 || (size_t)length >= sizeof(file))
			continue;
		n += run_if_file(file);
	}
	closedir(directory);
	return n;
}

static size_t
run_path(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		die("stat", path);
	return S_ISDIR(st.st_mode) ? run_directory(path) : run_if_file(path);
}

static size_t
run_own_corpus(void)
{
	const char *source = getenv("LOCKBROKER_SRC");
	char path[4096];

	snprintf(
	    path, sizeof(path), "%s/%s", source == NULL ? "." : source, CORPUS);
	return run_path(path);
}

int
main(int argc, char **argv)
{
	size_t n = 0;

	if (argc < 2)
		n = run_own_corpus();
	for (int i = 1; i < argc; i++)
		n += run_path(argv[i]);
	printf("%s: %zu inputs\n", argv[0], n);
	return n > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
