/*
 * fork and exec, and what else the child must do:
 *
 *	PR_SET_PDEATHSIG  die with the parent (and check that it still lives)
 *	setsid            a Ctrl-C in our terminal is for us: we release locks
 *	signals blocked   so is a SIGTERM for all of the service's processes
 *	close_range       keep no descriptor of ours open
 *
 * What the server has answered is in its file (data_dir.h), so it may always be
 * ended with SIGKILL.  It writes before it answers with appendfsync no; with
 * everysec it may answer while a write waits for the disk.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/data_dir.h"
#include "redis/embedded.h"
#include "redis/io_state.h"

#define RESTART_MS_MIN 20
#define RESTART_MS_MAX 5000
#define STEADY_MS 10000 /* after running so long the next pause is short */
#define LINE_BYTES_MAX 1024
#define STALE_S 60
#define DIR_NAME "lockbrokerd-"
#define SOCKET_NAME "redis.sock"

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif

struct embedded {
	struct event_base *base;
	const struct embedded_handler *handler;
	void *arg;
	char *program;
	unsigned databases;
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct data_dir *data;

	pid_t pid;	    /* 0: it does not run */
	struct event *died; /* SIGCHLD */
	struct event *restart;
	bool ready; /* it has read its file */
	bool ever_ready;
	int64_t started_ms;
	int64_t pause_ms;

	int output; /* reading end; -1: none */
	struct event *readable;
	struct buf line;
	char last[160]; /* the last line it wrote */
};

/* Its directory. */

/*
 * Removes what killed brokers left behind: directories with sockets on which
 * nobody listens.  A young one is left alone, because its server may be about
 * to listen.
 */
static void
sweep(const char *parent)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char pattern[256];
	struct stat st;
	glob_t found;
	size_t i;
	int fd;

	snprintf(
	    pattern, sizeof(pattern), "%s/" DIR_NAME "*/" SOCKET_NAME, parent);
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	for (i = 0; i < found.gl_pathc; i++) {
		char *path = found.gl_pathv[i];

		if (strlen(path) >= sizeof(sun.sun_path) ||
		    lstat(path, &st) < 0 || st.st_uid != geteuid() ||
		    !S_ISSOCK(st.st_mode) || time(NULL) - st.st_mtime < STALE_S)
			continue;
		strcpy(sun.sun_path, path);
		fd = socket(
		    AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd >= 0 &&
		    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) < 0 &&
		    errno == ECONNREFUSED && unlink(path) == 0) {
			*strrchr(path, '/') = '\0';
			data_dir_remove(path);
		}
		if (fd >= 0)
			close(fd);
	}
	globfree(&found);
}

/* mkdtemp() makes the directory for us alone (0700). */
static bool
make_dir(struct embedded *e, const char *parent)
{
	int n;

	if (parent == NULL || parent[0] != '/')
		return false;
	n = snprintf(e->dir, sizeof(e->dir), "%s/" DIR_NAME "XXXXXX", parent);
	if (n < 0 || (size_t)n + 1 + sizeof(SOCKET_NAME) > sizeof(e->path))
		return false;
	sweep(parent);
	if (!mkdtemp(e->dir))
		return false;
	memcpy(e->path, e->dir, (size_t)n);
	memcpy(e->path + n, "/" SOCKET_NAME, sizeof("/" SOCKET_NAME));
	return true;
}

static bool
make_some_dir(struct embedded *e, char *why, size_t why_size)
{
	const char *runtime = getenv("RUNTIME_DIRECTORY");
	char first[sizeof(e->path)];

	/* systemd lists several with colons between them. */
	if (runtime != NULL && strcspn(runtime, ":") < sizeof(first)) {
		snprintf(first, sizeof(first), "%.*s",
		    (int)strcspn(runtime, ":"), runtime);
		if (make_dir(e, first))
			return true;
	}
	if (make_dir(e, getenv("TMPDIR")) || make_dir(e, "/tmp"))
		return true;
	snprintf(why, why_size,
	    "can't make a directory for the socket of redis-server: %s",
	    strerror(errno));
	return false;
}

