/*
 * See heir.h.  Two builds may talk over the channel: words that are not known
 * pass, and numbers that are missing are 0.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "daemon/heir.h"
#include "daemon/origin.h"
#include "daemon/starter.h"
#include "relay/packet.h"

#define READY_MS 30000
#define LOOK_MS 100 /* what it has said is judged anew: we change, too */

struct heir {
	const struct heir_handler *handler;
	void *arg;
	struct starter starter;
	int fd; /* our end of the channel */
	struct event *readable;
	struct event *look;
	int64_t began_ms;
	bool told;
	struct heir_state state;
	char redis[HEIR_WHY_SIZE];
	char said[HEIR_WHY_SIZE]; /* why it fails, or why it waits */
};

/* The handler may free the heir. */
static void
end(struct heir *h, const char *why)
{
	h->handler->over(h->arg, why);
}

/* It has ended, or does not speak to us any more. */
static void
gone(struct heir *h)
{
	char why[2 * HEIR_WHY_SIZE], how[STARTER_HOW_SIZE];

	(void)event_del(h->readable);
	starter_end(&h->starter, how);
	snprintf(why, sizeof(why), "the new process ended with %s: %s", how,
	    h->said[0] != '\0' ? h->said : "the log says no more");
	end(h, why);
}

static void
judge(struct heir *h)
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
		    h->said[0] != '\0' ? h->said : "it says nothing");
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
note(struct heir *h, const char *text)
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

static void
hear(struct heir *h, const struct packet *p)
{
	if (packet_is(p, "failed", 1)) {
		note(h, packet_text(p, 1));
	} else if (packet_is(p, "state", 1)) {
		h->told = true;
		h->state.ready = packet_num(p, 1) != 0;
		h->state.grace_ms = packet_num(p, 2);
		h->state.up = (unsigned)packet_num(p, 3);
		snprintf(h->redis, sizeof(h->redis), "%s", packet_text(p, 4));
		note(h, packet_text(p, 5));
	}
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct heir *h = arg;
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
launch(struct heir *h, struct handed_list *handed, int channel)
{
	char **environment;
	char *variable;
	int error;

	if (handed->n == HANDED_MAX)
		return EMFILE;
	memmove(&handed->v[1], &handed->v[0], handed->n * sizeof(handed->v[0]));
	handed->v[0] = (struct handed){ HANDED_CHANNEL, false, channel };
	handed->n++;
	variable = handed_text(handed);
	environment = origin_environment(variable);
	error = starter_begin(&h->starter, origin_program(), origin_arguments(),
	    environment, handed);
	free(environment);
	free(variable);
	return error;
}

struct heir *
heir_start(struct event_base *base, struct handed_list *handed,
    const struct heir_handler *handler, void *arg, char why[HEIR_WHY_SIZE])
{
	const struct timeval often = ms_to_timeval(LOOK_MS);
	struct heir *h = xcalloc(1, sizeof(*h));
	int ends[2] = { -1, -1 }, error;

	h->handler = handler;
	h->arg = arg;
	h->began_ms = now_awake_ms();
	h->state.redis = h->redis;
	error = socketpair(AF_UNIX,
		    SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0
		    ? errno
		    : launch(h, handed, ends[1]);
	h->fd = ends[0];
	if (ends[1] >= 0)
		(void)close(ends[1]);
	if (error != 0) {
		snprintf(why, HEIR_WHY_SIZE, "can't start %.400s: %s",
		    origin_program(), strerror(error));
		heir_free(h);
		return NULL;
	}
	h->readable =
	    event_new(base, h->fd, EV_READ | EV_PERSIST, on_readable, h);
	h->look = event_new(base, -1, EV_PERSIST, on_look, h);
	if (!h->readable || !h->look || event_add(h->readable, NULL) < 0 ||
	    event_add(h->look, &often) < 0)
		abort();
	return h;
}

void
heir_free(struct heir *h)
{
	char how[STARTER_HOW_SIZE];

	if (h == NULL)
		return;
	if (h->readable)
		event_free(h->readable);
	if (h->look)
		event_free(h->look);
	if (h->starter.guardian > 0)
		starter_end(&h->starter, how);
	if (h->fd >= 0)
		(void)close(h->fd);
	free(h);
}

pid_t
heir_pid(const struct heir *h)
{
	return h->starter.pid;
}

int64_t
heir_began_ms(const struct heir *h)
{
	return h->began_ms;
}

int
heir_let_go(struct heir *h)
{
	int fd = h->fd;

	assert(fd >= 0 && h->readable != NULL);
	starter_let_go(&h->starter);
	(void)event_del(h->readable);
	h->fd = -1;
	return fd;
}
