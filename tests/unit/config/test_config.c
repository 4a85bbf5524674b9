/*
 * The loader of the configuration: every setting, every kind of fault, and
 * hostile input.  The cases are rows of config_cases.h; what needs a file, an
 * environment or a clock is a test of its own here.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/config.h"
#include "config/fields.h"
#include "config/node.h"

#include "config_cases.h"
#include "suite.h"

/* Loads a text; a failure shows what the faults were. */
static void
load(struct config *config, const char *yaml)
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

/* All fault lines as one text, which the caller frees. */
static char *
join(const struct config_faults *faults)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < faults->n; i++)
		fprintf(out, "%s\n", faults->lines[i]);
	fclose(out);
	return text;
}

static char *
faults_of(const char *yaml, size_t length)
{
	struct config_faults faults;
	struct config config;
	char *text;
	bool ok;

	config_faults_init(&faults);
	ok = config_load_buffer(&config, "t", yaml, length, &faults);
	ck_assert_int_eq(ok, faults.n == 0);
	text = join(&faults);
	if (!ok)
		ck_assert_ptr_null(config.redis.prefix);
	config_free(&config);
	config_faults_fini(&faults);
	return text;
}

static char *
dump(const struct config *config)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	config_dump(config, out);
	fclose(out);
	return text;
}

START_TEST(good)
{
	const struct good_case *c = &good_cases[_i];
	struct config config;
	char *text;

	load(&config, c->yaml);
	text = dump(&config);
	ck_assert_msg(strstr(text, c->dumped) != NULL,
	    "<<%s>> gives no <<%s>> in:\n%s", c->yaml, c->dumped, text);
	free(text);
	config_free(&config);
}
END_TEST

/* What is dumped loads back to the same, but for a password. */
START_TEST(round_trip)
{
	struct config first;
	struct config second;
	char *text;
	char *again;

	load(&first, good_cases[_i].yaml);
	text = dump(&first);
	load(&second, text);
	again = dump(&second);
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
	char *text = faults_of(c->yaml, strlen(c->yaml));

	ck_assert_msg(strcmp(text, c->faults) == 0,
	    "<<%s>> gives\n%sinstead of\n%s", c->yaml, text, c->faults);
	free(text);
}
END_TEST

/* A case must be there for each setting, or the table is not tested. */
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

START_TEST(defaults)
{
	struct config c;

	config_default(&c);
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
	config_free(&c);
}
END_TEST

/* Units are not tested by a round trip, which undoes its own errors. */
START_TEST(units)
{
	struct config c;

	load(&c, "locks: {lease: 1500ms, max_grace: 2m, max_hold: 3d, "
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
	load(&c, runtime_cases[_i].yaml);
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

/* Writes a file of its own; the caller unlinks it. */
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
	const char *password; /* NULL: a fault, which says: */
	const char *why;
} password_cases[] = {
	{ "s3cret", 6, "s3cret", NULL },
	{ "s3cret\n", 7, "s3cret", NULL },
	{ "s3cret\r\n", 8, "s3cret", NULL },
	{ " two words \n\n", 13, " two words \n", NULL },
	{ "", 0, NULL, "nothing in it" },
	{ "\n", 1, NULL, "nothing in it" },
	{ "a\0b", 3, NULL, "a NUL character in it" },
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
		text = dump(&c);
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

/* `variable` NULL: systemd has handed nothing over. */
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
		    " can't be used (CREDENTIALS_DIRECTORY is not set: "));
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

	load(&c, STANDALONE "  password: s3cret");
	ck_assert_str_eq(c.redis.password, "s3cret");
	text = dump(&c);
	ck_assert_ptr_null(strstr(text, "s3cret"));
	free(text);
	config_free(&c);
}
END_TEST

/* Not even one that can't be used. */
START_TEST(password_is_never_in_a_fault)
{
	char yaml[5200] = STANDALONE "  password: s3cret";
	char *text;

	memset(yaml + strlen(yaml), 'x', 5000);
	text = faults_of(yaml, strlen(yaml));
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
	ck_assert(config_load(&c, path, &faults));
	ck_assert_int_eq(c.locks.lease_ms, 7000);
	config_free(&c);
	unlink(path);
	ck_assert(!config_load(&c, "/none/a.yaml", &faults));
	ck_assert(!config_load(&c, "/", &faults));
	ck_assert_uint_eq(faults.n, 2);
	text = join(&faults);
	ck_assert_str_eq(text,
	    "/none/a.yaml: can't be read (No such file or directory), "
	    "expected a file of at most 64 KB\n"
	    "/: can't be read (Is a directory), expected a file of at most 64 "
	    "KB\n");
	free(text);
	write_file(path, large, CONFIG_NODE_TEXT_MAX);
	ck_assert(config_load(&c, path, &faults));
	config_free(&c);
	unlink(path);
	write_file(path, large, CONFIG_NODE_TEXT_MAX + 1);
	ck_assert(!config_load(&c, path, &faults));
	ck_assert_ptr_nonnull(strstr(faults.lines[2], "(too large)"));
	unlink(path);
	free(large);
	config_faults_fini(&faults);
}
END_TEST

