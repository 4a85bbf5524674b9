/*
 * INFO has lines `key:value\r\n` and comments; a table says which keys count.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/info.h"

static void
read_version(struct info *info, const char *value)
{
	unsigned *v = info->version;

	if (sscanf(value, "%u.%u.%u", &v[0], &v[1], &v[2]) < 1)
		memset(v, 0, sizeof(info->version));
}

static void
read_valkey(struct info *info, const char *value)
{
	snprintf(info->valkey, sizeof(info->valkey), "%.23s", value);
}

static void
read_run_id(struct info *info, const char *value)
{
	snprintf(info->run_id, sizeof(info->run_id), "%s", value);
}

static void
read_mode(struct info *info, const char *value)
{
	info->sentinel = strcmp(value, "sentinel") == 0;
	info->cluster = strcmp(value, "cluster") == 0;
}

static void
read_loading(struct info *info, const char *value)
{
	info->loading = strcmp(value, "0") != 0;
}

static void
read_role(struct info *info, const char *value)
{
	info->replica = strcmp(value, "master") != 0;
}

static void
read_replicas(struct info *info, const char *value)
{
	info->replicas = (unsigned)strtoul(value, NULL, 10);
}

static void
read_maxmemory(struct info *info, const char *value)
{
	info->maxmemory = strtoull(value, NULL, 10);
}

static void
read_policy(struct info *info, const char *value)
{
	snprintf(info->policy, sizeof(info->policy), "%s", value);
}

static const struct {
	const char *key;
	void (*read)(struct info *info, const char *value);
} keys[] = {
	{ "redis_version:", read_version },
	{ "valkey_version:", read_valkey },
	{ "run_id:", read_run_id },
	{ "redis_mode:", read_mode },
	{ "loading:", read_loading },
	{ "role:", read_role },
	{ "connected_slaves:", read_replicas },
	{ "maxmemory:", read_maxmemory },
	{ "maxmemory_policy:", read_policy },
};

static void
read_line(struct info *info, const char *line, size_t len)
{
	char value[128];
	size_t i, n;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		n = strlen(keys[i].key);
		if (len < n || memcmp(line, keys[i].key, n) != 0)
			continue;
		snprintf(
		    value, sizeof(value), "%.*s", (int)(len - n), line + n);
		keys[i].read(info, value);
	}
}

void
info_read(struct info *info, const char *text, size_t len)
{
	const char *end;
	size_t n;

	while (len > 0) {
		end = memchr(text, '\n', len);
		n = end ? (size_t)(end - text) : len;
		read_line(info, text, n > 0 && text[n - 1] == '\r' ? n - 1 : n);
		n += end ? 1 : 0;
		text += n;
		len -= n;
	}
}

const char *
info_version(const struct info *info, char text[INFO_VERSION_SIZE])
{
	const unsigned *v = info->version;

	if (info->valkey[0] != '\0')
		snprintf(text, INFO_VERSION_SIZE, "Valkey %s", info->valkey);
	else
		snprintf(text, INFO_VERSION_SIZE, "%u.%u.%u", v[0], v[1], v[2]);
	return text;
}

bool
info_evicts(const struct info *info)
{
	return info->policy[0] != '\0' &&
	       strcmp(info->policy, "noeviction") != 0;
}
