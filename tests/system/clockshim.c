/*
 * Clocks that a test can set while a program runs.  Preloaded into a
 * redis-server or a lockbrokerd, it adds to what the kernel says about the
 * time of day and about the time since boot.  What to add is in the file that
 * $CLOCKSHIM names, which the test maps and writes (lib/clock.py).
 *
 * A timerfd that was set to a time since boot comes by that clock, too: who
 * sleeps in epoll_wait() with one looks every few milliseconds whether it was
 * set, and sets the kernel's timer anew.  Nobody else notices.  The file can
 * also end that sleep with an error, for good.
 *
 * It calls the kernel and nothing else: looking up the functions it replaces
 * would allocate memory, which asks for the time in Redis' allocator.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define SLICE_MS 5

/* The file.  Each field is written by itself, so none is ever torn. */
struct clockshim {
	_Atomic int64_t real_us;  /* added to the time of day */
	_Atomic int64_t boot_us;  /* added to the time since boot */
	_Atomic int64_t rate_ppm; /* how much too fast the time of day goes */
	_Atomic int64_t since_us; /* CLOCK_MONOTONIC when it began to */
	_Atomic int64_t awake_us; /* added to CLOCK_MONOTONIC */
	_Atomic int64_t broken;	  /* nobody can wait by epoll any more */
};

static struct clockshim *shim; /* NULL: none, the time is right */

__attribute__((constructor)) static void
clockshim_open(void)
{
	const char *path = getenv("CLOCKSHIM");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(
	    NULL, sizeof(*shim), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		shim = map;
	(void)close(fd);
}

/* Nanoseconds; -1 where there is no such clock. */
static int64_t
kernel_ns(clockid_t id)
{
	struct timespec ts;

	if (syscall(SYS_clock_gettime, id, &ts) != 0)
		return -1;
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int64_t
add_real_ns(void)
{
	int64_t since_us = atomic_load(&shim->since_us);
	int64_t passed_us = kernel_ns(CLOCK_MONOTONIC) / 1000 - since_us;

	return atomic_load(&shim->real_us) * 1000 +
	       passed_us * atomic_load(&shim->rate_ppm) / 1000;
}

static int64_t
add_ns(clockid_t id)
{
	if (!shim)
		return 0;
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)
		return add_real_ns();
	if (id == CLOCK_MONOTONIC)
		return atomic_load(&shim->awake_us) * 1000;
	return id == CLOCK_BOOTTIME ? atomic_load(&shim->boot_us) * 1000 : 0;
}

int
clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns = kernel_ns(id);

	if (ns < 0)
		return -1;
	ns += add_ns(id);
	ts->tv_sec = ns / NS_PER_S;
	ts->tv_nsec = ns % NS_PER_S;
	return 0;
}

int
gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t
time(time_t *out)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_REALTIME, &ts) != 0)
		return -1;
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}

/* The timer on the time since boot; a process that has several is not
 * fooled. */
static struct {
	int fd;
	bool made;
	struct itimerspec spec;
	int64_t
	    added_ns; /* that the clock was ahead when the kernel was told */
} timer;

int
timerfd_create(clockid_t id, int flags)
{
	int fd = (int)syscall(SYS_timerfd_create, id, flags);

	if (fd >= 0 && id == CLOCK_BOOTTIME) {
		timer.fd = fd;
		timer.made = true;
	}
	return fd;
}

static int
timer_tell(struct itimerspec *old)
{
	struct itimerspec spec = timer.spec;
	int64_t ns = spec.it_value.tv_sec * NS_PER_S + spec.it_value.tv_nsec;

	timer.added_ns = add_ns(CLOCK_BOOTTIME);
	if (ns > 0) {
		ns -= timer.added_ns;
		ns = ns > 0 ? ns : 1;
	}
	spec.it_value.tv_sec = ns / NS_PER_S;
	spec.it_value.tv_nsec = ns % NS_PER_S;
	return (int)syscall(
	    SYS_timerfd_settime, timer.fd, TFD_TIMER_ABSTIME, &spec, old);
}

int
timerfd_settime(
    int fd, int flags, const struct itimerspec *spec, struct itimerspec *old)
{
	if (!shim || !timer.made || fd != timer.fd ||
	    flags != TFD_TIMER_ABSTIME)
		return (int)syscall(SYS_timerfd_settime, fd, flags, spec, old);
	timer.spec = *spec;
	return timer_tell(old);
}

static int
wait_slice(int fd, struct epoll_event *events, int n, int ms)
{
	return (int)syscall(SYS_epoll_pwait, fd, events, n, ms, NULL, 0);
}

int
epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	int slice_ms, rc;

	if (!shim || !timer.made)
		return wait_slice(fd, events, n, ms);
	for (;;) {
		if (atomic_load(&shim->broken) != 0) {
			errno = EIO;
			return -1;
		}
		if (timer.added_ns != add_ns(CLOCK_BOOTTIME) &&
		    timer_tell(NULL) < 0)
			return -1;
		slice_ms = ms >= 0 && ms < SLICE_MS ? ms : SLICE_MS;
		rc = wait_slice(fd, events, n, slice_ms);
		if (rc != 0 || ms == slice_ms)
			return rc;
		if (ms > 0)
			ms -= slice_ms;
	}
}
