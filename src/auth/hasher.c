/*
 * A job belongs to the loop, except while it is in `jobs` or in the worker's
 * hands; the mutex guards both lists.  The eventfd only wakes the loop: results
 * are in `results`.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "auth/hasher.h"
#include "auth/secret.h"
#include "auth/users.h"
#include "base/list.h"
#include "base/xmalloc.h"

#define KEY_BYTES 32

/* The maximum number of remembered successes; the oldest is dropped first. */
#define REMEMBERED_MAX 1024

/* A comparison.  The loop frees it. */
struct job {
	uint64_t id;
	char *password;
	char *hash;
	char *from; /* the client's address */
	enum hasher_result result;
	TAILQ_ENTRY(job) link;
};

TAILQ_HEAD(job_queue, job);

struct success {
	uint8_t digest[SECRET_DIGEST_BYTES];
	int64_t until_ms;
};

struct hasher {
	hasher_done *done;
	void *arg;
	struct event *readable;
	int wake; /* an eventfd: results were added */

	pthread_t thread;
	bool running;
	pthread_mutex_t mutex; /* guards the members up to the empty line */
	pthread_cond_t more;
	struct job_queue jobs;
	struct job_queue results;
	char *last; /* the address served last; NULL: none */
	bool stopping;

	unsigned njobs; /* under way, in any list; used by the loop only */
	uint8_t key[KEY_BYTES];
	struct success *successes; /* a ring */
	unsigned next;
	int64_t now_ms; /* time of the last check */
};

static void
forget_text(char *text)
{
	explicit_bzero(text, strlen(text));
	free(text);
}

static void
job_free(struct job *job)
{
	forget_text(job->password);
	free(job->hash);
	free(job->from);
	free(job);
}

/* Returns the oldest job of another address than the last one, or the oldest if
 * there is no other. */
static struct job *
whose_turn(struct hasher *h)
{
	struct job *job;

	assert(!TAILQ_EMPTY(&h->jobs));
	TAILQ_FOREACH (job, &h->jobs, link)
		if (h->last == NULL || strcmp(job->from, h->last) != 0)
			break;
	if (job == NULL)
		job = TAILQ_FIRST(&h->jobs);
	free(h->last);
	h->last = xstrdup(job->from);
	return job;
}

/* Waits for a job.  Returns NULL when the hasher must stop. */
static struct job *
next_job(struct hasher *h)
{
	struct job *job;

	pthread_mutex_lock(&h->mutex);
	while (!h->stopping && TAILQ_EMPTY(&h->jobs))
		pthread_cond_wait(&h->more, &h->mutex);
	job = h->stopping ? NULL : whose_turn(h);
	if (job != NULL)
		TAILQ_REMOVE(&h->jobs, job, link);
	pthread_mutex_unlock(&h->mutex);
	return job;
}

static void *
work(void *arg)
{
	const uint64_t one = 1;
	struct hasher *h = arg;
	struct job *job;

	while ((job = next_job(h)) != NULL) {
		job->result = secret_matches_slowly(job->hash, job->password)
				  ? HASHER_IS_RIGHT
				  : HASHER_IS_WRONG;
		pthread_mutex_lock(&h->mutex);
		TAILQ_INSERT_TAIL(&h->results, job, link);
		pthread_mutex_unlock(&h->mutex);
		while (write(h->wake, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	}
	return NULL;
}

/* The thread blocks all signals: the main thread handles them. */
static bool
start_thread(struct hasher *h)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&h->thread, NULL, work, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	h->running = rc == 0;
	return h->running;
}

/*
 * Each pair has a digest of its own: the key has a fixed length, and the hash
 * ends with a NUL.
 */
static void
digest_of(const struct hasher *h, const char *hash, struct span password,
    uint8_t digest[SECRET_DIGEST_BYTES])
{
	const struct span pieces[] = {
		{ (const char *)h->key, sizeof(h->key) },
		{ hash, strlen(hash) + 1 },
		password,
	};

	secret_digest(digest, pieces, sizeof(pieces) / sizeof(pieces[0]));
}

static bool
is_remembered(const struct hasher *h, const char *hash, struct span password,
    int64_t now_ms)
{
	uint8_t digest[SECRET_DIGEST_BYTES];
	bool known = false;
	unsigned i;

	if (h->successes == NULL)
		return false;
	digest_of(h, hash, password, digest);
	for (i = 0; i < REMEMBERED_MAX; i++)
		known |=
		    h->successes[i].until_ms > now_ms &&
		    secret_same(h->successes[i].digest, digest, sizeof(digest));
	return known;
}

static void
remember(struct hasher *h, const struct job *job)
{
	struct success *s;

	if (h->successes == NULL)
		h->successes = xcalloc(REMEMBERED_MAX, sizeof(*h->successes));
	s = &h->successes[h->next++ % REMEMBERED_MAX];
	digest_of(h, job->hash,
	    (struct span){ job->password, strlen(job->password) }, s->digest);
	s->until_ms = h->now_ms + HASHER_REMEMBERS_MS;
}

static void
on_results(evutil_socket_t fd, short what, void *arg)
{
	struct hasher *h = arg;
	struct job_queue results;
	struct job *job;
	uint64_t n;

	(void)what;
	if (read(fd, &n, sizeof(n)) < 0)
		return;
	TAILQ_INIT(&results);
	pthread_mutex_lock(&h->mutex);
	TAILQ_CONCAT(&results, &h->results, link);
	pthread_mutex_unlock(&h->mutex);
	while ((job = TAILQ_FIRST(&results)) != NULL) {
		TAILQ_REMOVE(&results, job, link);
		assert(h->njobs > 0);
		h->njobs--;
		if (job->result == HASHER_IS_RIGHT)
			remember(h, job);
		h->done(h->arg, job->id, job->result);
		job_free(job);
	}
}

struct hasher *
hasher_new(struct event_base *base, hasher_done *done, void *arg)
{
	struct hasher *h = xcalloc(1, sizeof(*h));

	h->done = done;
	h->arg = arg;
	TAILQ_INIT(&h->jobs);
	TAILQ_INIT(&h->results);
	pthread_mutex_init(&h->mutex, NULL);
	pthread_cond_init(&h->more, NULL);
	if (getrandom(h->key, sizeof(h->key), 0) != (ssize_t)sizeof(h->key))
		abort();
	h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->wake < 0)
		abort();
	h->readable =
	    event_new(base, h->wake, EV_READ | EV_PERSIST, on_results, h);
	if (h->readable == NULL || event_add(h->readable, NULL) < 0)
		abort();
	return h;
}

