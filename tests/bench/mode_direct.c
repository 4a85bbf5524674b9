/*
 * Clients that speak to Redis themselves: with the broker's scripts, one
 * operation a call, as store/script_call.h has it; and with what most of them do, SET
 * NX PX and a script that compares and deletes.
 *
 * A command is made once for each client; then only the number of its token
 * changes, so that the driver is not what is measured.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "load.h"
#include "lua/lua.h"
#include "resp.h"
#include "store/gather.h"

#define SHA_SIZE 41
#define SEQ_DIGITS 10
#define SEQ_FIRST UINT64_C(1000000000) /* has so many */
#define SEQ_EACH UINT64_C(1000000)
#define PLACES_MAX 2

#define LEASE_MS 10000
#define KEY_MS 13000 /* lease and pad */

/* A command with places for a number. */
struct command {
	size_t n;
	unsigned nplaces;
	size_t seq_at[PLACES_MAX];
	char text[1024];
};

/* The own of a peer. */
struct direct {
	struct command take;
	struct command give;
	uint64_t seq;
};

static char sha_of[SCRIPT_MAX][SHA_SIZE], sha_delete[SHA_SIZE];

static const char script_delete[] =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then "
    "return redis.call('DEL', KEYS[1]) else return 0 end";

/* ---- before the clients ---- */

static void
script_load(int fd, const char *script, char sha[SHA_SIZE])
{
	struct buf command, reply;

	buf_init(&command);
	buf_init(&reply);
	resp_begin(&command, 3);
	resp_str(&command, "SCRIPT");
	resp_str(&command, "LOAD");
	resp_str(&command, script);
	resp_call(fd, &command, &reply);
	if (sscanf(buf_data(&reply), "$40\r\n%40s", sha) != 1)
		fail("SCRIPT LOAD: %s", buf_data(&reply));
	buf_fini(&command);
	buf_fini(&reply);
}

/* A call of the broker's scripts, as a command. */
static void
write_call(void *arg, struct call *call)
{
	struct buf *out = arg;
	int i;

	resp_begin(out, (unsigned)call->argc);
	resp_word(out, call->argv[0], call->argvlen[0]);
	resp_str(out, sha_of[call->script]);
	for (i = 2; i < call->argc; i++)
		resp_word(out, call->argv[i], call->argvlen[i]);
	call_free(call);
}

/* All clients go by one name: the guard is no larger than a broker's. */
static void
write_op(struct buf *out, const struct op *op)
{
	static const struct store_config config = {
		.prefix = "direct:",
		.broker = "direct",
		.lease_ms = LEASE_MS,
		.shards = 1,
	};
	struct gather *gather = gather_new(&config);

	gather_add(gather, op);
	gather_flush(gather, write_call, out);
	gather_free(gather);
}

/* The server grants to nobody before it is blessed: in two calls. */
static void
bless(int fd)
{
	struct op heartbeat = { .kind = OP_HEARTBEAT };
	struct op blessing = { .kind = OP_BLESS };
	struct buf command, reply;
	const char *at;

	buf_init(&command);
	buf_init(&reply);
	write_op(&command, &heartbeat);
	resp_call(fd, &command, &reply);
	at = strstr(buf_data(&reply), "pending\r\n$");
	if (at != NULL &&
	    sscanf(at, "pending\r\n$%*d\r\n%95s", blessing.pend) == 1) {
		write_op(&command, &blessing);
		resp_call(fd, &command, &reply);
	}
	if (strstr(buf_data(&reply), "blessed") == NULL)
		fail("not blessed: %s", buf_data(&reply));
	buf_fini(&command);
	buf_fini(&reply);
}

static void
prepare(struct peers *peers)
{
	const struct load *load = peers->arg;
	int fd = peer_connect(load->prepared);

	script_load(fd, lua_acquire, sha_of[SCRIPT_ACQUIRE]);
	script_load(fd, lua_keep, sha_of[SCRIPT_KEEP]);
	script_load(fd, script_delete, sha_delete);
	bless(fd);
	close(fd);
}

/* ---- commands ---- */

/* Takes a command that has the number SEQ_FIRST in it, once or twice. */
static void
command_set(struct command *c, const struct buf *text)
{
	static const char first[] = "1000000000";
	const char *at = buf_data(text), *end = at + buf_len(text);

	c->nplaces = 0;
	while (
	    (at = memmem(at, (size_t)(end - at), first, SEQ_DIGITS)) != NULL &&
	    c->nplaces < PLACES_MAX) {
		c->seq_at[c->nplaces++] = (size_t)(at - buf_data(text));
		at += SEQ_DIGITS;
	}
	if (buf_len(text) > sizeof(c->text) || c->nplaces == 0)
		fail("not a command to be sent again");
	c->n = buf_len(text);
	memcpy(c->text, buf_data(text), c->n);
}

