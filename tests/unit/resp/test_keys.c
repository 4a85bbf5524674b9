/*
 * Commands on keys and scripts: what they ask of the core, and which are
 * refused.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resp/ask.h"
#include "resp/lua_form.h"
#include "resp/lua_meaning.h"
#include "resp/lua_text.h"
#include "resp/scripts.h"
#include "suite.h"

#define CLOCK_MS INT64_C(1700000000000)
#define YEAR_MS (INT64_C(365) * 24 * 3600 * 1000)
#define NOT_A_NUMBER "ERR value is not an integer or out of range"
#define WORDS_MAX 16

static char copy[512];

/* The words of a text, between single spaces. */
static unsigned
split(const char *text, struct span words[WORDS_MAX])
{
	unsigned n = 0;
	char *p = copy, *end;

	ck_assert_uint_lt(strlen(text), sizeof(copy));
	memcpy(copy, text, strlen(text) + 1);
	for (; p != NULL; p = end) {
		end = strchr(p, ' ');
		if (end != NULL)
			*end++ = '\0';
		words[n++] = (struct span){ p, strlen(p) };
	}
	return n;
}

static void
expect(struct buf *b, const char *text)
{
	buf_addc(b, '\0');
	ck_assert_str_eq(buf_data(b), text);
}

/* A command, and what it asks for; or the error. */
static const struct asking {
	const char *words;
	enum token_op op;
	enum token_match match;
	enum token_bound bound;
	int64_t ttl_ms;
	const char *token, *new_token; /* NULL: none */
	enum ask_form form;
	const char *why; /* NULL: none */
} askings[] = {
#define OK(words, op, match, bound, ttl_ms, token, other, form)          \
	{                                                                \
		words, TOKEN_##op, TOKEN_##match, TOKEN_##bound, ttl_ms, \
		    token, other, ASK_##form, NULL                       \
	}
#define NO(words, why)                                                    \
	{                                                                 \
		words, TOKEN_OP_MAX, TOKEN_MATCH_MAX, TOKEN_BOUND_MAX, 0, \
		    NULL, NULL, ASK_COUNT, "ERR " why                     \
	}
	OK("SET a t NX", ACQUIRE, EXACT, REPLACE, 0, "t", NULL, OK_OR_NIL),
	OK("set a t px 50 nx", ACQUIRE, EXACT, REPLACE, 50, "t", NULL,
	    OK_OR_NIL),
	OK("SET a t NX EX 5 GET", ACQUIRE, EXACT, REPLACE, 5000, "t", NULL,
	    OLD_OR_NIL),
	OK("SET a t NX PXAT 1700000000700", ACQUIRE, EXACT, REPLACE, 700, "t",
	    NULL, OK_OR_NIL),
	OK("SET a t NX EXAT 1700000007", ACQUIRE, EXACT, REPLACE, 7000, "t",
	    NULL, OK_OR_NIL),
	/* Commands that are answered at once. */
	OK("SET a t NX EXAT 7", ACQUIRE, EXACT, REPLACE, 1, "t", NULL,
	    OK_OR_NIL),
	NO("SET a t NX PX 9223372036854775807",
	    "invalid expire time in 'set' command"),
	OK("SET a t NX PX 9007199254740992", ACQUIRE, EXACT, REPLACE,
	    TOKEN_MS_MAX, "t", NULL, OK_OR_NIL),
	/* The last one counts, as with Redis, which looks at numbers last. */
	OK("SET a t PX x nx px 50", ACQUIRE, EXACT, REPLACE, 50, "t", NULL,
	    OK_OR_NIL),
	OK("SETNX a t", ACQUIRE, EXACT, REPLACE, 0, "t", NULL, ONE_OR_ZERO),
	OK("SET a u XX PX 50", EXTEND, ANY, REPLACE, 50, NULL, "u", OK_OR_NIL),
	OK("SET a u IFEQ t PX 50", EXTEND, EXACT, REPLACE, 50, "t", "u",
	    OK_OR_NIL),
	NO("SET a t", "lockbroker supports SET only with NX, XX or IFEQ"),
	NO("SET a t EX 5", "lockbroker supports SET only with NX, XX or IFEQ"),
	NO("SET a t NX XX", "syntax error"),
	NO("SET a t NX IFEQ u", "syntax error"),
	NO("SET a t NX PX", "syntax error"),
	NO("SET a t NX PX 1 EX 1", "syntax error"),
	NO("SET a t NX PX x EX 1", "syntax error"),
	NO("SET a t NX PX 1 PXAT 1", "syntax error"),
	NO("SET a t NX FOO 1", "syntax error"),
	NO("SET a t NX PX x", "value is not an integer or out of range"),
	NO("SET a t NX PX 01", "value is not an integer or out of range"),
	NO("SET a t NX PX 0", "invalid expire time in 'set' command"),
	NO("SET a t NX EX -5", "invalid expire time in 'set' command"),
	NO("SET a t NX PX -9223372036854775808",
	    "invalid expire time in 'set' command"),
	NO("SET a t NX PX -9223372036854775809",
	    "value is not an integer or out of range"),
	NO("SET a t NX EX 9223372036854775807",
	    "invalid expire time in 'set' command"),
	NO("SET a t NX KEEPTTL", "lockbroker does not support KEEPTTL"),
	NO("SET a t XX GET", "lockbroker supports GET only with NX"),
	NO("SET a  NX", "bad-token a token has 1 to 512 bytes"),
	NO("SET a=b t NX", "bad-name the name \"a=b\" contains \"=\""),
	OK("DEL a b a", RELEASE, ANY, REPLACE, 0, NULL, NULL, COUNT),
	OK("UNLINK a", RELEASE, ANY, REPLACE, 0, NULL, NULL, COUNT),
	OK("DELEX a", RELEASE, ANY, REPLACE, 0, NULL, NULL, COUNT),
	OK("DELEX a ifeq t", RELEASE, EXACT, REPLACE, 0, "t", NULL, COUNT),
	OK("DELEX a IFNE t", RELEASE, NOT, REPLACE, 0, "t", NULL, COUNT),
	OK("DELIFEQ a t", RELEASE, EXACT, REPLACE, 0, "t", NULL, COUNT),
	NO("DELEX a IFDEQ t",
	    "lockbroker supports DELEX only with IFEQ or IFNE"),
	OK("GET a", QUERY, EXACT, REPLACE, 0, NULL, NULL, TOKEN_OR_NIL),
	OK("EXISTS a b", QUERY, EXACT, REPLACE, 0, NULL, NULL, COUNT),
	NO("EXISTS a a",
	    "lockbroker counts each name once: a name is given twice"),
	OK("PTTL a", QUERY, EXACT, REPLACE, 0, NULL, NULL, LEFT_MS),
	OK("TTL a", QUERY, EXACT, REPLACE, 0, NULL, NULL, LEFT_S),
	OK("LB.FENCE a t", QUERY, EXACT, REPLACE, 0, NULL, NULL, FENCE),
	OK("PEXPIRE a 50", EXTEND, ANY, REPLACE, 50, NULL, NULL, ONE_OR_ZERO),
	OK("EXPIRE a 5 NX", EXTEND, ANY, IF_UNBOUND, 5000, NULL, NULL,
	    ONE_OR_ZERO),
	OK("PEXPIRE a 50 XX", EXTEND, ANY, IF_BOUND, 50, NULL, NULL,
	    ONE_OR_ZERO),
	OK("PEXPIRE a 50 GT", EXTEND, ANY, IF_LONGER, 50, NULL, NULL,
	    ONE_OR_ZERO),
	OK("PEXPIRE a 50 LT", EXTEND, ANY, IF_SHORTER, 50, NULL, NULL,
	    ONE_OR_ZERO),
	OK("PEXPIRE a 0", EXTEND, ANY, REPLACE, -1, NULL, NULL, ONE_OR_ZERO),
	OK("EXPIRE a -7 LT", EXTEND, ANY, IF_SHORTER, -1, NULL, NULL,
	    ONE_OR_ZERO),
	OK("PERSIST a", EXTEND, ANY, IF_BOUND, 0, NULL, NULL, ONE_OR_ZERO),
	NO("PEXPIRE a x", "value is not an integer or out of range"),
	NO("PEXPIRE a 5 FOO", "Unsupported option FOO"),
	NO("PEXPIRE a 5 NX GT", "NX and XX, GT or LT options at the same time"
				" are not compatible"),
	NO("PEXPIRE a 5 GT LT",
	    "GT and LT options at the same time are not compatible"),
	NO("EXPIRE a -9223372036854775808",
	    "invalid expire time in 'expire' command"),
	NO("EXPIRE a 9223372036854775807",
	    "invalid expire time in 'expire' command"),
};

