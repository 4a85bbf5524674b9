/*
 * Turns of threads of Redisson that wait, of whom one connection for each JVM
 * listens (resp_audience.c): whom to tell, and who has heard it (listener in
 * core/parts/token/token.h).
 *
 *	a take is refused  -->  its thread keeps a place in the core
 *	it has its turn    -->  the name is kept for its program, which is told
 *	nobody has come    -->  the next one has its turn
 *
 * A thread says of which program it is, by the part of its token before the
 * last colon, but a connection that listens does not.  So the broker learns it:
 * who comes back before its time was woken by a message of a moment ago, one of
 * this turn or the one that greets who subscribes; and if but one of these went
 * to a connection of which nothing is known, it was that.  That may be a mistake
 * if others listen from the same address, and is proven if it shows once more.
 * If that was not the program whose turn it is, or it may have been one of
 * several, the broker tells the next connection.  Until it knows for sure which
 * one listens for a program, its threads are told to come back soon by
 * themselves; and if nobody comes, it knows that no more.
 *
 * The core tells a connection that listens that the turn of a thread has come: the
 * one over which it was refused may break while it sleeps.  Whom to tell then is
 * looked up anew.
 *
 * The threads that wait for a fair lock listen each on a channel of their own,
 * which has their token in its name.  The broker treats such a thread as a
 * program of its own: it is told, and nobody else, and the name is kept for it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp_audience.h"

/* References to the id of an audience. */
#define LISTENER_REF (UINT64_C(1) << 61)

#define COMES_MS 100 /* a thread that was told is there by then */

#define KEPT_MARK "%="

static const struct span nobody = { NULL, 0 };

/* The token wants the lock no more, or no token of that program does. */
static void
forget_one(struct broker *b, const struct conn *c, struct span name,
    struct span token, enum token_match match)
{
	const struct core_name lock = { name.p, name.n };
	const struct token_request rq = { .op = TOKEN_ACQUIRE,
		.ref = LISTENER_REF,
		.names = &lock,
		.nnames = 1,
		.match = match,
		.token = token.p,
		.token_len = token.n,
		.program = token.n,
		.awaits = true };
	struct core_event ev = { .kind = CORE_TOKEN };

	ev.u.token.session = bridge_session(c);
	ev.u.token.request = &rq;
	if (ev.u.token.session != 0 && name.n > 0 && name.n <= NAME_MAX_BYTES &&
	    token.n > 0 && token.n <= TOKEN_MAX_BYTES)
		bridge_step(b, &ev);
}

/* The channel of `a` is that of `{a}`, too. */
static void
forget(struct broker *b, const struct conn *c, struct span name,
    struct span token, enum token_match match)
{
	forget_one(b, c, name, token, match);
	if (name.n > 2 && name.p[0] == '{' && name.p[name.n - 1] == '}')
		forget_one(b, c, (struct span){ name.p + 1, name.n - 2 }, token,
		    match);
}

/* Tokens are PROGRAM:THREAD. */
static size_t
program_of(struct span token)
{
	const char *colon = memrchr(token.p, ':', token.n);

	return colon == NULL ? 0 : (size_t)(colon - token.p);
}

/* As Redisson makes it of the name of a lock, and of the token of a fair one.
 * Returns its length. */
static size_t
make_channel(char to[CHANNEL_ROOM], const struct ask *a)
{
	const struct core_name *name = a->names;
	bool bare = memchr(name->p, '{', name->n) == NULL;
	char *end = stpcpy(to, bare ? CHANNEL_PREFIX "{" : CHANNEL_PREFIX);

	memcpy(end, name->p, name->n);
	end += name->n;
	if (bare)
		*end++ = '}';
	if (a->fair) {
		*end++ = ':';
		end = mempcpy(end, a->rq.token, a->rq.token_len);
	}
	return (size_t)(end - to);
}

/* Without the port; on this host, the same process. */
static bool
same_address(const struct conn *a, const struct conn *b)
{
	const char *x = conn_peer(a), *y = conn_peer(b);
	const char *i = strrchr(x, ':'), *j = strrchr(y, ':');

	if (strncmp(x, "pid:", 4) == 0)
		return strcmp(x, y) == 0;
	return i != NULL && j != NULL && i - x == j - y &&
	       memcmp(x, y, (size_t)(i - x)) == 0;
}

static bool
same(const char *a, struct span b)
{
	return a != NULL && span_is(b, a);
}

static bool
is_of(const struct resp *rs, struct span program)
{
	return same(rs->program, program);
}

/* If it listens over others, too, its threads may have lost their places with
 * this one, and sleep. */
