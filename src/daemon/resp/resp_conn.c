/*
 * Commands about the connection: HELLO, AUTH, RESET, SELECT, CLIENT.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/parse.h"
#include "base/text.h"
#include "base/xmalloc.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"

/* Redis has no limit; a longer text is no name that users read. */
#define CLIENT_NAME_MAX 255

void
resp_ping(struct broker *b, struct conn *c, const struct request *r)
{
	struct buf *out = conn_output(c);

	(void)b;
	if (r->nwords > 2) {
		resp_fail(
		    c, "ERR wrong number of arguments for 'ping' command");
	} else if (!resp_three(c) && resp_of(c)->nchannels > 0) {
		resp_array(out, 2);
		resp_word(out, "pong");
		resp_bulk(
		    out, r->nwords > 1 ? r->words[1] : (struct span){ "", 0 });
	} else if (r->nwords > 1) {
		resp_bulk(out, r->words[1]);
	} else {
		resp_simple(out, "PONG");
	}
}

void
resp_echo(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	resp_bulk(conn_output(c), r->words[1]);
}

void
resp_select(struct broker *b, struct conn *c, const struct request *r)
{
	uint64_t n;

	(void)b;
	if (!parse_number(r->words[1].p, r->words[1].n, UINT32_MAX, &n))
		resp_fail(c, "ERR value is not an integer or out of range");
	else if (n > 0)
		resp_fail(c, "ERR DB index is out of range: lockbroker has"
			     " database 0 only");
	else
		resp_simple(conn_output(c), "OK");
}

/* Names become the label of the session, if they fit. */

static bool
may_name(struct conn *c, struct span name)
{
	size_t i;

	for (i = 0; i < name.n; i++) {
		if (name.p[i] >= '!' && name.p[i] <= '~')
			continue;
		resp_fail(c, "ERR Client names cannot contain spaces, newlines"
			     " or special characters.");
		return false;
	}
	if (name.n <= CLIENT_NAME_MAX)
		return true;
	resp_fail(c, "ERR Client names may have %d bytes", CLIENT_NAME_MAX);
	return false;
}

/* A session without a name has no label, but it keeps a label that it has. */
static void
set_label(struct broker *b, const struct conn *c, struct span name)
{
	struct core_event ev = { .kind = CORE_SESSION_OPTIONS };
	struct core_session_options t = { .ref = 0 };
	char label[LABEL_MAX_BYTES];
	size_t i, n = name.n < sizeof(label) ? name.n : sizeof(label);

	if (n == 0 || bridge_session(c) == 0)
		return;
	for (i = 0; i < n; i++)
		label[i] = name.p[i] == '=' ? '_' : name.p[i];
	if (label[0] == '@' || label[0] == '!')
		label[0] = '_';
	t.label = label;
	t.label_len = n;
	if (getrandom(t.secret, sizeof(t.secret), 0) !=
	    (ssize_t)sizeof(t.secret))
		abort();
	ev.u.options.session = bridge_session(c);
	ev.u.options.options = &t;
	bridge_step(b, &ev);
}

static void
take_name(struct broker *b, struct conn *c, struct span name)
{
	struct resp *rs = resp_of(c);

	free(rs->name);
	rs->name = name.n > 0 ? xstrndup(name.p, name.n) : NULL;
	set_label(b, c, name);
}

/* Users and passwords. */

#define NO_USERS                                                             \
	"ERR AUTH <password> called without any password configured for the" \
	" default user. Are you sure your configuration is correct?"

/* Returns false if the broker has no users; it has answered that. */
static bool
may_auth(struct broker *b, struct conn *c)
{
	if (identity_has_users(b->identity))
		return true;
	resp_fail(c, "%s", NO_USERS);
	return false;
}

static void
tell_refusal(struct conn *c, const struct wire_reply *reply)
{
	if (reply->code == ERR_AUTH)
		resp_fail(c, "WRONGPASS invalid username-password pair or user"
			     " is disabled.");
	else
		resp_refusal(conn_output(c), reply);
}

static void
told_auth(struct broker *b, struct conn *c, const struct wire_reply *reply)
{
	(void)b;
	if (reply->status == STATUS_OK)
		resp_simple(conn_output(c), "OK");
	else
		tell_refusal(c, reply);
}

static void
authenticate(struct broker *b, struct conn *c, const struct request *r,
    const struct span *words, resp_then then)
{
	struct resp *rs = resp_of(c);

	rs->then = then;
	identity_auth(b, c, r, words[0], words[1]);
	/* The AUTH may have been refused, and is answered then. */
	if (!conn_owes(c))
		rs->then = NULL;
}

void
resp_auth(struct broker *b, struct conn *c, const struct request *r)
{
	struct span words[2] = { { "default", 7 }, r->words[1] };

	if (r->nwords > 3) {
		resp_fail(c, "ERR syntax error");
		return;
	}
	if (!may_auth(b, c))
		return;
	if (r->nwords == 3)
		memcpy(words, r->words + 1, sizeof(words));
	authenticate(b, c, r, words, told_auth);
}

/* HELLO. */

static void
tell_hello(struct conn *c)
{
	struct buf *out = conn_output(c);
	bool three = resp_three(c);

	resp_map(out, three, 7);
	resp_word(out, "server");
	resp_word(out, "redis");
	resp_word(out, "version");
	resp_word(out, RESP_REDIS_VERSION);
	resp_word(out, "proto");
	resp_int(out, three ? 3 : 2);
	resp_word(out, "id");
	resp_int(out, (int64_t)conn_id(c));
	resp_word(out, "mode");
	resp_word(out, "standalone");
	resp_word(out, "role");
	resp_word(out, "master");
	resp_word(out, "modules");
	resp_array(out, 0);
}