static void
check_bytes(const char *p, size_t n, const char *text)
{
	if (text == NULL) {
		ck_assert_uint_eq(n, 0);
		return;
	}
	ck_assert_uint_eq(n, strlen(text));
	ck_assert_int_eq(memcmp(p, text, n), 0);
}

START_TEST(asking)
{
	const struct asking *x = &askings[_i];
	struct span words[WORDS_MAX];
	unsigned n = split(x->words, words);
	enum resp_id id;
	struct buf why;
	struct ask a;

	buf_init(&why);
	id = resp_find(words, n, &why);
	ck_assert_int_ne(id, RESP_MAX);
	if (!ask_parse(&a, id, words, n, CLOCK_MS, &why)) {
		ck_assert_ptr_nonnull(x->why);
		expect(&why, x->why);
		buf_fini(&why);
		return;
	}
	ck_assert_ptr_null(x->why);
	ck_assert_int_eq(a.rq.op, x->op);
	ck_assert_int_eq(a.rq.match, x->match);
	ck_assert_int_eq(a.rq.bound, x->bound);
	ck_assert_int_eq(a.rq.ttl_ms, x->ttl_ms);
	ck_assert_int_eq(a.form, x->form);
	if (x->match != TOKEN_ANY && x->op != TOKEN_QUERY)
		check_bytes(a.rq.token, a.rq.token_len, x->token);
	check_bytes(a.rq.new_token, a.rq.new_token_len, x->new_token);
	ck_assert_uint_ge(a.rq.nnames, 1);
	check_bytes(a.names[0].p, a.names[0].n, "a");
	buf_fini(&why);
}
END_TEST

