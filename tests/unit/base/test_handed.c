/*
 * Tests of base/handed: what one process writes down the next one finds, each
 * socket by its address.
 *
 * What is handed over stands behind the standard streams, where check has its
 * own descriptors: so each part runs in a child, and its exit status tells the
 * line that was wrong.
 */
#include "config.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/handed.h"
#include "test_base.h"

#define DESCRIPTORS 32
#define WANT(that)                              \
	do {                                    \
		if (!(that))                    \
			_exit(wrong(__LINE__)); \
	} while (0)

static struct handed_list list;

/* The line, as far as an exit status tells it; 0 is for success. */
static int
wrong(int line)
{
	return line % 255 + 1;
}

static void
in_child(void (*part)(void))
{
	int status, fd;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (fd = HANDED_FIRST; fd < DESCRIPTORS; fd++)
			(void)close(fd);
		part();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
	    "line %d (modulo 255), or status %d", WEXITSTATUS(status) - 1,
	    status);
}

/* Takes the text as a process does that was started with it. */
static bool
take_text(const char *text)
{
	WANT(setenv(HANDED_VARIABLE, text, 1) == 0);
	return handed_take();
}

/* The next descriptor, for the list. */
static int
hand(enum handed_kind kind, bool any_port, int fd)
{
	WANT(fd == HANDED_FIRST + (int)list.n);
	handed_add(&list, kind, any_port, fd);
	return fd;
}

static void
hand_over(void)
{
	char *text = handed_text(&list);

	WANT(take_text(strchr(text, '=') + 1));
	free(text);
}

static int
tcp(const char *host, struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*at);

	memset(at, 0, sizeof(*at));
	at->sin_family = AF_INET;
	WANT(inet_pton(AF_INET, host, &at->sin_addr) == 1);
	WANT(bind(fd, (struct sockaddr *)at, len) == 0);
	WANT(getsockname(fd, (struct sockaddr *)at, &len) == 0);
	return fd;
}

static int
tcp6(struct sockaddr_in6 *at)
{
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	socklen_t len = sizeof(*at);

	memset(at, 0, sizeof(*at));
	at->sin6_family = AF_INET6;
	at->sin6_addr = in6addr_loopback;
	if (fd < 0 || bind(fd, (struct sockaddr *)at, len) != 0)
		_exit(0); /* a machine without IPv6 */
	WANT(getsockname(fd, (struct sockaddr *)at, &len) == 0);
	return fd;
}

/* `which`: a letter for the path. */
static int
local(char which, struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memset(at, 0, sizeof(*at));
	at->sun_family = AF_UNIX;
	snprintf(at->sun_path, sizeof(at->sun_path), "/tmp/handed-%d-%c",
	    (int)getpid(), which);
	WANT(bind(fd, (struct sockaddr *)at, sizeof(*at)) == 0);
	return fd;
}

static int
claim(const void *at, size_t len, enum handed_kind kind)
{
	return handed_claim(at, (socklen_t)len, kind);
}

static void
kinds(void)
{
	int i;

	for (i = 0; i < 5; i++)
		WANT(open("/dev/null", O_RDONLY) == HANDED_FIRST + i);
	WANT(take_text("1:channel,passed,leaving,leaving,passed"));
	WANT(getenv(HANDED_VARIABLE) == NULL);
	for (i = 0; i < 5; i++)
		WANT(fcntl(HANDED_FIRST + i, F_GETFD) == FD_CLOEXEC);
	WANT(handed_next(HANDED_LEAVING) == HANDED_FIRST + 2);
	WANT(handed_next(HANDED_LEAVING) == HANDED_FIRST + 3);
	WANT(handed_next(HANDED_LEAVING) == -1);
	WANT(handed_next(HANDED_CHANNEL) == HANDED_FIRST);
	WANT(handed_next(HANDED_CHANNEL) == -1);
	WANT(handed_next(HANDED_LINES) == -1);
	/* What is left is closed, and what was taken is not. */
	handed_drop();
	WANT(fcntl(HANDED_FIRST, F_GETFD) == FD_CLOEXEC);
	WANT(fcntl(HANDED_FIRST + 1, F_GETFD) == -1);
	WANT(fcntl(HANDED_FIRST + 4, F_GETFD) == -1);
}

