/*
 * One process serves all connections with poll(2).  It recognizes commands by
 * words in what it reads: the tests send so little that each read ends at the
 * end of a command.
 */
#include "config.h"

#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
	struct fake_words words;
	unsigned *subscribed;
	unsigned loads; /* of scripts, on the present connection */
	unsigned answers;
};

static void
say(int fd, const char *text)
{
	/* A client that has hung up need not hear it. */
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
}

/* Sends it in a segment of its own. */
static void
say_later(int fd, const char *text)
{
	usleep(20000);
	say(fd, text);
}

static void
say_info(const struct server_state *s, int fd)
{
	char info[120], reply[160];

	(void)snprintf(info, sizeof(info), INFO, s->words.version);
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
	if (s->words.version[0] < '7' && text &&
	    strncmp(text + 1, "#!", 2) == 0)
		reply = "-ERR Error compiling script\r\n";
	say(fd, reply);
	if (++s->loads % 2 == 0 && s->words.hello)
		say_later(fd, s->words.hello);
}

static void
say_subscribed(struct server_state *s, int fd, const char *reply)
{
	++*s->subscribed;
	say(fd, s->words.subscribed ? s->words.subscribed : reply);
	if (s->words.news)
		say_later(fd, s->words.news);
}

static void
answer_one(struct server_state *s, int fd, const char *at)
{
	size_t i;

	if (strncmp(at, "EVALSHA\r\n", 9) == 0 ||
	    strncmp(at, "SENTINEL\r\n", 10) == 0) {
		if (s->words.answers == 0 || s->answers++ < s->words.answers)
			say(fd, s->words.answer);
		return;
	}
	for (i = 0; i < sizeof(replies) / sizeof(replies[0]); i++)
		if (strncmp(at, replies[i].word, strlen(replies[i].word)) == 0)
			break;
	if (i == sizeof(replies) / sizeof(replies[0]))
		return;
	if (strncmp(at, "SUBSCRIBE", 9) == 0)
		say_subscribed(s, fd, replies[i].reply);
	else if (s->words.greeting)
		say(fd, s->words.greeting);
	else if (!replies[i].reply)
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
			} else if (s->words.answer) {
				answer_all(s, fds[i].fd, text, (size_t)n);
			}
		}
	}
}

void
fake_start_words(struct fake *f, const struct fake_words *words)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	struct server_state s = { *words, NULL, 0, 0 };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(f->dir, "/tmp/lockbroker-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(f->dir));
	(void)snprintf(f->path, sizeof(f->path), "%s/socket", f->dir);
	strcpy(sun.sun_path, f->path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun, sizeof(sun)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	f->subscribed = mmap(NULL, sizeof(*f->subscribed),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(f->subscribed, MAP_FAILED);
	s.subscribed = f->subscribed;
	if (!s.words.version)
		s.words.version = "7.0.15";
	f->pid = fork();
	ck_assert_int_ge(f->pid, 0);
	if (f->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(&s, fd);
	}
	close(fd);
}

void
fake_start(struct fake *f, const char *hello, const char *answer)
{
	const struct fake_words words = { .hello = hello, .answer = answer };

	fake_start_words(f, &words);
}

void
fake_start_old(struct fake *f, const char *answer)
{
	const struct fake_words words = { .answer = answer,
		.version = "6.2.14" };

	fake_start_words(f, &words);
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
	munmap(f->subscribed, sizeof(*f->subscribed));
	unlink(f->path);
	ck_assert_int_eq(rmdir(f->dir), 0);
}
