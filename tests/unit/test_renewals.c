/*
 * How renewals are written into a call: those at its head take less.
 */
#include "config.h"

#include <check.h>
#include <string.h>

#include "base/buf.h"
#include "store/gather.h"
#include "suite.h"
#include "test_store.h"

#define OPS_MAX 4

/* Operations of one call, and its arguments behind the common ones. */
static const struct {
	struct op ops[OPS_MAX];
	const char *words;
} rows[] = {
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 } },
	    "keep 900 7 50" },
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "keep 900 7 50 8 51" },
	/* Another ttl ends the head. */
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 901, .fence = 51 },
	      { .kind = OP_RENEW, .seq = 9, .ttl_ms = 900, .fence = 52 } },
	    "keep 900 7 50 renew 8 901 51 0 x renew 9 900 52 0 x" },
	/* So do fences that are drawn, and a lease that is shared. */
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .reserve = 3 } },
	    "keep 900 7 50 renew 8 900 0 3 x" },
	{ { { .kind = OP_RENEW,
	      .seq = 7,
	      .ttl_ms = 900,
	      .fence = 50,
	      .flags = OP_SHARED } },
	    "renew 7 900 50 0 s" },
	/* Behind something else there is no head. */
	{ { { .kind = OP_STATUS, .seq = 1 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "status renew 8 900 51 0 x" },
	{ { { .kind = OP_RENEW, .seq = 7, .ttl_ms = 900, .fence = 50 },
	      { .kind = OP_STATUS, .seq = 1 },
	      { .kind = OP_RENEW, .seq = 8, .ttl_ms = 900, .fence = 51 } },
	    "keep 900 7 50 status renew 8 900 51 0 x" },
};

static void
on_send(void *arg, struct call *call)
{
	struct call **sent = arg;

	ck_assert_ptr_null(*sent);
	*sent = call;
}

START_TEST(renewals_at_the_head_take_less)
{
	struct store_config c = { .prefix = "lock:",
		.broker = "web-1",
		.instance = 1,
		.lease_ms = 10000,
		.shards = 1,
		.lanes = 1 };
	struct gather *g = gather_new(&c);
	struct call *call = NULL;
	struct buf b = { 0 };
	struct op op;
	unsigned i;
	int a;

	for (i = 0; i < OPS_MAX && rows[_i].ops[i].seq > 0; i++) {
		op = rows[_i].ops[i];
		op.id = i;
		op.name = "n";
		op.name_len = 1;
		gather_add(g, &op);
	}
	gather_flush(g, on_send, &call);
	ck_assert_ptr_nonnull(call);
	ck_assert_uint_eq(call->nkeys, 2 + 3 * i);
	for (a = CALL_HEAD + (int)call->nkeys + CALL_COMMON; a < call->argc;
	     a++) {
		buf_add(&b, call->argv[a], call->argvlen[a]);
		buf_addc(&b, a + 1 < call->argc ? ' ' : '\0');
	}
	ck_assert_str_eq(buf_data(&b), rows[_i].words);
	buf_fini(&b);
	gather_drop(g, call);
	gather_free(g);
}
END_TEST

TCase *
renewals_cases(void)
{
	TCase *tc = tcase_create("renewals");

	tcase_add_loop_test(
	    tc, renewals_at_the_head_take_less, 0, (int)COUNT(rows));
	return tc;
}