START_TEST(each_kind_is_found_in_its_order)
{
	in_child(kinds);
}
END_TEST

static void
by_address(void)
{
	struct sockaddr_in one, other, elsewhere, no;
	struct sockaddr_un path;

	(void)hand(HANDED_LINES, false, tcp("127.0.0.1", &one));
	(void)hand(HANDED_HTTP, false, tcp("127.0.0.1", &other));
	(void)hand(HANDED_TLS, false, tcp("127.0.0.2", &elsewhere));
	(void)hand(HANDED_LINES, false, local('a', &path));
	hand_over();
	no = elsewhere;
	WANT(inet_pton(AF_INET, "127.0.0.3", &no.sin_addr) == 1);
	WANT(claim(&no, sizeof(no), HANDED_TLS) == -1);
	/* The configuration may give a place another protocol. */
	WANT(claim(&other, sizeof(other), HANDED_LINES) == HANDED_FIRST + 1);
	WANT(claim(&other, sizeof(other), HANDED_LINES) == -1);
	WANT(claim(&path, sizeof(path), HANDED_LINES) == HANDED_FIRST + 3);
	WANT(claim(&one, sizeof(one), HANDED_LINES) == HANDED_FIRST);
	WANT(claim(&elsewhere, sizeof(elsewhere), HANDED_TLS) ==
	     HANDED_FIRST + 2);
	handed_drop();
	WANT(access(path.sun_path, F_OK) == 0);
	WANT(unlink(path.sun_path) == 0);
}

START_TEST(a_socket_is_found_by_its_address)
{
	in_child(by_address);
}
END_TEST

static void
by_address6(void)
{
	struct sockaddr_in6 one, other;

	(void)hand(HANDED_LINES, false, tcp6(&one));
	(void)hand(HANDED_LINES, false, tcp6(&other));
	hand_over();
	WANT(claim(&other, sizeof(other), HANDED_LINES) == HANDED_FIRST + 1);
	one.sin6_scope_id = 7;
	WANT(claim(&one, sizeof(one), HANDED_LINES) == -1);
	one.sin6_scope_id = 0;
	WANT(claim(&one, sizeof(one), HANDED_LINES) == HANDED_FIRST);
}

START_TEST(and_over_ipv6)
{
	in_child(by_address6);
}
END_TEST

static void
any_port(void)
{
	struct sockaddr_in at, any, wrong_host;

	(void)hand(HANDED_LINES, false, tcp("127.0.0.1", &at));
	(void)hand(HANDED_HTTP, true, tcp("127.0.0.1", &at));
	(void)hand(HANDED_LINES, true, tcp("127.0.0.1", &at));
	hand_over();
	any = at;
	any.sin_port = 0;
	wrong_host = any;
	WANT(inet_pton(AF_INET, "127.0.0.2", &wrong_host.sin_addr) == 1);
	WANT(claim(&wrong_host, sizeof(any), HANDED_LINES) == -1);
	/* One whose port the kernel has chosen, and of this protocol. */
	WANT(claim(&any, sizeof(any), HANDED_LINES) == HANDED_FIRST + 2);
	WANT(claim(&any, sizeof(any), HANDED_LINES) == -1);
	WANT(claim(&any, sizeof(any), HANDED_TLS) == -1);
	WANT(claim(&any, sizeof(any), HANDED_HTTP) == HANDED_FIRST + 1);
}

START_TEST(port_0_is_a_port_that_was_chosen_before)
{
	in_child(any_port);
}
END_TEST

