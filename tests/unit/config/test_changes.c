/*
 * What a reload of the configuration changes, refuses and tells.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"

#include "config_rig.h"
#include "suite.h"
#include "test_config.h"

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
	{ "log: {level: debug, to: syslog, format: json, audit: true}", "", 4,
	    "" },
	{ "",
	    "limits: {clients: 1, line: 64, output: 1KB, holds: 1, requests: "
	    "1, waiters: 1, unowned: 1, first_line: 1s, unreachable: 1s}",
	    9, "" },
	{ "",
	    "locks: {handovers: 1, max_grace: 1s, max_hold: 1h, "
	    "default_hold: 1s, max_keep: 1s, max_delay: 1s, max_ttl: 1s, "
	    "warm: 1s}",
	    8, "" },
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

	config_rig_load(&config, reloads[_i].from);
	config_rig_load(&fresh, reloads[_i].to);
	ck_assert_uint_eq(
	    config_reload_diff(&config, &fresh, config_rig_refused, refused),
	    reloads[_i].copied);
	ck_assert_str_eq(refused, reloads[_i].refused);
	/* The settings that could change are the same now; the others still
	 * differ. */
	refused[0] = '\0';
	ck_assert_uint_eq(
	    config_reload_diff(&config, &fresh, config_rig_refused, refused),
	    0);
	ck_assert_str_eq(refused, reloads[_i].refused);
	config_free(&config);
	config_free(&fresh);
}
END_TEST

/* Lists are exchanged: afterwards `fresh` has the former ones. */
START_TEST(reload_exchanges_lists)
{
	static const char *const texts[] = { "",
		"metrics: {classes: [{name: a, names: [b]}]}",
		"metrics: {classes: [{name: a, names: [b, c]}]}",
		"metrics: {classes: [{name: a, names: [b, d]}]}",
		"metrics: {classes: [{name: x, names: [b, d]}]}",
		("metrics: {classes: [{name: x, names: [b, d]}]}\n"
		 "locks: {warm_names: [a]}") };
	struct config config, fresh;
	char refused[512] = "";
	size_t i;

	config_rig_load(&config, texts[0]);
	for (i = 0; i < COUNT(texts); i++) {
		config_rig_load(&fresh, texts[i]);
		ck_assert_uint_eq(config_reload_diff(&config, &fresh,
				      config_rig_refused, refused),
		    i > 0);
		config_free(&fresh);
	}
	ck_assert_str_eq(refused, "");
	ck_assert_str_eq(config.metrics.v[0].name, "x");
	ck_assert_str_eq(config.metrics.v[0].names[1], "d");
	ck_assert_str_eq(config.locks.limits.warm_names.v[0], "a");
	config_free(&config);
}
END_TEST

START_TEST(reload_tells_the_values)
{
	struct config config, fresh;
	char told[512] = "";

	config_rig_load(
	    &config, STANDALONE "  password: old\nlocks: {lease: 10s}");
	config_rig_load(&fresh,
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

TCase *
reload_cases(void)
{
	TCase *t = tcase_create("reload");

	tcase_add_loop_test(t, reload, 0, COUNT(reloads));
	tcase_add_test(t, reload_exchanges_lists);
	tcase_add_test(t, reload_tells_the_values);
	return t;
}
