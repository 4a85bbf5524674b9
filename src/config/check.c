/*
 * The rules between settings.  Each rule is a row of rules[], and applies only
 * if the settings that it is about have no fault.  No rule reads files.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <limits.h>
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

#define ID(name) CONFIG_FIELD_##name
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct config_mark
config_draft_mark(const struct config_draft *draft, enum config_field_id id,
    enum config_field_id beside)
{
	const struct config_node *node = draft->given[id];

	if (node == NULL)
		node = draft->given[beside];
	return node != NULL ? node->at : (struct config_mark){ 1, 1 };
}

/*
 * Adds the fault of a setting that is missing, or wrong, because of the mode.
 */
#define MODE_FAULT(draft, id, ...) \
	config_draft_fault((draft), ID(id), ID(REDIS_MODE), __VA_ARGS__)

static const char *
mode_name(const struct config *config)
{
	return config_fields[ID(REDIS_MODE)].choices[config->redis.mode];
}

/* Settings that some modes refuse. */

#define IN(mode) (1u << CONFIG_MODE_##mode)
#define NOT_SENTINEL (~IN(SENTINEL))

static const struct {
	enum config_field_id id; /* of a text or of an unsigned */
	unsigned modes;		 /* that refuse it */
	const char *expected;	 /* for a number: why 0 is expected */
} refused[] = {
	{ ID(REDIS_MASTER), NOT_SENTINEL, "only with redis.mode sentinel" },
	{ ID(REDIS_SENTINEL_USER), NOT_SENTINEL,
	    "only with redis.mode sentinel" },
	{ ID(REDIS_SENTINEL_PASSWORD_FILE), NOT_SENTINEL,
	    "only with redis.mode sentinel" },
	{ ID(REDIS_USER), IN(EMBEDDED), "none: its server is private" },
	{ ID(REDIS_PASSWORD), IN(EMBEDDED), "none: its server is private" },
	{ ID(REDIS_PASSWORD_FILE), IN(EMBEDDED),
	    "none: its server is private" },
	{ ID(REDIS_REPLICAS), IN(EMBEDDED), "which has no replicas" },
	{ ID(REDIS_DATABASE), IN(CLUSTER), "which has no others" },
	{ ID(REDIS_DATABASE), IN(EMBEDDED), "whose server is private" },
};

static void
refuse(const struct config_draft *draft, enum config_field_id id,
    const char *expected)
{
	const struct config_field *field = &config_fields[id];
	const void *slot = config_field_slot_const(field, draft->config);
	const char *mode = mode_name(draft->config);

	if (field->type->kind == CONFIG_TEXT) {
		if ((*(char *const *)slot)[0] != '\0')
			config_draft_fault(draft, id, ID(REDIS_MODE),
			    "given with redis.mode %s, expected %s", mode,
			    expected);
	} else if (*(const unsigned *)slot > 0) {
		config_draft_fault(draft, id, ID(REDIS_MODE),
		    "%u given, expected 0 with redis.mode %s, %s",
		    *(const unsigned *)slot, mode, expected);
	}
}

static void
check_refused(const struct config_draft *draft)
{
	size_t i;

	for (i = 0; i < COUNT(refused); i++)
		if ((refused[i].modes & 1u << draft->config->redis.mode) != 0 &&
		    !draft->bad[refused[i].id])
			refuse(draft, refused[i].id, refused[i].expected);
}

/* Settings that some modes need. */

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

	if (n < node_counts[redis->mode].min ||
	    n > node_counts[redis->mode].max)
		MODE_FAULT(draft, REDIS_NODES,
		    "%zu %s given, expected %s with redis.mode %s", n,
		    n == 1 ? "node is" : "nodes are",
		    node_counts[redis->mode].expected,
		    mode_name(draft->config));
}

static void
check_master(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (redis->mode == CONFIG_MODE_SENTINEL && redis->master[0] == '\0')
		MODE_FAULT(draft, REDIS_MASTER,
		    "not given, expected the master's name with redis.mode "
		    "sentinel");
}

/* Safety rests on this number, so it must be given: no default will do. */
static void
check_replicas(const struct config_draft *draft)
{
	unsigned mode = 1u << draft->config->redis.mode;

	if (draft->given[ID(REDIS_REPLICAS)] == NULL &&
	    (mode & (IN(SENTINEL) | IN(CLUSTER))) != 0)
		MODE_FAULT(draft, REDIS_REPLICAS,
		    "not given, expected the number of attached replicas "
		    "with redis.mode %s (0 is allowed, and unsafe)",
		    mode_name(draft->config));
}

/* Braces would decide the slot instead of the bucket's own. */
static void
check_prefix(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (redis->mode == CONFIG_MODE_CLUSTER &&
	    strpbrk(redis->prefix, "{}") != NULL)
		MODE_FAULT(draft, REDIS_PREFIX,
		    "has a brace in it, expected none with redis.mode "
		    "cluster");
}

