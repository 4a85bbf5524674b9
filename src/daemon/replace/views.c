/*
 * See views.h.  Views begin and are put together in turns of the loop of their
 * own, a few at a time: each needs two descriptors a process.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/users.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/merge.h"
#include "daemon/replace/upgrade.h"
#include "daemon/replace/views.h"
#include "daemon/users/identity.h"

#define LIMIT 100	 /* rows, if the request gives no limit */
#define NAMES_LEAST 1000 /* asked for, so that sums are right */
#define NAMES_OLD 10000	 /* asked for, to find those held longest among them */
#define UNDER_WAY_MAX 32 /* views */
#define READ_SIZE 16384	 /* at once */
#define LATE_MS 1000	 /* behind the time that Redis has to answer */
#define ROOM_MS 10	 /* a look whether there is room */
#define PEER "pid:0"	 /* whom processes take each other for */

/* A socket to a process.  Owned by its view. */
struct end {
	struct view *of;
	size_t part;
	int fd; /* owned; -1: over */
	int64_t pid;
	struct event *readable;
	struct end *next;
};

/* A request that waits.  Owned by the views. */
struct view {
	TAILQ_ENTRY(view) link;
	struct views *of;
	uint64_t conn;		 /* who asks; 0: ... */
	struct view_asker asker; /* ... it is this one */
	enum verb_id verb;
	uint64_t limit;
	bool begun, over; /* all ends are */
	size_t nparts;
	unsigned silent;     /* ends that have not answered */
	struct merge *merge; /* owned; NULL: it has not begun */
	struct end *ends;    /* owned */
	int64_t late_ms;     /* then it begins; what comes later is left out */
	char tag[TAG_MAX_BYTES]; /* its length is below */
	size_t tag_len;
	char *user; /* owned */
	char *line; /* owned */
};

struct views {
	struct broker *broker;
	struct event *turn;
	TAILQ_HEAD(, view) list;
	struct quiet quiet;
};

static void
end_close(struct end *e)
{
	if (e->readable != NULL)
		event_free(e->readable);
	e->readable = NULL;
	if (e->fd >= 0)
		(void)close(e->fd);
	e->fd = -1;
}

static void
view_free(struct view *v)
{
	struct end *e;

	TAILQ_REMOVE(&v->of->list, v, link);
	while ((e = v->ends) != NULL) {
		v->ends = e->next;
		end_close(e);
		free(e);
	}
	if (v->merge != NULL)
		merge_free(v->merge);
	free(v->user);
	free(v->line);
	free(v);
}

static void
turn_in(struct views *views, int64_t ms)
{
	const struct timeval then = ms_to_timeval(ms);

	(void)event_add(views->turn, &then);
}

/* One that does not answer, or wrongly. */
static void
complain(struct views *views, int64_t pid, const char *why)
{
	uint64_t left_out;

	if (quiet_may_log(&views->quiet, &left_out))
		LOG(WARNING, "leaving-silent", LOG_N("pid", pid),
		    LOG_S("why", why), LOG_N("left_out", left_out));
}

static void
leave_out(struct view *v, int64_t pid, const char *why)
{
	v->silent++;
	complain(v->of, pid, why);
}

/* Are all answers there, or not to be had? */
static bool
is_over(const struct view *v)
{
	const struct end *e;

	for (e = v->ends; e != NULL; e = e->next)
		if (e->fd >= 0)
			return false;
	return true;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct end *e = arg;
	struct view *v = e->of;
	char bytes[READ_SIZE];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && !merge_read(v->merge, e->part, bytes, (size_t)n))
		leave_out(v, e->pid, "its answer makes no sense");
	else if (n > 0 && !merge_whole(v->merge, e->part))
		return;
	/* One that goes has nothing any more. */
	end_close(e);
	if (is_over(v)) {
		v->over = true;
		turn_in(v->of, 0);
	}
}

/* Makes the ends of a socket: ours is in the view.  Returns the other's, or -1.
 */