static void
free_queue(struct job_queue *queue)
{
	struct job *job;

	while ((job = TAILQ_FIRST(queue)) != NULL) {
		TAILQ_REMOVE(queue, job, link);
		job_free(job);
	}
}

void
hasher_free(struct hasher *h)
{
	if (h == NULL)
		return;
	pthread_mutex_lock(&h->mutex);
	h->stopping = true;
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->mutex);
	if (h->running)
		pthread_join(h->thread, NULL);
	free_queue(&h->jobs);
	free_queue(&h->results);
	event_free(h->readable);
	close(h->wake);
	pthread_cond_destroy(&h->more);
	pthread_mutex_destroy(&h->mutex);
	explicit_bzero(h->key, sizeof(h->key));
	free(h->successes);
	free(h->last);
	free(h);
}

static unsigned
count_of(const struct hasher *h, const char *from, size_t len)
{
	const struct job *job;
	unsigned n = 0;

	TAILQ_FOREACH (job, &h->jobs, link)
		n += strlen(job->from) == len &&
		     memcmp(job->from, from, len) == 0;
	return n;
}

/* Returns the newest job of the address with the most jobs. */
static struct job *
most_pushing(const struct hasher *h)
{
	struct job *job, *found = NULL;
	unsigned n, most = 0;

	TAILQ_FOREACH (job, &h->jobs, link) {
		n = count_of(h, job->from, strlen(job->from));
		if (n >= most)
			found = job;
		most = n > most ? n : most;
	}
	return found;
}

/* Makes room for a job of that address, if another address has at least two
 * more.  The dropped job is reported with the results. */
static bool
push_out(struct hasher *h, struct span from)
{
	const uint64_t one = 1;
	struct job *job;
	bool done;

	pthread_mutex_lock(&h->mutex);
	job = most_pushing(h);
	done = job != NULL && count_of(h, job->from, strlen(job->from)) >
				  count_of(h, from.p, from.n) + 1;
	if (done) {
		TAILQ_REMOVE(&h->jobs, job, link);
		job->result = HASHER_PUSHED_OUT;
		TAILQ_INSERT_TAIL(&h->results, job, link);
	}
	pthread_mutex_unlock(&h->mutex);
	while (done && write(h->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return done;
}

enum hasher_answer
hasher_check(struct hasher *h, uint64_t id, struct span from,
    struct span password, const char *hash, int64_t now_ms)
{
	struct job *job;

	assert(!secret_is_cheap(hash));
	h->now_ms = now_ms;
	if (is_remembered(h, hash, password, now_ms))
		return HASHER_RIGHT;
	if ((h->njobs >= HASHER_JOBS_MAX && !push_out(h, from)) ||
	    (!h->running && !start_thread(h)))
		return HASHER_FULL;
	job = xcalloc(1, sizeof(*job));
	job->id = id;
	job->password = xstrndup(password.p, password.n);
	job->hash = xstrdup(hash);
	job->from = xstrndup(from.p, from.n);
	h->njobs++;
	pthread_mutex_lock(&h->mutex);
	TAILQ_INSERT_TAIL(&h->jobs, job, link);
	pthread_cond_signal(&h->more);
	pthread_mutex_unlock(&h->mutex);
	return HASHER_LATER;
}

enum hasher_answer
hasher_compare(struct hasher *h, uint64_t id, struct span from,
    const struct users *users, struct span name, struct span password,
    int64_t now_ms, bool *known)
{
	static const char none[] = SECRET_PREFIX;
	const struct user *user = users_find(users, name);
	const char *hash = user != NULL ? user_hash(user) : none;

	*known = user != NULL && hash[0] != '\0';
	if (*known && secret_is_cheap(hash)) {
		if (secret_matches(hash, password))
			return HASHER_RIGHT;
		*known = false;
	}
	if (!*known)
		hash = users_decoy(users);
	if (hash[0] == '\0') {
		(void)secret_matches(none, password);
		return HASHER_RIGHT;
	}
	return hasher_check(h, id, from, password, hash, now_ms);
}
