/*
 * See upgrade_child.h.  Two builds may talk over the channel: words that are
 * not known pass, and numbers that are missing are 0.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "daemon/replace/upgrade_argv.h"
#include "daemon/replace/upgrade_child.h"
#include "daemon/replace/upgrade_spawn.h"
#include "relay/packet.h"

#define READY_MS 30000
#define LOOK_MS 100 /* its report is judged anew: we change, too */

struct upgrade_child {
	const struct upgrade_child_handler *handler;
	void *arg;
	struct upgrade_spawn spawn;
	int fd; /* our end of the channel */
	struct event *readable;
	struct event *look;
	int64_t began_ms;
	bool told;
	struct upgrade_child_state state;
	char redis[HEIR_WHY_SIZE];
	char histories[HEIR_WHY_SIZE];
	char said[HEIR_WHY_SIZE]; /* why it fails, or why it waits */
	/* Of an adopted process. */
	bool adopted;
	struct handed_list handed;
	size_t nhanded;		/* sent so far */
	int copies[HANDED_MAX]; /* of those that are not sent yet; owned */
	bool taken[HANDED_MAX];
};

/* The handler may free the child. */
static void
end(struct upgrade_child *h, const char *why)
{
	h->handler->over(h->arg, why);
}

/* It has ended, or does not speak to us any more. */
static void
gone(struct upgrade_child *h)
{
	const char *said =
	    h->said[0] != '\0' ? h->said : "the log says no more";
	char why[2 * HEIR_WHY_SIZE], how[STARTER_HOW_SIZE];

	(void)event_del(h->readable);
	if (h->adopted) {
		snprintf(why, sizeof(why), "the new process ended: %s", said);
	} else {
		upgrade_spawn_end(&h->spawn, how);
		snprintf(why, sizeof(why), "the new process ended with %s: %s",
		    how, said);
	}
	end(h, why);
}

static void
judge(struct upgrade_child *h)
{
	bool for_good = false;
	const char *lacks = h->handler->unfit(h->arg, &h->state, &for_good);
	char why[2 * HEIR_WHY_SIZE];
	bool late = now_awake_ms() - h->began_ms >= READY_MS;

	if (h->told && lacks == NULL) {
		end(h, NULL);
		return;
	}
	if (!(h->told && for_good) && !late)
		return;
	if (h->told && for_good)
		snprintf(why, sizeof(why), "%s", lacks);
	else
		snprintf(why, sizeof(why),
		    "the new process was not ready after %d s: %s",
		    READY_MS / 1000,
		    h->said[0] != '\0'	       ? h->said
		    : h->told && lacks != NULL ? lacks
					       : "it gave no reason");
	end(h, why);
}

static void
on_look(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	judge(arg);
}

/* It becomes part of a line. */
static void
note(struct upgrade_child *h, const char *text)
{
	size_t n;
	char *c;

	snprintf(h->said, sizeof(h->said), "%s", text);
	for (c = h->said; *c != '\0'; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	for (n = strlen(h->said); n > 0 && h->said[n - 1] == ' '; n--)
		h->said[n - 1] = '\0';
}

/* It asks again when it has this descriptor, so there is always room. */
static void
hand_next(struct upgrade_child *h)
{
	size_t i = h->nhanded;
	struct packet p;

	if (i == h->handed.n) {
		packet_begin(&p, "all");
		(void)!packet_send(h->fd, &p, -1);
		return;
	}
	packet_begin(&p, "handed");
	packet_add(&p, handed_word(h->handed.v[i].kind));
	(void)!packet_send(h->fd, &p, h->copies[i]);
	(void)close(h->copies[i]);
	h->nhanded++;
}

static void
hear(struct upgrade_child *h, const struct packet *p)
{
	size_t number;

	if (packet_is(p, "next", 0) && h->adopted) {
		hand_next(h);
	} else if (packet_is(p, "took", 1)) {
		number = (size_t)packet_num(p, 1);
		if (number < h->nhanded)
			h->taken[number] = true;
	} else if (packet_is(p, "failed", 1)) {
		note(h, packet_text(p, 1));
	} else if (packet_is(p, "state", 1)) {
		h->told = true;
		h->state.ready = packet_num(p, 1) != 0;
		h->state.grace_ms = packet_num(p, 2);
		h->state.up = (unsigned)packet_num(p, 3);
		snprintf(h->redis, sizeof(h->redis), "%s", packet_text(p, 4));
		note(h, packet_text(p, 5));
		snprintf(h->histories, sizeof(h->histories), "%s",
		    packet_text(p, 6));
	}
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct upgrade_child *h = arg;
	struct packet p;
	enum packet_end how;

	(void)what;
	while ((how = packet_receive(fd, &p)) == PACKET_OK) {
		packet_drop_fd(&p);
		hear(h, &p);
	}
	if (how == PACKET_GONE)
		gone(h);
	else
		judge(h);
}

/* Returns an errno. */
static int
launch(struct upgrade_child *h, struct handed_list *handed, int channel)
{
	char **environment;
	char *variable;
	int error;

	if (handed->n == HANDED_MAX)
		return EMFILE;
	memmove(&handed->v[1], &handed->v[0], handed->n * sizeof(handed->v[0]));
	handed->v[0] = (struct handed){ HANDED_CHANNEL, false, channel, 0 };
	handed->n++;
	variable = handed_text(handed);
	environment = upgrade_argv_environment(variable);
	error = upgrade_spawn_begin(&h->spawn, upgrade_argv_program(),
	    upgrade_argv_arguments(), environment, handed);
	free(environment);
	free(variable);
	return error;
}

/* Returns an errno; on 0, `theirs` is the other end of the channel. */
static int
upgrade_child_new(struct upgrade_child **out,
    const struct upgrade_child_handler *handler, void *arg, int *theirs)
{
	struct upgrade_child *h = xcalloc(1, sizeof(*h));
	int ends[2] = { -1, -1 }, error = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC,
		0, ends) < 0)
		error = errno;
	h->handler = handler;
	h->arg = arg;
	h->began_ms = now_awake_ms();
	h->state.redis = h->redis;
	h->state.histories = h->histories;
	h->fd = ends[0];
	*theirs = ends[1];
	*out = h;
	return error;
}