static int
add_end(struct view *v, int64_t pid)
{
	struct end *e;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		fds) < 0) {
		leave_out(v, pid, strerror(errno));
		return -1;
	}
	e = xcalloc(1, sizeof(*e));
	e->of = v;
	e->part = v->nparts++;
	e->fd = fds[0];
	e->pid = pid;
	e->next = v->ends;
	v->ends = e;
	e->readable = event_new(
	    v->of->broker->base, e->fd, EV_READ | EV_PERSIST, on_readable, e);
	if (e->readable == NULL || event_add(e->readable, NULL) < 0)
		abort();
	return fds[1];
}

static void
ask_peer(void *arg, struct channel *peer, int64_t pid)
{
	struct view *v = arg;
	int fd = add_end(v, pid);

	if (fd < 0)
		return;
	if (!leavers_ask_to_serve(peer, fd, v->user, v->line)) {
		leave_out(v, pid, "it takes no requests");
		end_close(v->ends);
	}
	(void)close(fd);
}

/* One that leaves may know other rights than those of today. */
static bool
shows(const void *arg, struct span name)
{
	const struct view *v = arg;

	return identity_shows(v->of->broker->identity, v->user, name);
}

/* The first part is this process. */
static void
begin(struct view *v)
{
	struct broker *b = v->of->broker;
	int fd;

	v->begun = true;
	v->late_ms =
	    now_awake_ms() + b->config->redis.reply_timeout_ms + LATE_MS;
	fd = add_end(v, getpid());
	if (fd >= 0)
		views_serve(b, fd, v->user, v->line);
	leavers_each(succession_leavers(b->succession), ask_peer, v);
	v->merge = merge_new(v->verb, v->limit, v->nparts, v->asker.protocol);
	merge_shows(v->merge, shows, v);
	if (v->asker.by_age)
		merge_by_age(v->merge);
	v->over = is_over(v);
}

static void
give_up(struct view *v)
{
	struct end *e;

	for (e = v->ends; e != NULL; e = e->next) {
		if (e->fd >= 0)
			leave_out(v, e->pid, "it does not answer in time");
		end_close(e);
	}
	v->over = true;
}

/* To the connection, or where that is NULL, to who else has asked. */
static void
answer(struct view *v, struct conn *c)
{
	static const char none[] = "no answer came in time; try again";
	struct wire_reply reply = { .verb = v->verb,
		.tag = { v->tag, v->tag_len } };
	const struct buf *rows;
	size_t n;

	if (!merge_reply(v->merge, &reply)) {
		reply.status = STATUS_ERR;
		reply.code = ERR_UNAVAILABLE;
		reply.text = (struct span){ none, sizeof(none) - 1 };
	}
	rows = merge_rows(v->merge, &n);
	if (c == NULL) {
		v->asker.take(v->asker.arg, v->asker.ref, v->asker.part,
		    &(struct view_answer){ &reply, rows, v->silent });
		return;
	}
	if (reply.status == STATUS_OK && verb_has(v->verb, VERB_FLAG_ROWS))
		conn_rows(c, &reply, n, rows);
	else
		conn_reply(c, &reply);
	conn_busy(c, false);
}

/* Returns true if the view is at its end. */
static bool
go_on(struct view *v, int64_t now)
{
	struct conn *c = NULL;

	if (v->conn != 0)
		c = front_find(v->of->broker->front, v->conn);
	if (v->conn != 0 && c == NULL)
		return true;
	/* One whose channel is full is waited for. */
	if (!v->begun && now < v->late_ms &&
	    !leavers_have_room(succession_leavers(v->of->broker->succession)))
		return false;
	if (!v->begun)
		begin(v);
	if (!v->over && now >= v->late_ms)
		give_up(v);
	if (!v->over || merge_go_on(v->merge))
		return false;
	answer(v, c);
	return true;
}

static void
on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct views *views = arg;
	int64_t now = now_awake_ms(), wait_ms = LATE_MS;
	struct view *v, *next;
	unsigned n = 0;

	(void)fd;
	(void)what;
	TAILQ_FOREACH_SAFE (v, &views->list, link, next) {
		if (n == UNDER_WAY_MAX)
			break;
		if (go_on(v, now)) {
			view_free(v);
			continue;
		}
		n++;
		if (v->over)
			wait_ms = 0;
		else if (!v->begun && wait_ms > ROOM_MS)
			wait_ms = ROOM_MS;
	}
	if (!TAILQ_EMPTY(&views->list))
		turn_in(views, wait_ms);
	front_wake(views->broker->front);
}

