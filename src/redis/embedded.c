/*
 * fork and exec, and what else the child must do:
 *
 *	setsid            a Ctrl-C in our terminal is for us: we release locks
 *	signals blocked   so is a SIGTERM for all of the service's processes
 *	close_range       keep no descriptor of ours open
 *	F_SETSIG          have the kernel kill it when nobody uses it any more
 *
 * Its users are the processes that have the FIFO `life` open for writing: the
 * owner, which inherits it from the previous owner, and the processes that
 * leave.  The server has it open for reading, and asks for SIGKILL (O_ASYNC)
 * when something happens there: no process writes to it, so that is the end of
 * the last writer.  Until exec() the child has its parent's descriptor, too, so
 * that it cannot miss that end.  PR_SET_PDEATHSIG would end it with the process
 * that has started it.
 *
 * What the server has answered is in its file, or the server has reported first
 * that it cannot write (data_dir.h); so it may always be ended with SIGKILL.
 * The server writes before it answers with appendfsync no; with everysec it may
 * answer while a write waits for the disk.
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/exec.h"
#include "base/handed.h"
#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/data_dir.h"
#include "redis/embedded.h"
#include "redis/io_state.h"
#include "redis/server_dir.h"

#define RESTART_MS_MIN 20
#define RESTART_MS_MAX 5000
#define STEADY_MS 10000 /* after running this long the next pause is short */
#define LINE_BYTES_MAX 1024

struct embedded {
	struct event_base *base;
	const struct embedded_handler *handler;
	void *arg;
	char *program;
	unsigned databases;
	struct server_dir dir;
	struct data_dir *data;
	bool owner;  /* we start and stop it; else another process does */
	bool joined; /* other processes used it before */

	pid_t pid;	    /* 0: it does not run, or we do not look after it */
	bool child;	    /* and not the child of an earlier process */
	int pidfd;	    /* -1: it is a child */
	struct event *died; /* while pid is not 0 */
	struct timer *restart;
	bool ready; /* it has read its file */
	bool ever_ready;
	int64_t started_ms;
	int64_t pause_ms;

	struct event *readable;
	struct buf line;
	char last[160]; /* the last line it wrote */
};

/* Can we watch and end a process that we have not started? */
static bool
has_pidfds(void)
{
	int fd = pidfd_open(getpid(), 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Its output. */

/* Words by which it reports that it cannot write to its file, and that it can
 * again. */
static const char cannot_write[] = "writing to the AOF file";
static const char writes_again[] = "AOF write error looks solved";

static void
judge_line(struct embedded *e, const char *line, size_t len)
{
	if (memmem(line, len, cannot_write, sizeof(cannot_write) - 1) != NULL)
		data_dir_stuck(e->data);
	if (memmem(line, len, writes_again, sizeof(writes_again) - 1) != NULL)
		data_dir_writes(e->data);
}

static void
log_line(struct embedded *e, const char *line, size_t len)
{
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (len == 0)
		return;
	snprintf(e->last, sizeof(e->last), "%.*s",
	    len > sizeof(e->last) ? (int)sizeof(e->last) : (int)len, line);
	LOG(DEBUG, "redis-server", LOG_B("text", line, len));
	judge_line(e, line, len);
}

static void
output_lines(struct embedded *e)
{
	const char *end;
	size_t n;

	while (buf_len(&e->line) > 0) {
		end = memchr(buf_data(&e->line), '\n', buf_len(&e->line));
		if (end == NULL && buf_len(&e->line) < LINE_BYTES_MAX)
			return;
		n = end ? (size_t)(end - buf_data(&e->line))
			: buf_len(&e->line);
		log_line(e, buf_data(&e->line), n);
		buf_consume(&e->line, n + (end ? 1 : 0));
	}
}

/* Returns whether there was any. */
static bool
output_read(struct embedded *e)
{
	ssize_t n;

	do
		n = read(e->dir.output_fd,
		    buf_reserve(&e->line, LINE_BYTES_MAX), LINE_BYTES_MAX);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return false;
	buf_added(&e->line, (size_t)n);
	output_lines(e);
	return true;
}

static void
on_output(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)output_read(arg);
}

static void
output_read_all(struct embedded *e)
{
	while (output_read(e))
		continue;
}

/* The server has ended: takes in all that it has said. */
static void
output_end(struct embedded *e)
{
	output_read_all(e);
	log_line(e, buf_data(&e->line), buf_len(&e->line));
	buf_clear(&e->line);
}

/* Its life. */

/* Has the kernel kill this process when no process uses the server any more. */
static bool
live_with_users(const struct embedded *e)
{
	int fd = open(e->dir.life, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);

	return fd >= 0 && fcntl(fd, F_SETOWN, getpid()) == 0 &&
	       fcntl(fd, F_SETSIG, SIGKILL) == 0 &&
	       fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) == 0;
}

