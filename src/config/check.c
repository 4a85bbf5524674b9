/*
 * The rules between settings.  Each rule is a function in checks[]; it says
 * nothing if one of its settings has a fault already.  No rule reads files.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "auth/users.h"
#include "base/buf.h"
#include "config/check.h"
#include "config/config.h"
#include "config/node.h"

#ifdef HAVE_TLS
#define BUILT_WITH_TLS true
#else
#define BUILT_WITH_TLS false
#endif

typedef void check(const struct config_draft *draft);

void
config_draft_fault(const struct config_draft *draft, enum config_field_id id,
    enum config_field_id beside, const char *fmt, ...)
{
	const struct config_node *node = draft->given[id];
	char text[512];
	va_list args;

	if (node == NULL)
		node = draft->given[beside];
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	config_faults_at(draft->faults, node == NULL ? 1 : node->line,
	    node == NULL ? 1 : node->column, config_fields[id].path, "%s",
	    text);
}

/*
 * Adds the fault of a setting that is missing, or wrong, because of the mode.
 */
#define MODE_FAULT(draft, id, ...) \
	config_draft_fault((draft), (id), CONFIG_FIELD_REDIS_MODE, __VA_ARGS__)

static const char *
mode_name(const struct config_draft *draft)
{
	return config_fields[CONFIG_FIELD_REDIS_MODE]
	    .choices[draft->config->redis.mode];
}

static bool
usable(const struct config_draft *draft, enum config_field_id id)
{
	return !draft->bad[CONFIG_FIELD_REDIS_MODE] && !draft->bad[id];
}

static const struct {
	size_t min;
	size_t max;
	const char *expected;
} node_counts[] = {
	[CONFIG_MODE_EMBEDDED] = { 0, 0, "none" },
	[CONFIG_MODE_STANDALONE] = { 1, 1, "exactly 1" },
	[CONFIG_MODE_SENTINEL] = { 1, SIZE_MAX, "at least 1" },
	[CONFIG_MODE_CLUSTER] = { 1, SIZE_MAX, "at least 1" },
	[CONFIG_MODE_QUORUM] = { 3, 9, "3 to 9" },
};

static void
check_nodes(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	size_t n = redis->nodes.n;

	if (!usable(draft, CONFIG_FIELD_REDIS_NODES))
		return;
	if (n >= node_counts[redis->mode].min &&
	    n <= node_counts[redis->mode].max)
		return;
	MODE_FAULT(draft, CONFIG_FIELD_REDIS_NODES,
	    "%zu %s given, expected %s with redis.mode %s", n,
	    n == 1 ? "node is" : "nodes are", node_counts[redis->mode].expected,
	    mode_name(draft));
}

static void
check_master(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (!usable(draft, CONFIG_FIELD_REDIS_MASTER))
		return;
	if (redis->mode == CONFIG_MODE_SENTINEL && redis->master[0] == '\0')
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_MASTER,
		    "not given, expected the master's name with redis.mode "
		    "sentinel");
}

/* Refuses a text that means nothing in this mode: the mode is likely wrong. */
static void
refuse_text(const struct config_draft *draft, enum config_field_id id,
    const char *expected)
{
	const char *const *value =
	    config_field_slot_const(&config_fields[id], draft->config);

	if (usable(draft, id) && (*value)[0] != '\0')
		MODE_FAULT(draft, id, "given with redis.mode %s, expected %s",
		    mode_name(draft), expected);
}

static void
check_sentinel_only(const struct config_draft *draft)
{
	static const enum config_field_id ids[] = {
		CONFIG_FIELD_REDIS_MASTER,
		CONFIG_FIELD_REDIS_SENTINEL_USER,
		CONFIG_FIELD_REDIS_SENTINEL_PASSWORD_FILE,
	};
	size_t i;

	if (draft->config->redis.mode == CONFIG_MODE_SENTINEL)
		return;
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		refuse_text(draft, ids[i], "only with redis.mode sentinel");
}

/* The server that the broker starts itself has no users and no passwords. */
static void
check_embedded(const struct config_draft *draft)
{
	static const enum config_field_id ids[] = {
		CONFIG_FIELD_REDIS_USER,
		CONFIG_FIELD_REDIS_PASSWORD,
		CONFIG_FIELD_REDIS_PASSWORD_FILE,
	};
	size_t i;

	if (draft->config->redis.mode != CONFIG_MODE_EMBEDDED)
		return;
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		refuse_text(draft, ids[i], "none: its server is private");
}

/* Safety rests on this number, so it must be given: no default will do. */
static void
check_replicas(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	bool given = draft->given[CONFIG_FIELD_REDIS_REPLICAS] != NULL;

	if (!usable(draft, CONFIG_FIELD_REDIS_REPLICAS))
		return;
	if (!given && (redis->mode == CONFIG_MODE_SENTINEL ||
			  redis->mode == CONFIG_MODE_CLUSTER))
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_REPLICAS,
		    "not given, expected the number of attached replicas "
		    "with redis.mode %s (0 is allowed, and unsafe)",
		    mode_name(draft));
	if (redis->mode == CONFIG_MODE_EMBEDDED && redis->replicas > 0)
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_REPLICAS,
		    "%u given, expected 0 with redis.mode embedded, which has "
		    "no replicas",
		    redis->replicas);
}

static void
check_database(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (!usable(draft, CONFIG_FIELD_REDIS_DATABASE))
		return;
	if (redis->mode == CONFIG_MODE_CLUSTER && redis->database != 0)
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_DATABASE,
		    "%u given, expected 0 with redis.mode cluster, which has "
		    "no others",
		    redis->database);
	if (redis->mode == CONFIG_MODE_EMBEDDED && redis->database != 0)
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_DATABASE,
		    "%u given, expected 0 with redis.mode embedded, whose "
		    "server is private",
		    redis->database);
}