/* The line again.  Each process tells so much that the whole has enough. */
static void
write_line(struct view *v, const struct request *r, struct buf *out)
{
	uint64_t limit = v->limit,
		 least = v->asker.by_age ? NAMES_OLD : NAMES_LEAST;
	unsigned i;

	buf_adds(out, verbs[r->verb].word);
	for (i = 0; i < r->nwords; i++) {
		buf_addc(out, ' ');
		buf_add(out, r->words[i].p, r->words[i].n);
	}
	if (request_has(r, OPTION_KIND))
		buf_addf(out, " kind=%s", kind_words[r->num[OPTION_KIND]]);
	if (r->verb == VERB_STATUS)
		return;
	if (r->verb == VERB_NAMES && limit < least)
		limit = least;
	buf_addf(out, " limit=%llu", (unsigned long long)limit);
}

/* Returns NULL if no process leaves. */
static struct view *
view_new(struct views *views, const struct request *r,
    const struct view_asker *asker)
{
	struct view *v;
	struct buf line;

	if (leavers_none(succession_leavers(views->broker->succession)))
		return NULL;
	v = xcalloc(1, sizeof(*v));
	v->of = views;
	v->asker = *asker;
	v->verb = r->verb;
	v->limit = request_has(r, OPTION_LIMIT) ? (uint64_t)r->num[OPTION_LIMIT]
						: LIMIT;
	v->user = xstrdup(asker->user);
	v->asker.user = v->user;
	buf_init(&line);
	write_line(v, r, &line);
	v->line = xstrndup(buf_data(&line), buf_len(&line));
	buf_fini(&line);
	v->late_ms = now_awake_ms() + LATE_MS;
	TAILQ_INSERT_TAIL(&views->list, v, link);
	turn_in(views, 0);
	return v;
}

bool
views_ask(struct views *views, struct conn *c, const struct request *r)
{
	const struct client *client = conn_data(c);
	const struct view_asker asker = {
		.user = client->user != NULL ? user_name(client->user) : "",
		.protocol = conn_protocol(c),
	};
	struct view *v;

	if (client->serves_view)
		return false;
	v = view_new(views, r, &asker);
	if (v == NULL)
		return false;
	v->conn = conn_id(c);
	v->tag_len = r->tag.n;
	if (r->tag.n > 0)
		memcpy(v->tag, r->tag.p, r->tag.n);
	conn_busy(c, true);
	return true;
}

bool
views_ask_for(struct views *views, const struct request *r,
    const struct view_asker *asker)
{
	assert(asker->take != NULL);
	return view_new(views, r, asker) != NULL;
}

void
views_serve(struct broker *b, int fd, const char *user, const char *line)
{
	struct front_passed passed = {
		.fd = fd, .peer = PEER, .protocol = &wire_lines
	};
	struct client *client;
	struct conn *c;
	struct buf in;

	buf_init(&in);
	buf_addf(&in, "%s\r\n", line);
	passed.in = (struct span){ buf_data(&in), buf_len(&in) };
	c = front_receive(b->front, &passed);
	buf_fini(&in);
	client = conn_data(c);
	client->serves_view = true;
	if (user[0] != '\0') {
		identity_handed(b->identity, c, user, "");
		/* Nobody sees more because one process does not know him. */
		if (client->user == NULL ||
		    strcmp(user_name(client->user), user) != 0) {
			complain(b->views, getpid(),
			    "no user has the name of the one who asks");
			conn_kill(c);
		}
	}
	front_wake(b->front);
}

struct views *
views_new(struct broker *b)
{
	struct views *views = xcalloc(1, sizeof(*views));

	views->broker = b;
	TAILQ_INIT(&views->list);
	views->turn = event_new(b->base, -1, 0, on_turn, views);
	if (views->turn == NULL)
		abort();
	return views;
}

void
views_free(struct views *views)
{
	struct view *v;

	while ((v = TAILQ_FIRST(&views->list)) != NULL)
		view_free(v);
	event_free(views->turn);
	free(views);
}
