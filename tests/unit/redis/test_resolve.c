/*
 * Look-ups of names, with a name service that answers when the test says so.
 */
#include "config.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <netdb.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "redis/resolve.h"
#include "suite.h"

#define MANY 100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool silent;	  /* the name service does not answer */
static unsigned threads;  /* look-ups that wait for it */
static unsigned most;	  /* most of them at a time */
static unsigned answered; /* callbacks */
static struct event_base *base;
static struct resolver *resolver;

/* The linker prefers this function to that of the C library. */
int
getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
    struct addrinfo **out)
{
	(void)host;
	(void)service;
	(void)hints;
	*out = NULL;
	pthread_mutex_lock(&lock);
	threads++;
	if (threads > most)
		most = threads;
	pthread_cond_broadcast(&changed);
	while (silent)
		pthread_cond_wait(&changed, &lock);
	threads--;
	pthread_mutex_unlock(&lock);
	return EAI_AGAIN;
}

static void
set_silent(bool on)
{
	pthread_mutex_lock(&lock);
	silent = on;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void
wait_for_threads(unsigned n)
{
	pthread_mutex_lock(&lock);
	while (threads < n)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

static void
on_done(void *arg, const struct resolved *result, const char *why)
{
	struct lookup **mine = arg;

	ck_assert_ptr_null(result);
	ck_assert_str_eq(why, gai_strerror(EAI_AGAIN));
	*mine = NULL;
	answered++;
}

static void
begin(void)
{
	base = event_base_new();
	resolver = resolver_new(base);
	set_silent(true);
}

static void
end(void)
{
	resolver_free(resolver);
	event_base_free(base);
}

/* As links do it that give up when the time to connect is over. */
START_TEST(a_dead_name_service_costs_a_thread_for_each_host)
{
	struct lookup *one, *other;
	unsigned i;

	begin();
	for (i = 0; i < MANY; i++) {
		one = resolver_start(resolver, "one", on_done, &one);
		other = resolver_start(resolver, "other", on_done, &other);
		ck_assert(one && other);
		resolver_cancel(one);
		resolver_cancel(other);
	}
	wait_for_threads(2);
	one = resolver_start(resolver, "one", on_done, &one);
	set_silent(false);
	while (answered == 0)
		event_base_loop(base, EVLOOP_ONCE);
	ck_assert_ptr_null(one);
	ck_assert_uint_eq(most, 2);
	end();
}
END_TEST

START_TEST(all_who_ask_are_told)
{
	struct lookup *asked[MANY];
	unsigned i;

	begin();
	for (i = 0; i < MANY; i++)
		asked[i] = resolver_start(resolver, "one", on_done, &asked[i]);
	resolver_cancel(asked[7]);
	set_silent(false);
	while (answered < MANY - 1)
		event_base_loop(base, EVLOOP_ONCE);
	ck_assert_uint_eq(most, 1);
	end();
}
END_TEST

/* The thread ends later, and finds that nobody waits for it. */
START_TEST(a_resolver_may_be_freed_meanwhile)
{
	struct lookup *one;

	begin();
	one = resolver_start(resolver, "one", on_done, &one);
	ck_assert_ptr_nonnull(one);
	wait_for_threads(1);
	end();
	set_silent(false);
	ck_assert_uint_eq(answered, 0);
}
END_TEST

static TCase *
resolve_cases(void)
{
	TCase *tc = tcase_create("resolve");

	tcase_add_test(tc, a_dead_name_service_costs_a_thread_for_each_host);
	tcase_add_test(tc, all_who_ask_are_told);
	tcase_add_test(tc, a_resolver_may_be_freed_meanwhile);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { resolve_cases };

	return suite_run("resolve", cases, COUNT(cases));
}
