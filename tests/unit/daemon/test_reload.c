/*
 * A reloadable setting reaches the code that uses it.
 *
 * A reload changes every such setting; then the test looks for each of them in
 * the core and in the front, in the section that fields.def names.  So it
 * finds a setting that a new row calls reloadable and nobody takes over.
 */
#include "config.h"

#include <check.h>
#include <event2/event.h>
#include <stddef.h>
#include <string.h>

#include "config/config.h"
#include "config/fields.h"
#include "core/kernel/lock/state.h"
#include "core/parts/observe/measure.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/process/systemd.h"
#include "front/state.h"
#include "suite.h"

static const char before[] = "redis: {mode: standalone, nodes: [\"r:1\"]}\n";
static const char after[] =
    "redis: {mode: standalone, nodes: [\"r:1\"]}\n"
    "locks: {handovers: 3, max_grace: 1s, max_hold: 2h, default_hold: 1h, "
    "max_keep: 3s, max_delay: 4s, max_ttl: 5s, warm: 8ms, "
    "warm_names: [c]}\n"
    "limits: {clients: 11, line: 66, output: 2KB, holds: 12, requests: 13, "
    "waiters: 14, unowned: 15, first_line: 6s, unreachable: 7s}\n"
    "broker: {leave: 1h}\n"
    "resp: {park: 1s, max_wait: 2s}\n"
    "metrics: {classes: [{name: two, names: [b]}, "
    "{name: one, names: [a]}]}\n"
    "log: {level: debug, to: syslog, format: json, audit: true}\n";

static struct event_base *base;
static struct broker *broker;
static struct systemd notify = { .fd = -1 };
static struct config config, fresh;

static void
load(struct config *c, const char *yaml)
{
	struct config_faults faults;

	config_faults_init(&faults);
	ck_assert(config_load_buffer(c, "t", yaml, strlen(yaml), &faults));
	config_faults_fini(&faults);
}

static void
noted(void *arg, const char *setting, bool copied, const char *from,
    const char *to)
{
	(void)arg;
	(void)from;
	(void)to;
	ck_assert_msg(copied, "%s", setting);
}

static void
setup(void)
{
	base = event_base_new();
	load(&config, before);
	broker = broker_new(base, &config, &notify);
	ck_assert_ptr_nonnull(broker);
	load(&fresh, after);
	ck_assert_uint_gt(config_reload_diff(&config, &fresh, noted, NULL), 0);
	broker_reload(broker, &config, fresh.users);
	fresh.users = NULL;
}

static void
teardown(void)
{
	broker_free(broker);
	event_base_free(base);
	config_free(&config);
	config_free(&fresh);
}

/* A section of the configuration, which is handed on as a whole. */
struct section {
	size_t offset;
	size_t size;
};

static bool
is_in(const struct config_field *field, struct section section)
{
	return field->offset >= section.offset &&
	       field->offset < section.offset + section.size;
}

/* Checks that the user of a section has the value of `fresh`. */
static void
check_in(
    const struct config_field *field, struct section section, const void *user)
{
	const char *arrived =
	    (const char *)user + field->offset - section.offset;

	if (is_in(field, section))
		ck_assert_msg(memcmp(arrived, config_field_slot(field, &fresh),
				  field->type->size) == 0,
		    "%s did not arrive", field->path);
}

/* The test could not notice the loss of a setting that did not change. */
static void
check_changed(const struct config_field *field)
{
	struct config defaults;

	load(&defaults, before);
	ck_assert_msg(
	    !config_value_same(field, config_field_slot(field, &fresh),
		config_field_slot(field, &defaults)),
	    "`after` says nothing of %s", field->path);
	config_free(&defaults);
}

START_TEST(a_setting_reaches_its_user)
{
	static const struct section locks = { offsetof(
						  struct config, locks.limits),
		sizeof(struct lock_limits) };
	static const struct section limits = { offsetof(struct config, limits),
		sizeof(struct client_limits) };
	static const struct section resp = { offsetof(struct config, resp),
		sizeof(struct config_resp) };
	static const struct section who = { offsetof(struct config, broker),
		sizeof(struct config_broker) };
	static const struct section log = { offsetof(struct config, log),
		sizeof(struct log_settings) };
	const struct config_field *field = &config_fields[_i];

	/* Users are exchanged as a whole; tests/system/test_users.py tests
	 * that. */
	if (!field->reloadable || field->type->kind >= CONFIG_LIST)
		return;
	check_changed(field);
	ck_assert_msg(is_in(field, locks) || is_in(field, limits) ||
			  is_in(field, resp) || is_in(field, who) ||
			  is_in(field, log),
	    "%s is reloadable, and in no section that is handed on",
	    field->path);
	check_in(field, locks, &broker->core->config.locks);
	check_in(field, limits, &broker->core->config.limits);
	check_in(field, limits, &broker->front->limits);
	check_in(field, resp, &broker->config->resp);
	check_in(field, who, &broker->config->broker);
	if (field == &config_fields[CONFIG_FIELD_LOG_LEVEL])
		ck_assert(broker->core->config.debug);
	if (field == &config_fields[CONFIG_FIELD_LOG_AUDIT])
		ck_assert(broker->core->config.audit);
}
END_TEST

START_TEST(classes_reach_the_measurements)
{
	const struct measure *m = core_measure(broker->core);

	ck_assert_uint_eq(measure_classes(m), 3);
	ck_assert_str_eq(measure_class(m, 0, 0).name, "two");
	ck_assert_str_eq(measure_class(m, 1, 0).name, "one");
}
END_TEST

static TCase *
reload_cases(void)
{
	TCase *t = tcase_create("reload");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, classes_reach_the_measurements);
	tcase_add_loop_test(t, a_setting_reaches_its_user, 0, CONFIG_FIELDS);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { reload_cases };

	return suite_run("reload", cases, COUNT(cases));
}