static void
child_streams(const struct embedded *e)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int output = open(e->dir.output, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	if (output >= 0) {
		(void)dup2(output, STDOUT_FILENO);
		(void)dup2(output, STDERR_FILENO);
	}
}

/*
 * The limit is meant for files of users, and this file has all locks.  Where we
 * may not lift the limit, SIGXFSZ is still ignored, so that the server goes on
 * and reports that it cannot write.
 */
static void
lift_file_limit(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_FSIZE, &limit) == 0 ||
	    getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

static void
child_exec(const struct embedded *e, int status)
{
	char databases[16];
	const char *argv[] = { e->program, "--port", "0", "--unixsocket",
		e->dir.socket, "--unixsocketperm", "700", "--save", "",
		"--appendonly", "yes", "--appendfsync", "no",
		"--aof-load-truncated",
		data_dir_may_cut(e->data) ? "yes" : "no",
		"--auto-aof-rewrite-min-size", "32mb", "--maxmemory-policy",
		"noeviction", "--maxmemory", "0", "--databases", databases,
		"--daemonize", "no", "--logfile", "", "--dir",
		data_dir_path(e->data), "--timeout", "0", NULL };
	int error;

	snprintf(databases, sizeof(databases), "%u", e->databases);
	exec_stand_apart();
	lift_file_limit();
	child_streams(e);
	exec_close_from(STDERR_FILENO + 1);
	error = live_with_users(e) ? data_dir_take(e->data) : errno;
	if (error == 0) {
		execvp(e->program, (char **)(uintptr_t)argv);
		error = errno;
	}
	exec_give_up(status, error);
}

static void on_died(evutil_socket_t fd, short what, void *arg);

static void
watch(struct embedded *e, pid_t pid, int pidfd, struct event *died)
{
	e->pid = pid;
	e->pidfd = pidfd;
	e->child = pidfd < 0;
	e->died = died;
	if (died == NULL || event_add(died, NULL) < 0)
		abort();
}

static void
watch_child(struct embedded *e, pid_t pid)
{
	watch(e, pid, -1, evsignal_new(e->base, SIGCHLD, on_died, e));
	/* It may have ended before we listened. */
	event_active(e->died, EV_SIGNAL, 1);
}

static void
unwatch(struct embedded *e)
{
	event_free(e->died);
	if (e->pidfd >= 0)
		close(e->pidfd);
	e->pid = 0;
}

static int
spawn(struct embedded *e)
{
	int status[2], error;
	pid_t pid;

	error = exec_pipe(status);
	if (error != 0)
		return error;
	(void)unlink(e->dir.socket);
	pid = fork();
	if (pid == 0)
		child_exec(e, status[1]);
	error = exec_hear(status, pid, NULL);
	if (error == 0)
		watch_child(e, pid);
	else if (pid > 0)
		(void)waitpid(pid, NULL, 0);
	return error;
}

/* A server that another process of this broker has started. */
static bool
adopt(struct embedded *e)
{
	pid_t pid = data_dir_server(e->data);
	int pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;

	if (pidfd < 0)
		return false;
	/* Another process might have got its pid by then. */
	if (data_dir_server(e->data) != pid) {
		close(pidfd);
		return false;
	}
	watch(e, pid, pidfd,
	    event_new(e->base, pidfd, EV_READ | EV_PERSIST, on_died, e));
	LOG(INFO, "redis-server-kept", LOG_N("pid", pid));
	return true;
}