/* How long BLPOP waits for the lock. */
static const struct waiting {
	const char *words;
	int64_t ms;
	const char *why; /* NULL: none */
} waitings[] = {
	{ "BLPOP lock-signal:a 5", 5000, NULL },
	{ "blpop lock-signal:a 0", YEAR_MS, NULL },
	{ "BLPOP lock-signal:a 0.25", 250, NULL },
	{ "BLPOP lock-signal:a 1.5", 1500, NULL },
	{ "BLPOP lock-signal:a 2.00199", 2001, NULL },
	{ "BLPOP lock-signal:a 31536000", YEAR_MS, NULL },
	{ "BLPOP lock-signal:a 31536001", 0,
	    "ERR timeout is not a float or out of range" },
	{ "BLPOP lock-signal:a .5", 0,
	    "ERR timeout is not a float or out of range" },
	{ "BLPOP lock-signal:a -1", 0, "ERR timeout is negative" },
	{ "BLPOP lock-signal: 1", 1000, NULL },
	{ "BLPOP a 1", 0,
	    "ERR unknown command 'BLPOP', with args beginning with: 'a' '1' "
	    "; lockbroker stores no data, only locks" },
};

START_TEST(waiting)
{
	const struct waiting *x = &waitings[_i];
	struct span words[WORDS_MAX];
	unsigned n = split(x->words, words);
	struct buf why;
	struct ask a;

	buf_init(&why);
	if (!ask_parse(&a, RESP_BLPOP, words, n, CLOCK_MS, &why)) {
		ck_assert_ptr_nonnull(x->why);
		expect(&why, x->why);
		buf_fini(&why);
		return;
	}
	ck_assert_ptr_null(x->why);
	ck_assert(a.rq.awaits);
	ck_assert_int_eq(a.rq.op, TOKEN_ACQUIRE);
	ck_assert_int_eq(a.rq.park_ms, x->ms);
	ck_assert_uint_eq(a.rq.nnames, 1);
	ck_assert_int_eq(memcmp(a.names[0].p, "lock:", 5), 0);
	buf_fini(&why);
}
END_TEST

