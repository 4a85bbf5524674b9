/*
 * A job belongs to the thread until `over`, then to the loop.  If by then no
 * loop waits for it, the thread frees it.
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "daemon/process/reread.h"
#include "daemon/process/settings.h"

/* One reading. */
struct job {
	char *file; /* owned; or NULL */
	bool shared;
	int wake; /* the eventfd; the loop closes it */
	struct config config;
	struct config_faults faults;
	bool ok;
	pthread_mutex_t mutex; /* guards the two below */
	bool over;
	bool unheard;
};

struct reread {
	const char *file;
	reread_done *done;
	void *arg;
	struct event *readable;
	int wake;
	struct job *job; /* under way; or NULL */
	bool again;	 /* asked for meanwhile */
	bool shared;	 /* as the latest was asked for */
};

static void
job_free(struct job *job)
{
	if (job->ok)
		config_free(&job->config);
	config_faults_fini(&job->faults);
	pthread_mutex_destroy(&job->mutex);
	free(job->file);
	free(job);
}

static void
read_all(struct job *job)
{
	config_faults_init(&job->faults);
	job->ok =
	    settings_load(&job->config, job->file, job->shared, &job->faults);
}

static void *
work(void *arg)
{
	const uint64_t one = 1;
	struct job *job = arg;
	bool unheard;

	read_all(job);
	pthread_mutex_lock(&job->mutex);
	job->over = true;
	unheard = job->unheard;
	/* The loop cannot close it while the mutex is locked. */
	while (!unheard && write(job->wake, &one, sizeof(one)) < 0 &&
	       errno == EINTR)
		;
	pthread_mutex_unlock(&job->mutex);
	if (unheard)
		job_free(job);
	return NULL;
}

/* The thread blocks all signals: they are the main thread's. */
static bool
start_thread(struct job *job)
{
	pthread_t thread;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, NULL, work, job);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_detach(thread);
	return rc == 0;
}

static void
finish(struct reread *r)
{
	struct job *job = r->job;

	r->job = NULL;
	r->done(r->arg, job->ok ? &job->config : NULL, &job->faults);
	job_free(job);
	if (r->again)
		reread_start(r, r->shared);
}

static void
on_over(evutil_socket_t fd, short what, void *arg)
{
	struct reread *r = arg;
	uint64_t n;

	(void)what;
	if (read(fd, &n, sizeof(n)) < 0 || r->job == NULL)
		return;
	/* The thread may still hold the mutex that it is about to release. */
	pthread_mutex_lock(&r->job->mutex);
	pthread_mutex_unlock(&r->job->mutex);
	finish(r);
}

struct reread *
reread_new(
    struct event_base *base, const char *file, reread_done *done, void *arg)
{
	struct reread *r = xcalloc(1, sizeof(*r));

	r->file = file;
	r->done = done;
	r->arg = arg;
	r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r->wake < 0)
		abort();
	r->readable =
	    event_new(base, r->wake, EV_READ | EV_PERSIST, on_over, r);
	if (r->readable == NULL || event_add(r->readable, NULL) < 0)
		abort();
	return r;
}

void
reread_free(struct reread *r)
{
	bool over = false;

	if (r == NULL)
		return;
	if (r->job != NULL) {
		pthread_mutex_lock(&r->job->mutex);
		r->job->unheard = true;
		over = r->job->over;
		pthread_mutex_unlock(&r->job->mutex);
	}
	if (over)
		job_free(r->job);
	event_free(r->readable);
	(void)close(r->wake);
	free(r);
}

bool
reread_again(const struct reread *r)
{
	return r->again;
}

/* Without a thread, the loop reads: late is better than never. */
void
reread_start(struct reread *r, bool shared)
{
	struct job *job;

	r->shared = shared;
	r->again = r->job != NULL;
	if (r->again)
		return;
	job = xcalloc(1, sizeof(*job));
	job->file = r->file ? xstrdup(r->file) : NULL;
	job->shared = shared;
	job->wake = r->wake;
	pthread_mutex_init(&job->mutex, NULL);
	r->job = job;
	if (start_thread(job))
		return;
	read_all(job);
	finish(r);
}
