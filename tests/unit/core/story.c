/*
 * The teller of stories (story.h).  It owns the core, and the operations that
 * the core has in flight; it knows no rule of the core.  What the core says is
 * written by story_said.c.
 *
 * Before the first line that drives:
 *	config debug (shows the log lines of holds and sessions)
 *	config lease=10s handovers=2 trust_new max_hold=D quorum=N
 *		fences=N work=N warm=D auto (of warm) warm_b (only names that begin so) ...
 * Lines that drive, TIME in milliseconds:
 *	TIME ready N		the store is up and blessed, sessions 1 to N open
 *	TIME up | down [on=SHARD]	the store of that shard, or of all
 *	TIME guard STATE [TEXT] [fresh] [fence=F] [spoilt=TEXT]
 *				[met=NAME [ago=D]] (a plain client)
 *				[history=16 DIGITS]
 *				[node=ID [set=SET [open=k|n]]] [on=SHARD]
 *	TIME open ID [tcp [proxied]]	TIME drain|press|gone|close|quit ID
 *	TIME ID [@TAG] VERB NAME ... [OPTION ...]
 *	TIME token ID [@TAG] acquire|extend|release|query NAME ... token=T
 *				(story_token.c)
 *	TIME cancel ID TAG [BY]	TIME ping ID
 *	TIME session|resume|user|has? ID ...	(story_session.c)
 *	TIME < OUTCOME NAME [fence=F] [first=N] [second=N] [ttl=D]
 *				[waiting] [alone] [also=TEXT] [sent=TIME]
 *				[on=SHARD]
 *				of the oldest operation of that name; `@guard`
 *				is the name of those that have none
 *	TIME message TEXT	TIME resubscribed	TIME stop	TIME time
 *	TIME unheard NAME AUDIENCE
 *	TIME passed-on TEXT	a message by way of another server
 *	TIME until		every deadline up to TIME
 *	TIME unowned?		what counts against limits.unowned
 *	TIME clock MS		the server's clock is moved by so much
 * A FLUSH follows each at the same time, unless the line ends with `...`.
 * Heartbeats are answered at once, and shown with address= and away=D, which is
 * for how long brokers that have nothing are told to stay away.  The server's
 * clock shows 1000000 s at time 0; its history is 0123456789abcdef.  `#` begins
 * a comment.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kind.h"
#include "base/parse.h"
#include "core/core.h"
#include "core/dump.h"

#include "story.h"
#include "story_state.h"

#define STORY_HISTORY "0123456789abcdef" /* of the server */

static const char *const outcome_words[] = {
#define OUTCOME(id, word, ...) [OUTCOME_##id] = word,
	OUTCOMES(OUTCOME)
#undef OUTCOME
};

static const char *const guard_words[] = {
#define GUARD(id, word) [GUARD_##id] = word,
	GUARDS(GUARD)
#undef GUARD
};

static const char *const verb_words[VERB_MAX] = {
#define VERB(id, word, ...) [VERB_##id] = word,
#include "base/verbs.def"
#undef VERB
};

void
story_fail(const struct story *st, const char *what)
{
	size_t i;

	fprintf(stderr, "story: %s:", what);
	for (i = 0; i < st->nwords; i++)
		fprintf(stderr, " %s", st->words[i]);
	fprintf(stderr, "\n");
	abort();
}

/* Words. */

static size_t
find(const struct story *st, const char *const *table, size_t n,
    const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (table[i] != NULL && strcmp(table[i], word) == 0)
			return i;
	story_fail(st, word);
	return 0;
}
#define FIND(st, table, word) \
	find(st, table, sizeof(table) / sizeof((table)[0]), word)

/* `10`, `10s`, or `forever`. */
int64_t
story_number(const struct story *st, const char *s)
{
	uint64_t n;
	int64_t ms;

	if (strcmp(s, "forever") == 0)
		return CORE_WAIT_FOREVER;
	if (parse_number(s, strlen(s), INT64_MAX, &n))
		return (int64_t)n;
	if (!parse_duration(s, strlen(s), &ms))
		story_fail(st, s);
	return ms;
}

/* The value of `key=` among the words; NULL: not there. */
const char *
story_option(const struct story *st, const char *key)
{
	size_t i, n = strlen(key);

	for (i = 1; i < st->nwords; i++)
		if (strncmp(st->words[i], key, n) == 0 &&
		    st->words[i][n] == '=')
			return st->words[i] + n + 1;
	return NULL;
}

bool
story_flag(const struct story *st, const char *word)
{
	size_t i;

	for (i = 1; i < st->nwords; i++)
		if (strcmp(st->words[i], word) == 0)
			return true;
	return false;
}

