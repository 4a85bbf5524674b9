/*
 * The loader of the configuration: every setting, and every kind of fault.  The
 * cases are rows of config_cases.h; what needs a file or an environment is a
 * test of its own here.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "config/config.h"
#include "config/fields.h"
#include "config/node.h"

#include "config_cases.h"
#include "config_rig.h"
#include "suite.h"
#include "test_config.h"

START_TEST(good)
{
	const struct good_case *c = &good_cases[_i];
	struct config config;
	char *text;

	config_rig_load(&config, c->yaml);
	text = config_rig_dump(&config);
	ck_assert_msg(strstr(text, c->dumped) != NULL,
	    "<<%s>> gives no <<%s>> in:\n%s", c->yaml, c->dumped, text);
	free(text);
	config_free(&config);
}
END_TEST

/* A dump loads back to the same configuration, except for passwords. */
START_TEST(round_trip)
{
	struct config first;
	struct config second;
	char *text;
	char *again;

	config_rig_load(&first, good_cases[_i].yaml);
	text = config_rig_dump(&first);
	config_rig_load(&second, text);
	again = config_rig_dump(&second);
	if (strstr(text, "********") == NULL)
		ck_assert_str_eq(text, again);
	else
		ck_assert_str_eq(second.redis.password, "");
	free(text);
	free(again);
	config_free(&first);
	config_free(&second);
}
END_TEST

START_TEST(fault)
{
	const struct fault_case *c = &fault_cases[_i];
	char *text = config_rig_faults(c->yaml, strlen(c->yaml));

	ck_assert_msg(strcmp(text, c->faults) == 0,
	    "<<%s>> gives\n%sinstead of\n%s", c->yaml, text, c->faults);
	free(text);
}
END_TEST

/* Each setting must have a case, or nothing tests its row. */
START_TEST(every_setting_has_cases)
{
	const char *leaf = config_field_leaf(&config_fields[_i]);
	bool is_good = false;
	char word[64];

	snprintf(word, sizeof(word), "%s:", leaf);
	for (size_t i = 0; i < COUNT(good_cases); i++)
		if (strstr(good_cases[i].yaml, word) != NULL)
			is_good = true;
	/* These need a file or a build with TLS. */
	if (strncmp(leaf, "tls_", 4) == 0 || strstr(leaf, "_file") != NULL)
		is_good = true;
	ck_assert_msg(is_good, "no case sets %s", config_fields[_i].path);
}
END_TEST

static char *
dump_of(const char *yaml)
{
	struct config config;
	char *text;

	config_rig_load(&config, yaml);
	text = config_rig_dump(&config);
	config_free(&config);
	return text;
}

/* "SECTION: {KEY: VALUE}" */
static void
write_setting(char *yaml, size_t size, const char *path, const char *value)
{
	const char *dot = strchr(path, '.');

	if (dot == NULL)
		snprintf(yaml, size, "%s: %s\n", path, value);
	else
		snprintf(yaml, size, "%.*s: {%s: %s}\n", (int)(dot - path),
		    path, dot + 1, value);
}

/* Each setting is then as if it were not given; in quotes, null is a text. */
START_TEST(null_is_not_given)
{
	static const char *const words[] = { "~", "null", "Null", "NULL" };
	const char *path = config_fields[_i].path;
	char *defaults = dump_of(""), *text, yaml[128];
	struct config_faults faults;
	struct config config;
	size_t i;
	bool ok;

	for (i = 0; i < COUNT(words); i++) {
		write_setting(yaml, sizeof(yaml), path, words[i]);
		text = dump_of(yaml);
		ck_assert_str_eq(text, defaults);
		free(text);
	}
	write_setting(yaml, sizeof(yaml), path, "\"null\"");
	config_faults_init(&faults);
	ok = config_load_buffer(&config, "t", yaml, strlen(yaml), &faults);
	if (ok) {
		text = config_rig_dump(&config);
		ck_assert_str_ne(text, defaults);
		free(text);
		config_free(&config);
	}
	config_faults_fini(&faults);
	free(defaults);
}
END_TEST

