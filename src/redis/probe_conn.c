/*
 * Everything here blocks, with the timeouts of the configuration.
 */
#include "config.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/now.h"
#include "base/text.h"
#include "base/timeval.h"
#include "config/config.h"
#include "redis/probe_conn.h"
#include "relay/relay.h"
#include "store/refusal.h"

static const char *const words[] = {
#define FINDING(id, word) [FINDING_##id] = word,
	FINDINGS(FINDING)
#undef FINDING
};

static void say(struct probe *probe, enum finding finding, const char *what,
    const char *fmt, va_list ap) __attribute__((format(printf, 4, 0)));

static void
say(struct probe *probe, enum finding finding, const char *what,
    const char *fmt, va_list ap)
{
	struct buf line;

	buf_init(&line);
	buf_addf(&line, "%-4s  %s: ", words[finding], what);
	buf_addv(&line, fmt, ap);
	/* Servers choose some of the text; it must not control a terminal. */
	text_clean(buf_data(&line), buf_len(&line), ' ');
	buf_addc(&line, '\n');
	(void)fwrite(buf_data(&line), 1, buf_len(&line), probe->out);
	buf_fini(&line);
	if (finding == FINDING_FAIL)
		probe->failed = true;
}

void
probe_say(struct probe *probe, enum finding finding, const char *what,
    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(probe, finding, what, fmt, ap);
	va_end(ap);
}

void
probe_find(struct probe_conn *c, enum finding finding, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c->probe, finding, c->what, fmt, ap);
	va_end(ap);
}

/* Waits for the first line of the TLS process, then makes fd blocking. */
static enum relay_answer
wait_for_greeting(const struct probe *probe, int fd, struct relay_line *line)
{
	int64_t until = now_ms() + probe->config->redis.connect_timeout_ms;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	enum relay_answer answer = RELAY_LATER;
	int64_t left;

	while (answer == RELAY_LATER && (left = until - now_ms()) > 0) {
		(void)poll(&poll_fd, 1, (int)left);
		answer = relay_greeting(fd, line);
	}
	(void)fcntl(fd, F_SETFL, 0);
	return answer;
}

/* Connects to one address of the server; returns -1, with why in the line. */
static int
dial(const struct probe_conn *c, const struct address *a,
    const struct addrinfo *ai, struct relay_line *line,
    enum relay_answer *answer)
{
	char ip[NI_MAXHOST];
	int fd;

	line->n = 0;
	snprintf(line->text, sizeof(line->text), "timed out");
	if (getnameinfo(ai->ai_addr, ai->ai_addrlen, ip, sizeof(ip), NULL, 0,
		NI_NUMERICHOST) != 0)
		return -1;
	fd = relay_connect(c->probe->relay, ip, a->port, a->host);
	if (fd < 0)
		return -1;
	*answer = wait_for_greeting(c->probe, fd, line);
	if (*answer == RELAY_YES)
		return fd;
	if (*answer == RELAY_LATER)
		snprintf(line->text, sizeof(line->text), "timed out");
	(void)close(fd);
	return -1;
}

/* Connects through the TLS process.  If that fails, says why; returns NULL. */
static redisContext *
open_relayed(struct probe_conn *c, const struct address *a)
{
	struct timeval reply =
	    ms_to_timeval(c->probe->config->redis.reply_timeout_ms);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *ai;
	enum relay_answer answer = RELAY_UNREACHABLE;
	redisContext *context;
	struct relay_line line;
	int fd = -1, error = getaddrinfo(a->host, NULL, &hints, &list);

	if (error != 0) {
		probe_find(c, FINDING_FAIL, "can't be reached: %s",
		    gai_strerror(error));
		return NULL;
	}
	for (ai = list; ai != NULL && fd < 0; ai = ai->ai_next)
		fd = dial(c, a, ai, &line, &answer);
	freeaddrinfo(list);
	if (fd < 0) {
		probe_find(c, FINDING_FAIL, "%s: %s",
		    answer == RELAY_REFUSED ? "no TLS" : "can't be reached",
		    line.text);
		return NULL;
	}
	context = redisConnectFd(fd);
	if (context == NULL)
		abort();
	(void)redisSetTimeout(context, reply);
	return context;
}