/* --- Hostile input: a unit, repeated until the text is full */

static const struct {
	const char *head;
	const char *unit;
	const char *fault; /* is among the faults */
} bombs[] = {
	{ "", "[", "nested too deeply" },
	{ "a: ", "[", "nested too deeply" },
	{ "", "{", "as a key" },
	{ "", "- ", "nested too deeply" },
	{ "", "? ", "as a key" },
	{ "redis:\n  nodes:\n", "    - &a x\n", "has an anchor" },
	{ "redis:\n  nodes:\n", "    - *a\n", "is an alias" },
	{ "a: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\n", "? *c\n",
	    "is an alias" },
	{ "", "? a\n", "given twice" },
	{ "redis:\n  nodes:\n", "  - a\n", "'a' has no port" },
	{ "redis: {nodes: [", "a,", "syntax" },
	{ "log: \"", "x", "syntax" },
	{ "log: ", "x", "is a single value" },
	{ "", "!", "has a tag" },
	{ "", "&a ", "syntax" },
	{ "", "%", "syntax" },
	{ "", "\"", "syntax" },
	{ "", "---\n", "a second document" },
};

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

START_TEST(bomb)
{
	size_t n = strlen(bombs[_i].unit);
	size_t used = strlen(bombs[_i].head);
	char *yaml = malloc(CONFIG_NODE_TEXT_MAX + 1);
	double start = seconds();
	char *text;

	memcpy(yaml, bombs[_i].head, used);
	for (; used + n <= CONFIG_NODE_TEXT_MAX; used += n)
		memcpy(yaml + used, bombs[_i].unit, n);
	text = faults_of(yaml, used);
	ck_assert_msg(strstr(text, bombs[_i].fault) != NULL,
	    "bomb %d has no '%s':\n%s", _i, bombs[_i].fault, text);
	/* Undefended, libyaml takes over 5 s for the first of them. */
	ck_assert_msg(seconds() - start < 1.0, "bomb %d takes %f s", _i,
	    seconds() - start);
	free(text);
	free(yaml);
}
END_TEST