/* Its output. */

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
}

static void
output_close(struct embedded *e)
{
	if (e->output < 0)
		return;
	event_free(e->readable);
	close(e->output);
	e->output = -1;
	log_line(e, buf_data(&e->line), buf_len(&e->line));
	buf_clear(&e->line);
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

/* Returns false at the end of the output. */
static bool
output_read(struct embedded *e)
{
	ssize_t n;

	do
		n = read(e->output, buf_reserve(&e->line, LINE_BYTES_MAX),
		    LINE_BYTES_MAX);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	buf_added(&e->line, (size_t)n);
	output_lines(e);
	return true;
}

static void
on_output(evutil_socket_t fd, short what, void *arg)
{
	struct embedded *e = arg;

	(void)fd;
	(void)what;
	if (!output_read(e))
		output_close(e);
}

/* Its life. */

static void
child_exec(const struct embedded *e, int output, int status, pid_t parent)
{
	char databases[16];
	const char *argv[] = { e->program, "--port", "0", "--unixsocket",
		e->path, "--unixsocketperm", "700", "--save", "",
		"--appendonly", "yes", "--appendfsync", "no",
		"--aof-load-truncated",
		data_dir_may_cut(e->data) ? "yes" : "no",
		"--auto-aof-rewrite-min-size", "32mb", "--maxmemory-policy",
		"noeviction", "--maxmemory", "0", "--databases", databases,
		"--daemonize", "no", "--logfile", "", "--dir",
		data_dir_path(e->data), "--timeout", "0", NULL };
	sigset_t blocked;
	int null, error;

	snprintf(databases, sizeof(databases), "%u", e->databases);
	(void)setsid();
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGTERM);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGHUP);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	null = open("/dev/null", O_RDONLY);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	(void)dup2(output, STDOUT_FILENO);
	(void)dup2(output, STDERR_FILENO);
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
#endif
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
	error = data_dir_take(e->data);
	if (error == 0) {
		execvp(e->program, (char **)(uintptr_t)argv);
		error = errno;
	}
	(void)!write(status, &error, sizeof(error));
	_exit(127);
}

/* Returns the errno of what failed in the child, or 0.  Waits for its exec. */
static int
exec_error(int status)
{
	int error = 0;
	ssize_t n;

	do
		n = read(status, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(error) ? error : 0;
}

static void
output_open(struct embedded *e, int fd)
{
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	e->output = fd;
	e->readable =
	    event_new(e->base, fd, EV_READ | EV_PERSIST, on_output, e);
	if (e->readable == NULL)
		abort();
	(void)event_add(e->readable, NULL);
}

static int
spawn(struct embedded *e)
{
	int output[2], status[2], error;
	pid_t parent = getpid();

	if (pipe2(output, O_CLOEXEC) < 0)
		return errno;
	if (pipe2(status, O_CLOEXEC) < 0) {
		error = errno;
		close(output[0]);
		close(output[1]);
		return error;
	}
	(void)unlink(e->path);
	e->pid = fork();
	if (e->pid == 0)
		child_exec(e, output[1], status[1], parent);
	error = e->pid < 0 ? errno : 0;
	close(output[1]);
	close(status[1]);
	if (error == 0)
		error = exec_error(status[0]);
	close(status[0]);
	if (error == 0) {
		output_open(e, output[0]);
		return 0;
	}
	close(output[0]);
	if (e->pid > 0)
		(void)waitpid(e->pid, NULL, 0);
	e->pid = 0;
	return error;
}

static void
restart_later(struct embedded *e)
{
	struct timeval tv;

	if (now_ms() - e->started_ms >= STEADY_MS)
		e->pause_ms = 0;
	e->pause_ms = e->pause_ms > 0 ? e->pause_ms * 2 : RESTART_MS_MIN;
	if (e->pause_ms > RESTART_MS_MAX)
		e->pause_ms = RESTART_MS_MAX;
	tv = ms_to_timeval(e->pause_ms);
	(void)evtimer_add(e->restart, &tv);
}

static void
on_restart(evutil_socket_t fd, short what, void *arg)
{
	struct embedded *e = arg;
	char why[256];
	enum store_data data;
	int error;

	(void)fd;
	(void)what;
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
	    "can't start %s: %s; install redis-server, or set redis.server to"
	    " its path, or redis.mode and redis.nodes to a server that runs",
	    e->program, strerror(error));
	if (!e->ever_ready) {
		e->handler->fatal(e->arg, why);
		return;
	}
	LOG(ERROR, "redis-server-start", LOG_S("why", why));
	restart_later(e);
}

