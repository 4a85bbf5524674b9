/*
 * Clients of the broker: LOCK and UNLOCK, a line each.  Also clients that
 * hold many locks, and clients that do nothing.
 */
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "line.h"
#include "load.h"

static void
broker_take(struct peer *p)
{
	line_say(p, "LOCK %s", p->name);
}

static void
broker_give(struct peer *p)
{
	line_say(p, "UNLOCK %s", p->name);
}

static void
broker_answer(struct peer *p, const char *text, size_t n)
{
	if (text[0] == '!')
		fail("client %u was told: %.*s", p->id, (int)n, text);
	line_expect_ok(p, text, n);
	if (p->step == STEP_TAKE)
		load_granted(p);
	else
		load_given(p);
}

const struct mode mode_broker = {
	.name = "broker",
	.help = "LOCK and UNLOCK at a broker",
	.frame = line_frame,
	.take = broker_take,
	.give = broker_give,
	.answer = broker_answer,
};

static void
try_take(struct peer *p)
{
	line_say(p, "TRYLOCK %s", p->name);
}

/* A refusal is an answer, too. */
static void
try_answer(struct peer *p, const char *text, size_t n)
{
	if (p->step == STEP_TAKE && n >= 4 && memcmp(text, "BUSY", 4) == 0)
		load_given(p);
	else
		broker_answer(p, text, n);
}

const struct mode mode_try = {
	.name = "try",
	.help = "TRYLOCK at a broker, and UNLOCK if it was granted",
	.frame = line_frame,
	.take = try_take,
	.give = broker_give,
	.answer = try_answer,
};

/* The number of the present name is all that such a client owns. */
static unsigned long long *
fresh_number(struct peer *p)
{
	if (p->own == NULL)
		p->own = xcalloc(1, sizeof(unsigned long long));
	return p->own;
}

static void
fresh_take(struct peer *p)
{
	line_say(p, "LOCK %s/%llu", p->name, ++*fresh_number(p));
}

static void
fresh_give(struct peer *p)
{
	line_say(p, "UNLOCK %s/%llu", p->name, *fresh_number(p));
}

const struct mode mode_fresh = {
	.name = "fresh",
	.help = "the same with a name for each pair",
	.frame = line_frame,
	.take = fresh_take,
	.give = fresh_give,
	.answer = broker_answer,
};

/* ---- those that stay ---- */

static void
no_resume(struct peer *p)
{
	(void)p;
}

/* Serves until stdin ends; then everything is let go by the exit. */
static void
stay(struct peers *peers)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	printf("ready\n");
	fflush(stdout);
	while (poll(&in, 1, 0) == 0 || read(STDIN_FILENO, &byte, 1) > 0)
		peers_run(peers, now_ns() + 50000000);
	peers_free(peers);
}

/* The next of its locks, or one client less to wait for. */
static void
hold_next(struct peer *p)
{
	struct load *load = load_of(p);

	if (p->grants == load->each) {
		load->pairs++;
		return;
	}
	line_say(
	    p, "LOCK held/%u/%llu", p->id, (unsigned long long)p->grants++);
}

static void
hold_answer(struct peer *p, const char *text, size_t n)
{
	if (line_is_leaving(text, n))
		return;
	line_expect_ok(p, text, n);
	hold_next(p);
}

void
hold_run(struct load *load)
{
	static const struct peer_handler handler = { line_frame, hold_answer,
		no_resume };
	struct peers *peers = peers_new(
	    load->clients, load->addresses, load->naddresses, &handler, load);
	unsigned i;

	for (i = 0; i < peers->n; i++)
		hold_next(&peers->v[i]);
	while (load->pairs < load->clients)
		peers_run(peers, now_ns() + 10000000);
	stay(peers);
}

static void
idle_answer(struct peer *p, const char *text, size_t n)
{
	if (line_is_leaving(text, n))
		return;
	line_expect_ok(p, text, n);
	load_of(p)->pairs++;
}

/* Each has said something once, as a client would have. */
void
idle_run(struct load *load)
{
	static const struct peer_handler handler = { line_frame, idle_answer,
		no_resume };
	struct peers *peers = peers_new(
	    load->clients, load->addresses, load->naddresses, &handler, load);
	unsigned i;

	for (i = 0; i < peers->n; i++)
		peer_send(&peers->v[i], "PING\r\n", 6);
	while (load->pairs < load->clients)
		peers_run(peers, now_ns() + 10000000);
	stay(peers);
}