static const char *
word(const struct story *st, size_t i)
{
	return i < st->nwords ? st->words[i] : "";
}

uint64_t
story_id(const struct story *st, size_t i)
{
	return (uint64_t)story_number(st, word(st, i));
}

/* Events. */

static void
step_once(struct story *st, struct core_event *ev)
{
	ev->now_ms = st->now_ms;
	core_step(st->core, ev, &st->fx);
	story_write(st);
}

/* What the guard was said to be last is what a heartbeat says. */
static void
answer_heartbeat(struct story *st, size_t i)
{
	struct core_event done = { .kind = CORE_OUTCOME };
	struct core_event seen = { .kind = CORE_GUARD };
	struct outcome outcome = { .status = OUTCOME_DONE };
	struct said *said = &st->said[st->flights[i].shard];

	if (st->flights[i].need > 0)
		outcome.ttl_ms = st->away_ms;
	outcome.text = said->met;
	outcome.text_len = strlen(said->met);
	done.u.outcome.op = st->flights[i].id;
	done.u.outcome.sent_ms = st->now_ms;
	done.u.outcome.outcome = &outcome;
	seen.u.guard.shard = st->flights[i].shard;
	seen.u.guard.sent_ms = st->now_ms;
	seen.u.guard.report = &said->report;
	said->report.server_ms = SERVER_ZERO_MS + st->now_ms + st->clock_ms;
	st->flights[i] = st->flights[--st->nflights];
	if (said->reported && said->report.state == GUARD_NODES)
		outcome.status = OUTCOME_UNSENT;
	if (said->reported)
		step_once(st, &seen);
	step_once(st, &done);
}

void
story_step(struct story *st, struct core_event *ev)
{
	size_t i;

	step_once(st, ev);
	for (i = 0; i < st->nflights; i++)
		if (st->flights[i].kind == OP_HEARTBEAT)
			answer_heartbeat(st, i--);
}

/* Is the line about this shard? */
static bool
concerns(const struct story *st, uint32_t shard)
{
	return story_option_num(st, "on", shard) == (int64_t)shard;
}

static void
link_all(struct story *st, bool up)
{
	struct core_event ev = { .kind = CORE_LINK };
	uint32_t i;

	ev.u.link.up = up;
	for (i = 0; i < st->config.shards; i++) {
		ev.u.link.shard = i;
		if (concerns(st, i))
			story_step(st, &ev);
	}
}

static void
do_link(struct story *st)
{
	link_all(st, strcmp(st->words[1], "up") == 0);
}

/* Which server of a quorum it is, and whom it votes with. */
static void
tell_node(struct story *st, struct said *said)
{
	const char *node = story_option(st, "node"),
		   *set = story_option(st, "set");
	const char *open = story_option(st, "open");

	snprintf(said->node, sizeof(said->node), "%s", node ? node : "");
	snprintf(said->set, sizeof(said->set), "%s", set ? set : "");
	said->report.node = said->node;
	said->report.node_len = strlen(said->node);
	said->report.set = said->set;
	said->report.set_len = strlen(said->set);
	snprintf(said->open, sizeof(said->open), "%s", open ? open : "");
	said->report.open = said->open;
	said->report.open_len = strlen(said->open);
}

/* Programs that use Redis themselves, met first and last at once. */
static void
tell_met(struct story *st, struct said *said)
{
	int64_t ms =
	    SERVER_ZERO_MS + st->now_ms - story_option_num(st, "ago", 0);

	said->report.notes = 0;
	said->met[0] = '\0';
	if (story_option(st, "met") == NULL)
		return;
	said->report.notes = (uint64_t)ms;
	snprintf(said->met, sizeof(said->met), "%" PRId64 " %s", ms,
	    story_option(st, "met"));
}

static void
report(struct story *st, enum guard_state state, const char *text, bool fresh)
{
	struct core_event ev = { .kind = CORE_GUARD };
	const char *history = story_option(st, "history");
	struct said *said, none;
	uint32_t i;

	for (i = 0; i < st->config.shards; i++) {
		if (!concerns(st, i))
			continue;
		/* A call that is refused says nothing of the guard. */
		said = state == GUARD_REFUSED ? &none : &st->said[i];
		snprintf(said->history, sizeof(said->history), "%s",
		    history ? history : STORY_HISTORY);
		snprintf(said->text, sizeof(said->text), "%s", text);
		said->report.state = state;
		said->report.takes = story_flag(st, "takes");
		said->report.fresh = fresh;
		said->report.fence = (uint64_t)story_option_num(st, "fence", 0);
		said->report.spoilt = story_option(st, "spoilt");
		said->report.spoilt_len =
		    said->report.spoilt ? strlen(said->report.spoilt) : 0;
		said->report.text = said->text;
		said->report.text_len = strlen(text);
		said->report.server_ms =
		    SERVER_ZERO_MS + st->now_ms + st->clock_ms;
		said->report.history = said->history;
		said->report.history_len = HISTORY_BYTES;
		tell_node(st, said);
		tell_met(st, said);
		said->reported = true;
		ev.u.guard.shard = i;
		ev.u.guard.sent_ms = st->now_ms;
		ev.u.guard.report = &said->report;
		story_step(st, &ev);
	}
}

