/*
 * Compares the model of Redis with the real one: it runs the same random
 * commands, and the same random operations by the real scripts, on both, and
 * every reply must be the same.  A copy, which carries out what the model
 * tells its replicas, must end up with the same data.
 *
 * difftest [--seed N] [--rounds N]
 *
 * Results that depend on the time are avoided: fences are far above the clock,
 * so they count up by one; times to live are long, or certainly over, and may
 * differ a little.  The exit status is 77 if there is no redis-server.
 */
#include "config.h"

#include <assert.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "lua/lua.h"
#include "store/gather.h"

#include "answer.h"
#include "lua_host.h"
#include "prng.h"

#define BROKERS 3
#define NAMES 3
#define WORDS_MAX 8
#define TTL_SLACK_MS 200 /* by which times to live may differ */
#define TIME_DIGITS 13	 /* of a time of day in milliseconds */
#define FENCE_FLOOR 8000000000000000u

/* Both servers, and the brokers that use them. */
struct rig {
	struct prng prng;
	char dir[64], path[96];
	pid_t pid;
	redisContext *real;
	redisContext *listener; /* subscribed to broker 0 */
	struct redis_db model;
	struct redis_db copy; /* of the model, as a replica has it */
	struct lua_host *lua;
	int scripts[SCRIPT_MAX];
	struct gather *gathers[BROKERS];
	char pend[BROKERS][PEND_MAX_BYTES];
	int64_t slack_ms; /* by how much times may differ, on this machine */
	bool brief;	  /* something ends soon */
	int broker;	  /* whose call is under way */
	uint64_t next_op;
	uint64_t generation; /* the last one of a barrier that was told */
	long outcomes[OUTCOME_MAX];
	long compared;
};

static void stop(struct rig *rig);

static const char *
type_word(int type)
{
	static const char *const words[] = { "?", "string", "array", "integer",
		"nil", "status", "error" };

	return type >= 1 && type <= 6 ? words[type] : words[0];
}

static void
print_reply(const char *who, const redisReply *r)
{
	size_t i;

	printf("  %s: %s %lld %s\n", who, type_word(r->type), r->integer,
	    r->str != NULL ? r->str : "");
	for (i = 0; i < r->elements; i++)
		print_reply("  element", r->element[i]);
}

/* Errors are alike if their first words are. */
static bool
same_text(const redisReply *a, const redisReply *b)
{
	size_t len;

	if (a->type == REDIS_REPLY_ERROR) {
		len = strcspn(a->str, " ");
		return strncmp(a->str, b->str, len) == 0;
	}
	return a->len == b->len && memcmp(a->str, b->str, a->len) == 0;
}

/* Times to live and times of day may differ a little, fences and counts may not: no
 * count is as high as that. */
static bool
same_number(long long a, long long b, int64_t slack_ms)
{
	long long d = a > b ? a - b : b - a;

	return a == b || (a > 100 && a < (long long)(FENCE_FLOOR / 1000) &&
			     d <= slack_ms);
}

/* So may a time of day that begins a text. */
static bool
same_time(const redisReply *a, const redisReply *b, int64_t slack_ms)
{
	char *a_end, *b_end;
	long long x = strtoll(a->str, &a_end, 10);
	long long y = strtoll(b->str, &b_end, 10);

	return a_end - a->str == TIME_DIGITS && strcmp(a_end, b_end) == 0 &&
	       same_number(x, y, slack_ms);
}

/* Compares as deeply as scripts nest their results: three levels. */
static bool
same(const redisReply *a, const redisReply *b, int64_t slack_ms)
{
	size_t i;

	if (a->type != b->type || a->elements != b->elements)
		return false;
	if (a->type == REDIS_REPLY_INTEGER)
		return same_number(a->integer, b->integer, slack_ms);
	if (a->type == REDIS_REPLY_ARRAY) {
		for (i = 0; i < a->elements; i++)
			if (!same(a->element[i], b->element[i], slack_ms))
				return false;
		return true;
	}
	return a->type == REDIS_REPLY_NIL || same_text(a, b) ||
	       same_time(a, b, slack_ms);
}