START_TEST(names_of_a_library)
{
	struct span words[WORDS_MAX];
	struct buf why;
	struct ask a;

	buf_init(&why);
	words[0] = (struct span){ "GET", 3 };
	words[1] = (struct span){ "redisson_lock_token:{a}", 23 };
	ck_assert(ask_parse(&a, RESP_GET, words, 2, CLOCK_MS, &why));
	check_bytes(a.names[0].p, a.names[0].n, "a");
	ck_assert_int_eq(a.form, ASK_FENCE_NOW);
	words[1] = (struct span){ "redisson_lock_token:b{c}", 24 };
	ck_assert(ask_parse(&a, RESP_GET, words, 2, CLOCK_MS, &why));
	check_bytes(a.names[0].p, a.names[0].n, "b{c}");
	/* Only who asks means the lock. */
	ck_assert(ask_parse(&a, RESP_DEL, words, 2, CLOCK_MS, &why));
	check_bytes(a.names[0].p, a.names[0].n, "redisson_lock_token:b{c}");
	words[1] = (struct span){ "@other", 6 };
	ck_assert(!ask_parse(&a, RESP_GET, words, 2, CLOCK_MS, &why));
	buf_fini(&why);
}
END_TEST

/* Scripts. */

/* Texts and their normal form. */
static const struct normal {
	const char *text, *form;
} normals[] = {
	{ "return 1", "return 1 " },
	{ "  return\r\n\t1 ;", "return 1 " },
	{ "--[[ a ]] return 1 -- another", "return 1 " },
	{ "a = 'x  -- y'; b()", "a = \"x  -- y\" b ( ) " },
	{ "a - -1", "a - - 1 " },
	{ "", "" },
	/* Lua tells capitals from small letters. */
	{ "return redis.call( 'gEt' , KEYS[ 1 ] )",
	    "return redis . call ( \"GET\" , KEYS [ 1 ] ) " },
	{ "return redis.call('get', keys[1])",
	    "return redis . call ( \"GET\" , keys [ 1 ] ) " },
	{ "Return redis.Call('get', 'Yes')",
	    "Return redis . Call ( \"get\" , \"Yes\" ) " },
	{ "redis.pcall('unlink', 'unlink')",
	    "redis . pcall ( \"DEL\" , \"unlink\" ) " },
	/* Local names. */
	{ "local k, a = KEYS[1] return k",
	    "local k , a = KEYS [ 1 ] return k " },
	{ "local k = KEYS[1] local a = ARGV[2] return a .. k",
	    "return ARGV [ 2 ] .. KEYS [ 1 ] " },
	{ "local k = KEYS[1] or 5 return k",
	    "local k = KEYS [ 1 ] or 5 return k " },
	{ "local k = KEYS[1] k = 2 return k",
	    "KEYS [ 1 ] = 2 return KEYS [ 1 ] " },
	{ "local v = redis.call('x') if v == 1 then a() end b()",
	    "if redis . call ( \"X\" ) == 1 then a ( ) end b ( ) " },
	{ "local v = redis.call('x') if v == 1 then a(v) end",
	    "local v = redis . call ( \"X\" ) if v == 1 then a ( v ) end " },
	{ "local v = redis.call('x') y() if v == 1 then a() end",
	    "local v = redis . call ( \"X\" ) y ( ) if v == 1 then a ( ) "
	    "end " },
	{ "local v = redis.call('x') if v ~= 1 then a() end",
	    "local v = redis . call ( \"X\" ) if v ~= 1 then a ( ) end " },
	/* What is returned at the end. */
	{ "if x then return 1 end return 0",
	    "if x then return 1 else return 0 end " },
	{ "if x then return 1 end",
	    "if x then return 1 else return false end " },
	{ "if x then return 1 else return nil end",
	    "if x then return 1 else return false end " },
	{ "if x then return 1 else return end",
	    "if x then return 1 else return false end " },
	{ "if x then a() end return 0", "if x then a ( ) end return 0 " },
	{ "if x then return 1 end a() return 0",
	    "if x then return 1 end a ( ) return 0 " },
	{ "if x then if y then return 1 end end return 0",
	    "if x then if y then return 1 end end return 0 " },
	{ "if x then return nilly end",
	    "if x then return nilly else return false end " },
	/* What is not sure. */
	{ "--[[ only looks ]] if true then return 0 end\nreturn 1",
	    "if true then return 0 else return 1 end " },
	{ "a --[b\nc --[=b\rd", "a c d " },
	{ "return 'open", NULL },
	{ "return '\\'' .. 1", NULL },
	{ "return [[x]]", NULL },
	{ "return ; redis.call('get')", NULL },
	{ "a ; == b", NULL },
	{ "a ; (b)()", NULL },
	{ "a\n(b)", NULL },
	{ ";", NULL },
	{ "a = {1; 2}", NULL },
	{ "a() ;; b()", NULL },
	{ "return 1 !", NULL },
};

