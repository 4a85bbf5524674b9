/*
 * The configuration as the process finds it in its environment.
 */
#include "config.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/log.h"
#include "config/config.h"
#include "config/fields.h"
#include "daemon/process/settings.h"
#include "front/front.h"
#include "http/server.h"

/* Reserved for the loop, listening, the log and an embedded server. */
#define DESCRIPTORS_OWN 32

/* A cluster may have more nodes than the configuration names. */
#define CLUSTER_NODES 16

/* A process has one command line; written before there is another thread. */
static struct config_options from_line;

void
settings_options(const char *const *v, size_t n)
{
	from_line = (struct config_options){ .v = v, .n = n };
}

const char *
settings_default_file(void)
{
	return LOCKBROKER_SYSCONFDIR "/lockbroker/lockbrokerd.yaml";
}

const char *
settings_file(const char *file)
{
	const char *otherwise = settings_default_file();

	/* A default file that exists but cannot be read is a fault. */
	if (file == NULL && access(otherwise, F_OK) == 0)
		return otherwise;
	return file;
}

bool
settings_load(struct config *config, const char *file, bool shared,
    struct config_faults *faults)
{
	struct config_options given = from_line;

	given.shared = shared;
	return config_load(config, settings_file(file), &given, faults);
}

void
settings_tell(const struct config *config, const char *file)
{
	const struct config_nodes *nodes = &config->redis.nodes;
	const struct config_field *mode =
	    &config_fields[CONFIG_FIELD_REDIS_MODE];
	char address[ADDRESS_SIZE];
	struct buf list;
	size_t i;

	file = settings_file(file);
	buf_init(&list);
	for (i = 0; i < nodes->n; i++)
		buf_addf(&list, "%s%s", i > 0 ? "," : "",
		    address_format(&nodes->v[i], address));
	LOG(NOTICE, "starting", LOG_S("version", PACKAGE_VERSION),
	    LOG_S("broker", config->broker.name), LOG_N("pid", getpid()),
	    LOG_S("file", file != NULL ? file : "none"),
	    LOG_S("mode", mode->choices[config->redis.mode]),
	    LOG_B("nodes", i > 0 ? buf_data(&list) : "", buf_len(&list)),
	    LOG_N("lease_ms", config->locks.lease_ms));
	buf_fini(&list);
}

/* Returns how many all connections to Redis and to Sentinels need. */
static rlim_t
redis_descriptors(const struct config_redis *redis)
{
	rlim_t to_server = redis->connections + 1, n = redis->nodes.n;

	switch (redis->mode) {
	case CONFIG_MODE_SENTINEL:
		return 2 * n + to_server;
	case CONFIG_MODE_CLUSTER:
		return (n < CLUSTER_NODES ? CLUSTER_NODES : n) * to_server;
	case CONFIG_MODE_QUORUM:
		return n * to_server;
	default:
		return to_server;
	}
}

static rlim_t
http_descriptors(const struct config_listen *listen)
{
	size_t i;

	for (i = 0; i < listen->n; i++)
		if (listen->v[i].place == CONFIG_PLACE_HTTP)
			return HTTP_DESCRIPTORS;
	return 0;
}

void
settings_fit_descriptors(struct config *config)
{
	rlim_t kept = DESCRIPTORS_OWN + FRONT_DESCRIPTORS +
		      http_descriptors(&config->listen) +
		      redis_descriptors(&config->redis);
	struct rlimit rl;
	rlim_t room;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	if (rl.rlim_cur != rl.rlim_max) {
		rl.rlim_cur = rl.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
		(void)getrlimit(RLIMIT_NOFILE, &rl);
	}
	if (rl.rlim_cur == RLIM_INFINITY)
		return;
	room = rl.rlim_cur > 2 * kept ? rl.rlim_cur - kept : rl.rlim_cur / 2;
	if (config->limits.clients <= room)
		return;
	LOG(WARNING, "descriptors-few", LOG_N("descriptors", rl.rlim_cur),
	    LOG_N("limits.clients", config->limits.clients),
	    LOG_N("lowered_to", room));
	config->limits.clients = (unsigned)room;
}