static void
compare(struct rig *rig, const redisReply *real, const redisReply *model,
    int argc, const char *const *argv, const size_t *lens)
{
	int i;

	rig->compared++;
	if (real != NULL && same(real, model, rig->slack_ms))
		return;
	printf("they differ after %ld replies:\n ", rig->compared);
	for (i = 0; i < argc; i++)
		printf(" '%.*s'", lens[i] > 100 ? 10 : (int)lens[i], argv[i]);
	puts("");
	if (real != NULL)
		print_reply("real ", real);
	else
		printf("  real: %s\n", rig->real->errstr);
	print_reply("model", model);
	stop(rig);
	exit(1);
}

static int64_t
clock_us(void)
{
	struct timeval tv;

	gettimeofday(&tv, NULL);
	return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

/* The server ran the call at about that time. */
static void
note_delay(struct rig *rig)
{
	int64_t ms = (clock_us() - rig->model.now_us) / 1000;

	if (rig->slack_ms < TTL_SLACK_MS + 2 * ms)
		rig->slack_ms = TTL_SLACK_MS + 2 * ms;
}

/* Has the server run it, and tells the model at which moment that was: however
 * long the machine takes, it is the same for both. */
static redisReply *
run_on_server(struct rig *rig, int argc, const char **argv, const size_t *lens)
{
	redisReply *time = NULL, *reply = NULL;

	redisAppendCommand(rig->real, "TIME");
	redisAppendCommandArgv(rig->real, argc, argv, lens);
	(void)redisGetReply(rig->real, (void **)&time);
	(void)redisGetReply(rig->real, (void **)&reply);
	rig->model.now_us = clock_us();
	if (time != NULL && time->elements == 2)
		rig->model.now_us = atoll(time->element[0]->str) * 1000000 +
				    atoll(time->element[1]->str);
	note_delay(rig);
	freeReplyObject(time);
	return reply;
}

/* Broker 0 listens, the others do not. */
static int
publish(void *arg, struct text channel, struct text message)
{
	const char *name = gather_channel(((struct rig *)arg)->gathers[0]);

	(void)message;
	return strlen(name) == channel.len &&
	       memcmp(name, channel.p, channel.len) == 0;
}

/* Commands. */

static void
run_command(struct rig *rig, int argc, const char **argv)
{
	struct text words[WORDS_MAX];
	size_t lens[WORDS_MAX];
	redisReply *real, *model;
	int i;

	for (i = 0; i < argc; i++) {
		lens[i] = strlen(argv[i]);
		words[i] = (struct text){ argv[i], lens[i] };
	}
	real = run_on_server(rig, argc, argv, lens);
	model = redis_db_run(&rig->model, argc, words);
	compare(rig, real, model, argc, argv, lens);
	freeReplyObject(real);
	answer_free(model);
}

/* One row: a command, and letters for words to be drawn: k key, w word, n small
 * number, t time to live, a an end, r a score's bound; other words stand for
 * themselves. */
static const char *const shapes[] = {
	"GET k",
	"SET k w",
	"SET k n",
	"SET k w PX t",
	"SET k w NX PX t",
	"SET k w XX",
	"SET k w KEEPTTL",
	"SET k w XX PX t KEEPTTL",
	"SET k w PXAT a",
	"PEXPIREAT k a",
	"SET k w PX 0",
	"SET k w PX -1",
	"SET k w PX w",
	"DEL k",
	"DEL k k",
	"MGET k k k",
	"EXISTS k k",
	"PEXPIRE k t",
	"PEXPIRE k 0",
	"PEXPIRE k w",
	"PTTL k",
	"PERSIST k",
	"TYPE k",
	"INCR k",
	"INCRBY k n",
	"HSET k w w",
	"HSET k w n w w",
	"HSET k w w w",
	"HGET k w",
	"HMGET k w w w",
	"HDEL k w w",
	"HGETALL k",
	"HLEN k",
	"HEXISTS k w",
	"HINCRBY k w n",
	"LPUSH k w",
	"RPUSH k w w",
	"LPOP k",
	"RPOP k",
	"LPOP k n",
	"LLEN k",
	"LINDEX k n",
	"LRANGE k n n",
	"LREM k n w",
	"LPOS k w",
	"ZADD k n w",
	"ZADD k NX n w n w",
	"ZADD k XX CH n w",
	"ZADD k GT n w",
	"ZREM k w w",
	"ZRANGE k n n",
	"ZRANGE k 0 -1 WITHSCORES",
	"ZRANGEBYSCORE k r r",
	"ZRANGEBYSCORE k r r WITHSCORES LIMIT 1 n",
	"ZSCORE k w",
	"ZRANK k w",
	"ZCARD k",
	"ZREMRANGEBYSCORE k r r",
	"ZPOPMIN k",
};

/* The word that a letter stands for, in one of several static buffers. */
static const char *
draw_word(struct rig *rig, const char *letter)
{
	static char buffers[WORDS_MAX][24];
	static const char *const bounds[] = { "-inf", "+inf", "(1", "2", "-1",
		"(3" };
	static unsigned at;
	char *buffer = buffers[at++ % WORDS_MAX];
	struct prng *p = &rig->prng;

	if (letter[1] != '\0')
		return letter;
	switch (letter[0]) {
	case 'k':
		snprintf(buffer, 16, "k%d", (int)prng_below(p, 4));
		return buffer;
	case 'w':
		snprintf(buffer, 16, "w%d", (int)prng_below(p, 5));
		return buffer;
	case 'n':
		snprintf(buffer, 16, "%d", (int)prng_range(p, -3, 6));
		return buffer;
	case 't':
		snprintf(buffer, 16, "%d", (int)prng_range(p, 20000, 500000));
		return buffer;
	case 'a':
		snprintf(buffer, 24, "%lld",
		    (long long)(clock_us() / 1000 +
				prng_range(p, 20000, 500000)));
		return buffer;
	case 'r':
		return bounds[prng_below(p, 6)];
	default:
		return letter;
	}
}

static void
random_command(struct rig *rig)
{
	size_t n = sizeof(shapes) / sizeof(shapes[0]);
	char shape[64], *save = NULL, *word;
	const char *argv[WORDS_MAX * 2];
	int argc = 0;

	snprintf(shape, sizeof(shape), "%s", shapes[prng_below(&rig->prng, n)]);
	for (word = strtok_r(shape, " ", &save); word != NULL;
	     word = strtok_r(NULL, " ", &save))
		argv[argc++] = draw_word(rig, word);
	run_command(rig, argc, argv);
}

/* What replicas are told. */

static void
on_changed(void *arg, int argc, const struct text *argv)
{
	struct rig *rig = arg;

	/* A replica ends no key by itself. */
	rig->copy.now_us = 0;
	answer_free(redis_db_run(&rig->copy, argc, argv));
}

static bool
same_item(const struct redis_item *a, const struct redis_item *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0 &&
	       a->value_len == b->value_len &&
	       (a->value_len == 0 ||
		   memcmp(a->value, b->value, a->value_len) == 0) &&
	       a->score == b->score;
}

static bool
same_key(const struct redis_key *a, const struct redis_key *b)
{
	size_t i;

	if (a == NULL || b == NULL || a->type != b->type || a->n != b->n ||
	    a->end_ms != b->end_ms)
		return false;
	for (i = 0; i < a->n; i++)
		if (!same_item(&a->items[i], &b->items[i]))
			return false;
	return true;
}

/* A key whose time is over ends on both servers as soon as somebody looks. */
static void
compare_copy(struct rig *rig)
{
	struct redis_key *key, *next;
	struct text name;

	rig->model.now_us = clock_us();
	TAILQ_FOREACH_SAFE (key, &rig->model.keys, in_all, next) {
		name = (struct text){ key->name, key->name_len };
		if (redis_db_find(&rig->model, name) == NULL)
			continue;
		rig->copy.now_us = 0;
		if (same_key(key, redis_db_find(&rig->copy, name)))
			continue;
		printf("a replica has another %s\n", key->name);
		stop(rig);
		exit(1);
	}
	if (rig->copy.by_name.n == rig->model.by_name.n)
		return;
	printf("a replica has %u keys, its master %u\n", rig->copy.by_name.n,
	    rig->model.by_name.n);
	stop(rig);
	exit(1);
}

/* Scripts. */

static void
told_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct rig *rig = arg;
	char *pend = rig->pend[rig->broker];

	(void)shard;
	(void)sent_ms;
	snprintf(pend, PEND_MAX_BYTES, "%.*s", (int)report->text_len,
	    report->text_len > 0 ? report->text : "");
}