START_TEST(normal_form)
{
	const struct normal *x = &normals[_i];
	struct buf b;

	buf_init(&b);
	ck_assert_int_eq(
	    lua_form(&b, (struct span){ x->text, strlen(x->text) }),
	    x->form != NULL);
	if (x->form != NULL)
		expect(&b, x->form);
	buf_fini(&b);
}
END_TEST

/* What people may see of a text. */
static const struct normal outlines[] = {
	{ "return redis.call('set', KEYS[1], \"my-secret\") -- secret",
	    "return redis.call(\"...\",KEYS[1],\"...\")" },
	{ "local a = [[secret\n]] --[[ secret\n ]] local b = [==[ ]] ]==] c",
	    "local a=\"...\"local b=\"...\"c" },
	{ "if x ~= 123 then return 1234567 end",
	    "if x~=123 then return ... end" },
	{ "a 'open secret", "a\"...\"" },
	{ "a 'secret\nsecret'", "a\"...\"" },
	{ "a '\\'secret\\'' .. b", "a\"...\"..b" },
	{ "a --[[ secret", "a\"...\"" },
	{ "a ! secret", "a\"...\"" },
	{ "", "" },
};

START_TEST(outline)
{
	const struct normal *x = &outlines[_i];
	struct buf b;

	buf_init(&b);
	lua_outline(&b, (struct span){ x->text, strlen(x->text) });
	expect(&b, x->form);
	buf_fini(&b);
}
END_TEST

#define IF_MINE "if redis.call('get', KEYS[1]) == ARGV[1] then "
#define OTHERWISE "another's = 0; another's for ever = 0; free = 0; ARGV[1]"

/* Texts and what they mean; NULL: that is not sure. */
static const struct normal meanings[] = {
	{ IF_MINE "return redis.call('del', KEYS[1]) else return 0 end",
	    "held DEL = 1; held for ever DEL = 1; " OTHERWISE },
	{ "local k, t = KEYS[1], ARGV[1] if (t ~= redis.pcall('GET', k)) then"
	  " return 0 end server.call('unlink', k) return true",
	    "held DEL = 1; held for ever DEL = 1; " OTHERWISE },
	{ "#!lua\n" IF_MINE "return redis.pcall('psetex', KEYS[1],"
	  " tonumber(ARGV[2]), ARGV[1]) end return 0",
	    "held SET PX ARGV[2] = OK; held for ever SET PX ARGV[2] = OK; " OTHERWISE },
	{ "return redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2], 'nx')",
	    "held EX? ARGV[2] = nil; held for ever EX? ARGV[2] = nil; "
	    "another's EX? ARGV[2] = nil; another's for ever EX? ARGV[2] ="
	    " nil; free SET EX ARGV[2] = OK; ARGV[1]" },
	/* An error would be hidden. */
	{ IF_MINE "redis.pcall('pexpire', KEYS[1], ARGV[2]) return 1 end"
		  " return 0",
	    NULL },
	{ "if redis.pcall('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then"
	  " return 1 end return 0",
	    NULL },
	/* Who knows whether the key is still there? */
	{ IF_MINE "redis.call('pexpire', KEYS[1], ARGV[2])"
		  " return redis.call('del', KEYS[1]) end return 0",
	    NULL },
	/* Two tokens. */
	{ IF_MINE "return redis.call('set', KEYS[1], ARGV[2], 'PX', ARGV[3])"
		  " end return 0",
	    NULL },
	{ "if redis.call('get', KEYS[1]) == ARGV[1] or"
	  " redis.call('get', KEYS[1]) == ARGV[2] then"
	  " return redis.call('del', KEYS[1]) end return 0",
	    NULL },
	/* What is compared may be this or that. */
	{ IF_MINE "if redis.call('pttl', KEYS[1]) > 0 then return 1 end end"
		  " return 0",
	    NULL },
	{ "if ARGV[1] == 'x' then return redis.call('del', KEYS[1]) end",
	    NULL },
	{ "if tonumber(ARGV[1]) then return redis.call('del', KEYS[1]) end",
	    NULL },
	/* Names that mean something else. */
	{ "local redis = ARGV[1] " IF_MINE
	  "return redis.call('del', KEYS[1]) else return 0 end",
	    NULL },
	{ "local KEYS = ARGV[1] " IF_MINE
	  "return redis.call('del', KEYS[1]) else return 0 end",
	    NULL },
	{ "v = 1 " IF_MINE "return redis.call('del', KEYS[1]) else return 0"
	  " end",
	    NULL },
	{ IF_MINE "return redis.call('del', KEYS[2]) else return 0 end", NULL },
	{ IF_MINE "return redis.call('del', KEYS[1], KEYS[2]) else return 0"
		  " end",
	    NULL },
	/* What is no Lua, or has more than the broker looks at. */
	{ IF_MINE "return redis.call('del', KEYS[1]) else return 0", NULL },
	{ IF_MINE "return 1 redis.call('del', KEYS[1]) end return 0", NULL },
	{ IF_MINE "return redis.call('del', KEYS[1]) end return 0 end", NULL },
	{ "#!lua flags=no-writes\n" IF_MINE
	  "return redis.call('del', KEYS[1]) end return 0",
	    NULL },
	{ "for i = 1, 2 do " IF_MINE "return redis.call('del', KEYS[1]) end"
	  " end return 0",
	    NULL },
	{ "((((((((((((((((((((((((((((((((((((((((", NULL },
	{ "return 1", NULL },
	{ "", NULL },
};