static redisContext *
open_socket(const struct probe *probe, const struct address *a)
{
	const struct config_redis *redis = &probe->config->redis;
	struct timeval connect = ms_to_timeval(redis->connect_timeout_ms);
	struct timeval reply = ms_to_timeval(redis->reply_timeout_ms);
	redisContext *context;

	context = a->path ? redisConnectUnixWithTimeout(a->path, connect)
			  : redisConnectWithTimeout(a->host, a->port, connect);
	if (context == NULL)
		abort();
	if (!context->err)
		(void)redisSetTimeout(context, reply);
	return context;
}

static bool
authenticate(struct probe_conn *c, const char *user, const char *password)
{
	const struct refusal *refusal;
	redisReply *reply;
	bool ok;

	if (password[0] == '\0')
		reply = probe_ask(c, "PING");
	else if (user[0] == '\0')
		reply = probe_ask(c, "AUTH %s", password);
	else
		reply = probe_ask(c, "AUTH %s %s", user, password);
	if (reply == NULL)
		return false;
	/* The server may have no password, or not permit PING to all. */
	ok = !probe_is_error(reply) || strncmp(reply->str, "ERR", 3) == 0 ||
	     strncmp(reply->str, "NOPERM", 6) == 0 ||
	     strncmp(reply->str, "MASTERDOWN", 10) == 0;
	refusal = ok ? NULL : refusal_find(reply->str, (size_t)reply->len);
	if (!ok)
		probe_find(c, FINDING_FAIL, "%s%s%s", reply->str,
		    refusal ? "; " : "", refusal ? refusal->text : "");
	freeReplyObject(reply);
	return ok;
}

bool
probe_open(struct probe_conn *c, struct probe *probe, const char *kind,
    const struct address *address, const char *user, const char *password)
{
	char node[ADDRESS_SIZE];
	int64_t began = now_ms();

	c->probe = probe;
	snprintf(c->what, sizeof(c->what), "%s %s", kind,
	    address_format(address, node));
	c->context = probe->relay ? open_relayed(c, address)
				  : open_socket(probe, address);
	if (c->context == NULL)
		return false;
	if (c->context->err)
		probe_find(c, FINDING_FAIL, "can't be reached: %s",
		    c->context->errstr);
	else if (authenticate(c, user, password)) {
		probe_find(c, FINDING_OK, "answers, within %lld ms%s",
		    (long long)(now_ms() - began),
		    probe->relay ? ", over TLS" : "");
		return true;
	}
	probe_close(c);
	return false;
}

void
probe_close(struct probe_conn *c)
{
	if (c->context != NULL)
		redisFree(c->context);
	c->context = NULL;
}

/* Says that the connection broke; after that nothing more is asked or said. */
static redisReply *
answered(struct probe_conn *c, redisReply *reply)
{
	if (reply == NULL)
		probe_find(c, FINDING_FAIL, "the connection broke: %s",
		    c->context->errstr);
	return reply;
}

redisReply *
probe_ask(struct probe_conn *c, const char *fmt, ...)
{
	redisReply *reply;
	va_list ap;

	if (c->context->err)
		return NULL;
	va_start(ap, fmt);
	reply = redisvCommand(c->context, fmt, ap);
	va_end(ap);
	return answered(c, reply);
}

redisReply *
probe_askv(
    struct probe_conn *c, int argc, const char **argv, const size_t *argvlen)
{
	if (c->context->err)
		return NULL;
	return answered(c, redisCommandArgv(c->context, argc, argv, argvlen));
}

bool
probe_is_error(const redisReply *reply)
{
	return reply->type == REDIS_REPLY_ERROR;
}