static void
greet(struct broker *b, struct conn *c)
{
	struct resp *rs = resp_of(c);

	conn_set_protocol(c, rs->three ? &wire_resp3 : &wire_resp2);
	if (rs->new_name != NULL)
		take_name(
		    b, c, (struct span){ rs->new_name, strlen(rs->new_name) });
	tell_hello(c);
}

/* Not called inside a step of the core (see identity.c), so it may make one. */
static void
told_hello(struct broker *b, struct conn *c, const struct wire_reply *reply)
{
	if (reply->status == STATUS_OK)
		greet(b, c);
	else
		tell_refusal(c, reply);
}

/* What a HELLO asks for. */
struct hello {
	const struct span *user; /* followed by the password; NULL: none */
	const struct span *name; /* NULL: none */
};

/* Returns false if it has answered the request. */
static bool
take_hello(struct conn *c, const struct request *r, struct hello *h)
{
	unsigned i = 2;
	uint64_t n;

	if (!parse_number(r->words[1].p, r->words[1].n, INT32_MAX, &n)) {
		resp_fail(c, "ERR Protocol version is not an integer or out of"
			     " range");
		return false;
	}
	if (n != 2 && n != 3) {
		resp_fail(c, "NOPROTO unsupported protocol version");
		return false;
	}
	resp_of(c)->three = n == 3;
	while (i < r->nwords) {
		if (resp_says(r->words[i], "AUTH") && i + 2 < r->nwords) {
			h->user = &r->words[i + 1];
			i += 3;
		} else if (resp_says(r->words[i], "SETNAME") &&
			   i + 1 < r->nwords) {
			h->name = &r->words[i + 1];
			i += 2;
		} else {
			resp_fail(c, "ERR Syntax error in HELLO option '%.*s'",
			    (int)r->words[i].n, r->words[i].p);
			return false;
		}
	}
	return h->name == NULL || may_name(c, *h->name);
}

/* Must the client log in first?  Then refuses. */
static bool
refuse_stranger(const struct broker *b, struct conn *c)
{
	const struct client *client = conn_data(c);

	if (!identity_has_users(b->identity) || client->user != NULL)
		return false;
	resp_fail(c,
	    "NOAUTH HELLO must be called with the client already"
	    " authenticated, otherwise the HELLO <proto> AUTH <user> <pass>"
	    " option can be used to authenticate the client and select the"
	    " RESP protocol version at the same time");
	return true;
}

void
resp_hello(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);
	struct hello h = { NULL, NULL };

	rs->three = resp_three(c);
	if (r->nwords > 1 && !take_hello(c, r, &h))
		return;
	free(rs->new_name);
	rs->new_name = h.name != NULL ? xstrndup(h.name->p, h.name->n) : NULL;
	if (h.user != NULL) {
		if (may_auth(b, c))
			authenticate(b, c, r, h.user, told_hello);
	} else if (!refuse_stranger(b, c)) {
		greet(b, c);
	}
}

/*
 * Leaves the connection as if it were new.  Refuses while it holds something.
 */
void
resp_reset(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);

	(void)r;
	resp_multi_free(resp_of(c));
	if (!core_is_idle(b->core, bridge_session(c))) {
		resp_fail(c, "BAD-REQUEST this connection holds locks: "
			     "UNLOCK them before RESET");
		return;
	}
	resp_spring_gone(b, rs);
	resp_forget_channels(b, rs);
	free(rs->name);
	rs->name = NULL;
	conn_set_protocol(c, &wire_resp2);
	identity_opened(b->identity, c);
	resp_simple(conn_output(c), "RESET");
}

/* CLIENT. */

void
resp_client_id(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	(void)r;
	resp_int(conn_output(c), (int64_t)conn_id(c));
}

void
resp_client_getname(struct broker *b, struct conn *c, const struct request *r)
{
	const struct resp *rs = resp_of(c);

	(void)b;
	(void)r;
	if (rs->name == NULL)
		resp_null(conn_output(c), resp_three(c));
	else
		resp_word(conn_output(c), rs->name);
}

void
resp_client_setname(struct broker *b, struct conn *c, const struct request *r)
{
	if (!may_name(c, r->words[2]))
		return;
	take_name(b, c, r->words[2]);
	resp_simple(conn_output(c), "OK");
}

void
resp_client_setinfo(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	if (resp_says(r->words[2], "lib-name") ||
	    resp_says(r->words[2], "lib-ver"))
		resp_simple(conn_output(c), "OK");
	else
		resp_fail(c, "ERR Unrecognized option '%.*s'",
		    (int)r->words[2].n, r->words[2].p);
}

/* Lists this connection only. */
void
resp_client_info(struct broker *b, struct conn *c, const struct request *r)
{
	const struct resp *rs = resp_of(c);
	struct buf text;

	(void)b;
	(void)r;
	buf_init(&text);
	buf_addf(&text, "id=%llu addr=%s name=%s db=0 sub=%u resp=%d\n",
	    (unsigned long long)conn_id(c), conn_peer(c),
	    rs->name != NULL ? rs->name : "", rs->nchannels,
	    resp_three(c) ? 3 : 2);
	resp_text(conn_output(c), resp_three(c),
	    (struct span){ buf_data(&text), buf_len(&text) });
	buf_fini(&text);
}
