/*
 * What goes from one broker to the next.
 */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/now.h"
#include "base/times.h"
#include "config/config.h"
#include "daemon/ledger.h"
#include "daemon/past.h"
#include "daemon/promise.h"
#include "daemon/runtime.h"

static int64_t
day_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Returns false if there is a ledger that can't be read. */
static bool
open_ledger(struct broker *b, const char *path)
{
	char boot[BOOT_BYTES];
	struct buf why;

	buf_init(&why);
	runtime_boot(boot);
	b->ledger = ledger_open(path,
	    &(struct ledger_clock){
		.boot = boot, .now_ms = b->start_ms, .day_ms = day_ms() },
	    b->config->locks.limits.max_hold_ms, &why);
	if (b->ledger == NULL)
		LOG(ERROR, "tokens-unreadable",
		    LOG_B("why", buf_data(&why), buf_len(&why)));
	buf_fini(&why);
	return b->ledger != NULL;
}

bool
past_look(struct broker *b, struct core_config *out)
{
	const struct config *config = b->config;
	char *path;
	bool ok;

	if (!out->owned)
		return true;
	path = runtime_path(config->broker.name, ".tokens");
	ok = path == NULL || open_ledger(b, path);
	free(path);
	if (!ok)
		return false;
	b->promise = promise_new(
	    config->broker.name, config->locks.lease_ms, b->start_ms);
	out->floor_ms =
	    max_ms(promise_floor_ms(b->promise), ledger_floor_ms(b->ledger));
	return true;
}

static void
restore(void *arg, const struct token_hold *hold)
{
	struct broker *b = arg;
	struct core_event ev = { .kind = CORE_RESTORE, .now_ms = b->start_ms };

	ev.u.restore.hold = hold;
	core_step(b->core, &ev, &b->effects);
}

void
past_begin(struct broker *b)
{
	ledger_each(b->ledger, restore, b);
}

void
past_note(struct broker *b, const struct effect *e, const char *text)
{
	struct token_hold hold = { .name = text + e->name,
		.name_len = e->name_len,
		.client = text + e->text,
		.client_len = e->text_len,
		.fence = e->fence,
		.since_ms = e->since_ms,
		.until_ms = e->until_ms };

	if (e->fence == 0)
		ledger_over(b->ledger, hold.name, hold.name_len);
	else
		ledger_hold(b->ledger, &hold);
}

void
past_write(struct broker *b)
{
	if (ledger_has_more(b->ledger))
		ledger_write(b->ledger, now_ms(), day_ms());
}

void
past_leave(struct broker *b)
{
	if (core_stopped(b->core))
		promise_close(b->promise, core_promised_ms(b->core), now_ms());
	promise_free(b->promise);
	ledger_close(b->ledger, now_ms());
}