static void
do_guard(struct story *st)
{
	report(st, (enum guard_state)FIND(st, guard_words, word(st, 2)),
	    word(st, 3), story_flag(st, "fresh"));
}

static void
open_session(struct story *st, int64_t id, bool tcp, bool proxied)
{
	struct core_event ev = { .kind = CORE_OPEN };

	ev.u.open.session = (uint64_t)id;
	ev.u.open.peer = "peer";
	ev.u.open.tcp = tcp;
	ev.u.open.uid = -1;
	ev.u.open.proxied = proxied;
	story_step(st, &ev);
}

static void
do_open(struct story *st)
{
	open_session(st, story_number(st, word(st, 2)), story_flag(st, "tcp"),
	    story_flag(st, "proxied"));
}

static void
do_ready(struct story *st)
{
	struct buf *out = st->out, quiet;
	int64_t i;

	buf_init(&quiet);
	st->out = &quiet;
	link_all(st, true);
	report(st, GUARD_BLESSED, "", false);
	for (i = 1; i <= story_number(st, word(st, 2)); i++)
		open_session(st, i, false, false);
	st->out = out;
	buf_fini(&quiet);
}

static void
do_end(struct story *st)
{
	struct core_event ev = { .kind = CORE_GONE };
	const char *how = st->words[1];

	if (strcmp(how, "drain") == 0)
		ev.kind = CORE_DRAIN;
	if (strcmp(how, "press") == 0)
		ev.kind = CORE_PRESS;
	ev.u.gone.session = (uint64_t)story_number(st, word(st, 2));
	ev.u.gone.quit = strcmp(how, "quit") == 0;
	ev.u.gone.orderly = strcmp(how, "gone") != 0;
	story_step(st, &ev);
}

static void
do_cancel(struct story *st)
{
	struct core_event ev = { .kind = CORE_CANCEL };

	ev.u.cancel.session = (uint64_t)story_number(st, word(st, 2));
	ev.u.cancel.ref = (uint64_t)story_number(st, word(st, 3));
	if (st->nwords > 4)
		ev.u.cancel.by = (uint64_t)story_number(st, word(st, 4));
	story_step(st, &ev);
}

static void
do_ping(struct story *st)
{
	story_begin_line(st);
	buf_addf(st->out, "valid %" PRId64 "\n",
	    core_ping(
		st->core, st->now_ms, (uint64_t)story_number(st, word(st, 2))));
}

static void
do_outcome(struct story *st)
{
	struct core_event ev = { .kind = CORE_OUTCOME };
	const char *text = story_option(st, "text"),
		   *also = story_option(st, "also");
	char lines[LINES_MAX];
	struct outcome o;
	size_t i;

	memset(&o, 0, sizeof(o));
	o.status = (enum outcome_status)FIND(st, outcome_words, word(st, 2));
	o.fence = (uint64_t)story_option_num(st, "fence", 0);
	o.first = (uint64_t)story_option_num(st, "first", 0);
	o.second = (uint64_t)story_option_num(st, "second", 0);
	o.ttl_ms = story_option_num(st, "ttl", -1);
	o.waiting = story_flag(st, "waiting");
	o.alone = story_flag(st, "alone");
	o.text = text == NULL ? "" : text;
	if (strcmp(word(st, 3), "@guard") == 0)
		o.text = story_lines(lines, o.text);
	o.text_len = strlen(o.text);
	o.also = also == NULL ? "" : also;
	o.also_len = strlen(o.also);
	for (i = 0; i < st->nflights; i++)
		if (strcmp(st->flights[i].name, word(st, 3)) == 0 &&
		    concerns(st, st->flights[i].shard))
			break;
	if (i == st->nflights) {
		story_begin_line(st);
		buf_adds(st->out, "no operation of that name\n");
		return;
	}
	ev.u.outcome.op = st->flights[i].id;
	ev.u.outcome.sent_ms =
	    story_option_num(st, "sent", st->flights[i].sent_ms);
	ev.u.outcome.outcome = &o;
	memmove(&st->flights[i], &st->flights[i + 1],
	    (st->nflights - i - 1) * sizeof(st->flights[0]));
	st->nflights--;
	story_step(st, &ev);
}

