/*
 * EVAL, EVALSHA and SCRIPT, for scripts of lock libraries (resp/scripts.def).
 */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/quiet.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"
#include "resp/lua_text.h"
#include "resp/scripts.h"

#define TEXT_LOGGED_MAX 200

/* A text that is loaded will be needed, as for a release: that is a warning. */
static void
log_outline(
    struct conn *c, struct span outline, const char *hex, uint64_t left_out)
{
	const struct resp *rs = resp_of(c);
	const enum log_level level =
	    rs->id == RESP_SCRIPT_LOAD ? LOG_LEVEL_WARNING : LOG_LEVEL_NOTICE;
	const struct log_value values[] = {
		LOG_S("sha1", hex),
		LOG_S("label", rs->name),
		LOG_S("peer", conn_peer(c)),
		LOG_B("text", outline.p, outline.n),
		LOG_N("left_out", left_out),
	};

	if (log_enabled(level))
		log_values(level, "script-unknown", values,
		    sizeof(values) / sizeof(values[0]));
}

/* Libraries that make a text for each lock have their tokens in it. */
static void
log_text(struct conn *c, struct span text, const char *hex, uint64_t left_out)
{
	struct span outline;
	struct buf out;

	buf_init(&out);
	lua_outline(&out, text);
	outline = (struct span){ buf_data(&out), buf_len(&out) };
	if (outline.n > TEXT_LOGGED_MAX)
		outline.n = TEXT_LOGGED_MAX;
	log_outline(c, outline, hex, left_out);
	buf_fini(&out);
}

/* Refuses a text that is unknown.  It is logged so that users can ask for
 * support. */
static void
refuse_text(struct broker *b, struct conn *c, struct span text,
    const struct sha1 *sum, bool news)
{
	char hex[SHA1_HEX_SIZE];
	uint64_t left_out;

	sha1_hex(sum, hex);
	b->scripts_unknown++;
	if (news && quiet_may_log(&b->scripts_quiet, &left_out))
		log_text(c, text, hex, left_out);
	resp_fail(c,
	    "ERR script not known to lockbroker (sha1 %s); see "
	    "lockbroker-resp(7), or declare it in resp.scripts",
	    hex);
}

/* Returns false if it is not a known script; it has answered that. */
static bool
learn(struct broker *b, struct conn *c, struct span text, struct sha1 *sum,
    enum script_id *id)
{
	bool news;

	*id = scripts_learn(
	    b->scripts, span_of(identity_name(c)), text, sum, &news);
	if (*id != SCRIPT_MAX)
		return true;
	refuse_text(b, c, text, sum, news);
	return false;
}

static void
run(struct broker *b, struct conn *c, const struct request *r,
    enum script_id id)
{
	struct ask a;
	struct buf why;

	/* Its keys are no locks, so it needs no right to them. */
	if (id == SCRIPT_REDISSON_PROBE) {
		resp_null(conn_output(c), resp_three(c));
		return;
	}
	if (scripts_each(id, r->words + 2, r->nwords - 2) > 0) {
		resp_ask_each(b, c, r, id);
		return;
	}
	buf_init(&why);
	if (!scripts_ask(&a, id, r->words + 2, r->nwords - 2,
		resp_clock_ms(b, r->words[r->nwords > 3 ? 3 : 0]), &why))
		resp_fail_why(c, &why);
	else if (!resp_refuse_names(b, c, r, "eval", &a) &&
		 !resp_latched(b, c, &a)) {
		if (a.looks)
			resp_look(b, c, r, &a);
		else
			resp_ask(b, c, r, &a);
	}
	buf_fini(&why);
}

void
resp_eval(struct broker *b, struct conn *c, const struct request *r)
{
	enum script_id id;
	struct sha1 sum;

	if (learn(b, c, r->words[1], &sum, &id))
		run(b, c, r, id);
}

void
resp_evalsha(struct broker *b, struct conn *c, const struct request *r)
{
	enum script_id id;
	struct sha1 sum;

	if (sha1_parse(&sum, r->words[1]) &&
	    scripts_find(b->scripts, &sum, &id))
		run(b, c, r, id);
	else
		resp_fail(c, "NOSCRIPT No matching script. Please use EVAL.");
}

void
resp_script_load(struct broker *b, struct conn *c, const struct request *r)
{
	char hex[SHA1_HEX_SIZE];
	enum script_id id;
	struct sha1 sum;

	if (!learn(b, c, r->words[2], &sum, &id))
		return;
	sha1_hex(&sum, hex);
	resp_word(conn_output(c), hex);
}

void
resp_script_exists(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);
	enum script_id id;
	struct sha1 sum;
	unsigned i;

	resp_array(out, r->nwords - 2);
	for (i = 2; i < r->nwords; i++)
		resp_int(out, sha1_parse(&sum, r->words[i]) &&
				  scripts_find(b->scripts, &sum, &id));
}