START_TEST(faults_are_bounded)
{
	struct config_faults faults;
	struct config c;
	char yaml[8000];
	size_t used = 0;

	for (int i = 0; i < 500; i++)
		used += (size_t)sprintf(yaml + used, "unknown%d: 1\n", i);
	config_faults_init(&faults);
	ck_assert(!config_load_buffer(&c, "t", yaml, used, &faults));
	ck_assert_uint_eq(faults.n, CONFIG_FAULTS_MAX + 1);
	ck_assert_str_eq(faults.lines[CONFIG_FAULTS_MAX],
	    "t: more faults were found, which are not shown");
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

/* --- Reload */

static void
note_change(void *arg, const char *setting, bool copied, const char *from,
    const char *to)
{
	(void)from;
	(void)to;
	if (copied)
		return;
	strcat(arg, setting);
	strcat(arg, " ");
}

static void
note_values(void *arg, const char *setting, bool copied, const char *from,
    const char *to)
{
	char *out = arg;

	sprintf(out + strlen(out), "%s%s %s>%s;", copied ? "" : "!", setting,
	    from, to);
}

static const struct {
	const char *from;
	const char *to;
	size_t copied;
	const char *refused;
} reloads[] = {
	{ "", "", 0, "" },
	{ "log: {level: debug, to: syslog, format: json, audit: a}", "", 4,
	    "" },
	{ "",
	    "limits: {clients: 1, line: 64, output: 1KB, holds: 1, requests: "
	    "1, waiters: 1, unowned: 1, first_line: 1s, unreachable: 1s}",
	    9, "" },
	{ "",
	    "locks: {handovers: 1, max_grace: 1s, max_hold: 1h, "
	    "default_hold: 1s, max_keep: 1s, max_delay: 1s, max_ttl: 1s}",
	    7, "" },
	{ "", "locks: {lease: 5s}", 0, "locks.lease " },
	{ "broker: {name: a}", "broker: {name: b}", 0, "broker.name " },
	{ "", "listen: []", 0, "listen " },
	{ "listen: [{unix: /a}]", "listen: [{unix: /a, mode: 600}]", 0,
	    "listen " },
	{ "listen: [{unix: /a}]", "listen: [{unix: /a, group: root}]", 0,
	    "listen " },
	{ "listen: [{unix: /a}]", "listen: [{tcp: \"a:1\"}]", 0, "listen " },
	{ "listen: [{http: \"a:1\"}]", "listen: [{tcp: \"a:1\"}]", 0,
	    "listen " },
	{ "listen: [{tcp: \"a:1\"}]", "listen: [{tcp: \"a:1\", proxied: true}]",
	    0, "listen " },
	{ STANDALONE,
	    STANDALONE "  password: x\n  database: 1\nlog: {level: error}", 1,
	    "redis.password redis.database " },
	{ STANDALONE, "redis: {mode: standalone, nodes: [r:2]}", 0,
	    "redis.nodes " },
	{ STANDALONE, CLUSTER, 0, "redis.mode redis.replicas " },
	{ "",
	    "redis: {server: x, connections: 3, connect_timeout: 1s, "
	    "reply_timeout: 1s, prefix: x, trust_new: true}",
	    0,
	    "redis.server redis.connections "
	    "redis.connect_timeout redis.reply_timeout redis.prefix "
	    "redis.trust_new " },
};

START_TEST(reload)
{
	char refused[512] = "";
	struct config config;
	struct config fresh;

	load(&config, reloads[_i].from);
	load(&fresh, reloads[_i].to);
	ck_assert_uint_eq(
	    config_reload_diff(&config, &fresh, note_change, refused),
	    reloads[_i].copied);
	ck_assert_str_eq(refused, reloads[_i].refused);
	/* What could change is the same now; the rest still differs. */
	refused[0] = '\0';
	ck_assert_uint_eq(
	    config_reload_diff(&config, &fresh, note_change, refused), 0);
	ck_assert_str_eq(refused, reloads[_i].refused);
	config_free(&config);
	config_free(&fresh);
}
END_TEST

/* They are exchanged: `fresh` has those of before. */
START_TEST(reload_exchanges_classes)
{
	static const char *const texts[] = { "",
		"metrics: {classes: [{name: a, names: [b]}]}",
		"metrics: {classes: [{name: a, names: [b, c]}]}",
		"metrics: {classes: [{name: a, names: [b, d]}]}",
		"metrics: {classes: [{name: x, names: [b, d]}]}" };
	struct config config, fresh;
	char refused[512] = "";
	size_t i;

	load(&config, texts[0]);
	for (i = 0; i < COUNT(texts); i++) {
		load(&fresh, texts[i]);
		ck_assert_uint_eq(
		    config_reload_diff(&config, &fresh, note_change, refused),
		    i > 0);
		config_free(&fresh);
	}
	ck_assert_str_eq(refused, "");
	ck_assert_str_eq(config.metrics.v[0].name, "x");
	ck_assert_str_eq(config.metrics.v[0].names[1], "d");
	config_free(&config);
}
END_TEST

START_TEST(reload_tells_the_values)
{
	struct config config, fresh;
	char told[512] = "";

	load(&config, STANDALONE "  password: old\nlocks: {lease: 10s}");
	load(&fresh,
	    STANDALONE "  password: new\nlocks: {lease: 1500ms, handovers: 2}\n"
		       "log: {level: debug}\nlisten: []");
	ck_assert_uint_eq(
	    config_reload_diff(&config, &fresh, note_values, told), 2);
	ck_assert_str_eq(told,
	    "!listen >;!redis.password >;!locks.lease 10s>1500ms;"
	    "locks.handovers 64>2;log.level info>debug;");
	config_free(&config);
	config_free(&fresh);
}
END_TEST

/* --- The examples that are shipped */

static const char *const examples[] = { "lockbrokerd", "standalone", "sentinel",
	"cluster", "quorum" };

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
	ok = config_load(&c, path, &faults);
	ck_assert_msg(ok, "%s", faults.n == 0 ? "" : faults.lines[0]);
	config_faults_fini(&faults);
	config_free(&c);
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
	ck_assert(config_load(&shown, path, &faults));
	config_default(&fresh);
	ck_assert_uint_eq(
	    config_reload_diff(&shown, &fresh, note_change, refused), 0);
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
	tcase_add_test(t, defaults);
	tcase_add_test(t, units);
	tcase_add_loop_test(t, runtime_directory, 0, COUNT(runtime_cases));
	tcase_add_loop_test(t, password_file, 0, COUNT(password_cases));
	tcase_add_loop_test(t, credentials, 0, COUNT(credential_cases));
	tcase_add_test(t, password_is_never_shown);
	tcase_add_test(t, password_is_never_in_a_fault);
	tcase_add_test(t, files);
	tcase_add_loop_test(t, bomb, 0, COUNT(bombs));
	tcase_add_test(t, faults_are_bounded);
	tcase_add_test(t, quoting);
	tcase_add_loop_test(t, reload, 0, COUNT(reloads));
	tcase_add_test(t, reload_exchanges_classes);
	tcase_add_test(t, reload_tells_the_values);
	tcase_add_loop_test(t, example, 0, COUNT(examples));
	tcase_add_test(t, example_is_the_defaults);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { config_cases };

	unsetenv("RUNTIME_DIRECTORY");
	return suite_run("config", cases, COUNT(cases));
}