/* By somebody, or because there was no memory: its file is not to blame. */
static bool
was_killed(int status)
{
	return WIFSIGNALED(status) &&
	       (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

static void
on_died(evutil_socket_t fd, short what, void *arg)
{
	struct embedded *e = arg;
	char why[320], how[40];
	int status;

	(void)fd;
	(void)what;
	if (e->pid <= 0 || waitpid(e->pid, &status, WNOHANG) != e->pid)
		return;
	e->pid = 0;
	errno = 0;
	while (e->output >= 0 && output_read(e) && errno != EAGAIN)
		errno = 0;
	output_close(e);
	snprintf(how, sizeof(how), "%s %d",
	    WIFSIGNALED(status) ? "signal" : "status",
	    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (!e->ready && !was_killed(status) && data_dir_failed(e->data)) {
		LOG(WARNING, "redis-server-died", LOG_S("how", how),
		    LOG_S("last", e->last));
		restart_later(e);
		return;
	}
	if (!e->ever_ready) {
		snprintf(why, sizeof(why),
		    "%s ended with %s before it was ready; its last words: %s",
		    e->program, how, e->last);
		e->handler->fatal(e->arg, why);
		return;
	}
	LOG(WARNING, "redis-server-died", LOG_S("how", how),
	    LOG_S("last", e->last));
	restart_later(e);
}

struct embedded *
embedded_new(struct io *io, const struct config *config,
    const struct embedded_handler *handler, void *arg, char *why,
    size_t why_size)
{
	struct embedded *e = xcalloc(1, sizeof(*e));

	if (!make_some_dir(e, why, why_size)) {
		free(e);
		return NULL;
	}
	e->data = data_dir_open(config->broker.name, e->dir, why, why_size);
	if (e->data == NULL) {
		data_dir_remove(e->dir);
		free(e);
		return NULL;
	}
	e->base = io->base;
	e->handler = handler;
	e->arg = arg;
	e->program = xstrdup(config->redis.server);
	e->databases = config->redis.database + 1;
	e->output = -1;
	buf_init(&e->line);
	e->died = evsignal_new(io->base, SIGCHLD, on_died, e);
	e->restart = evtimer_new(io->base, on_restart, e);
	if (e->died == NULL || e->restart == NULL)
		abort();
	return e;
}

void
embedded_start(struct embedded *e)
{
	struct timeval now = { 0, 0 };

	(void)evsignal_add(e->died, NULL);
	(void)evtimer_add(e->restart, &now);
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
	data_dir_written(e->data, grants);
}

void
embedded_stuck(struct embedded *e)
{
	data_dir_stuck(e->data);
}

char *
embedded_path(struct embedded *e)
{
	return e->path;
}

void
embedded_free(struct embedded *e)
{
	if (e == NULL)
		return;
	event_free(e->died);
	event_free(e->restart);
	if (e->pid > 0) {
		(void)kill(e->pid, SIGKILL);
		(void)waitpid(e->pid, NULL, 0);
	}
	output_close(e);
	data_dir_close(e->data);
	data_dir_remove(e->dir);
	buf_fini(&e->line);
	free(e->program);
	free(e);
}
