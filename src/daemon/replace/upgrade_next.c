/*
 * See upgrade.h: the new process, until it is the broker.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "base/handed.h"
#include "base/log.h"
#include "base/now.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/upgrade.h"
#include "daemon/replace/upgrade_state.h"
#include "relay/channel.h"
#include "relay/packet.h"

void
upgrade_failed(const char *why)
{
	int fd = handed_next(HANDED_CHANNEL);
	struct packet p;

	if (fd < 0)
		return;
	packet_begin(&p, "failed");
	packet_add(&p, why);
	(void)!packet_send(fd, &p, -1);
	/* The channel stays open until the process ends. */
}

/*
 * Clients of the old process and of the new one would not see each other's
 * locks if these differed.  Of a cluster, and of Sentinels, any nodes will do.
 */
void
upgrade_add_redis(struct buf *out, const struct config *config)
{
	const struct config_redis *r = &config->redis;
	char node[ADDRESS_SIZE];
	size_t i;

	buf_addf(out, "%d %u %s %s", (int)r->mode, r->database, r->prefix,
	    r->master);
	if (r->mode == CONFIG_MODE_STANDALONE || r->mode == CONFIG_MODE_QUORUM)
		for (i = 0; i < r->nodes.n; i++)
			buf_addf(
			    out, " %s", address_format(&r->nodes.v[i], node));
	buf_addc(out, '\0');
}

/* By the first turn all places are open. */
static void
announce(struct upgrade *s)
{
	struct packet p;
	size_t i;

	for (i = 0; !s->announced && handed_claimed(i) >= 0; i++) {
		packet_begin(&p, "took");
		packet_add_num(&p, handed_claimed(i));
		(void)channel_tell(s->before, &p, SIZE_MAX);
	}
	s->announced = true;
}

void
upgrade_next_add_histories(struct buf *out, const struct broker *b)
{
	char history[CORE_HISTORY_SIZE];
	unsigned i, n = redis_shards(b->config);

	if (b->config->redis.mode == CONFIG_MODE_CLUSTER)
		n = 0;
	for (i = 0; i < n; i++) {
		core_history(b->core, i, history);
		buf_addf(out, "%s ", history[0] != '\0' ? history : "-");
	}
	buf_addc(out, '\0');
}

void
upgrade_turn(struct upgrade *s)
{
	struct core_gauges gauges;
	struct redis_stats redis;
	struct packet p;
	struct buf mine;

	if (s->before == NULL)
		return;
	announce(s);
	core_gauges(s->broker->core, now_ms(), &gauges);
	redis_stats(s->broker->redis, &redis);
	buf_init(&mine);
	upgrade_add_redis(&mine, s->broker->config);
	packet_begin(&p, "state");
	packet_add_num(&p, gauges.ready);
	packet_add_num(&p, gauges.grace_ms > 0);
	packet_add_num(&p, redis.up);
	packet_add(&p, buf_data(&mine));
	packet_add(&p, gauges.ready ? "" : gauges.why);
	buf_clear(&mine);
	upgrade_next_add_histories(&mine, s->broker);
	packet_add(&p, buf_data(&mine));
	buf_fini(&mine);
	if (p.len == buf_len(&s->told) &&
	    memcmp(p.bytes, buf_data(&s->told), p.len) == 0)
		return;
	/* Only the latest is of use. */
	if (channel_tell(s->before, &p, 0) == PACKET_OK) {
		buf_clear(&s->told);
		buf_add(&s->told, p.bytes, p.len);
	}
}

/* From now on this process is the broker. */
static void
take_over(struct upgrade *s)
{
	s->before = NULL;
	buf_fini(&s->told);
	leavers_listen(s->leavers);
	handed_drop();
	s->hooks->take_over(s->broker);
	/* The configuration that this process has read anew applies to them,
	 * too. */
	leavers_say(s->leavers, "reload");
}

static void
on_before(void *arg, struct packet *p)
{
	struct upgrade *s = arg;

	if (packet_is(p, "refused", 1)) {
		LOG(ERROR, "take-over-failed", LOG_S("why", packet_text(p, 1)));
		s->refused = s->broker->failed = true;
	}
	if (!packet_is(p, "go", 2))
		return;
	s->replaced_total = (uint64_t)packet_num(p, 1);
	LOG(NOTICE, "takes-over", LOG_N("from", packet_num(p, 2)));
	s->reload = packet_num(p, 3) != 0;
	leavers_add(s->leavers, s->before, packet_num(p, 2));
	take_over(s);
}

static void
before_gone(void *arg)
{
	struct upgrade *s = arg;
	struct channel *before = s->before;

	if (s->refused) {
		s->before = NULL;
		channel_free(before);
		return;
	}
	LOG(WARNING, "takes-over",
	    LOG_S("why", "the process that started this one has gone"));
	take_over(s);
	channel_free(before);
}

/* The old process gets our state again and again. */
static void
no_room(void *arg)
{
	(void)arg;
}

static const struct channel_handler before_handler = { on_before, no_room,
	before_gone };

void
upgrade_next_begin(struct upgrade *s)
{
	int fd = handed_next(HANDED_CHANNEL);

	buf_init(&s->told);
	if (fd < 0)
		return;
	s->before = channel_new(s->broker->base, fd);
	channel_handle(s->before, &before_handler, s);
	channel_listen(s->before);
}
