/*
 * The rig of the tests of src/config (config_rig.h).
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "config_rig.h"

void
config_rig_load(struct config *config, const char *yaml)
{
	struct config_faults faults;
	bool ok;

	config_faults_init(&faults);
	ok = config_load_buffer(config, "t", yaml, strlen(yaml), &faults);
	ck_assert_msg(ok, "<<%s>> has faults: %s", yaml,
	    faults.n == 0 ? "none?" : faults.lines[0]);
	ck_assert_uint_eq(faults.n, 0);
	config_faults_fini(&faults);
}

char *
config_rig_join(const struct config_faults *faults)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < faults->n; i++)
		fprintf(out, "%s\n", faults->lines[i]);
	fclose(out);
	return text;
}

char *
config_rig_faults(const char *yaml, size_t length)
{
	struct config_faults faults;
	struct config config;
	char *text;
	bool ok;

	config_faults_init(&faults);
	ok = config_load_buffer(&config, "t", yaml, length, &faults);
	ck_assert_int_eq(ok, faults.n == 0);
	text = config_rig_join(&faults);
	if (!ok)
		ck_assert_ptr_null(config.redis.prefix);
	config_free(&config);
	config_faults_fini(&faults);
	return text;
}

char *
config_rig_dump(const struct config *config)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	config_dump(config, out);
	fclose(out);
	return text;
}

void
config_rig_refused(void *arg, const char *setting, bool copied,
    const char *from, const char *to)
{
	(void)from;
	(void)to;
	if (copied)
		return;
	strcat(arg, setting);
	strcat(arg, " ");
}