static void
command_send(struct peer *p, struct command *c)
{
	const struct direct *own = p->own;
	char digits[SEQ_DIGITS];
	uint64_t n = own->seq;
	size_t digit = SEQ_DIGITS;
	unsigned i;

	while (digit-- > 0) {
		digits[digit] = (char)('0' + n % 10);
		n /= 10;
	}
	for (i = 0; i < c->nplaces; i++)
		memcpy(c->text + c->seq_at[i], digits, SEQ_DIGITS);
	peer_send(p, c->text, c->n);
}

/* Its numbers are no other client's. */
static struct direct *
own_new(struct peer *p)
{
	struct direct *own = xcalloc(1, sizeof(*own));

	own->seq = SEQ_FIRST + p->id * SEQ_EACH;
	p->own = own;
	return own;
}

static void
direct_open(struct peer *p)
{
	struct op op = {
		.kind = OP_ACQUIRE,
		.name = p->name,
		.name_len = strlen(p->name),
		.seq = SEQ_FIRST,
		.ttl_ms = KEY_MS,
		.reserve = 1,
	};
	struct direct *own = own_new(p);
	struct buf text;

	buf_init(&text);
	write_op(&text, &op);
	command_set(&own->take, &text);
	buf_clear(&text);
	op.kind = OP_END;
	write_op(&text, &op);
	command_set(&own->give, &text);
	buf_fini(&text);
}

static void
direct_take(struct peer *p)
{
	struct direct *own = p->own;

	own->seq++;
	command_send(p, &own->take);
}

static void
direct_give(struct peer *p)
{
	struct direct *own = p->own;

	command_send(p, &own->give);
}

static void
direct_answer(struct peer *p, const char *text, size_t n)
{
	const char *word = p->step == STEP_TAKE ? "grants" : "\r\n:1\r\n";

	if (memmem(text, n, word, strlen(word)) == NULL)
		fail("not %s: %.*s", word, (int)n, text);
	if (p->step == STEP_TAKE)
		load_granted(p);
	else
		load_given(p);
}

const struct mode mode_direct = {
	.name = "direct",
	.help = "the broker's scripts, sent to Redis by each client",
	.frame = resp_frame,
	.prepare = prepare,
	.open = direct_open,
	.take = direct_take,
	.give = direct_give,
	.answer = direct_answer,
};

/* ---- SET NX PX ---- */

static void
simple_begin(struct peer *p, const char *key)
{
	struct direct *own = own_new(p);
	struct buf text;

	buf_init(&text);
	resp_words(
	    &text, "SET %s %" PRIu64 " NX PX %d", key, SEQ_FIRST, LEASE_MS);
	command_set(&own->take, &text);
	buf_clear(&text);
	resp_words(
	    &text, "EVALSHA %s 1 %s %" PRIu64, sha_delete, key, SEQ_FIRST);
	command_set(&own->give, &text);
	buf_fini(&text);
}

static void
simple_open(struct peer *p)
{
	char key[128];

	snprintf(key, sizeof(key), "simple:%s", p->name);
	simple_begin(p, key);
}

/* Another name each time, by the number of its token. */
static void
simple_fresh_open(struct peer *p)
{
	char key[128];

	snprintf(key, sizeof(key), "simple:%s/%" PRIu64, p->name, SEQ_FIRST);
	simple_begin(p, key);
}

static void
simple_answer(struct peer *p, const char *text, size_t n)
{
	if (memcmp(text, p->step == STEP_TAKE ? "+OK" : ":1\r", 3) != 0)
		fail("SET NX PX: %.*s", (int)n, text);
	if (p->step == STEP_TAKE)
		load_granted(p);
	else
		load_given(p);
}

const struct mode mode_simple = {
	.name = "simple",
	.help = "SET NX PX, and a script that compares and deletes",
	.frame = resp_frame,
	.prepare = prepare,
	.open = simple_open,
	.take = direct_take,
	.give = direct_give,
	.answer = simple_answer,
};

const struct mode mode_simple_fresh = {
	.name = "simple-fresh",
	.help = "the same with a name for each pair",
	.frame = resp_frame,
	.prepare = prepare,
	.open = simple_fresh_open,
	.take = direct_take,
	.give = direct_give,
	.answer = simple_answer,
};
