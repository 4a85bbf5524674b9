/*
 * One process serves all connections with poll(2).  Commands are told by the
 * words that appear in what is read: the tests send little enough that each
 * read ends at a command's end.
 */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_redis.h"

#define CONNECTIONS_MAX 64
#define BYTES_MAX 65536

#define INFO "redis_version:%s\r\nrun_id:fake\r\nrole:master\r\n"
#define SHA "0123456789012345678901234567890123456789"

static const struct {
	const char *word; /* behind the count of the command's words */
	const char *reply;
} replies[] = {
	{ "CLIENT\r\n$7\r\nSETNAME", "+OK\r\n" },
	{ "CLIENT\r\n$2\r\nID", ":7\r\n" },
	{ "CLIENT\r\n$4\r\nKILL", ":1\r\n" },
	{ "INFO\r\n", NULL },
	{ "SCRIPT\r\n$4\r\nLOAD", "$40\r\n" SHA "\r\n" },
	{ "SUBSCRIBE\r\n", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n" },
	{ "PING\r\n", "+PONG\r\n" },
	{ "PUBLISH\r\n", ":1\r\n" },
};

struct server_state {
	const char *hello;
	const char *answer;
	const char *version;
	unsigned loads; /* of scripts, on the present connection */
};

static void
say(int fd, const char *text)
{
	/* Who has hung up need not hear it. */
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void
say_info(const struct server_state *s, int fd)
{
	char info[120], reply[160];

	(void)snprintf(info, sizeof(info), INFO, s->version);
	(void)snprintf(
	    reply, sizeof(reply), "$%zu\r\n%s\r\n", strlen(info), info);
	say(fd, reply);
}

/* at: SCRIPT, LOAD, and the text */
static void
say_sha(struct server_state *s, int fd, const char *at, const char *reply)
{
	const char *text = strstr(at, "LOAD\r\n$");

	text = text ? strchr(text + 7, '\n') : NULL;
	if (s->version[0] < '7' && text && strncmp(text + 1, "#!", 2) == 0)
		reply = "-ERR Error compiling script\r\n";
	say(fd, reply);
	if (++s->loads % 2 == 0 && s->hello) {
		/* In a segment of its own. */
		usleep(20000);
		say(fd, s->hello);
	}
}

static void
answer_one(struct server_state *s, int fd, const char *at)
{
	size_t i;

	if (strncmp(at, "EVALSHA\r\n", 9) == 0 ||
	    strncmp(at, "SENTINEL\r\n", 10) == 0) {
		say(fd, s->answer);
		return;
	}
	for (i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
		if (strncmp(at, replies[i].word, strlen(replies[i].word)) == 0)
			break;
	if (i == sizeof(replies) / sizeof(replies[0]))
		return;
	if (!replies[i].reply)
		say_info(s, fd);
	else if (strncmp(at, "SCRIPT", 6) == 0)
		say_sha(s, fd, at, replies[i].reply);
	else
		say(fd, replies[i].reply);
}

static void
answer_all(struct server_state *s, int fd, char *text, size_t n)
{
	char *at = text;

	text[n] = '\0';
	for (; (at = memchr(at, '*', n - (size_t)(at - text))); at++) {
		char *word = strstr(at, "\r\n$");

		if (at[1] < '0' || at[1] > '9' || !word)
			continue;
		word = strstr(word + 3, "\r\n");
		if (word)
			answer_one(s, fd, word + 2);
	}
}

static void
serve(struct server_state *s, int listener)
{
	static char text[BYTES_MAX + 1];
	struct pollfd fds[CONNECTIONS_MAX] = { { listener, POLLIN, 0 } };
	nfds_t nfds = 1, i;
	ssize_t n;

	for (;;) {
		if (poll(fds, nfds, -1) < 0)
			_exit(1);
		if (fds[0].revents && nfds < CONNECTIONS_MAX) {
			fds[nfds].fd = accept(listener, NULL, NULL);
			fds[nfds++].events = POLLIN;
		}
		for (i = 1; i < nfds; i++) {
			if (!fds[i].revents)
				continue;
			n = read(fds[i].fd, text, BYTES_MAX);
			if (n <= 0) {
				close(fds[i].fd);
				fds[i--] = fds[--nfds];
			} else if (s->answer) {
				answer_all(s, fds[i].fd, text, (size_t)n);
			}
		}
	}
}

static void
start(struct fake *f, struct server_state *s)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(f->dir, "/tmp/lockbroker-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/socket", f->dir);
	strcpy(sun.sun_path, f->path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	f->pid = fork();
	ck_assert_int_ge(f->pid, 0);
	if (f->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(s, fd);
	}
	close(fd);
}

void
fake_start(struct fake *f, const char *hello, const char *answer)
{
	struct server_state s = { hello, answer, "7.0.15", 0 };

	start(f, &s);
}

void
fake_start_old(struct fake *f, const char *answer)
{
	struct server_state s = { NULL, answer, "6.2.14", 0 };

	start(f, &s);
}

void
fake_start_silent(struct fake *f)
{
	fake_start(f, NULL, NULL);
}

void
fake_stop(struct fake *f)
{
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	unlink(f->path);
	ck_assert_int_eq(rmdir(f->dir), 0);
}
