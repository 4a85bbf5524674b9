/*
 * The loop puts lines into `waiting`; the thread takes all of them at once and
 * writes them.  The loop also logs the thread's failures, because the log is
 * the loop's: once for each spell of them.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/xmalloc.h"
#include "daemon/audit.h"

#define END_SECONDS 1 /* a stop waits this long for the thread */

struct audit {
	pthread_mutex_t mutex; /* guards all up to `thread` */
	pthread_cond_t more;
	struct buf waiting;
	char *path; /* owned; a file to open; NULL: none */
	int errnum; /* why the thread can't write; 0: it can */
	uint64_t lost;
	bool over;    /* it is to end */
	bool ended;   /* it has */
	bool unowned; /* only the thread is left, and frees it */
	pthread_t thread;
	bool running;
	/* Of the loop. */
	char *named; /* owned; the file, for the log */
	bool told;   /* this spell of trouble was logged */
	/* Of the thread. */
	int fd;
	bool torn; /* the last line is only partly written */
};

static uint64_t
count_lines(const char *p, size_t n)
{
	const char *end = p + n;
	uint64_t lines = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		lines++;
		p++;
	}
	return lines;
}

/* The thread. */

static int
reopen(struct audit *a, const char *path)
{
	if (a->fd >= 0)
		(void)close(a->fd);
	a->fd = -1;
	a->torn = false;
	if (path[0] == '\0')
		return 0;
	a->fd = open(
	    path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0640);
	return a->fd < 0 ? errno : 0;
}

static ssize_t
write_once(int fd, const char *p, size_t n)
{
	ssize_t done;

	do
		done = write(fd, p, n);
	while (done < 0 && errno == EINTR);
	return done;
}

/* Returns an errno or 0, and the number of lines lost by the failure. */
static int
write_all(struct audit *a, const char *p, size_t n, uint64_t *lost)
{
	ssize_t done;

	*lost = 0;
	if (a->torn && n > 0 && write_once(a->fd, "\n", 1) == 1)
		a->torn = false;
	while (n > 0) {
		done = write_once(a->fd, p, n);
		if (done <= 0) {
			*lost = count_lines(p, n);
			return done < 0 ? errno : EIO;
		}
		a->torn = p[done - 1] != '\n';
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Work that the loop has left, taken over while the mutex is locked. */
struct work {
	struct buf lines;
	char *path;
};

static bool
take(struct audit *a, struct work *w)
{
	while (!a->over && a->path == NULL && buf_len(&a->waiting) == 0)
		pthread_cond_wait(&a->more, &a->mutex);
	w->path = a->path;
	a->path = NULL;
	w->lines = a->waiting;
	buf_init(&a->waiting);
	return w->path != NULL || buf_len(&w->lines) > 0;
}

static void
audit_destroy(struct audit *a)
{
	if (a->fd >= 0)
		(void)close(a->fd);
	buf_fini(&a->waiting);
	pthread_cond_destroy(&a->more);
	pthread_mutex_destroy(&a->mutex);
	free(a->path);
	free(a->named);
	free(a);
}

/* Lines that came before the name of another file go to the file before it. */
static void
do_work(struct audit *a, struct work *w)
{
	const size_t n = buf_len(&w->lines);
	bool first = a->fd < 0;
	uint64_t lost = 0;
	int errnum = -1;

	if (w->path != NULL && first)
		errnum = reopen(a, w->path);
	if (n > 0 && a->fd >= 0)
		errnum = write_all(a, buf_data(&w->lines), n, &lost);
	else if (n > 0)
		lost = count_lines(buf_data(&w->lines), n);
	if (w->path != NULL && !first)
		errnum = reopen(a, w->path);
	buf_fini(&w->lines);
	free(w->path);
	pthread_mutex_lock(&a->mutex);
	a->lost += lost;
	if (errnum >= 0)
		a->errnum = errnum;
	pthread_mutex_unlock(&a->mutex);
}

static void *
work(void *arg)
{
	struct audit *a = arg;
	struct work w;
	bool unowned;

	pthread_mutex_lock(&a->mutex);
	while (take(a, &w)) {
		pthread_mutex_unlock(&a->mutex);
		do_work(a, &w);
		pthread_mutex_lock(&a->mutex);
	}
	buf_fini(&w.lines);
	a->ended = true;
	unowned = a->unowned;
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->mutex);
	if (unowned)
		audit_destroy(a);
	return NULL;
}

/* The loop. */

struct audit *
audit_new(void)
{
	struct audit *a = xcalloc(1, sizeof(*a));

	pthread_mutex_init(&a->mutex, NULL);
	pthread_cond_init(&a->more, NULL);
	buf_init(&a->waiting);
	a->fd = -1;
	return a;
}

/* The thread blocks all signals: they are the main thread's. */
static bool
start(struct audit *a)
{
	sigset_t all, old;
	int rc;

	if (a->running)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&a->thread, NULL, work, a);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_detach(a->thread);
	a->running = rc == 0;
	if (rc != 0)
		a->errnum = rc;
	return a->running;
}

/* Logs once when a spell of trouble begins, and once when it is over. */
static void
tell(struct audit *a, int errnum, uint64_t lost)
{
	bool trouble = errnum != 0;

	if (trouble == a->told)
		return;
	a->told = trouble;
	if (trouble)
		LOG(ERROR, "audit-failed", LOG_S("file", a->named),
		    LOG_S("why", strerror(errnum)), LOG_N("lost", lost));
	else
		LOG(NOTICE, "audit-goes-on", LOG_S("file", a->named),
		    LOG_N("lost", lost));
}

void
audit_open(struct audit *a, const char *path)
{
	if (path[0] == '\0' && !a->running)
		return;
	free(a->named);
	a->named = xstrdup(path);
	if (!start(a)) {
		tell(a, a->errnum, a->lost);
		return;
	}
	pthread_mutex_lock(&a->mutex);
	free(a->path);
	a->path = xstrdup(path);
	pthread_cond_signal(&a->more);
	pthread_mutex_unlock(&a->mutex);
}

void
audit_line(struct audit *a, const char *line, size_t n)
{
	uint64_t lost;
	int errnum;

	if (!a->running) {
		a->lost++;
		return;
	}
	pthread_mutex_lock(&a->mutex);
	if (buf_len(&a->waiting) + n <= AUDIT_WAITING_MAX) {
		if (buf_len(&a->waiting) == 0)
			pthread_cond_signal(&a->more);
		buf_add(&a->waiting, line, n);
		errnum = a->errnum;
	} else {
		a->lost++;
		errnum = a->errnum != 0 ? a->errnum : EAGAIN;
	}
	lost = a->lost;
	pthread_mutex_unlock(&a->mutex);
	tell(a, errnum, lost);
}

uint64_t
audit_lost(struct audit *a)
{
	uint64_t lost;

	pthread_mutex_lock(&a->mutex);
	lost = a->lost;
	pthread_mutex_unlock(&a->mutex);
	return lost;
}

void
audit_free(struct audit *a)
{
	struct timespec until;
	bool ended;

	if (a == NULL)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_SECONDS;
	pthread_mutex_lock(&a->mutex);
	a->over = true;
	pthread_cond_signal(&a->more);
	while (a->running && !a->ended &&
	       pthread_cond_timedwait(&a->more, &a->mutex, &until) == 0)
		;
	ended = a->ended || !a->running;
	a->unowned = !ended;
	pthread_mutex_unlock(&a->mutex);
	if (ended)
		audit_destroy(a);
}