static void
do_message(struct story *st)
{
	struct core_event ev = { .kind = CORE_MESSAGE };
	char text[512] = "";
	size_t i;

	for (i = 2; i < st->nwords; i++) {
		strcat(text, i > 2 ? " " : "");
		strcat(text, st->words[i]);
	}
	ev.u.message.text = text;
	ev.u.message.len = strlen(text);
	ev.u.message.history =
	    strcmp(word(st, 1), "message") == 0 ? STORY_HISTORY : "";
	story_step(st, &ev);
}

static void
do_clock(struct story *st)
{
	st->clock_ms += strtol(st->words[2], NULL, 10);
}

static void
do_plain(struct story *st)
{
	static const char *const words[] = { [CORE_TIME] = "time",
		[CORE_FLUSH] = "flush",
		[CORE_RESUBSCRIBED] = "resubscribed",
		[CORE_STOP] = "stop" };
	struct core_event ev = { .kind = CORE_TIME };

	ev.kind = (enum core_event_kind)FIND(st, words, st->words[1]);
	story_step(st, &ev);
}

static void
do_until(struct story *st)
{
	struct core_event ev = { .kind = CORE_TIME };
	struct core_event flush = { .kind = CORE_FLUSH };
	int64_t end_ms = st->now_ms, at_ms = core_deadline(st->core);
	unsigned steps = 0;

	st->stamped = true;
	for (; at_ms <= end_ms; at_ms = core_deadline(st->core)) {
		if (++steps > 5000) {
			story_begin_line(st);
			buf_adds(st->out, "the core spins\n");
			break;
		}
		st->now_ms = at_ms;
		story_step(st, &ev);
		while (core_has_grants(st->core))
			story_step(st, &flush);
		core_written(st->core);
	}
	st->stamped = false;
	st->now_ms = end_ms;
	story_step(st, &ev);
}

static void
do_unowned(struct story *st)
{
	struct core_gauges gauges;

	core_gauges(st->core, st->now_ms, &gauges);
	story_begin_line(st);
	buf_addf(st->out,
	    "unowned %" PRIu64 " bound %" PRIu64 " latches %" PRIu64 "\n",
	    gauges.unowned, gauges.bound, gauges.latches_made);
}

static void
do_stopped(struct story *st)
{
	story_begin_line(st);
	buf_adds(st->out, core_stopped(st->core) ? "yes\n" : "no\n");
}

static void
do_request(struct story *st)
{
	struct core_event ev = { .kind = CORE_REQUEST };
	struct core_name names[CORE_NAMES_MAX];
	struct core_request rq;
	const char *verb, *mode = story_option(st, "mode");
	size_t i = 2;

	memset(&rq, 0, sizeof(rq));
	if (word(st, i)[0] == '@')
		rq.ref = (uint64_t)story_number(st, st->words[i++] + 1);
	verb = word(st, i++);
	rq.verb = (enum verb_id)FIND(st, verb_words, verb);
	for (; i < st->nwords && strchr(st->words[i], '=') == NULL; i++) {
		names[rq.nnames].p = st->words[i];
		names[rq.nnames++].n = strlen(st->words[i]);
	}
	rq.names = names;
	rq.untagged = rq.ref == 0;
	rq.shared = mode != NULL && strcmp(mode, "shared") == 0;
	rq.wait_ms = story_option_num(
	    st, "wait", strcmp(verb, "TRYLOCK") == 0 ? 0 : CORE_WAIT_FOREVER);
	rq.has_hold = story_option(st, "hold") != NULL;
	rq.hold_ms = story_option_num(st, "hold", 0);
	rq.keep_ms = story_option_num(st, "keep", 0);
	rq.delay_ms = story_option_num(st, "delay", 0);
	rq.ttl_ms = story_option_num(st, "ttl", 0);
	rq.max_ms = story_option_num(st, "max", 60000);
	rq.queue_limit = (uint64_t)story_option_num(st, "queue", -1);
	if (story_option(st, "kind") != NULL)
		rq.kind =
		    (enum kind)FIND(st, kind_words, story_option(st, "kind"));
	rq.number = (uint64_t)story_option_num(st, "n", 1);
	rq.slot = story_flag(st, "slot");
	rq.limit = (uint64_t)story_option_num(st, "limit", 1);
	rq.fence = (uint64_t)story_option_num(st, "fence", 0);
	if (story_option(st, "value") != NULL)
		rq.notes[NOTE_VALUE] =
		    (struct core_name){ story_option(st, "value"),
			    strlen(story_option(st, "value")) };
	if (story_option(st, "trace") != NULL)
		rq.notes[NOTE_TRACE] =
		    (struct core_name){ story_option(st, "trace"),
			    strlen(story_option(st, "trace")) };
	ev.u.request.session = (uint64_t)story_number(st, st->words[1]);
	ev.u.request.request = &rq;
	story_step(st, &ev);
}