START_TEST(meaning)
{
	const struct normal *x = &meanings[_i];
	bool computes;
	struct buf b;

	buf_init(&b);
	ck_assert_int_eq(
	    lua_meaning(
		&b, (struct span){ x->text, strlen(x->text) }, &computes),
	    x->form != NULL);
	if (x->form != NULL) {
		expect(&b, x->form);
		ck_assert_int_eq(computes, strstr(x->text, "tonumber") != NULL);
	}
	buf_fini(&b);
}
END_TEST

static const struct span nobody = { "", 0 };

static const char release[] =
    "if redis.call('get', KEYS[1]) == ARGV[1] then\n"
    "  return redis.call('del', KEYS[1])\nelse\n  return 0\nend";

START_TEST(a_text_is_remembered)
{
	const struct span text = { release, sizeof(release) - 1 };
	struct scripts *s = scripts_new();
	struct sha1 sum, other;
	char hex[SHA1_HEX_SIZE];
	enum script_id id;
	bool news;

	sha1_of(&sum, text);
	ck_assert(!scripts_find(s, &sum, &id));
	ck_assert_int_eq(
	    scripts_learn(s, nobody, text, &other, &news), SCRIPT_RELEASE);
	ck_assert(news);
	ck_assert(scripts_find(s, &sum, &id));
	ck_assert_int_eq(id, SCRIPT_RELEASE);
	sha1_hex(&sum, hex);
	ck_assert(sha1_parse(&other, (struct span){ hex, 40 }));
	ck_assert_int_eq(memcmp(&sum, &other, sizeof(sum)), 0);
	ck_assert(!sha1_parse(&other, (struct span){ hex, 39 }));
	hex[3] = 'g';
	ck_assert(!sha1_parse(&other, (struct span){ hex, 40 }));
	scripts_free(s);
}
END_TEST