/* Braces would decide the slot instead of the bucket's own. */
static void
check_prefix(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (!usable(draft, CONFIG_FIELD_REDIS_PREFIX))
		return;
	if (redis->mode == CONFIG_MODE_CLUSTER &&
	    strpbrk(redis->prefix, "{}") != NULL)
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_PREFIX,
		    "has a brace in it, expected none with redis.mode "
		    "cluster");
}

static void
check_password(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (draft->bad[CONFIG_FIELD_REDIS_PASSWORD] ||
	    draft->bad[CONFIG_FIELD_REDIS_PASSWORD_FILE])
		return;
	if (redis->password[0] != '\0' && redis->password_file[0] != '\0')
		config_draft_fault(draft, CONFIG_FIELD_REDIS_PASSWORD_FILE,
		    CONFIG_FIELD_REDIS_PASSWORD,
		    "given beside redis.password, expected only one of them");
}

static void
check_tls(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	size_t i;

	if (!usable(draft, CONFIG_FIELD_REDIS_TLS) || !redis->tls)
		return;
	if (!BUILT_WITH_TLS)
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_TLS,
		    "this build is without TLS, expected false");
	if (redis->mode == CONFIG_MODE_EMBEDDED)
		MODE_FAULT(draft, CONFIG_FIELD_REDIS_TLS,
		    "true, expected false with redis.mode embedded");
	for (i = 0; i < redis->nodes.n; i++)
		if (redis->nodes.v[i].path != NULL)
			MODE_FAULT(draft, CONFIG_FIELD_REDIS_TLS,
			    "true, expected false with the Unix socket %s",
			    redis->nodes.v[i].path);
}

/*
 * Refuses certificates without TLS: someone believes the traffic is encrypted.
 */
static void
check_tls_files(const struct config_draft *draft)
{
	static const enum config_field_id ids[] = {
		CONFIG_FIELD_REDIS_TLS_CA,
		CONFIG_FIELD_REDIS_TLS_CERT,
		CONFIG_FIELD_REDIS_TLS_KEY,
	};
	const struct config_redis *redis = &draft->config->redis;
	size_t i;

	if (redis->tls || draft->bad[CONFIG_FIELD_REDIS_TLS])
		return;
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		const char *const *value = config_field_slot_const(
		    &config_fields[ids[i]], draft->config);

		if (!draft->bad[ids[i]] && (*value)[0] != '\0')
			config_draft_fault(draft, ids[i],
			    CONFIG_FIELD_REDIS_TLS,
			    "given while redis.tls is false, expected only "
			    "with redis.tls true");
	}
}

static void
check_tls_pair(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	bool cert = redis->tls_cert[0] != '\0';

	if (!redis->tls || draft->bad[CONFIG_FIELD_REDIS_TLS_CERT] ||
	    draft->bad[CONFIG_FIELD_REDIS_TLS_KEY] ||
	    cert == (redis->tls_key[0] != '\0'))
		return;
	config_draft_fault(draft,
	    cert ? CONFIG_FIELD_REDIS_TLS_KEY : CONFIG_FIELD_REDIS_TLS_CERT,
	    cert ? CONFIG_FIELD_REDIS_TLS_CERT : CONFIG_FIELD_REDIS_TLS_KEY,
	    "not given, expected both redis.tls_cert and redis.tls_key, or "
	    "neither");
}

static void
check_hold(const struct config_draft *draft)
{
	const struct config_locks *locks = &draft->config->locks;

	if (draft->bad[CONFIG_FIELD_LOCKS_MAX_HOLD] ||
	    draft->bad[CONFIG_FIELD_LOCKS_DEFAULT_HOLD])
		return;
	if (locks->limits.max_hold_ms != 0 &&
	    locks->limits.default_hold_ms > locks->limits.max_hold_ms)
		config_draft_fault(draft, CONFIG_FIELD_LOCKS_DEFAULT_HOLD,
		    CONFIG_FIELD_LOCKS_MAX_HOLD,
		    "longer than locks.max_hold, expected at most that");
}

static void
tell_idle_users(const struct config *config, FILE *out)
{
	struct buf text;

	if (config->users == NULL)
		return;
	buf_init(&text);
	users_tell_idle(config->users, &text);
	if (buf_len(&text) > 0)
		(void)fwrite(buf_data(&text), 1, buf_len(&text), out);
	buf_fini(&text);
}

void
config_tell_idle(const struct config *config, FILE *out)
{
	const struct config_redis *redis = &config->redis;
	const char *server = config_fields[CONFIG_FIELD_REDIS_SERVER].def;
	bool embedded = redis->mode == CONFIG_MODE_EMBEDDED;

	if (embedded && redis->trust_new)
		fputs("redis.trust_new: has no effect with redis.mode "
		      "embedded, which knows its server\n",
		    out);
	if (!embedded && strcmp(redis->server, server) != 0)
		fprintf(out,
		    "redis.server: has no effect with redis.mode %s, only "
		    "with embedded\n",
		    config_fields[CONFIG_FIELD_REDIS_MODE]
			.choices[redis->mode]);
	tell_idle_users(config, out);
}

static check *const checks[] = {
	check_nodes,
	check_master,
	check_sentinel_only,
	check_embedded,
	check_replicas,
	check_database,
	check_prefix,
	check_password,
	check_tls,
	check_tls_files,
	check_tls_pair,
	check_hold,
};

void
config_check(const struct config_draft *draft)
{
	size_t i;

	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](draft);
}