static void
hear_from_now_on(struct upgrade_child *h, struct event_base *base)
{
	const struct timeval often = ms_to_timeval(LOOK_MS);

	h->readable =
	    event_new(base, h->fd, EV_READ | EV_PERSIST, on_readable, h);
	h->look = event_new(base, -1, EV_PERSIST, on_look, h);
	if (!h->readable || !h->look || event_add(h->readable, NULL) < 0 ||
	    event_add(h->look, &often) < 0)
		abort();
}

struct upgrade_child *
upgrade_child_start(struct event_base *base, struct handed_list *handed,
    const struct upgrade_child_handler *handler, void *arg,
    char why[HEIR_WHY_SIZE])
{
	struct upgrade_child *h;
	int theirs, error = upgrade_child_new(&h, handler, arg, &theirs);

	if (error == 0)
		error = launch(h, handed, theirs);
	if (theirs >= 0)
		(void)close(theirs);
	if (error != 0) {
		snprintf(why, HEIR_WHY_SIZE, "cannot start %.400s: %s",
		    upgrade_argv_program(), strerror(error));
		upgrade_child_free(h);
		return NULL;
	}
	hear_from_now_on(h, base);
	return h;
}

/* Copies, because what it has not asked for yet may be closed by then.  Returns
 * an errno. */
static int
copy_handed(struct upgrade_child *h, const struct handed_list *handed)
{
	size_t i;

	if (handed->full)
		return EMFILE;
	for (i = 0; i < handed->n; i++) {
		h->copies[i] = fcntl(handed->v[i].fd, F_DUPFD_CLOEXEC, 0);
		if (h->copies[i] < 0)
			return errno;
		h->handed.v[h->handed.n++] = handed->v[i];
	}
	return 0;
}

struct upgrade_child *
upgrade_child_adopt(struct event_base *base, const struct handed_list *handed,
    const struct upgrade_child_handler *handler, void *arg, int *theirs,
    char why[HEIR_WHY_SIZE])
{
	struct upgrade_child *h;
	int error = upgrade_child_new(&h, handler, arg, theirs);

	h->adopted = true;
	if (error == 0)
		error = copy_handed(h, handed);
	if (error != 0) {
		snprintf(why, HEIR_WHY_SIZE, "cannot hand over: %s",
		    strerror(error));
		if (*theirs >= 0)
			(void)close(*theirs);
		upgrade_child_free(h);
		return NULL;
	}
	hear_from_now_on(h, base);
	return h;
}

const struct handed_list *
upgrade_child_handed(const struct upgrade_child *h, const bool **taken)
{
	*taken = h->taken;
	return &h->handed;
}

void
upgrade_child_refuse(const struct upgrade_child *h, const char *why)
{
	struct packet p;

	if (!h->adopted)
		return;
	packet_begin(&p, "refused");
	packet_add(&p, why);
	(void)!packet_send(h->fd, &p, -1);
}

void
upgrade_child_free(struct upgrade_child *h)
{
	char how[STARTER_HOW_SIZE];

	if (h == NULL)
		return;
	if (h->readable)
		event_free(h->readable);
	if (h->look)
		event_free(h->look);
	if (h->spawn.guardian > 0)
		upgrade_spawn_end(&h->spawn, how);
	for (; h->nhanded < h->handed.n; h->nhanded++)
		(void)close(h->copies[h->nhanded]);
	if (h->fd >= 0)
		(void)close(h->fd);
	free(h);
}

pid_t
upgrade_child_pid(const struct upgrade_child *h)
{
	return h->spawn.pid;
}

int64_t
upgrade_child_began_ms(const struct upgrade_child *h)
{
	return h->began_ms;
}

int
upgrade_child_let_go(struct upgrade_child *h)
{
	int fd = h->fd;

	assert(fd >= 0 && h->readable != NULL);
	if (!h->adopted)
		upgrade_spawn_let_go(&h->spawn);
	(void)event_del(h->readable);
	h->fd = -1;
	return fd;
}
