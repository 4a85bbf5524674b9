/*
 * The rules between settings.  A rule does not apply if one of its settings has
 * a fault; config_draft_fault() ensures that.  No rule reads files.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "auth/users.h"
#include "base/buf.h"
#include "config/config.h"
#include "config/node.h"
#include "config/rules.h"

#define ID(name) CONFIG_FIELD_##name
#define WARM_PART 10 /* locks.warm is at most this part of a lease */
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

void
config_draft_fault(const struct config_draft *draft, enum config_field_id id,
    enum config_field_id beside, const char *fmt, ...)
{
	const struct config_node *node = draft->given[id];
	char text[CONFIG_FAULT_SIZE];
	va_list args;

	if (draft->bad[id] || draft->bad[beside])
		return;
	if (node == NULL)
		node = draft->given[beside];
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	config_faults_at(draft->faults,
	    node != NULL ? node->at : (struct config_mark){ 1, 1 },
	    config_fields[id].path, "%s", text);
}

static const char *
mode_name(const struct config *config)
{
	return config_fields[ID(REDIS_MODE)].choices[config->redis.mode];
}

/* Settings that some modes refuse. */

#define IN(mode) (1u << CONFIG_MODE_##mode)
#define NOT_SENTINEL (~IN(SENTINEL))

static const struct {
	enum config_field_id id; /* of a text or an unsigned */
	unsigned modes;		 /* the modes that refuse it */
	const char *expected;	 /* for a number: why 0 is expected */
} refused[] = {
	{ ID(REDIS_MASTER), NOT_SENTINEL, "only with redis.mode sentinel" },
	{ ID(REDIS_SENTINEL_USER), NOT_SENTINEL,
	    "only with redis.mode sentinel" },
	{ ID(REDIS_SENTINEL_PASSWORD_FILE), NOT_SENTINEL,
	    "only with redis.mode sentinel" },
	{ ID(REDIS_USER), IN(EMBEDDED), "nothing: its server is private" },
	{ ID(REDIS_PASSWORD), IN(EMBEDDED), "nothing: its server is private" },
	{ ID(REDIS_PASSWORD_FILE), IN(EMBEDDED),
	    "nothing: its server is private" },
	{ ID(REDIS_REPLICAS), IN(EMBEDDED), "which has no replicas" },
	{ ID(REDIS_DATABASE), IN(CLUSTER), "which has no others" },
	{ ID(REDIS_DATABASE), IN(EMBEDDED), "whose server is private" },
};

