/*
 * The rig of the tests of src/store (store_rig.h).
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "store_rig.h"

struct gather *store;
struct store_seen store_seen;

struct store_config
store_plain(void)
{
	return (struct store_config){ .prefix = "lock:",
		.broker = "web-1",
		.instance = 0xabc,
		.lease_ms = 10000,
		.replicas = 2,
		.shards = 1,
		.seed = { 1, 2 } };
}

void
store_begin(const struct store_config *config)
{
	memset(&store_seen, 0, sizeof(store_seen));
	store = gather_new(config);
}

void
store_begin_plain(void)
{
	struct store_config c = store_plain();

	store_begin(&c);
}

void
store_on_send(void *arg, struct call *call)
{
	ck_assert_ptr_eq(arg, &store_seen);
	ck_assert_uint_lt(store_seen.ncalls, 16);
	store_seen.calls[store_seen.ncalls++] = call;
}

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	(void)shard;
	ck_assert_ptr_eq(arg, &store_seen);
	ck_assert_uint_eq(store_seen.told, 0); /* before all outcomes */
	store_seen.guard = *report;
	store_seen.guards++;
	store_seen.sent_ms = sent_ms;
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	ck_assert_ptr_eq(arg, &store_seen);
	ck_assert_uint_lt(store_seen.told, TOLD_MAX);
	store_seen.outcomes[store_seen.told] = *outcome;
	store_seen.ids[store_seen.told] = op;
	(void)snprintf(store_seen.text[store_seen.told++],
	    sizeof(store_seen.text[0]), "%.*s", (int)outcome->text_len,
	    outcome->text);
	store_seen.sent_ms = sent_ms;
}

struct op
store_op(enum op_kind kind, uint64_t id, const char *name)
{
	return (struct op){ .id = id,
		.kind = kind,
		.name = name,
		.name_len = name ? strlen(name) : 0,
		.seq = 7,
		.ttl_ms = 13000,
		.linger_ms = 500,
		.fence = UINT64_C(9007199254740991),
		.reserve = 3,
		.have = 1,
		.need = 2,
		.want = 4,
		.limit = 5,
		.look = KIND_LATCH,
		.timeout_ms = 2000,
		.pend = "id:nonce" };
}

void
store_add(enum op_kind kind, uint64_t id, const char *name)
{
	struct op op = store_op(kind, id, name);

	gather_add(store, &op);
}

void
store_flush(void)
{
	store_seen.ncalls = 0;
	gather_flush(store, store_on_send, &store_seen);
}

const char *
store_words(const struct call *call)
{
	static struct buf b;
	int i;

	buf_clear(&b);
	for (i = 0; i < call->argc; i++) {
		if (i > 0)
			buf_addc(&b, ' ');
		if (i == (int)(CALL_HEAD + call->nkeys))
			buf_adds(&b, "NONCE");
		else
			buf_add(&b, call->argv[i], call->argvlen[i]);
	}
	buf_addc(&b, '\0');
	return buf_data(&b);
}

const struct store_handler store_handler = { on_guard, on_outcome };