static const struct {
	const char *word;
	void (*run)(struct story *st);
} drives[] = {
	{ "ready", do_ready },
	{ "up", do_link },
	{ "down", do_link },
	{ "guard", do_guard },
	{ "open", do_open },
	{ "drain", do_end },
	{ "press", do_end },
	{ "gone", do_end },
	{ "close", do_end },
	{ "quit", do_end },
	{ "cancel", do_cancel },
	{ "ping", do_ping },
	{ "<", do_outcome },
	{ "token", story_token },
	{ "unheard", story_unheard },
	{ "message", do_message },
	{ "passed-on", do_message },
	{ "resubscribed", do_plain },
	{ "stop", do_plain },
	{ "leave", story_leave },
	{ "stay", story_stay },
	{ "turn-away", story_leave },
	{ "left?", story_left },
	{ "stopped?", do_stopped },
	{ "time", do_plain },
	{ "flush", do_plain },
	{ "until", do_until },
	{ "clock", do_clock },
	{ "unowned?", do_unowned },
	{ "session", story_session },
	{ "resume", story_resume },
	{ "user", story_user },
	{ "has?", story_has },
};

/* Stories. */

static void
drive(struct story *st)
{
	struct core_event flush = { .kind = CORE_FLUSH };
	bool untold = strcmp(st->words[st->nwords - 1], "...") == 0;
	size_t i, n = sizeof(drives) / sizeof(drives[0]);

	if (strcmp(st->words[0], "config") == 0) {
		story_configure(st);
		return;
	}
	if (untold)
		st->nwords--;
	if (st->core == NULL)
		st->core = core_new(&st->config);
	st->now_ms = story_number(st, st->words[0]);
	for (i = 0; i < n; i++)
		if (strcmp(drives[i].word, word(st, 1)) == 0)
			break;
	if (i < n)
		drives[i].run(st);
	else
		do_request(st);
	if (untold)
		return;
	do
		story_step(st, &flush);
	while (core_has_grants(st->core));
	core_written(st->core);
}

static void
story_init(struct story *st, struct buf *out)
{
	static const struct core_config config = {
		.check = 1,
		.broker = "b",
		.seed = { 1, 2 },
		.shards = 1,
		.lease_ms = 10000,
		.reply_timeout_ms = 2000,
		.locks.max_grace_ms = 60000,
		.locks.handovers = 100,
		.limits.holds = 100,
		.locks.max_keep_ms = INT64_MAX,
		.locks.max_delay_ms = INT64_MAX,
		.locks.max_ttl_ms = INT64_MAX,
		.limits.unowned = 1000,
		.limits.waiters = 100,
		.limits.requests = 100,
	};

	memset(st, 0, sizeof(*st));
	st->config = config;
	st->out = out;
	effects_init(&st->fx);
}

static void
story_fini(struct story *st)
{
	core_free(st->core);
	effects_fini(&st->fx);
}

static void
tell_line(struct story *st, const char *line)
{
	char copy[1024];
	char *p, *save = NULL;

	snprintf(copy, sizeof(copy), "%s", line);
	st->nwords = 0;
	for (p = strtok_r(copy, " ", &save); p != NULL;
	     p = strtok_r(NULL, " ", &save)) {
		if (st->nwords == WORDS_MAX)
			story_fail(st, "too many words");
		st->words[st->nwords++] = p;
	}
	if (st->nwords > 0 && strchr(">#", copy[0]) == NULL)
		drive(st);
}

void
story_tell(const char *text, struct buf *out)
{
	struct story st;
	const char *end;
	char line[1024];

	story_init(&st, out);
	for (; *text != '\0'; text = end + 1) {
		end = strchr(text, '\n');
		snprintf(line, sizeof(line), "%.*s", (int)(end - text), text);
		if (line[0] == '>')
			continue;
		buf_addf(out, "%s\n", line);
		if (strncmp(line, "==", 2) == 0) {
			story_fini(&st);
			story_init(&st, out);
		} else {
			tell_line(&st, line);
		}
	}
	story_fini(&st);
}