static void
refuse(const struct config_draft *draft, enum config_field_id id,
    const char *expected)
{
	const struct config_field *field = &config_fields[id];
	const void *slot = config_field_slot(field, draft->config);
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

/* Settings that some modes require. */

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

/* A conflict with the default mode is no fault if the mode was forgotten. */
static bool
lacks_mode(const struct config_draft *draft)
{
	return draft->given[ID(REDIS_MODE)] == NULL &&
	       draft->config->redis.nodes.n > 0;
}

static void
check_mode(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	const char *name = mode_name(draft->config);
	unsigned mode = 1u << redis->mode;
	size_t n = redis->nodes.n, i;

	if (lacks_mode(draft))
		config_draft_fault(draft, ID(REDIS_NODES), ID(REDIS_MODE),
		    "%s given without redis.mode, expected redis.mode "
		    "standalone for one server, or sentinel, cluster or "
		    "quorum",
		    n == 1 ? "1 node is" : "nodes are");
	else if (n < node_counts[redis->mode].min ||
		 n > node_counts[redis->mode].max)
		config_draft_fault(draft, ID(REDIS_NODES), ID(REDIS_MODE),
		    "%zu %s given, expected %s with redis.mode %s", n,
		    n == 1 ? "node is" : "nodes are",
		    node_counts[redis->mode].expected, name);
	if (redis->mode == CONFIG_MODE_SENTINEL && redis->master[0] == '\0')
		config_draft_fault(draft, ID(REDIS_MASTER), ID(REDIS_MODE),
		    "not given, expected the master's name with redis.mode "
		    "sentinel");
	for (i = 0; i < COUNT(refused) && !lacks_mode(draft); i++)
		if ((refused[i].modes & mode) != 0)
			refuse(draft, refused[i].id, refused[i].expected);
	/* Safety depends on it, so it must be given: no default is safe. */
	if (draft->given[ID(REDIS_REPLICAS)] == NULL &&
	    (mode & (IN(SENTINEL) | IN(CLUSTER))) != 0)
		config_draft_fault(draft, ID(REDIS_REPLICAS), ID(REDIS_MODE),
		    "not given, expected the number of attached replicas "
		    "with redis.mode %s (0 is allowed, and unsafe)",
		    name);
	/* Braces would decide the slot instead of the bucket's own. */
	if (redis->mode == CONFIG_MODE_CLUSTER &&
	    strpbrk(redis->prefix, "{}") != NULL)
		config_draft_fault(draft, ID(REDIS_PREFIX), ID(REDIS_MODE),
		    "contains a brace, expected none with redis.mode cluster");
}

/* TLS. */

static void
check_tls(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	bool cert = redis->tls_cert[0] != '\0';
	size_t i;

	if (!CONFIG_WITH_TLS)
		config_draft_fault(draft, ID(REDIS_TLS), ID(REDIS_MODE),
		    "this build is without TLS, expected false");
	if (redis->mode == CONFIG_MODE_EMBEDDED && !lacks_mode(draft))
		config_draft_fault(draft, ID(REDIS_TLS), ID(REDIS_MODE),
		    "true, expected false with redis.mode embedded");
	for (i = 0; i < redis->nodes.n; i++)
		if (redis->nodes.v[i].path != NULL)
			config_draft_fault(draft, ID(REDIS_TLS), ID(REDIS_MODE),
			    "true, expected false with the Unix socket %s",
			    redis->nodes.v[i].path);
	if (cert != (redis->tls_key[0] != '\0'))
		config_draft_fault(draft,
		    cert ? ID(REDIS_TLS_KEY) : ID(REDIS_TLS_CERT),
		    cert ? ID(REDIS_TLS_CERT) : ID(REDIS_TLS_KEY),
		    "not given, expected both redis.tls_cert and "
		    "redis.tls_key, or neither");
}

/*
 * Refuses certificates without TLS: the author believes that traffic is
 * encrypted.
 */
static void
check_no_tls(const struct config_draft *draft)
{
	static const enum config_field_id ids[] = { ID(REDIS_TLS_CA),
		ID(REDIS_TLS_CERT), ID(REDIS_TLS_KEY) };
	size_t i;

	for (i = 0; i < COUNT(ids); i++) {
		const char *const *value =
		    config_field_slot(&config_fields[ids[i]], draft->config);

		if ((*value)[0] != '\0')
			config_draft_fault(draft, ids[i], ID(REDIS_TLS),
			    "given while redis.tls is false, expected only "
			    "with redis.tls true");
	}
}

void
config_check(const struct config_draft *draft)
{
	const struct config_redis *redis = &draft->config->redis;
	const struct lock_limits *limits = &draft->config->locks.limits;

	check_mode(draft);
	if (redis->password[0] != '\0' && redis->password_file[0] != '\0')
		config_draft_fault(draft, ID(REDIS_PASSWORD_FILE),
		    ID(REDIS_PASSWORD),
		    "given with redis.password, expected only one of them");
	if (redis->tls)
		check_tls(draft);
	else
		check_no_tls(draft);
	if (limits->max_hold_ms != 0 &&
	    limits->default_hold_ms > limits->max_hold_ms)
		config_draft_fault(draft, ID(LOCKS_DEFAULT_HOLD),
		    ID(LOCKS_MAX_HOLD),
		    "longer than locks.max_hold, expected at most that");
	if (limits->warm_ms > draft->config->locks.lease_ms / WARM_PART)
		config_draft_fault(draft, ID(LOCKS_WARM), ID(LOCKS_LEASE),
		    "longer than a tenth of locks.lease, expected at most "
		    "that: a broker that dies keeps the name for its lease");
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