static void
wake_others(struct broker *b, const struct conn *c, const struct channel *ch,
    struct span program)
{
	struct audience *au = ch->audience;
	struct channel *other = resp_audience_first(b, au, program);
	struct conn *lc;
	unsigned looks = 0;

	for (; other != NULL && looks++ < LOOK_MAX;
	     other = TAILQ_NEXT(other, in_ears)) {
		lc = other == ch ? NULL : resp_audience_listener(b, c, other);
		if (lc != NULL)
			resp_audience_tell(lc, other, WAKE_ALL);
	}
	resp_audience_rouse(b, c, au, &au->left);
}

/* What stands behind the name may be a part of it, or a token. */
void
resp_turns_forget(struct broker *b, struct conn *c, const struct channel *ch)
{
	const size_t prefix = strlen(CHANNEL_PREFIX);
	struct span name, token;
	char *program;

	if (ch->audience == NULL)
		return;
	name = (struct span){ ch->name + prefix, ch->len - prefix };
	if (resp_of(c)->proven) {
		program = xstrdup(resp_of(c)->program);
		forget(b, c, name, span_of(program), TOKEN_EXACT);
		wake_others(b, c, ch, span_of(program));
		free(program);
	}
	token = name;
	name.n = program_of((struct span){ name.p, program_of(name) });
	token.p += name.n + 1;
	token.n -= name.n + 1;
	if (name.n > 0)
		forget(b, c, name, token, TOKEN_COUNTED);
}

static void
tell(struct conn *c, struct channel *ch, struct span program)
{
	char *was = ch->told_for;

	resp_audience_tell(c, ch, WAKE_ONE);
	ch->told_for = xstrndup(program.p, program.n);
	free(was); /* it may be the program */
	resp_audience_put_last(ch);
}

/* Is the program one thread, and the channel its own? */
static bool
is_of_thread(const struct audience *au, struct span program)
{
	const char *end = au->name + au->len;

	return au->len > program.n && end[-(ptrdiff_t)program.n - 1] == ':' &&
	       memcmp(end - program.n, program.p, program.n) == 0;
}

/* Returns the channel of the connection that listens for the program. */
static struct channel *
known(struct broker *b, const struct conn *c, const struct audience *au,
    struct span program)
{
	const bool thread = is_of_thread(au, program);
	struct channel *ch;
	unsigned looks = 0;

	ch = thread ? TAILQ_FIRST(&au->channels)
		    : resp_audience_first(b, au, program);
	while (ch != NULL && looks++ < LOOK_MAX) {
		if (resp_audience_listener(b, c, ch) != NULL)
			return ch;
		ch = thread ? TAILQ_NEXT(ch, in_audience)
			    : TAILQ_NEXT(ch, in_ears);
	}
	return NULL;
}

/* Returns the channel of one that may listen for any program, rather of one from
 * the address of the client; `untold`: and that was not told in this turn. */
static struct channel *
unknown(struct broker *b, const struct conn *c, const struct audience *au,
    bool untold)
{
	struct channel *ch = resp_audience_first(b, au, nobody), *any = NULL;
	const struct conn *lc;
	unsigned looks = 0;

	for (; ch != NULL && looks++ < LOOK_MAX; ch = TAILQ_NEXT(ch, in_ears)) {
		lc = resp_audience_listener(b, c, ch);
		if (lc == NULL || (untold && ch->turn == au->turn))
			continue;
		if (same_address(c, lc))
			return ch;
		if (any == NULL)
			any = ch;
	}
	return any;
}

/*
 * Returns the channel of the connection that listens for the program, as far as
 * is known: else one that may do so, rather one from the address of the client;
 * `untold`: and that was not told in this turn.  NULL: all here listen for
 * others.
 */
static struct channel *
choose(struct broker *b, const struct conn *c, const struct audience *au,
    struct span program, bool untold)
{
	struct channel *ch = known(b, c, au, program);

	if (ch != NULL || is_of_thread(au, program))
		return ch;
	return unknown(b, c, au, untold);
}

static bool
lately(const struct channel *ch)
{
	return now_ms() < ch->told_ms + COMES_MS;
}

/* Returns the connection that was told a moment ago: of this turn, or, if it is
 * from the address of the client, that it has subscribed; NULL: it was not. */
static struct conn *
told_of(struct broker *b, const struct conn *c, const struct channel *ch)
{
	struct conn *lc;

	if (!lately(ch) || (ch->turn != 0 && ch->turn != ch->audience->turn))
		return NULL;
	lc = resp_audience_listener(b, c, ch);
	return lc != NULL && (ch->turn != 0 || same_address(c, lc)) ? lc : NULL;
}