START_TEST(defaults)
{
	struct config_faults faults;
	struct config c;

	config_faults_init(&faults);
	ck_assert(config_load(&c, NULL, NULL, &faults));
	ck_assert_int_gt(strlen(c.broker.name), 0);
	ck_assert_uint_eq(c.listen.n, 1);
	ck_assert_str_eq(c.listen.v[0].address.host, "127.0.0.1");
	ck_assert_uint_eq(c.listen.v[0].address.port, 5625);
	ck_assert_int_eq(c.redis.mode, CONFIG_MODE_EMBEDDED);
	ck_assert_uint_eq(c.redis.nodes.n, 0);
	ck_assert_str_eq(c.redis.server, "redis-server");
	ck_assert_str_eq(c.redis.master, "");
	ck_assert_str_eq(c.redis.user, "");
	ck_assert_str_eq(c.redis.password, "");
	ck_assert_str_eq(c.redis.password_file, "");
	ck_assert_str_eq(c.redis.sentinel_user, "");
	ck_assert_str_eq(c.redis.sentinel_password, "");
	ck_assert_str_eq(c.redis.sentinel_password_file, "");
	ck_assert(!c.redis.tls);
	ck_assert_str_eq(c.redis.tls_ca, "");
	ck_assert_str_eq(c.redis.tls_cert, "");
	ck_assert_str_eq(c.redis.tls_key, "");
	ck_assert_uint_eq(c.redis.database, 0);
	ck_assert_uint_eq(c.redis.connections, 2);
	ck_assert_int_eq(c.redis.connect_timeout_ms, 2000);
	ck_assert_int_eq(c.redis.reply_timeout_ms, 2000);
	ck_assert_str_eq(c.redis.prefix, "lock:");
	ck_assert_uint_eq(c.redis.replicas, 0);
	ck_assert(!c.redis.trust_new);
	ck_assert_int_eq(c.locks.lease_ms, 10000);
	ck_assert_uint_eq(c.locks.limits.handovers, 64);
	ck_assert_int_eq(c.locks.limits.max_grace_ms, 300000);
	ck_assert_int_eq(c.locks.limits.max_hold_ms, 0);
	ck_assert_int_eq(c.locks.limits.default_hold_ms, 0);
	ck_assert_int_eq(c.locks.limits.max_keep_ms, 86400000);
	ck_assert_int_eq(c.locks.limits.max_delay_ms, 3600000);
	ck_assert_int_eq(c.locks.limits.max_ttl_ms, INT64_C(2592000000));
	ck_assert_int_eq(c.locks.limits.warm_ms, WARM_AUTO);
	ck_assert_uint_eq(c.locks.limits.warm_names.n, 1);
	ck_assert_str_eq(c.locks.limits.warm_names.v[0], "*");
	ck_assert_uint_eq(c.limits.clients, 10000);
	ck_assert_uint_eq(c.limits.line, 4096);
	ck_assert_uint_eq(c.limits.output, 1048576);
	ck_assert_uint_eq(c.limits.holds, 10000);
	ck_assert_uint_eq(c.limits.requests, 1000);
	ck_assert_uint_eq(c.limits.waiters, 100000);
	ck_assert_uint_eq(c.limits.unowned, 100000);
	ck_assert_int_eq(c.limits.first_line_ms, 0);
	ck_assert_int_eq(c.limits.unreachable_ms, 30000);
	ck_assert_int_eq(c.resp.park_ms, 80);
	ck_assert_int_eq(c.resp.max_wait_ms, 0);
	ck_assert_int_eq(c.log.level, LOG_LEVEL_INFO);
	ck_assert_int_eq(c.log.to, LOG_TO_STDERR);
	ck_assert_int_eq(c.log.format, LOG_FORMAT_TEXT);
	config_faults_fini(&faults);
	config_free(&c);
}
END_TEST

/* A round trip can't test units, because it undoes its own errors. */
START_TEST(units)
{
	struct config c;

	config_rig_load(&c,
	    "locks: {lease: 1500ms, max_grace: 2m, max_hold: 3d, "
	    "default_hold: 4h}\nlimits: {line: 2KB, output: 3MB}\n"
	    "log: {level: error, to: syslog, format: json}\n"
	    "listen: [{unix: /a, mode: \"0640\"}]");
	ck_assert_int_eq(c.locks.lease_ms, 1500);
	ck_assert_int_eq(c.locks.limits.max_grace_ms, 120000);
	ck_assert_int_eq(c.locks.limits.max_hold_ms, 259200000);
	ck_assert_int_eq(c.locks.limits.default_hold_ms, 14400000);
	ck_assert_uint_eq(c.limits.line, 2048);
	ck_assert_uint_eq(c.limits.output, 3145728);
	ck_assert_int_eq(c.log.level, LOG_LEVEL_ERROR);
	ck_assert_int_eq(c.log.to, LOG_TO_SYSLOG);
	ck_assert_int_eq(c.log.format, LOG_FORMAT_JSON);
	ck_assert_uint_eq(c.listen.v[0].mode, 0640);
	ck_assert_str_eq(c.listen.v[0].address.path, "/a");
	ck_assert_ptr_null(c.listen.v[0].address.host);
	config_free(&c);
}
END_TEST