static void
told_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	struct rig *rig = arg;

	(void)op;
	(void)sent_ms;
	rig->outcomes[outcome->status]++;
	if (outcome->status == OUTCOME_WAITING)
		rig->generation = outcome->fence;
}

static const struct store_handler handler = { told_guard, told_outcome };

/* A comparison proves nothing about operations that never ran. */
static bool
saw_all(const struct rig *rig)
{
	static const char *const words[OUTCOME_MAX] = {
#define OUTCOME(id, word, ...) word,
		OUTCOMES(OUTCOME)
#undef OUTCOME
	};
	bool all = true;
	int i;

	for (i = 0; i < OUTCOME_MAX; i++) {
		if (rig->outcomes[i] > 0 || i == OUTCOME_UNKNOWN ||
		    i == OUTCOME_UNSENT || i == OUTCOME_REFUSED)
			continue;
		printf("no operation was answered '%s'\n", words[i]);
		all = false;
	}
	return all;
}

/* Runs a call on both. */
static void
send_call(void *arg, struct call *call)
{
	static const char *const sources[SCRIPT_MAX] = { lua_keep,
		lua_acquire };
	struct rig *rig = arg;
	struct text words[CALL_ARGV_MAX];
	redisReply *real, *model;
	int i, nargs = call->argc - CALL_HEAD - (int)call->nkeys;

	call->argv[0] = "EVAL";
	call->argvlen[0] = 4;
	call->argv[1] = sources[call->script];
	call->argvlen[1] = strlen(sources[call->script]);
	for (i = CALL_HEAD; i < call->argc; i++)
		words[i] = (struct text){ call->argv[i], call->argvlen[i] };
	real = run_on_server(rig, call->argc, call->argv, call->argvlen);
	model = lua_host_run(rig->lua, rig->scripts[call->script], false,
	    &rig->model, (int)call->nkeys, words + CALL_HEAD, nargs,
	    words + CALL_HEAD + call->nkeys);
	compare(rig, real, model, call->argc, call->argv, call->argvlen);
	freeReplyObject(real);
	call_finish(
	    rig->gathers[rig->broker], call, model, false, &handler, rig);
	answer_free(model);
}