START_TEST(the_oldest_text_gives_way)
{
	const struct span text = { release, sizeof(release) - 1 };
	struct scripts *s = scripts_new();
	enum script_id id;
	struct sha1 sum;
	char other[32];
	bool news;
	int i;

	(void)scripts_learn(s, nobody, text, &sum, &news);
	for (i = 0; i < 256; i++) {
		struct sha1 of;
		int n = snprintf(other, sizeof(other), "return %d", i);

		ck_assert_int_eq(
		    scripts_learn(s, nobody, (struct span){ other, (size_t)n },
			&of, &news),
		    SCRIPT_MAX);
		ck_assert(news);
		ck_assert(!scripts_find(s, &of, &id));
		(void)scripts_learn(
		    s, nobody, (struct span){ other, (size_t)n }, &of, &news);
		ck_assert(!news);
	}
	ck_assert(!scripts_find(s, &sum, &id));
	scripts_free(s);
}
END_TEST

/* Who loads texts without end drives out none of another user. */
START_TEST(a_user_has_a_share)
{
	const struct span text = { release, sizeof(release) - 1 };
	const struct span one = { "one", 3 }, two = { "two", 3 };
	struct scripts *s = scripts_new();
	struct sha1 sum, of, last;
	enum script_id id;
	char other[160];
	bool news;
	int i;

	for (i = 0; i < 250; i++) {
		int n = snprintf(other, sizeof(other), "return %d", i);

		(void)scripts_learn(
		    s, one, (struct span){ other, (size_t)n }, &of, &news);
	}
	ck_assert_int_eq(
	    scripts_learn(s, two, text, &sum, &news), SCRIPT_RELEASE);
	for (i = 0; i < 1000; i++) {
		int n = snprintf(other, sizeof(other), "%s -- %d", release, i);

		ck_assert_int_eq(
		    scripts_learn(s, one, (struct span){ other, (size_t)n },
			&last, &news),
		    SCRIPT_RELEASE);
	}
	ck_assert(scripts_find(s, &last, &id));
	ck_assert(scripts_find(s, &sum, &id));
	scripts_free(s);
}
END_TEST

/* Each known text leads to a row. */
START_TEST(each_text)
{
	static const char *const sums[] = {
#define SCRIPT(id, ...)
#define FORM(id, text)
#define TEXT(sha1, id, from) sha1,
#include "resp/scripts.def"
#undef TEXT
#undef FORM
#undef SCRIPT
	};
	struct scripts *s = scripts_new();
	enum script_id id;
	struct sha1 sum;
	size_t i;

	for (i = 0; i < COUNT(sums); i++) {
		ck_assert(sha1_parse(&sum, (struct span){ sums[i], 40 }));
		ck_assert(scripts_find(s, &sum, &id));
	}
	scripts_free(s);
}
END_TEST

START_TEST(commands_are_found)
{
	struct span words[WORDS_MAX];
	struct buf why;
	unsigned first;

	buf_init(&why);
	ck_assert_int_eq(
	    resp_find(words, split("client setname x", words), &why),
	    RESP_CLIENT_SETNAME);
	ck_assert_int_eq(
	    resp_find(words, split("COMMAND", words), &why), RESP_COMMAND);
	ck_assert_uint_eq(resp_names(RESP_DEL, 4, &first), 3);
	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(resp_names(RESP_PING, 2, &first), 0);
	ck_assert_int_eq(
	    resp_find(words, split("client id x", words), &why), RESP_MAX);
	expect(&why, "wrong number of arguments for 'client|id' command");
	buf_clear(&why);
	ck_assert_int_eq(
	    resp_find(words, split("client foo", words), &why), RESP_MAX);
	expect(&why, "unknown subcommand 'foo'. Try CLIENT HELP.");
	buf_fini(&why);
}
END_TEST

static TCase *
keys_cases(void)
{
	TCase *tc = tcase_create("keys");

	tcase_add_loop_test(tc, asking, 0, COUNT(askings));
	tcase_add_loop_test(tc, waiting, 0, COUNT(waitings));
	tcase_add_test(tc, names_of_a_library);
	tcase_add_loop_test(tc, normal_form, 0, COUNT(normals));
	tcase_add_loop_test(tc, meaning, 0, COUNT(meanings));
	tcase_add_loop_test(tc, outline, 0, COUNT(outlines));
	tcase_add_test(tc, a_text_is_remembered);
	tcase_add_test(tc, the_oldest_text_gives_way);
	tcase_add_test(tc, a_user_has_a_share);
	tcase_add_test(tc, each_text);
	tcase_add_test(tc, commands_are_found);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { keys_cases };

	return suite_run("keys", cases, COUNT(cases));
}