static const struct {
	const char *environment; /* $RUNTIME_DIRECTORY, or NULL for unset */
	const char *yaml;
	const char *path; /* of the only or second endpoint; NULL: none */
} runtime_cases[] = {
	{ NULL, "", NULL },
	{ "", "", NULL },
	{ "/run/x", "", "/run/x/lockbrokerd.sock" },
	{ "/run/x:/run/y", "", "/run/x/lockbrokerd.sock" },
	{ "relative", "", NULL },
	{ "/" X20 X20 X20 X20 X20 X20, "", NULL },
	{ "/run/x", "listen: [{tcp: \"a:1\"}]", NULL },
	{ "/run/x", "listen: [{tcp: \"a:1\"}, {unix: \"\"}]",
	    "/run/x/lockbrokerd.sock" },
	{ "/run/x", "listen: [{tcp: \"a:1\"}, {unix: /b}]", "/b" },
};

START_TEST(runtime_directory)
{
	struct config c;

	if (runtime_cases[_i].environment != NULL)
		setenv("RUNTIME_DIRECTORY", runtime_cases[_i].environment, 1);
	config_rig_load(&c, runtime_cases[_i].yaml);
	if (runtime_cases[_i].path == NULL) {
		ck_assert_uint_eq(c.listen.n, 1);
	} else {
		ck_assert_uint_eq(c.listen.n, 2);
		ck_assert_str_eq(
		    c.listen.v[1].address.path, runtime_cases[_i].path);
		ck_assert_uint_eq(c.listen.v[1].mode, 0660);
	}
	config_free(&c);
	unsetenv("RUNTIME_DIRECTORY");
}
END_TEST

