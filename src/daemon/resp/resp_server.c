/*
 * Commands about the server, which libraries send before anything else.  The
 * answers are those of an empty Redis without replicas.
 */
#include "config.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "config/config.h"
#include "daemon/resp/resp.h"

#define NO_CLUSTER "-ERR This instance has cluster support disabled"

/* Commands that are answered alike whatever they ask, and their answers. */
static const char *const fixed[RESP_MAX] = {
	[RESP_READONLY] = "+OK",
	[RESP_READWRITE] = "+OK",
	[RESP_UNWATCH] = "+OK",
	[RESP_CLIENT_CAPA] = "+OK",
	[RESP_CLIENT_NO_EVICT] = "+OK",
	[RESP_CLIENT_NO_TOUCH] = "+OK",
	[RESP_SCRIPT_FLUSH] = "+OK",
	[RESP_DBSIZE] = ":0",
	/* How many replicas have all writes: clients see none here. */
	[RESP_WAIT] = ":0",
	[RESP_ROLE] = "*3\r\n$6\r\nmaster\r\n:0\r\n*0",
	[RESP_SCAN] = "*2\r\n$1\r\n0\r\n*0",
	[RESP_PUBSUB_CHANNELS] = "*0",
	[RESP_COMMAND] = "*0",
	[RESP_CLUSTER] = NO_CLUSTER,
	[RESP_ASKING] = NO_CLUSTER,
	[RESP_CLIENT_TRACKING] =
	    "-ERR lockbroker has no data to cache; turn off client-side "
	    "caching",
	[RESP_CLIENT_KILL] =
	    "-ERR lockbroker ends no connection for another client; "
	    "to force-release a lock, send UNLOCK-FORCE",
};

void
resp_fixed(struct broker *b, struct conn *c, const struct request *r)
{
	const char *answer = fixed[resp_of(c)->id];

	(void)b;
	(void)r;
	assert(answer != NULL);
	buf_addf(conn_output(c), "%s\r\n", answer);
}

void
resp_time_now(struct buf *out)
{
	struct timespec ts;
	char text[32];

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	resp_array(out, 2);
	snprintf(text, sizeof(text), "%lld", (long long)ts.tv_sec);
	resp_word(out, text);
	snprintf(text, sizeof(text), "%ld", ts.tv_nsec / 1000);
	resp_word(out, text);
}

void
resp_time(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	(void)r;
	resp_time_now(conn_output(c));
}

void
resp_config_get(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	(void)r;
	resp_map(conn_output(c), resp_three(c), 0);
}

/* PUBSUB NUMSUB.  Listeners are not disclosed: the answer is that there are
 * none. */
void
resp_numsub(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);
	unsigned i;

	(void)b;
	resp_array(out, 2 * (r->nwords - 2));
	for (i = 2; i < r->nwords; i++) {
		resp_bulk(out, r->words[i]);
		resp_int(out, 0);
	}
}

/* COMMAND describes none: libraries know the commands that they use. */

void
resp_command_info(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);
	unsigned i;

	(void)b;
	resp_array(out, r->nwords - 2);
	for (i = 2; i < r->nwords; i++)
		resp_null_array(out, resp_three(c));
}

static bool
is_whole(unsigned id)
{
	return strchr(resp_rows[id].word, '|') == NULL;
}

static unsigned
count_commands(void)
{
	unsigned i, n = 0;

	for (i = 0; i < RESP_MAX; i++)
		n += is_whole(i);
	for (i = 0; i < VERB_MAX; i++)
		n += !verb_has((enum verb_id)i, VERB_FLAG_LINES);
	return n;
}

void
resp_command_count(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	(void)r;
	resp_int(conn_output(c), count_commands());
}

void
resp_command_list(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);
	unsigned i;

	(void)b;
	(void)r;
	resp_array(out, count_commands());
	for (i = 0; i < RESP_MAX; i++)
		if (is_whole(i))
			resp_word(out, resp_rows[i].word);
	for (i = 0; i < VERB_MAX; i++)
		if (!verb_has((enum verb_id)i, VERB_FLAG_LINES))
			resp_word(out, verbs[i].word);
}

/* INFO. */

/* 0: it listens at no chosen port. */
static unsigned
first_port(const struct config_listen *listen)
{
	size_t i;

	for (i = 0; i < listen->n; i++)
		if (listen->v[i].place == CONFIG_PLACE_TCP)
			return listen->v[i].address.port;
	return 0;
}

static void
info_server(struct broker *b, struct buf *text)
{
	buf_addf(text,
	    "redis_version:" RESP_REDIS_VERSION "\r\n"
	    "redis_mode:standalone\r\n"
	    "os:Linux\r\n"
	    "arch_bits:%zu\r\n"
	    "process_id:%ld\r\n"
	    "tcp_port:%u\r\n"
	    "lockbroker_version:" PACKAGE_VERSION "\r\n"
	    "uptime_in_seconds:%" PRId64 "\r\n",
	    8 * sizeof(void *), (long)getpid(), first_port(&b->config->listen),
	    (now_ms() - b->start_ms) / 1000);
}

static void
info_clients(struct broker *b, struct buf *text)
{
	buf_addf(text, "connected_clients:%u\r\n", front_count(b->front));
}

static void
info_persistence(struct broker *b, struct buf *text)
{
	(void)b;
	buf_adds(text, "loading:0\r\n");
}

static void
info_replication(struct broker *b, struct buf *text)
{
	(void)b;
	buf_adds(text, "role:master\r\nconnected_slaves:0\r\n");
}

static void
info_cluster(struct broker *b, struct buf *text)
{
	(void)b;
	buf_adds(text, "cluster_enabled:0\r\n");
}

static const struct {
	const char *name;
	void (*tell)(struct broker *b, struct buf *text);
} sections[] = {
	{ "Server", info_server },
	{ "Clients", info_clients },
	{ "Persistence", info_persistence },
	{ "Replication", info_replication },
	{ "Cluster", info_cluster },
};

static bool
is_asked(const struct request *r, const char *section)
{
	unsigned i;

	for (i = 1; i < r->nwords; i++)
		if (resp_says(r->words[i], section) ||
		    resp_says(r->words[i], "all") ||
		    resp_says(r->words[i], "default") ||
		    resp_says(r->words[i], "everything"))
			return true;
	return r->nwords == 1;
}

void
resp_info(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf text;
	unsigned i;

	buf_init(&text);
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!is_asked(r, sections[i].name))
			continue;
		if (buf_len(&text) > 0)
			buf_adds(&text, "\r\n");
		buf_addf(&text, "# %s\r\n", sections[i].name);
		sections[i].tell(b, &text);
	}
	resp_text(conn_output(c), resp_three(c),
	    (struct span){
		buf_len(&text) > 0 ? buf_data(&text) : "", buf_len(&text) });
	buf_fini(&text);
}