/* Settings that go together in any mode. */

static void
check_password(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;

	if (redis->password[0] != '\0' && redis->password_file[0] != '\0')
		config_draft_fault(draft, ID(REDIS_PASSWORD_FILE),
		    ID(REDIS_PASSWORD),
		    "given beside redis.password, expected only one of them");
}

static void
check_tls(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	size_t i;

	if (!redis->tls)
		return;
	if (!BUILT_WITH_TLS)
		MODE_FAULT(draft, REDIS_TLS,
		    "this build is without TLS, expected false");
	if (redis->mode == CONFIG_MODE_EMBEDDED)
		MODE_FAULT(draft, REDIS_TLS,
		    "true, expected false with redis.mode embedded");
	for (i = 0; i < redis->nodes.n; i++)
		if (redis->nodes.v[i].path != NULL)
			MODE_FAULT(draft, REDIS_TLS,
			    "true, expected false with the Unix socket %s",
			    redis->nodes.v[i].path);
}

/*
 * Refuses certificates without TLS: someone believes the traffic is encrypted.
 */
static void
check_tls_files(const struct config_draft *draft)
{
	static const enum config_field_id ids[] = { ID(REDIS_TLS_CA),
		ID(REDIS_TLS_CERT), ID(REDIS_TLS_KEY) };
	size_t i;

	for (i = 0; i < COUNT(ids) && !draft->config->redis.tls; i++) {
		const char *const *value = config_field_slot_const(
		    &config_fields[ids[i]], draft->config);

		if (!draft->bad[ids[i]] && (*value)[0] != '\0')
			config_draft_fault(draft, ids[i], ID(REDIS_TLS),
			    "given while redis.tls is false, expected only "
			    "with redis.tls true");
	}
}

static void
check_tls_pair(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	bool cert = redis->tls_cert[0] != '\0';

	if (!redis->tls || cert == (redis->tls_key[0] != '\0'))
		return;
	config_draft_fault(draft, cert ? ID(REDIS_TLS_KEY) : ID(REDIS_TLS_CERT),
	    cert ? ID(REDIS_TLS_CERT) : ID(REDIS_TLS_KEY),
	    "not given, expected both redis.tls_cert and redis.tls_key, or "
	    "neither");
}

static void
check_hold(const struct config_draft *draft)
{
	const struct lock_limits *limits = &draft->config->locks.limits;

	if (limits->max_hold_ms != 0 &&
	    limits->default_hold_ms > limits->max_hold_ms)
		config_draft_fault(draft, ID(LOCKS_DEFAULT_HOLD),
		    ID(LOCKS_MAX_HOLD),
		    "longer than locks.max_hold, expected at most that");
}

/* The rules, each with the two settings that it is about. */
static const struct {
	void (*check)(const struct config_draft *draft);
	enum config_field_id one, other;
} rules[] = {
	{ check_nodes, ID(REDIS_MODE), ID(REDIS_NODES) },
	{ check_master, ID(REDIS_MODE), ID(REDIS_MASTER) },
	{ check_refused, ID(REDIS_MODE), ID(REDIS_MODE) },
	{ check_replicas, ID(REDIS_MODE), ID(REDIS_REPLICAS) },
	{ check_prefix, ID(REDIS_MODE), ID(REDIS_PREFIX) },
	{ check_password, ID(REDIS_PASSWORD), ID(REDIS_PASSWORD_FILE) },
	{ check_tls, ID(REDIS_MODE), ID(REDIS_TLS) },
	{ check_tls_files, ID(REDIS_TLS), ID(REDIS_TLS) },
	{ check_tls_pair, ID(REDIS_TLS_CERT), ID(REDIS_TLS_KEY) },
	{ check_hold, ID(LOCKS_MAX_HOLD), ID(LOCKS_DEFAULT_HOLD) },
};

void
config_check(const struct config_draft *draft)
{
	size_t i;

	for (i = 0; i < COUNT(rules); i++)
		if (!draft->bad[rules[i].one] && !draft->bad[rules[i].other])
			rules[i].check(draft);
}

void
config_tell_idle(const struct config *config, FILE *out)
{
	const struct config_redis *redis = &config->redis;
	const char *server = config_fields[ID(REDIS_SERVER)].def;
	bool embedded = redis->mode == CONFIG_MODE_EMBEDDED;
	struct buf text;

	buf_init(&text);
	if (embedded && redis->trust_new)
		buf_adds(&text,
		    "redis.trust_new: has no effect with redis.mode embedded, "
		    "which knows its server\n");
	if (!embedded && strcmp(redis->server, server) != 0)
		buf_addf(&text,
		    "redis.server: has no effect with redis.mode %s, only "
		    "with embedded\n",
		    mode_name(config));
	if (config->users != NULL)
		users_tell_idle(config->users, &text);
	if (buf_len(&text) > 0)
		(void)fwrite(buf_data(&text), 1, buf_len(&text), out);
	buf_fini(&text);
}
