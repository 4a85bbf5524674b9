/*
 * Request lines, one row a case: the meaning of a line, or the error that it
 * gets.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "suite.h"
#include "test_wire.h"
#include "wire/request.h"

static const char name255[] =
    "0123456789012345678901234567890123456789012345678901234567890123456789"
    "0123456789012345678901234567890123456789012345678901234567890123456789"
    "0123456789012345678901234567890123456789012345678901234567890123456789"
    "012345678901234567890123456789012345678901234";

struct parsed {
	struct request r;
	enum request_status status;
	enum err_code code;
	struct buf why;
};

static void
parse(struct parsed *p, const char *line, size_t n)
{
	p->code = ERR_NONE;
	buf_init(&p->why);
	/* Nothing of the former content may show. */
	memset(&p->r, 0xa5, sizeof(p->r));
	p->status = request_parse(&p->r, line, n, &p->code, &p->why);
	buf_addc(&p->why, '\0');
}

/* `@tag VERB word ... key=value ...`, options in the order of the table. */
static void
render(struct buf *b, const struct request *r)
{
	unsigned i;

	if (r->tag.n > 0)
		buf_addf(b, "@%.*s ", (int)r->tag.n, r->tag.p);
	buf_adds(b, verbs[r->verb].word);
	for (i = 0; i < r->nwords; i++)
		buf_addf(b, " %.*s", (int)r->words[i].n, r->words[i].p);
	for (i = 0; i < OPTION_MAX; i++) {
		if (!request_has(r, (enum option_id)i))
			continue;
		buf_addf(b, " %s=", options[i].key);
		if (options[i].type == OPTION_TYPE_LABEL ||
		    options[i].type == OPTION_TYPE_VALUE ||
		    options[i].type == OPTION_TYPE_TRACE ||
		    options[i].type == OPTION_TYPE_SECRET)
			buf_add(b, r->str[i].p, r->str[i].n);
		else
			buf_addf(b, "%" PRId64, r->num[i]);
	}
	buf_addc(b, '\0');
}

struct good_row {
	const char *line, *means;
};

#define FOREVER "9223372036854775807"