static void
restart_later(struct embedded *e)
{
	if (now_ms() - e->started_ms >= STEADY_MS)
		e->pause_ms = 0;
	e->pause_ms = e->pause_ms > 0 ? e->pause_ms * 2 : RESTART_MS_MIN;
	if (e->pause_ms > RESTART_MS_MAX)
		e->pause_ms = RESTART_MS_MAX;
	timer_in(e->restart, e->pause_ms);
}

static void
on_restart(void *arg)
{
	struct embedded *e = arg;
	char why[256];
	enum store_data data;
	int error;

	if (!e->owner || e->pid > 0) {
		e->handler->started(e->arg, STORE_DOUBTED);
		return;
	}
	e->started_ms = now_ms();
	e->ready = false;
	data = data_dir_begin(e->data);
	error = spawn(e);
	if (error == 0) {
		e->handler->started(e->arg, data);
		return;
	}
	if (error == EAGAIN) {
		data_dir_evict(e->data);
		restart_later(e);
		return;
	}
	snprintf(why, sizeof(why),
	    "cannot start %s: %s; install redis-server, or set redis.server "
	    "to its path, or redis.mode and redis.nodes to a running server",
	    e->program, strerror(error));
	if (!e->ever_ready) {
		e->handler->fatal(e->arg, why);
		return;
	}
	LOG(ERROR, "redis-server-start", LOG_S("why", why));
	restart_later(e);
}

/* How the server ended; only its parent can know. */
struct end {
	char text[40];
	/* By a signal from outside, or for want of memory: its file is not to
	 * blame. */
	bool killed;
};

/* Returns false if it has not. */
static bool
find_end(const struct embedded *e, struct end *out)
{
	int status;

	*out = (struct end){ "unknown", true };
	if (!e->child)
		return true;
	if (waitpid(e->pid, &status, WNOHANG) != e->pid)
		return false;
	snprintf(out->text, sizeof(out->text), "%s %d",
	    WIFSIGNALED(status) ? "signal" : "status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	out->killed = WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL ||
						 WTERMSIG(status) == SIGTERM);
	return true;
}

static void
on_died(evutil_socket_t fd, short what, void *arg)
{
	struct embedded *e = arg;
	struct end end;
	char why[320];
	bool again;

	(void)fd;
	(void)what;
	if (!find_end(e, &end))
		return;
	unwatch(e);
	if (!e->owner)
		return;
	output_end(e);
	again = !e->ready && !end.killed && data_dir_failed(e->data);
	if (!again && !e->ever_ready) {
		snprintf(why, sizeof(why),
		    "%s ended with %s before it was ready; its last line: %s",
		    e->program, end.text, e->last);
		e->handler->fatal(e->arg, why);
		return;
	}
	LOG(WARNING, "redis-server-died", LOG_S("how", end.text),
	    LOG_S("last", e->last));
	restart_later(e);
}

/* All ends: ours, and that of what could not be made. */

static void
end_server(struct embedded *e)
{
	struct pollfd end = { .fd = e->pidfd, .events = POLLIN };

	if (e->pid <= 0)
		return;
	if (e->child)
		(void)kill(e->pid, SIGKILL);
	else
		(void)pidfd_send_signal(e->pidfd, SIGKILL, NULL, 0);
	if (e->child)
		(void)waitpid(e->pid, NULL, 0);
	else
		while (poll(&end, 1, -1) < 0 && errno == EINTR)
			continue;
}

/*
 * The previous owner may have been killed while processes that it had replaced
 * still use the server.
 */
static void
join_others(struct embedded *e)
{
	char path[SERVER_PATH_SIZE];
	struct server_dir theirs;

	data_dir_noted(e->data, path, sizeof(path));
	if (path[0] != '\0' && has_pidfds() && server_dir_join(&theirs, path)) {
		server_dir_close(&e->dir);
		server_dir_remove(&e->dir);
		e->dir = theirs;
		e->joined = true;
	} else {
		data_dir_note(e->data, e->dir.path);
	}
}