/* Does surely nobody else listen from its address? */
static bool
is_alone(struct broker *b, const struct conn *lc, const struct channel *ch)
{
	const struct channel *other;
	const struct conn *oc;
	unsigned looks = 0;

	TAILQ_FOREACH (other, &ch->audience->channels, in_audience) {
		oc = other == ch ? NULL : front_find(b->front, other->conn);
		if (looks++ == LOOK_MAX || (oc != NULL && same_address(oc, lc)))
			return false;
	}
	return true;
}

/* Returns the channel of the program, if it was told a moment ago. */
static const struct channel *
heard_itself(struct broker *b, const struct conn *c, const struct audience *au,
    struct span program)
{
	const struct channel *ch = resp_audience_first(b, au, program);
	unsigned looks = 0;

	for (; ch != NULL && looks++ < LOOK_MAX; ch = TAILQ_NEXT(ch, in_ears))
		if (told_of(b, c, ch) != NULL)
			return ch;
	return NULL;
}

/* Returns the one that was told a moment ago, or of several the one of which
 * nothing is known; NULL: nobody was told, or it is `unclear`. */
static const struct channel *
heard_by_another(struct broker *b, const struct conn *c,
    const struct audience *au, bool *unclear)
{
	const struct channel *ch, *heard = NULL;
	unsigned looks = 0, told = 0, unknown = 0;
	const struct resp *rs;
	struct conn *lc;

	TAILQ_FOREACH (ch, &au->told, in_told) {
		if (!lately(ch))
			break;
		*unclear = looks++ == LOOK_MAX || unknown > 1;
		if (*unclear)
			return NULL;
		lc = told_of(b, c, ch);
		if (lc == NULL)
			continue;
		rs = resp_of(lc);
		told++;
		unknown += rs->program == NULL;
		if (heard == NULL || rs->program == NULL)
			heard = ch;
	}
	*unclear = told > 1 && unknown != 1;
	return *unclear ? NULL : heard;
}

/* Which message of a moment ago may have woken a thread of the program?  Notes
 * it if that is sure, and says something new. */
static void
note_heard(struct broker *b, struct conn *c, const struct audience *au,
    struct span program)
{
	struct resp *rs = resp_of(c);
	const struct channel *heard = heard_itself(b, c, au, program);

	if (heard == NULL)
		heard = heard_by_another(b, c, au, &rs->unclear);
	if (heard == NULL)
		return;
	rs->heard = heard->id;
	rs->heard_by = heard->conn;
}

void
resp_turns_ask(struct broker *b, struct conn *c, struct ask *a)
{
	struct resp *rs = resp_of(c);
	const struct token_request *rq = &a->rq;
	struct span program = { rq->token, 0 };
	char name[CHANNEL_ROOM];
	struct audience *au;
	struct channel *ch;
	struct conn *lc;

	rs->sure = rs->unclear = false;
	rs->heard = rs->listener = 0;
	/* Who is told of an error does not come again. */
	if (rq->op != TOKEN_ACQUIRE || rq->match != TOKEN_COUNTED ||
	    rq->awaits || a->wrong.where != 0)
		return;
	program.n = rq->token_len;
	if (!a->fair)
		program.n = program_of(program);
	a->rq.program = program.n;
	if (program.n == 0 || b->audiences.n == 0)
		return;
	au =
	    resp_audience_find(b, (struct span){ name, make_channel(name, a) });
	if (au == NULL)
		return;
	if (!a->fair)
		note_heard(b, c, au, program);
	ch = choose(b, c, au, program, false);
	if (ch == NULL)
		return;
	lc = resp_audience_listener(b, c, ch);
	rs->sure =
	    a->fair || (is_of(resp_of(lc), program) && resp_of(lc)->proven);
	rs->listener = ch->id;
	rs->listener_conn = ch->conn;
	a->rq.listener = bridge_session(lc);
	a->rq.listener_ref = LISTENER_REF | au->id;
	a->rq.park_ms = rs->sure ? ASK_LISTEN_MS : ASK_SLEEP_MS;
}

static struct channel *
find_channel(const struct resp *rs, uint64_t id)
{
	struct channel *ch;

	LIST_FOREACH (ch, &rs->channels, link)
		if (ch->audience != NULL && ch->id == id)
			return ch;
	return NULL;
}

/* Returns NULL if it listens no more, or if that was nobody. */
static struct channel *
channel_of(struct broker *b, uint64_t id, uint64_t conn, struct conn **lc)
{
	*lc = id == 0 ? NULL : front_find(b->front, conn);
	return *lc == NULL ? NULL : find_channel(resp_of(*lc), id);
}