static void
random_op(struct rig *rig, char *name)
{
	static const enum op_kind kinds[] = { OP_ACQUIRE, OP_ACQUIRE,
		OP_ACQUIRE, OP_RENEW, OP_RENEW, OP_CONFIRM, OP_END, OP_END,
		OP_UNDO, OP_PEEK, OP_RECALL, OP_STATUS, OP_HEARTBEAT, OP_BLESS,
		OP_BLESS, OP_IDLE, OP_CONVERT, OP_FORCE, OP_TAKE, OP_HOLD,
		OP_LATCH, OP_COUNTDOWN, OP_AWAIT, OP_ARRIVE, OP_ARRIVE,
		OP_PARTY, OP_LEAVE, OP_CLAIM, OP_CLAIM, OP_TOKEN, OP_TOKEN,
		OP_PASS, OP_RETAIN };
	static const char *const clients[] = { "t1", "t2", "t1|u", "t2|u", "" };
	static const enum how_match matches[] = { HOW_EXACT, HOW_PREFIX,
		HOW_NOT, HOW_ANY, HOW_NO_HOLD };
	struct prng *p = &rig->prng;
	struct op op = { .id = ++rig->next_op };

	op.kind = kinds[prng_below(p, sizeof(kinds) / sizeof(kinds[0]))];
	op.name = name;
	op.name_len = (size_t)sprintf(name, "n%d", (int)prng_below(p, NAMES));
	if (op.kind == OP_HEARTBEAT || op.kind == OP_BLESS ||
	    op.kind == OP_IDLE)
		op.name_len = 0;
	op.seq = prng_below(p, 3);
	op.ttl_ms = prng_range(p, 20000, 50000);
	if (prng_chance(p, 10)) {
		op.ttl_ms = 20;
		rig->brief = true;
	}
	op.linger_ms = prng_chance(p, 200) ? 30000 : 0;
	op.again = prng_chance(p, 300) ? prng_below(p, 3) : 0;
	op.fence = FENCE_FLOOR + prng_below(p, 100);
	op.reserve = (uint32_t)prng_range(p, op.kind != OP_RENEW, 4);
	op.look = KIND_LOCK + prng_below(p, KIND_MAX - KIND_LOCK);
	op.flags = prng_chance(p, 600) ? OP_QUEUE : 0;
	if (prng_chance(p, 300))
		op.flags |= OP_SHARED | OP_NOTED;
	op.have = prng_below(p, 3);
	op.need = prng_below(p, 3);
	op.want = op.need + prng_below(p, 2);
	op.limit = (uint64_t)prng_range(p, 2, 3);
	if (op.kind == OP_ARRIVE || op.kind == OP_PARTY)
		op.fence = prng_chance(p, 500) ? rig->generation : 0;
	op.timeout_ms = 1000;
	op.holder = clients[prng_below(p, 4)];
	op.holder_len = strlen(op.holder);
	op.other = clients[prng_below(p, op.kind == OP_CLAIM ? 4 : 5)];
	op.how.act = HOW_ASK + prng_below(p, 5);
	op.how.match = matches[prng_below(p, 5)];
	op.how.bound = HOW_REPLACE + prng_below(p, 6);
	op.most_ms = prng_chance(p, 500) ? 60000 : 0;
	if (op.kind == OP_PASS)
		op.other = clients[prng_below(p, 4)];
	op.other_len = strlen(op.other);
	if (op.kind == OP_CLAIM || op.kind == OP_TOKEN || op.kind == OP_PASS ||
	    op.kind == OP_RETAIN)
		op.ttl_ms = prng_chance(p, 200) ? 0 : op.ttl_ms;
	if (op.kind == OP_BLESS)
		snprintf(
		    op.pend, sizeof(op.pend), "%s", rig->pend[rig->broker]);
	gather_add(rig->gathers[rig->broker], &op);
}