/* Writes a temporary file; the caller unlinks it. */
static void
write_file(char path[32], const char *content, size_t length)
{
	int fd;

	strcpy(path, "/tmp/test_config.XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, content, length), (ssize_t)length);
	close(fd);
}

static const struct {
	const char *content;
	size_t length;
	const char *password; /* NULL: there is a fault, which says: */
	const char *why;
} password_cases[] = {
	{ "s3cret", 6, "s3cret", NULL },
	{ "s3cret\n", 7, "s3cret", NULL },
	{ "s3cret\r\n", 8, "s3cret", NULL },
	{ " two words \n\n", 13, " two words ", NULL },
	{ "s3cret\r\n# old\n", 14, "s3cret", NULL },
	{ "", 0, NULL, "empty" },
	{ "\n", 1, NULL, "its first line is empty" },
	{ "a\0b", 3, NULL, "contains a NUL character" },
};

START_TEST(password_file)
{
	const char *expected = password_cases[_i].password;
	struct config_faults faults;
	struct config c;
	char path[32];
	char yaml[512];
	char *text;
	bool ok;

	config_faults_init(&faults);
	write_file(path, password_cases[_i].content, password_cases[_i].length);
	snprintf(yaml, sizeof(yaml),
	    SENTINEL "  password_file: %s\n  sentinel_password_file: %s\n",
	    path, path);
	ok = config_load_buffer(&c, "t", yaml, strlen(yaml), &faults);
	unlink(path);
	ck_assert_int_eq(ok, expected != NULL);
	if (ok) {
		ck_assert_str_eq(c.redis.password, expected);
		ck_assert_str_eq(c.redis.sentinel_password, expected);
		text = config_rig_dump(&c);
		ck_assert_ptr_null(strstr(text, "s3cret"));
		ck_assert_ptr_nonnull(strstr(text, path));
		free(text);
	} else {
		ck_assert_uint_eq(faults.n, 2);
		ck_assert_ptr_nonnull(
		    strstr(faults.lines[0], password_cases[_i].why));
	}
	config_free(&c);
	config_faults_fini(&faults);
}
END_TEST

/* `variable` NULL: systemd has passed nothing. */
static const struct {
	const char *variable;
	const char *path;
	const char *resolved; /* NULL: a fault */
} credential_cases[] = {
	{ "/run/c", "${CREDENTIALS_DIRECTORY}/ca", "/run/c/ca" },
	{ "/run/c", "${CREDENTIALS_DIRECTORY}/a/${CREDENTIALS_DIRECTORY}/",
	    "/run/c/a/${CREDENTIALS_DIRECTORY}/" },
	{ "/run/c", "/x/${CREDENTIALS_DIRECTORY}/ca",
	    "/x/${CREDENTIALS_DIRECTORY}/ca" },
	{ "/run/c", "${HOME}/ca", "${HOME}/ca" },
	{ "run/c", "${CREDENTIALS_DIRECTORY}/ca", NULL },
	{ "", "${CREDENTIALS_DIRECTORY}/ca", NULL },
	{ NULL, "${CREDENTIALS_DIRECTORY}/ca", NULL },
	{ NULL, "/ca", "/ca" },
};

START_TEST(credentials)
{
	struct config_faults faults;
	struct config c;
	char yaml[512];

	if (credential_cases[_i].variable != NULL)
		setenv(
		    "CREDENTIALS_DIRECTORY", credential_cases[_i].variable, 1);
	config_faults_init(&faults);
	snprintf(yaml, sizeof(yaml), STANDALONE "  tls: true\n  tls_ca: \"%s\"",
	    credential_cases[_i].path);
	if (config_load_buffer(&c, "t", yaml, strlen(yaml), &faults)) {
		ck_assert_str_eq(c.redis.tls_ca, credential_cases[_i].resolved);
	} else {
		ck_assert_ptr_null(credential_cases[_i].resolved);
		ck_assert_uint_eq(faults.n, 1);
		ck_assert_ptr_nonnull(
		    strstr(faults.lines[0], ": redis.tls_ca: "));
		ck_assert_ptr_nonnull(strstr(faults.lines[0],
		    " cannot be read (CREDENTIALS_DIRECTORY is not set: "));
	}
	config_free(&c);
	config_faults_fini(&faults);
	unsetenv("CREDENTIALS_DIRECTORY");
}
END_TEST

START_TEST(password_is_never_shown)
{
	struct config c;
	char *text;

	config_rig_load(&c, STANDALONE "  password: s3cret");
	ck_assert_str_eq(c.redis.password, "s3cret");
	text = config_rig_dump(&c);
	ck_assert_ptr_null(strstr(text, "s3cret"));
	free(text);
	config_free(&c);
}
END_TEST

/* Not even a password that can't be used. */
START_TEST(password_is_never_in_a_fault)
{
	char yaml[5200] = STANDALONE "  password: s3cret";
	char *text;

	memset(yaml + strlen(yaml), 'x', 5000);
	text = config_rig_faults(yaml, strlen(yaml));
	ck_assert_str_eq(text,
	    "t:4:13: redis.password: the value is too long, expected text of 0 "
	    "to 4096 bytes\n");
	free(text);
}
END_TEST

START_TEST(files)
{
	struct config_faults faults;
	struct config c;
	char path[32];
	char *large = calloc(1, CONFIG_NODE_TEXT_MAX + 1);
	char *text;

	memset(large, '#', CONFIG_NODE_TEXT_MAX + 1);
	config_faults_init(&faults);
	write_file(path, "locks: {lease: 7s}\n", 19);
	ck_assert(config_load(&c, path, NULL, &faults));
	ck_assert_int_eq(c.locks.lease_ms, 7000);
	config_free(&c);
	unlink(path);
	ck_assert(!config_load(&c, "/none/a.yaml", NULL, &faults));
	ck_assert(!config_load(&c, "/", NULL, &faults));
	ck_assert_uint_eq(faults.n, 2);
	text = config_rig_join(&faults);
	ck_assert_str_eq(text,
	    "/none/a.yaml: cannot be read (No such file or directory), "
	    "expected a file of at most 64 KB\n"
	    "/: cannot be read (Is a directory), expected a file of at most 64 "
	    "KB\n");
	free(text);
	write_file(path, large, CONFIG_NODE_TEXT_MAX);
	ck_assert(config_load(&c, path, NULL, &faults));
	config_free(&c);
	unlink(path);
	write_file(path, large, CONFIG_NODE_TEXT_MAX + 1);
	ck_assert(!config_load(&c, path, NULL, &faults));
	ck_assert_ptr_nonnull(strstr(faults.lines[2], "(too large)"));
	unlink(path);
	free(large);
	config_faults_fini(&faults);
}
END_TEST

/* A value is shown escaped, and never cut in the middle of a character. */
START_TEST(quoting)
{
	char buf[CONFIG_QUOTE_SIZE];

	ck_assert_str_eq(config_quote(buf, ""), "''");
	ck_assert_str_eq(config_quote(buf, "a\n\x7f"), "'a\\x0a\\x7f'");
	ck_assert_str_eq(config_quote(buf, X20 X20), "'" X20 X20 "'");
	ck_assert_str_eq(config_quote(buf, X20 X20 "x"), "'" X20 X20 "...'");
	ck_assert_str_eq(config_quote(buf, X20 "xxxxxxxxxxxxxxxxxxxéx"),
	    "'" X20 "xxxxxxxxxxxxxxxxxxx...'");
}
END_TEST

/* The examples that the package contains. */

static const char *const examples[] = { "lockbrokerd", "standalone", "sentinel",
	"cluster", "quorum", "container" };

static void
example_path(char *path, size_t size, const char *name)
{
	const char *source = getenv("LOCKBROKER_SRC");

	snprintf(
	    path, size, "%s/conf/%s.yaml", source == NULL ? "." : source, name);
}

START_TEST(example)
{
	struct config_faults faults;
	struct config c;
	char path[4096];
	bool ok;

	example_path(path, sizeof(path), examples[_i]);
	config_faults_init(&faults);
	ok = config_load(&c, path, NULL, &faults);
	ck_assert_msg(ok, "%s", faults.n == 0 ? "" : faults.lines[0]);
	config_faults_fini(&faults);
	config_free(&c);
}
END_TEST

/* Those that are for other programs: YAML, at least. */

static const char *const others[] = { "compose", "kubernetes",
	"lockbroker-alerts" };

static bool
is_yaml(FILE *f)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool end = false;

	ck_assert(yaml_parser_initialize(&parser) != 0);
	yaml_parser_set_input_file(&parser, f);
	while (!end && yaml_parser_parse(&parser, &event) != 0) {
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return end;
}

START_TEST(example_for_others)
{
	char path[4096];
	FILE *f;

	example_path(path, sizeof(path), others[_i]);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	ck_assert_msg(is_yaml(f), "%s: not YAML", path);
	fclose(f);
}
END_TEST

/* The commented example shows every setting, with the default. */
START_TEST(example_is_the_defaults)
{
	struct config_faults faults;
	struct config shown;
	struct config fresh;
	char refused[512] = "";
	char path[4096];

	example_path(path, sizeof(path), "lockbrokerd");
	config_faults_init(&faults);
	ck_assert(config_load(&shown, path, NULL, &faults));
	ck_assert(config_load(&fresh, NULL, NULL, &faults));
	ck_assert_uint_eq(
	    config_reload_diff(&shown, &fresh, config_rig_refused, refused), 0);
	ck_assert_str_eq(refused, "");
	config_faults_fini(&faults);
	config_free(&shown);
	config_free(&fresh);
}
END_TEST

static TCase *
config_cases(void)
{
	TCase *t = tcase_create("config");

	tcase_add_loop_test(t, good, 0, COUNT(good_cases));
	tcase_add_loop_test(t, round_trip, 0, COUNT(good_cases));
	tcase_add_loop_test(t, fault, 0, COUNT(fault_cases));
	tcase_add_loop_test(t, every_setting_has_cases, 0, CONFIG_FIELDS);
	tcase_add_loop_test(t, null_is_not_given, 0, CONFIG_FIELDS);
	tcase_add_test(t, defaults);
	tcase_add_test(t, units);
	tcase_add_loop_test(t, runtime_directory, 0, COUNT(runtime_cases));
	tcase_add_loop_test(t, password_file, 0, COUNT(password_cases));
	tcase_add_loop_test(t, credentials, 0, COUNT(credential_cases));
	tcase_add_test(t, password_is_never_shown);
	tcase_add_test(t, password_is_never_in_a_fault);
	tcase_add_test(t, files);
	tcase_add_test(t, quoting);
	tcase_add_loop_test(t, example, 0, COUNT(examples));
	tcase_add_loop_test(t, example_for_others, 0, COUNT(others));
	tcase_add_test(t, example_is_the_defaults);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { config_cases, hostile_cases,
		reload_cases };

	unsetenv("RUNTIME_DIRECTORY");
	return suite_run("config", cases, COUNT(cases));
}
