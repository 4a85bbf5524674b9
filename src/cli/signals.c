/* See signals.h. */
#include "config.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/exit.h"
#include "cli/signals.h"

/* The signals, and whether they ask us to end. */
static const struct {
	int number;
	bool stops;
} passed[] = {
	{ SIGHUP, true },
	{ SIGINT, true },
	{ SIGQUIT, true },
	{ SIGTERM, true },
	{ SIGUSR1, false },
	{ SIGUSR2, false },
	{ SIGALRM, false },
	{ SIGWINCH, false },
};

#define PASSED_N (sizeof(passed) / sizeof(passed[0]))

static void
leave(int number)
{
	_exit(CLI_EXIT_SIGNAL + number);
}

static bool
is_ignored(int number)
{
	struct sigaction sa;

	return sigaction(number, NULL, &sa) == 0 && sa.sa_handler == SIG_IGN;
}

bool
signals_init(struct signals *s)
{
	struct sigaction sa = { .sa_handler = leave };
	size_t i;

	sigemptyset(&s->held);
	for (i = 0; i < PASSED_N; i++) {
		if (is_ignored(passed[i].number))
			continue;
		sigaddset(&s->held, passed[i].number);
		if (passed[i].number != SIGWINCH)
			(void)sigaction(passed[i].number, &sa, NULL);
	}
	/* An ignored SIGCHLD would reap the command before we can. */
	s->chld_ignored = is_ignored(SIGCHLD);
	sa.sa_handler = SIG_DFL;
	(void)sigaction(SIGCHLD, &sa, NULL);
	sigaddset(&s->held, SIGCHLD);
	s->blocked = s->held;
	sigaddset(&s->blocked, SIGPIPE);
	sigaddset(&s->blocked, SIGXFSZ);
	(void)sigprocmask(SIG_BLOCK, NULL, &s->before);
	s->fd = signalfd(-1, &s->held, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->fd >= 0;
}

void
signals_fini(struct signals *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
}

void
signals_hold(struct signals *s)
{
	(void)sigprocmask(SIG_BLOCK, &s->blocked, NULL);
}

void
signals_release(struct signals *s)
{
	(void)sigprocmask(SIG_SETMASK, &s->before, NULL);
}

bool
signals_next(struct signals *s, struct signals_one *one)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	one->number = (int)info.ssi_signo;
	one->terminal = info.ssi_code == SI_KERNEL;
	return true;
}

void
signals_restore(const struct signals *s)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	/* exec(2) resets handlers, and keeps ignored signals ignored. */
	if (s->chld_ignored)
		(void)sigaction(SIGCHLD, &ignore, NULL);
	(void)sigprocmask(SIG_SETMASK, &s->before, NULL);
}

bool
signals_stops(int number)
{
	size_t i;

	for (i = 0; i < PASSED_N; i++) {
		if (passed[i].number == number)
			return passed[i].stops;
	}
	return false;
}