/* Makes or finds the directories. */
static bool
open_dirs(
    struct embedded *e, const struct config *config, char *why, size_t why_size)
{
	const char *name = config->broker.name;
	const char *dir = e->dir.path;
	int life = handed_next(HANDED_REDIS);
	int lock = handed_next(HANDED_REDIS_DATA);

	e->owner = life < 0;
	if (e->owner) {
		if (server_dir_make(&e->dir, why, why_size))
			e->data = data_dir_open(name, dir, why, why_size);
		if (e->data != NULL && data_dir_stays(e->data))
			join_others(e);
	} else if (!has_pidfds()) {
		snprintf(why, why_size,
		    "handing over an embedded Redis needs Linux 5.3 "
		    "(pidfd_open: %s)",
		    strerror(errno));
	} else if (server_dir_inherit(&e->dir, life, why, why_size)) {
		e->data = data_dir_inherit(name, dir, lock, why, why_size);
	}
	return e->data != NULL;
}

struct embedded *
embedded_new(struct io *io, const struct config *config,
    const struct embedded_handler *handler, void *arg, char *why,
    size_t why_size)
{
	struct embedded *e = xcalloc(1, sizeof(*e));

	e->base = io->base;
	e->handler = handler;
	e->arg = arg;
	e->program = xstrdup(config->redis.server);
	e->databases = config->redis.database + 1;
	server_dir_init(&e->dir);
	buf_init(&e->line);
	e->restart = timer_new(io, on_restart, e);
	if (!open_dirs(e, config, why, why_size)) {
		embedded_free(e);
		return NULL;
	}
	e->readable = event_new(
	    io->base, e->dir.output_fd, EV_READ | EV_PERSIST, on_output, e);
	if (e->readable == NULL)
		abort();
	if (e->owner)
		(void)event_add(e->readable, NULL);
	return e;
}

void
embedded_start(struct embedded *e)
{
	if (e->joined && adopt(e))
		e->ever_ready = true;
	timer_in(e->restart, 0);
}

void
embedded_hand_over(const struct embedded *e, struct handed_list *out)
{
	handed_add(out, HANDED_REDIS, false, e->dir.life_fd);
	handed_add(out, HANDED_REDIS_DATA, false, data_dir_lock(e->data));
}

void
embedded_own(struct embedded *e)
{
	if (e->owner)
		return;
	e->owner = true;
	e->ever_ready = true;
	e->started_ms = now_ms();
	data_dir_own(e->data);
	(void)event_add(e->readable, NULL);
	if (!adopt(e))
		timer_in(e->restart, 0);
}

bool
embedded_leave(struct embedded *e)
{
	e->owner = false;
	timer_stop(e->restart);
	data_dir_leave(e->data);
	event_free(e->readable);
	e->readable = NULL;
	if (data_dir_stays(e->data))
		server_dir_leave(&e->dir);
	else
		server_dir_close(&e->dir);
	return data_dir_stays(e->data);
}

void
embedded_ready(struct embedded *e)
{
	e->ready = e->ever_ready = true;
	data_dir_ready(e->data);
}

void
embedded_wrote(struct embedded *e, bool grants)
{
	if (!e->owner)
		return;
	/* The server reports that it cannot write before it answers. */
	output_read_all(e);
	data_dir_written(e->data, grants);
}

void
embedded_stuck(struct embedded *e)
{
	if (e->owner)
		data_dir_stuck(e->data);
}

char *
embedded_path(struct embedded *e)
{
	return e->dir.socket;
}

/* If others still use the server, it ends with them, and is not closed. */
void
embedded_free(struct embedded *e)
{
	bool last;

	if (e == NULL)
		return;
	last = server_dir_alone(&e->dir);
	timer_free(e->restart);
	if (e->owner && last)
		end_server(e);
	if (e->pid > 0)
		unwatch(e);
	if (e->owner && e->readable != NULL)
		output_end(e);
	if (e->readable != NULL)
		event_free(e->readable);
	if (!last && e->data != NULL)
		data_dir_leave(e->data);
	if (last)
		server_dir_remove(&e->dir);
	server_dir_close(&e->dir);
	data_dir_close(e->data);
	buf_fini(&e->line);
	free(e->program);
	free(e);
}