static const struct good_row good[] = {
	/* Each verb, bare and with everything that it takes. */
	{ "LOCK a", "LOCK a" },
	{ "LOCK a b c", "LOCK a b c" },
	{ "LOCK a mode=shared wait=30s hold=5m keep=1h delay=1d queue=7",
	    "LOCK a mode=1 wait=30000 hold=300000 keep=3600000"
	    " delay=86400000 queue=7" },
	{ "LOCK a mode=exclusive wait=forever", "LOCK a mode=0 wait=" FOREVER },
	{ "LOCK a wait=0 hold=0 keep=0 delay=0 queue=0",
	    "LOCK a wait=0 hold=0 keep=0 delay=0 queue=0" },
	{ "LOCK a wait=0ms", "LOCK a wait=0" },
	{ "LOCK a wait=365d", "LOCK a wait=31536000000" },
	{ "TRYLOCK a", "TRYLOCK a" },
	{ "TRYLOCK a b mode=shared hold=1s keep=2s delay=3ms",
	    "TRYLOCK a b mode=1 hold=1000 keep=2000 delay=3" },
	{ "UNLOCK a", "UNLOCK a" },
	{ "UNLOCK a b", "UNLOCK a b" },
	{ "EXTEND a hold=10s", "EXTEND a hold=10000" },
	{ "EXTEND a hold=0", "EXTEND a hold=0" },
	{ "STATUS a", "STATUS a" },
	{ "LOCK a value=10.0.0.7:80/?x=1", "LOCK a value=10.0.0.7:80/?x=1" },
	{ "SETVALUE a value=!caf\xc3\xa9", "SETVALUE a value=!caf\xc3\xa9" },
	{ "TRYLOCK a trace="
	  "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	    "TRYLOCK a trace="
	    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
	{ "QUEUE a", "QUEUE a" },
	{ "QUEUE a limit=5", "QUEUE a limit=5" },
	{ "NAMES", "NAMES" },
	{ "NAMES limit=5", "NAMES limit=5" },
	{ "UNLOCK-FORCE a", "UNLOCK-FORCE a" },
	{ "ACQUIRE a limit=3", "ACQUIRE a limit=3" },
	{ "ACQUIRE a limit=3 permits=3 wait=1s hold=2s",
	    "ACQUIRE a wait=1000 hold=2000 limit=3 permits=3" },
	{ "ACQUIRE a permits=2 limit=3", "ACQUIRE a limit=3 permits=2" },
	{ "ACQUIRE a slot=yes limit=3", "ACQUIRE a limit=3 slot=1" },
	{ "RELEASE a", "RELEASE a" },
	{ "RELEASE a permits=2", "RELEASE a permits=2" },
	{ "LATCH a count=0", "LATCH a count=0" },
	{ "LATCH a count=9007199254740991 ttl=1ms",
	    "LATCH a count=9007199254740991 ttl=1" },
	{ "COUNTDOWN a", "COUNTDOWN a" },
	{ "COUNTDOWN a by=3", "COUNTDOWN a by=3" },
	{ "AWAIT a", "AWAIT a" },
	{ "AWAIT a wait=forever", "AWAIT a wait=" FOREVER },
	{ "BARRIER a parties=1", "BARRIER a parties=1" },
	{ "BARRIER a parties=4 wait=1m", "BARRIER a wait=60000 parties=4" },
	{ "WATCH a", "WATCH a" },
	{ "UNWATCH a", "UNWATCH a" },
	{ "SESSION", "SESSION" },
	{ "SESSION label=cron grace=30s heartbeat=10s",
	    "SESSION label=cron grace=30000 heartbeat=10000" },
	{ "RESUME key=0123abc", "RESUME key=0123abc" },
	{ "RESUME key=a=b==", "RESUME key=a=b==" },
	{ "LIST", "LIST" },
	{ "CANCEL 7", "CANCEL 7" },
	{ "PING", "PING" },
	{ "STATS", "STATS" },
	{ "VERSION", "VERSION" },
	{ "HELP", "HELP" },
	{ "AUTH joe secret", "AUTH joe secret" },
	{ "QUIT", "QUIT" },
	/* Spaces. */
	{ "  LOCK   a    wait=1s  ", "LOCK a wait=1000" },
	{ " PING ", "PING" },
	/* Case: it does not matter in verbs and keys, and does in names and
	 * values. */
	{ "lock Name WAIT=1s", "LOCK Name wait=1000" },
	{ "lOcK a Wait=forever", "LOCK a wait=" FOREVER },
	{ "unlock-force A", "UNLOCK-FORCE A" },
	{ "LOCK a A", "LOCK a A" },
	/* Tags. */
	{ "@7 LOCK a", "@7 LOCK a" },
	{ " @7   LOCK a", "@7 LOCK a" },
	{ "@AZaz09_.- PING", "@AZaz09_.- PING" },
	{ "@0123456789abcdef PING", "@0123456789abcdef PING" },
	{ "@- PING", "@- PING" },
	/* Names. */
	{ "LOCK caf\xc3\xa9/\xf0\x9f\x94\x92",
	    "LOCK caf\xc3\xa9/\xf0\x9f\x94\x92" },
	{ "LOCK a@b a!b \"quoted\" LOCK", "LOCK a@b a!b \"quoted\" LOCK" },
	{ "LOCK \xc2\xa0", "LOCK \xc2\xa0" },
	{ "SESSION label=caf\xc3\xa9", "SESSION label=caf\xc3\xa9" },
	/* A verb that is also a method of HTTP is unknown in lower case. */
	{ "LOCK GET", "LOCK GET" },
	{ "LOCK Host:", "LOCK Host:" },
	/* Words that are taken literally. */
	{ "AUTH joe pa=ss=", "AUTH joe pa=ss=" },
	{ "AUTH a=b wait=1s", "AUTH a=b wait=1s" },
	{ "AUTH @joe !x", "AUTH @joe !x" },
	{ "AUTH joe joe", "AUTH joe joe" },
	{ "AUTH joe \xff", "AUTH joe \xff" },
	{ "CANCEL @7", "CANCEL @7" },
};

START_TEST(good_line)
{
	const struct good_row *row = &good[_i];
	struct parsed p;
	struct buf text;

	parse(&p, row->line, strlen(row->line));
	ck_assert_msg(p.status == REQUEST_OK, "\"%s\": %s %s", row->line,
	    err_word(p.code), buf_data(&p.why));
	ck_assert_uint_eq(buf_len(&p.why), 1);
	buf_init(&text);
	render(&text, &p.r);
	ck_assert_str_eq(buf_data(&text), row->means);
	buf_fini(&text);
	buf_fini(&p.why);
}
END_TEST

struct bad_row {
	const char *line;
	size_t len;
	const char *tag;
	enum err_code code;
	const char *why; /* somewhere in the text */
};

#define BAD(line, tag, code, why)                            \
	{                                                    \
		line, sizeof(line) - 1, tag, ERR_##code, why \
	}

static const struct bad_row bad[] = {
	/* Verbs. */
	BAD("FROBNICATE", "", UNKNOWN_COMMAND, "HELP"),
	BAD("FROBNICATE a=1 b", "", UNKNOWN_COMMAND, "\"FROBNICATE\""),
	BAD("LOKC a", "", UNKNOWN_COMMAND, "did you mean LOCK?"),
	BAD("unlok a", "", UNKNOWN_COMMAND, "did you mean UNLOCK?"),
	BAD("LOC a", "", UNKNOWN_COMMAND, "LOCK"),
	BAD("get / HTTP/1.1", "", UNKNOWN_COMMAND, "\"get\""),
	BAD("Get /", "", UNKNOWN_COMMAND, "\"Get\""),
	BAD("GETX", "", UNKNOWN_COMMAND, "\"GETX\""),
	BAD("@7 GET /", "7", UNKNOWN_COMMAND, "\"GET\""),
	BAD("host: x", "", UNKNOWN_COMMAND, "\"host:\""),
	BAD("\xff\xc3\xa9\xc2\x9b", "", UNKNOWN_COMMAND, "\"?\xc3\xa9??\""),
	BAD("LOCK=1", "", UNKNOWN_COMMAND, "\"LOCK=1\""),
	BAD("=", "", UNKNOWN_COMMAND, "\"=\""),
	BAD("!LOCK a", "", UNKNOWN_COMMAND, "LOCK"),
	/* Tags. */
	BAD("@", "", BAD_REQUEST, "tag"),
	BAD("@ LOCK a", "", BAD_REQUEST, "tag"),
	BAD("@7", "7", BAD_REQUEST, "no command"),
	BAD("@7 ", "7", BAD_REQUEST, "no command"),
	BAD("@@7 PING", "", BAD_REQUEST, "tag"),
	BAD("@a=b PING", "", BAD_REQUEST, "tag"),
	BAD("@a/b PING", "", BAD_REQUEST, "tag"),
	BAD("@a+b PING", "", BAD_REQUEST, "tag"),
	BAD("@caf\xc3\xa9 PING", "", BAD_REQUEST, "tag"),
	BAD("@0123456789abcdefg PING", "", BAD_REQUEST, "tag"),
	BAD("@a\0 PING", "", BAD_REQUEST, "tag"),
	BAD("@1 @2 PING", "1", UNKNOWN_COMMAND, "@2"),
	BAD("@7 FROBNICATE", "7", UNKNOWN_COMMAND, "HELP"),
	BAD("@7 LOCK", "7", BAD_REQUEST, "missing"),
	BAD("@7 LOCK @a", "7", BAD_NAME, "@"),
	BAD("@7 LOCK a wait=x", "7", BAD_OPTION, "wait"),
	/* Control characters, wherever they are. */
	BAD("LOCK a\0b", "", BAD_REQUEST, "control"),
	BAD("LOCK\0", "", BAD_REQUEST, "control"),
	BAD("\0", "", BAD_REQUEST, "control"),
	BAD("LOCK a\tb", "", BAD_REQUEST, "control"),
	BAD("LOCK\ta", "", BAD_REQUEST, "control"),
	BAD("LOCK a\r", "", BAD_REQUEST, "control"),
	BAD("LOCK a\x1f", "", BAD_REQUEST, "control"),
	BAD("LOCK a\x7f", "", BAD_REQUEST, "control"),
	BAD("LOCK a wait=1s\n", "", BAD_REQUEST, "control"),
	BAD("@7 LOCK a \x01", "7", BAD_REQUEST, "control"),
	BAD("FROBNICATE \x01", "", BAD_REQUEST, "control"),
	BAD("AUTH a \x01", "", BAD_REQUEST, "control"),
	BAD("GET\0 /", "", BAD_REQUEST, "control"),
	/* Missing and surplus words. */
	BAD("LOCK", "", BAD_REQUEST, "usage: LOCK NAME"),
	BAD("LOCK wait=1s", "", BAD_REQUEST, "missing"),
	BAD("STATUS a b", "", BAD_REQUEST, "usage: STATUS NAME"),
	BAD("PING a", "", BAD_REQUEST, "too many"),
	BAD("SESSION cron", "", BAD_REQUEST, "usage: SESSION"),
	BAD("AUTH joe", "", BAD_REQUEST, "usage: AUTH"),
	BAD("AUTH", "", BAD_REQUEST, "usage: AUTH"),
	BAD("AUTH joe pass word", "", BAD_REQUEST, "usage: AUTH"),
	BAD("CANCEL", "", BAD_REQUEST, "usage: CANCEL"),
	BAD("CANCEL 1 2", "", BAD_REQUEST, "usage: CANCEL"),
	BAD("EXTEND a", "", BAD_REQUEST, "EXTEND NAME hold=D"),
	BAD("ACQUIRE a permits=1", "", BAD_REQUEST, "limit=N"),
	BAD("LATCH a ttl=1s", "", BAD_REQUEST, "count=N"),
	BAD("BARRIER a", "", BAD_REQUEST, "parties=N"),
	BAD("RESUME", "", BAD_REQUEST, "key=K"),
	BAD("LOCK a wait=1s b", "", BAD_REQUEST, "after an option"),
	BAD("LOCK wait=1s a", "", BAD_REQUEST, "after an option"),
	BAD("LOCK a b a", "", BAD_REQUEST, "\"a\" is given twice"),
	BAD("UNLOCK x x", "", BAD_REQUEST, "twice"),
	/* Names. */
	BAD("LOCK @a", "", BAD_NAME, "begins with \"@\""),
	BAD("LOCK a @b", "", BAD_NAME, "\"@b\" begins with \"@\""),
	BAD("LOCK !a", "", BAD_NAME, "begins with \"!\""),
	BAD("LOCK !", "", BAD_NAME, "begins with \"!\""),
	BAD("LOCK a\xff", "", BAD_NAME, "\"a?\" is not valid UTF-8"),
	BAD("LOCK \xc3", "", BAD_NAME, "UTF-8"),
	BAD("LOCK \xed\xa0\x80", "", BAD_NAME, "UTF-8"),
	BAD("LOCK \xc0\x80", "", BAD_NAME, "UTF-8"),
	BAD("LOCK a\xc2\x9b"
	    "1",
	    "", BAD_NAME, "control"),
	BAD("LOCK a\xc2\x85", "", BAD_NAME, "control"),
	BAD("WATCH @a", "", BAD_NAME, "begins"),
	/* Options: which. */
	BAD("LOCK a foo=1", "", BAD_OPTION, "\"foo\" does not exist"),
	BAD("LOCK a=b", "", BAD_OPTION, "\"a\""),
	BAD("LOCK a =1", "", BAD_OPTION, "does not exist"),
	BAD("LOCK a =", "", BAD_OPTION, "does not exist"),
	BAD("LOCK a wai=1s", "", BAD_OPTION, "\"wai\""),
	BAD("TRYLOCK a wait=1s", "", BAD_OPTION,
	    "TRYLOCK takes no option wait"),
	BAD("PING wait=1s", "", BAD_OPTION, "wait"),
	BAD("CANCEL x=1", "", BAD_OPTION, "\"x\""),
	BAD("CANCEL 7 wait=1s", "", BAD_OPTION, "wait"),
	BAD("AUTH joe pass wait=1s", "", BAD_OPTION, "wait"),
	BAD("LOCK a wait=1s wait=1s", "", BAD_OPTION, "wait= is given twice"),
	BAD("LOCK a wait=1s WAIT=2s", "", BAD_OPTION, "twice"),
	BAD("LOCK a \xff=1", "", BAD_OPTION, "\"?\""),
	/* Options: durations. */
	BAD("LOCK a wait=30", "", BAD_OPTION, "wait=30 has no unit"),
	BAD("LOCK a hold=1", "", BAD_OPTION, "for example"),
	BAD("LOCK a wait=", "", BAD_OPTION, "wait= "),
	BAD("LOCK a wait=-1s", "", BAD_OPTION, "wait=-1s"),
	BAD("LOCK a wait=+1s", "", BAD_OPTION, "wait=+1s"),
	BAD("LOCK a wait=01s", "", BAD_OPTION, "wait=01s"),
	BAD("LOCK a wait=00", "", BAD_OPTION, "wait=00"),
	BAD("LOCK a wait=1.5s", "", BAD_OPTION, "wait=1.5s"),
	BAD("LOCK a wait=1S", "", BAD_OPTION, "wait=1S"),
	BAD("LOCK a wait=1w", "", BAD_OPTION, "such as"),
	BAD("LOCK a wait=FOREVER", "", BAD_OPTION, "wait=FOREVER"),
	BAD("LOCK a wait=forever1", "", BAD_OPTION, "wait=forever1"),
	BAD("LOCK a hold=forever", "", BAD_OPTION, "hold=forever"),
	BAD("LOCK a wait=366d", "", BAD_OPTION, "longer than 365d"),
	BAD("LOCK a hold=31536000001ms", "", BAD_OPTION, "365d"),
	BAD("LOCK a keep=99999999999999999999d", "", BAD_OPTION, "365d"),
	BAD("LATCH a count=1 ttl=0", "", BAD_OPTION, "ttl=0 must be"),
	BAD("LATCH a count=1 ttl=0s", "", BAD_OPTION, "above 0"),
	/* Options: numbers. */
	BAD("LOCK a value=", "", BAD_OPTION, "value= is empty"),
	BAD("LOCK a value=\xc2\x80", "", BAD_OPTION, "control character"),
	BAD("SETVALUE a", "", BAD_REQUEST, "an option is missing"),
	BAD("LOCK a queue=", "", BAD_OPTION, "queue= must be a number"),
	BAD("LOCK a queue=-1", "", BAD_OPTION, "queue=-1"),
	BAD("LOCK a queue=01", "", BAD_OPTION, "queue=01"),
	BAD("LOCK a queue=1s", "", BAD_OPTION, "queue=1s"),
	BAD("LOCK a queue=9007199254740992", "", BAD_OPTION,
	    "is more than 9007199254740991"),
	BAD("LATCH a count=18446744073709551616", "", BAD_OPTION, "count="),
	BAD("ACQUIRE a limit=0", "", BAD_OPTION, "at least 1"),
	BAD("ACQUIRE a limit=2 permits=0", "", BAD_OPTION, "permits=0"),
	BAD("ACQUIRE a limit=2 permits=3", "", BAD_OPTION, "permits"),
	BAD("ACQUIRE a permits=3 limit=2", "", BAD_OPTION, "permits"),
	BAD("RELEASE a permits=0", "", BAD_OPTION, "permits=0"),
	BAD("COUNTDOWN a by=0", "", BAD_OPTION, "by=0"),
	BAD("BARRIER a parties=0", "", BAD_OPTION, "parties=0"),
	BAD("NAMES limit=0", "", BAD_OPTION, "limit=0"),
	BAD("QUEUE a limit=0", "", BAD_OPTION, "limit=0"),
	/* Options: the others. */
	BAD("LOCK a mode=Shared", "", BAD_OPTION, "exclusive or shared"),
	BAD("LOCK a mode=", "", BAD_OPTION, "exclusive or shared"),
	BAD("LOCK a mode=sharedx", "", BAD_OPTION, "mode=sharedx"),
	BAD("SESSION label=", "", BAD_OPTION, "label= is empty"),
	BAD("SESSION label=@a", "", BAD_OPTION, "label=@a begins"),
	BAD("SESSION label=a=b", "", BAD_OPTION, "label=a=b contains"),
	BAD("SESSION label=\xff", "", BAD_OPTION, "label=? is not valid"),
	BAD("RESUME key=", "", BAD_OPTION, "key="),
};

START_TEST(bad_line)
{
	const struct bad_row *row = &bad[_i];
	struct parsed p;

	parse(&p, row->line, row->len);
	ck_assert_msg(p.status == REQUEST_BAD, "\"%s\"", row->line);
	ck_assert_msg(p.code == row->code, "\"%s\": %s %s", row->line,
	    err_word(p.code), buf_data(&p.why));
	ck_assert_msg(strstr(buf_data(&p.why), row->why), "\"%s\": %s",
	    row->line, buf_data(&p.why));
	ck_assert_uint_eq(p.r.tag.n, strlen(row->tag));
	ck_assert_mem_eq(p.r.tag.p ? p.r.tag.p : "", row->tag, p.r.tag.n);
	/* One line of well-formed text. */
	ck_assert_uint_eq(strlen(buf_data(&p.why)), buf_len(&p.why) - 1);
	ck_assert_ptr_null(strpbrk(buf_data(&p.why), "\r\n\t\x7f"));
	buf_fini(&p.why);
}
END_TEST

/* Each byte at each place, next to each kind of neighbour. */
START_TEST(every_control_character_everywhere)
{
	char line[40] = "LOCK 0123456789abcdefghijklmnop";
	size_t at, n = strlen(line);
	unsigned c;

	for (at = 5; at < n; at++) {
		char saved = line[at];

		for (c = 1; c < 256; c++) {
			bool control = c < ' ' || c == 0x7f;
			struct parsed p;

			line[at] = (char)c;
			parse(&p, line, n);
			ck_assert_msg(
			    control ==
				(strstr(buf_data(&p.why),
				     "the line contains a control") != NULL),
			    "byte %u at %zu: %s", c, at, buf_data(&p.why));
			buf_fini(&p.why);
		}
		line[at] = _i == 0 ? saved : (char)(_i == 1 ? 0x80 : 0xff);
	}
}
END_TEST

static const char *const empty_lines[] = { "", " ", "      " };

START_TEST(empty_line)
{
	struct parsed p;

	parse(&p, empty_lines[_i], strlen(empty_lines[_i]));
	ck_assert_int_eq(p.status, REQUEST_EMPTY);
	buf_fini(&p.why);
}
END_TEST

static const char *const http_lines[] = {
	"GET / HTTP/1.1",
	"GET",
	"  GET /",
	"POST /x HTTP/1.0",
	"PUT / HTTP/1.1",
	"HEAD /",
	"DELETE /",
	"OPTIONS *",
	"PATCH /",
	"CONNECT a:1",
	"TRACE /",
	"GET /\x01",
	"Host: localhost:5625",
	"Host:x",
	"Host:",
};

START_TEST(http_line)
{
	struct parsed p;

	parse(&p, http_lines[_i], strlen(http_lines[_i]));
	ck_assert_int_eq(p.status, REQUEST_HTTP);
	ck_assert_uint_eq(buf_len(&p.why), 1);
	buf_fini(&p.why);
}
END_TEST

START_TEST(names_up_to_255_bytes)
{
	char line[300] = "LOCK ";
	struct parsed p;

	ck_assert_uint_eq(strlen(name255), 255);
	strcat(line, name255);
	parse(&p, line, strlen(line));
	ck_assert_int_eq(p.status, REQUEST_OK);
	ck_assert_uint_eq(p.r.words[0].n, 255);
	buf_fini(&p.why);
	strcat(line, "x");
	parse(&p, line, strlen(line));
	ck_assert_int_eq(p.status, REQUEST_BAD);
	ck_assert_int_eq(p.code, ERR_BAD_NAME);
	ck_assert_ptr_nonnull(strstr(buf_data(&p.why), "255 bytes"));
	/* Quoted only in part. */
	ck_assert_ptr_nonnull(strstr(buf_data(&p.why), "123...\""));
	ck_assert_uint_lt(buf_len(&p.why), 130);
	buf_fini(&p.why);
}
END_TEST

START_TEST(labels_up_to_64_bytes)
{
	char line[100] = "SESSION label=";
	struct parsed p;

	memcpy(line + strlen(line), name255, 64);
	parse(&p, line, strlen(line));
	ck_assert_int_eq(p.status, REQUEST_OK);
	ck_assert_uint_eq(p.r.str[OPTION_LABEL].n, 64);
	buf_fini(&p.why);
	strcat(line, "x");
	parse(&p, line, strlen(line));
	ck_assert_int_eq(p.code, ERR_BAD_OPTION);
	ck_assert_ptr_nonnull(strstr(buf_data(&p.why), "64 bytes"));
	buf_fini(&p.why);
}
END_TEST

/* A quotation is not cut within a character. */
START_TEST(quotations_end_with_a_whole_character)
{
	char line[200] = "";
	struct parsed p;
	int i;

	for (i = 0; i < 30; i++)
		strcat(line, "\xe2\x82\xac");
	parse(&p, line, strlen(line));
	ck_assert_int_eq(p.code, ERR_UNKNOWN_COMMAND);
	ck_assert_ptr_null(strchr(buf_data(&p.why), '?'));
	ck_assert_ptr_nonnull(strstr(buf_data(&p.why), "\xe2\x82\xac...\""));
	buf_fini(&p.why);
}
END_TEST

static void
many_names(struct buf *b, const char *verb, unsigned n)
{
	unsigned i;

	buf_adds(b, verb);
	for (i = 0; i < n; i++)
		buf_addf(b, " n%u", i);
}

START_TEST(up_to_64_names)
{
	const char *const words[] = { "LOCK", "TRYLOCK", "UNLOCK" };
	struct parsed p;
	struct buf line;

	buf_init(&line);
	many_names(&line, words[_i], NAMES_MAX);
	parse(&p, buf_data(&line), buf_len(&line));
	ck_assert_int_eq(p.status, REQUEST_OK);
	ck_assert_uint_eq(p.r.nwords, NAMES_MAX);
	ck_assert_mem_eq(p.r.words[63].p, "n63", 3);
	buf_fini(&p.why);
	buf_clear(&line);
	many_names(&line, words[_i], NAMES_MAX + 1);
	parse(&p, buf_data(&line), buf_len(&line));
	ck_assert_int_eq(p.status, REQUEST_BAD);
	ck_assert_int_eq(p.code, ERR_LIMIT);
	buf_fini(&p.why);
	buf_fini(&line);
}
END_TEST

/* The password is nowhere in the reply, which may be logged. */
START_TEST(secrets_are_not_quoted)
{
	const char *const lines[] = { "AUTH joe hunter2 hunter2",
		"AUTH joe hunter2 x=hunter2", "RESUME key=hunter2 key=hunter2",
		"RESUME hunter2" };
	struct parsed p;

	parse(&p, lines[_i], strlen(lines[_i]));
	ck_assert_int_eq(p.status, REQUEST_BAD);
	ck_assert_ptr_null(strstr(buf_data(&p.why), "hunter2"));
	buf_fini(&p.why);
}
END_TEST

/*
 * The parser must not look beyond the line: there is no NUL after it.  Each
 * row says what each beginning of the line is: empty, good or bad.
 */
START_TEST(the_line_ends_where_it_ends)
{
	const char *line = "LOCK a wait=30s hold=5m";
	const char *outcomes = "ebbbbbggggggbbbggbbbbbbg";
	size_t n;

	for (n = 0; n <= strlen(line); n++) {
		char *copy = xmalloc(n);
		struct parsed p;

		memcpy(copy, line, n);
		parse(&p, copy, n);
		ck_assert_int_eq(outcomes[n], p.status == REQUEST_EMPTY ? 'e'
					      : p.status == REQUEST_OK	? 'g'
									: 'b');
		buf_fini(&p.why);
		free(copy);
	}
}
END_TEST

TCase *
request_cases(void)
{
	TCase *tc = tcase_create("request");

	tcase_add_loop_test(tc, good_line, 0, (int)COUNT(good));
	tcase_add_loop_test(tc, bad_line, 0, (int)COUNT(bad));
	tcase_add_loop_test(tc, every_control_character_everywhere, 0, 3);
	tcase_add_loop_test(tc, empty_line, 0, (int)COUNT(empty_lines));
	tcase_add_loop_test(tc, http_line, 0, (int)COUNT(http_lines));
	tcase_add_test(tc, names_up_to_255_bytes);
	tcase_add_test(tc, labels_up_to_64_bytes);
	tcase_add_test(tc, quotations_end_with_a_whole_character);
	tcase_add_loop_test(tc, up_to_64_names, 0, 3);
	tcase_add_loop_test(tc, secrets_are_not_quoted, 0, 4);
	tcase_add_test(tc, the_line_ends_where_it_ends);
	return tc;
}