/* Nobody is known any more that listens for the program. */
static void
forget_program(struct broker *b, const struct conn *c,
    const struct audience *au, struct span program)
{
	const struct channel *ch = resp_audience_first(b, au, program), *next;
	struct conn *lc;
	unsigned looks = 0;

	for (; ch != NULL && looks++ < LOOK_MAX; ch = next) {
		next = TAILQ_NEXT(ch, in_ears);
		lc = resp_audience_listener(b, c, ch);
		if (lc != NULL)
			resp_audience_set_program(b, resp_of(lc), nobody);
	}
}

/* The program has its turn.  By now more may be known of who listens than when
 * its thread was refused. */
static void
tell_program(struct broker *b, const struct conn *c, const struct audience *au,
    struct span program)
{
	struct channel *ch = choose(b, c, au, program, false);

	if (ch != NULL)
		tell(resp_audience_listener(b, c, ch), ch, program);
}

/* Behind the mark of a name that is kept. */
static struct span
program_in(const struct token_result *t, const char *text)
{
	const size_t mark = strlen(KEPT_MARK);

	return (struct span){ text + t->token + mark, t->token_len - mark };
}

static bool
is_kept(const struct token_result *t, const char *text)
{
	const size_t mark = strlen(KEPT_MARK);

	return t->answer == TOKEN_BUSY && t->own && t->token_len > mark &&
	       memcmp(text + t->token, KEPT_MARK, mark) == 0;
}

/* Its program has its turn, but another of its threads: that one shall come,
 * too. */
static void
wake_another(struct broker *b, const struct resp *rs,
    const struct token_result *t, const char *text, struct span program)
{
	const struct channel *ch;
	struct conn *lc;

	if (!t->listed || !rs->sure || !is_kept(t, text) ||
	    !span_same(program_in(t, text), program))
		return;
	ch = channel_of(b, rs->listener, rs->listener_conn, &lc);
	if (ch != NULL)
		resp_audience_wake(lc, ch, WAKE_ONE);
}

/* Which of several messages has woken the client is not known, so perhaps the
 * program that has its turn was not told yet. */
static void
tell_another(struct broker *b, const struct conn *c, const struct audience *au,
    const struct token_result *t, const char *text)
{
	const struct span program = program_in(t, text);
	struct channel *ch = choose(b, c, au, program, true);
	struct conn *lc = ch == NULL ? NULL : resp_audience_listener(b, c, ch);

	if (lc != NULL && !is_of(resp_of(lc), program))
		tell(lc, ch, program);
}

void
resp_turns_learn(struct broker *b, struct conn *c, const struct token_result *t,
    const char *text)
{
	struct resp *rs = resp_of(c);
	const struct span token = { rs->mine, rs->mine_len };
	const struct span program = { rs->mine, program_of(token) };
	struct channel *ch;
	struct conn *lc;

	wake_another(b, rs, t, text, program);
	if (!t->early)
		return;
	if (rs->unclear) {
		ch = channel_of(b, rs->listener, rs->listener_conn, &lc);
		if (ch != NULL && is_kept(t, text))
			tell_another(b, c, ch->audience, t, text);
		return;
	}
	ch = channel_of(b, rs->heard, rs->heard_by, &lc);
	if (ch == NULL)
		return;
	if (is_of(resp_of(lc), program)) {
		resp_of(lc)->proven = true;
		return;
	}
	forget_program(b, c, ch->audience, program);
	resp_audience_set_program(b, resp_of(lc), program);
	resp_of(lc)->proven = same_address(c, lc) && is_alone(b, lc, ch);
	/* Whoever was told is of another program than the one that has its
	 * turn. */
	if (ch->told_for != NULL && !same(ch->told_for, program))
		tell_program(b, c, ch->audience, span_of(ch->told_for));
}

/* Nobody of the program has come, so perhaps it listens elsewhere than it
 * seemed: whoever it is, it is woken now, and comes again. */
static void
tell_all(struct broker *b, const struct conn *c, struct audience *au,
    struct span program)
{
	forget_program(b, c, au, program);
	resp_audience_rouse(b, c, au, &au->vain);
}

/* An error means nothing: a thread that tries hears of it. */
bool
resp_turns_told(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t, const char *text)
{
	struct audience *au;

	if ((ref & ~(LISTENER_REF - 1)) != LISTENER_REF)
		return false;
	au = resp_audience_find_by_id(b, ref & (LISTENER_REF - 1));
	if (t == NULL || au == NULL)
		return true;
	au->turn++;
	if (t->answer == TOKEN_DONE)
		tell_program(b, c, au, program_in(t, text));
	else if (t->answer == TOKEN_ABSENT)
		tell_all(b, c, au, program_in(t, text));
	return true;
}
