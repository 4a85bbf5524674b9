/*
 * Clients that speak to Redis themselves: with the broker's scripts, one
 * operation a call, as store/call.h has it; and with what most of them do, SET
 * NX PX and a script that compares and deletes.
 *
 * A command is made once for each client; then only the numbers in it change,
 * so that the driver is not what is measured.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "load.h"
#include "lua/scripts.h"
#include "resp.h"

#define PREFIX "direct:"
#define SHA_SIZE 41
#define SEQ_DIGITS 10
#define SEEN_DIGITS 16

/* As a broker with the default lease has them. */
#define LEASE_MS "10000"
#define PAD_MS "3000"
#define GRACE_MS "13600"
#define ME "direct.0123456789abcdef"

/* A command with places for numbers.  Its text is in the peer's own. */
struct command {
	size_t n;
	size_t seen_at; /* 0: none */
	size_t seq_at;
	char text[768];
};

/* The own of a peer. */
struct direct {
	struct command take;
	struct command give;
	uint64_t seq;
	uint64_t seen;
};

static char sha_acquire[SHA_SIZE], sha_keep[SHA_SIZE], sha_delete[SHA_SIZE];

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

/* Everything before the operation; returns where `seen` stands. */
static size_t
common(struct buf *out, const char *sha, const char *name, unsigned words)
{
	char key[128];
	size_t seen_at;

	resp_begin(out, (name != NULL ? 17 : 15) + words);
	resp_str(out, "EVALSHA");
	resp_str(out, sha);
	resp_str(out, name != NULL ? "4" : "2");
	resp_str(out, PREFIX "@guard");
	resp_str(out, PREFIX "@fence");
	if (name != NULL) {
		snprintf(key, sizeof(key), PREFIX "%s", name);
		resp_str(out, key);
		snprintf(key, sizeof(key), PREFIX "@queue:%s", name);
		resp_str(out, key);
	}
	resp_str(out, "0123456789abcdef");
	resp_str(out, "0000000000000000");
	seen_at = buf_len(out) - 2 - SEEN_DIGITS;
	resp_str(out, "v1,lease=" LEASE_MS ",replicas=0");
	resp_str(out, ME);
	resp_str(out, LEASE_MS);
	resp_str(out, PAD_MS);
	resp_str(out, PAD_MS);
	resp_str(out, GRACE_MS);
	resp_str(out, PREFIX);
	resp_u64(out, sizeof(PREFIX) - 1);
	return seen_at;
}

/* The server grants to nobody before it is blessed: in two calls. */
static void
bless(int fd)
{
	struct buf command, reply;
	const char *at;
	char pend[128];

	buf_init(&command);
	buf_init(&reply);
	(void)common(&command, sha_keep, NULL, 1);
	resp_str(&command, "heartbeat");
	resp_call(fd, &command, &reply);
	at = strstr(buf_data(&reply), "pending\r\n$");
	if (at != NULL && sscanf(at, "pending\r\n$%*d\r\n%127s", pend) == 1) {
		(void)common(&command, sha_keep, NULL, 2);
		resp_str(&command, "bless");
		resp_str(&command, pend);
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
	int fd = peer_connect(load->addresses[0]);

	script_load(fd, lua_acquire, sha_acquire);
	script_load(fd, lua_keep, sha_keep);
	script_load(fd, script_delete, sha_delete);
	bless(fd);
	close(fd);
}

/* ---- commands ---- */

static void
command_set(struct command *c, const struct buf *text)
{
	if (buf_len(text) > sizeof(c->text))
		fail("a command is too long");
	c->n = buf_len(text);
	memcpy(c->text, buf_data(text), c->n);
}

static void
put_number(char *at, size_t digits, uint64_t n)
{
	while (digits-- > 0) {
		at[digits] = (char)('0' + n % 10);
		n /= 10;
	}
}

static void
command_send(struct peer *p, struct command *c)
{
	const struct direct *own = p->own;

	if (c->seen_at > 0)
		put_number(c->text + c->seen_at, SEEN_DIGITS, own->seen);
	put_number(c->text + c->seq_at, SEQ_DIGITS, own->seq);
	peer_send(p, c->text, c->n);
}

/* A number no other client has: its own above, a count below. */
static struct direct *
own_new(struct peer *p)
{
	struct direct *own = xcalloc(1, sizeof(*own));

	own->seq = p->id * UINT64_C(1000000);
	p->own = own;
	return own;
}

static size_t
add_seq(struct buf *out)
{
	resp_str(out, "0000000000");
	return buf_len(out) - 2 - SEQ_DIGITS;
}

static void
direct_open(struct peer *p)
{
	struct direct *own = own_new(p);
	struct buf text;

	buf_init(&text);
	own->take.seen_at = common(&text, sha_acquire, p->name, 5);
	resp_str(&text, "acquire");
	own->take.seq_at = add_seq(&text);
	resp_str(&text, "13000");
	resp_str(&text, "1");
	resp_str(&text, "t");
	command_set(&own->take, &text);
	buf_clear(&text);
	own->give.seen_at = common(&text, sha_keep, p->name, 3);
	resp_str(&text, "end");
	own->give.seq_at = add_seq(&text);
	resp_str(&text, "0");
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
	static const char granted[] = "granted\r\n:";
	struct direct *own = p->own;
	const char *at;

	if (p->step == STEP_TAKE) {
		at = memmem(text, n, granted, sizeof(granted) - 1);
		if (at == NULL)
			fail("not granted: %.*s", (int)n, text);
		own->seen = strtoull(at + sizeof(granted) - 1, NULL, 10);
		load_granted(p);
		return;
	}
	if (memmem(text, n, "ended", 5) == NULL)
		fail("not ended: %.*s", (int)n, text);
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
simple_open(struct peer *p)
{
	struct direct *own = own_new(p);
	char key[128];
	struct buf text;

	snprintf(key, sizeof(key), "simple:%s", p->name);
	buf_init(&text);
	resp_begin(&text, 6);
	resp_str(&text, "SET");
	resp_str(&text, key);
	own->take.seq_at = add_seq(&text);
	resp_str(&text, "NX");
	resp_str(&text, "PX");
	resp_str(&text, LEASE_MS);
	command_set(&own->take, &text);
	buf_clear(&text);
	resp_begin(&text, 5);
	resp_str(&text, "EVALSHA");
	resp_str(&text, sha_delete);
	resp_str(&text, "1");
	resp_str(&text, key);
	own->give.seq_at = add_seq(&text);
	command_set(&own->give, &text);
	buf_fini(&text);
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