static void
paths(void)
{
	struct sockaddr_un ours, systemds;

	(void)hand(HANDED_LINES, false, local('a', &ours));
	(void)hand(HANDED_PASSED, false, local('b', &systemds));
	(void)hand(HANDED_CHANNEL, false, open("/dev/null", O_RDONLY));
	hand_over();
	handed_drop();
	WANT(access(ours.sun_path, F_OK) != 0);
	WANT(unlink(systemds.sun_path) == 0);
	WANT(fcntl(HANDED_FIRST, F_GETFD) == -1);
	WANT(fcntl(HANDED_FIRST + 1, F_GETFD) == -1);
	WANT(fcntl(HANDED_FIRST + 2, F_GETFD) == -1);
}

START_TEST(the_path_of_what_nobody_wants_is_removed)
{
	in_child(paths);
}
END_TEST

static void
spare(void)
{
	struct sockaddr_un ours, wanted;

	WANT(!handed_is_spare());
	WANT(!handed_receive("chanel", open("/dev/null", O_RDONLY)));
	WANT(fcntl(HANDED_FIRST, F_GETFD) == -1);
	WANT(handed_receive("lines", local('a', &ours)));
	WANT(handed_receive("lines", local('b', &wanted)));
	WANT(handed_is_spare());
	WANT(claim(&wanted, sizeof(wanted), HANDED_LINES) == HANDED_FIRST + 1);
	WANT(handed_claimed(0) == 1 && handed_claimed(1) == -1);
	handed_drop();
	WANT(fcntl(HANDED_FIRST, F_GETFD) == -1);
	WANT(unlink(ours.sun_path) == 0 && unlink(wanted.sun_path) == 0);
}

START_TEST(what_is_spare_keeps_its_path_and_tells_its_number)
{
	in_child(spare);
}
END_TEST

static void
nothing(void)
{
	WANT(unsetenv(HANDED_VARIABLE) == 0);
	WANT(handed_take());
	WANT(handed_next(HANDED_CHANNEL) == -1);
	WANT(take_text("1:"));
	WANT(handed_next(HANDED_CHANNEL) == -1);
}

START_TEST(a_process_that_was_handed_nothing)
{
	in_child(nothing);
}
END_TEST

static void
nonsense(void)
{
	static const char *const texts[] = { "", "2:channel", "1:lines,chanel",
		"1:*", "1:lines**", "1:lin", "1:linesx" };
	size_t i;

	for (i = 0; i < 4; i++)
		WANT(open("/dev/null", O_RDONLY) == HANDED_FIRST + (int)i);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		WANT(!take_text(texts[i]));
		WANT(getenv(HANDED_VARIABLE) == NULL);
		while (handed_next(HANDED_LINES) >= 0)
			;
	}
}

START_TEST(nonsense_is_refused)
{
	in_child(nonsense);
}
END_TEST

/* There are fewer descriptors than words. */
static void
missing(void)
{
	WANT(open("/dev/null", O_RDONLY) == HANDED_FIRST);
	WANT(!take_text("1:channel,lines"));
}

START_TEST(a_descriptor_that_is_not_there)
{
	in_child(missing);
}
END_TEST

START_TEST(a_list_that_is_full_says_so)
{
	size_t i;

	for (i = 0; i < HANDED_MAX; i++)
		handed_add(&list, HANDED_LINES, false, 3);
	ck_assert(!list.full);
	handed_add(&list, HANDED_LINES, false, 3);
	ck_assert(list.full);
	ck_assert_uint_eq(list.n, HANDED_MAX);
}
END_TEST

TCase *
handed_cases(void)
{
	TCase *tc = tcase_create("handed");

	tcase_add_test(tc, each_kind_is_found_in_its_order);
	tcase_add_test(tc, a_socket_is_found_by_its_address);
	tcase_add_test(tc, and_over_ipv6);
	tcase_add_test(tc, port_0_is_a_port_that_was_chosen_before);
	tcase_add_test(tc, the_path_of_what_nobody_wants_is_removed);
	tcase_add_test(tc, what_is_spare_keeps_its_path_and_tells_its_number);
	tcase_add_test(tc, a_process_that_was_handed_nothing);
	tcase_add_test(tc, nonsense_is_refused);
	tcase_add_test(tc, a_descriptor_that_is_not_there);
	tcase_add_test(tc, a_list_that_is_full_says_so);
	return tc;
}
