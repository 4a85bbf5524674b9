/*
 * Fuzzes the configuration: any bytes either load or have faults, and the dump
 * of what was loaded loads to the same configuration.
 *
 * Inputs that name a password file are skipped: no input may read files of the
 * machine that the test runs on.
 */
#include "config.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "config/node.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *
dump(const struct config *config, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	assert(out != NULL);
	config_dump(config, out);
	fclose(out);
	return text;
}

static void
count(void *arg, const char *setting, bool copied, const char *from,
    const char *to)
{
	(void)copied;
	(void)from;
	(void)to;
	/* A dump leaves out nothing but this. */
	if (strcmp(setting, "redis.password") != 0)
		(*(size_t *)arg)++;
}

static void
check_round_trip(struct config *config)
{
	struct config_faults faults;
	struct config again;
	size_t differ = 0;
	size_t size;
	char *text = dump(config, &size);
	bool ok;

	config_faults_init(&faults);
	ok = config_load_buffer(&again, "dump", text, size, &faults);
	/* A dump spells everything out, and so may be longer than the loader
	 * accepts. */
	assert(ok || size > CONFIG_NODE_TEXT_MAX);
	if (ok) {
		size_t copied =
		    config_reload_diff(config, &again, count, &differ);

		/* Hashes of users are left out, too. */
		size_t most = strstr(text, "# hash:") != NULL;

		assert(copied <= most && differ <= most);
	}
	config_free(&again);
	config_faults_fini(&faults);
	free(text);
}

/* Every line must be one line, and say where. */
static void
check_faults(const struct config_faults *faults)
{
	assert(faults->n > 0 && faults->n <= CONFIG_FAULTS_MAX + 1);
	for (size_t i = 0; i < faults->n; i++) {
		assert(strncmp(faults->lines[i], "input:", 6) == 0);
		assert(strchr(faults->lines[i], '\n') == NULL);
	}
}

/* Such escapes could spell a key that names a file. */
static bool
has_letter_escape(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (data[i] != '\\')
			continue;
		if (++i == size || data[i] == '\0' ||
		    strchr("\\\"0abtnvfreNLP_", data[i]) == NULL)
			return true;
	}
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config_faults faults;
	struct config config;

	if (memmem(data, size, "_file", 5) != NULL ||
	    has_letter_escape(data, size))
		return 0;
	config_faults_init(&faults);
	if (config_load_buffer(
		&config, "input", (const char *)data, size, &faults))
		check_round_trip(&config);
	else
		check_faults(&faults);
	config_free(&config);
	config_faults_fini(&faults);
	return 0;
}