static void
random_turn(struct rig *rig)
{
	static const char *plain[] = { "SET", "lock:n0", "plain", "NX", "PX",
		"30000" };
	static const char *flush[] = { "FLUSHALL" };
	char names[4][8];
	int n = (int)prng_range(&rig->prng, 1, 4), i;

	rig->broker = (int)prng_below(&rig->prng, BROKERS);
	for (i = 0; i < n; i++)
		random_op(rig, names[i]);
	gather_flush(rig->gathers[rig->broker], send_call, rig);
	if (prng_chance(&rig->prng, 50))
		run_command(rig, 6, plain);
	if (prng_chance(&rig->prng, 5))
		run_command(rig, 1, flush);
	/* Short times to live must be over before anybody looks. */
	if (rig->brief)
		usleep(45000);
	rig->brief = false;
}

/* The real server. */

static void
stop(struct rig *rig)
{
	char command[128];

	if (rig->pid > 0) {
		kill(rig->pid, SIGKILL);
		waitpid(rig->pid, NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -rf %s", rig->dir);
	if (system(command) != 0)
		perror(rig->dir);
}

static bool
start(struct rig *rig)
{
	redisReply *reply;
	int tries;

	strcpy(rig->dir, "/tmp/difftest.XXXXXX");
	if (mkdtemp(rig->dir) == NULL)
		return false;
	snprintf(rig->path, sizeof(rig->path), "%s/redis.sock", rig->dir);
	rig->pid = fork();
	if (rig->pid == 0) {
		if (freopen("/dev/null", "w", stdout) == NULL)
			_exit(127);
		execlp("redis-server", "redis-server", "--port", "0",
		    "--unixsocket", rig->path, "--save", "", "--dir", rig->dir,
		    (char *)NULL);
		_exit(127);
	}
	for (tries = 0; tries < 200; tries++) {
		rig->real = redisConnectUnix(rig->path);
		if (rig->real != NULL && rig->real->err == 0)
			break;
		redisFree(rig->real);
		rig->real = NULL;
		if (waitpid(rig->pid, NULL, WNOHANG) == rig->pid) {
			rig->pid = 0;
			break;
		}
		usleep(10000);
	}
	if (rig->real == NULL)
		return false;
	rig->listener = redisConnectUnix(rig->path);
	reply = redisCommand(
	    rig->listener, "SUBSCRIBE %s", gather_channel(rig->gathers[0]));
	assert(reply != NULL);
	freeReplyObject(reply);
	return true;
}

/* The model takes over the history of the real server. */
static void
copy_replid(struct rig *rig)
{
	redisReply *reply = redisCommand(rig->real, "INFO replication");
	const char *at = strstr(reply->str, "master_replid:");

	assert(at != NULL);
	memcpy(rig->model.replid, at + 14, REDIS_REPLID_LEN);
	freeReplyObject(reply);
}

static void
make(struct rig *rig)
{
	struct store_config config = { .prefix = "lock:",
		.lease_ms = 10000,
		.shards = 1,
		.lanes = 1,
		.seed = { 1, 2 } };
	char name[8];
	int i;

	hash_seed(1, 2);
	redis_db_init(&rig->model);
	redis_db_init(&rig->copy);
	rig->model.changed = on_changed;
	rig->model.publish = publish;
	rig->model.arg = rig;
	rig->lua = lua_host_new();
	rig->scripts[SCRIPT_KEEP] = lua_host_add(rig->lua, "keep", lua_keep);
	rig->scripts[SCRIPT_ACQUIRE] =
	    lua_host_add(rig->lua, "acquire", lua_acquire);
	for (i = 0; i < BROKERS; i++) {
		snprintf(name, sizeof(name), "b%d", i);
		config.broker = name;
		config.address = i % 2 == 0 ? "host:5625" : "";
		config.instance = prng_next(&rig->prng);
		config.seed[0]++;
		rig->gathers[i] = gather_new(&config);
		gather_saw(rig->gathers[i], 0, FENCE_FLOOR);
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "rounds", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	static struct rig rig;
	long rounds = 1000, i;
	bool all;
	uint64_t seed = 1;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 's')
			seed = strtoull(optarg, NULL, 10);
		else if (c == 'r')
			rounds = strtol(optarg, NULL, 10);
		else
			return 2;
	}
	prng_seed(&rig.prng, seed);
	make(&rig);
	if (!start(&rig)) {
		fprintf(stderr, "difftest: can't start redis-server\n");
		stop(&rig);
		return 77;
	}
	copy_replid(&rig);
	for (i = 0; i < rounds * 5; i++) {
		random_command(&rig);
		compare_copy(&rig);
	}
	for (i = 0; i < rounds; i++) {
		random_turn(&rig);
		compare_copy(&rig);
	}
	printf("%ld replies are the same\n", rig.compared);
	all = rounds < 1000 || saw_all(&rig);
	redisFree(rig.real);
	redisFree(rig.listener);
	stop(&rig);
	redis_db_clear(&rig.model);
	redis_db_clear(&rig.copy);
	lua_host_free(rig.lua);
	for (i = 0; i < BROKERS; i++)
		gather_free(rig.gathers[i]);
	return all ? 0 : 1;
}
