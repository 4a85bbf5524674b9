/*
 * Addresses to listen on.
 */
#include "config.h"

#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

#define OK "OK\r\n"

static void
expect_failure(bool ok, struct buf *why, const char *text)
{
	ck_assert(!ok);
	buf_addc(why, '\0');
	ck_assert_ptr_nonnull(strstr(buf_data(why), text));
	buf_clear(why);
}

/* Makes one round trip at rig->path. */
static void
expect_service(struct rig *rig, enum transport how)
{
	struct client cl;

	client_open(&cl, rig, how);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	client_close(&cl);
}

START_TEST(unix_socket)
{
	char gone[sizeof(((struct rig *)0)->path)];
	const struct group *g = getgrgid(getegid());
	struct buf why;
	struct stat st;
	struct rig rig;

	rig_init(&rig);
	buf_init(&why);
	(void)strcpy(gone, rig.path);
	(void)snprintf(rig.path, sizeof(rig.path), "%s/t", rig.dir);
	ck_assert(front_listen_unix(
	    rig.front, rig.path, 0640, g ? g->gr_name : "", &why));
	ck_assert_int_eq(lstat(rig.path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	ck_assert_uint_eq(st.st_gid, getegid());
	expect_service(&rig, OVER_UNIX);
	/* The same address twice counts once. */
	ck_assert(front_listen_unix(rig.front, rig.path, 0640, "", &why));
	ck_assert_uint_eq(front_listeners(rig.front), 3);
	front_stop_listening(rig.front);
	ck_assert_uint_eq(front_listeners(rig.front), 0);
	ck_assert_int_lt(lstat(rig.path, &st), 0);
	/* A socket that was passed in is not ours to remove. */
	ck_assert_int_eq(lstat(gone, &st), 0);
	(void)unlink(gone);
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

START_TEST(unix_socket_that_is_there)
{
	struct client cl;
	struct buf why;
	struct stat st;
	struct rig rig;
	bool ok;
	int fd;

	rig_init(&rig);
	buf_init(&why);
	/* The listening socket is still there, but the path belongs to another
	 * by now. */
	front_stop_listening(rig.front);
	ck_assert(front_listen_unix(rig.front, rig.path, 0600, "", &why));
	expect_service(&rig, OVER_UNIX);
	client_open(&cl, &rig, OVER_UNIX);
	client_close(&cl);
	ck_assert_int_eq(unlink(rig.path), 0);
	fd = open(rig.path, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	front_stop_listening(rig.front);
	ck_assert_int_eq(lstat(rig.path, &st), 0);
	ok = front_listen_unix(rig.front, rig.path, 0600, "", &why);
	expect_failure(ok, &why, "not a socket");
	ck_assert_int_eq(lstat(rig.path, &st), 0);
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

START_TEST(unix_socket_live_or_stale)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	char path[sizeof(((struct rig *)0)->path)];
	struct buf why;
	struct rig rig;
	bool ok;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	rig_init(&rig);
	buf_init(&why);
	(void)strcpy(path, rig.path);
	(void)snprintf(rig.path, sizeof(rig.path), "%s/t", rig.dir);
	memcpy(un.sun_path, rig.path, strlen(rig.path) + 1);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ok = front_listen_unix(rig.front, rig.path, 0600, "", &why);
	expect_failure(ok, &why, "another process is listening there");
	(void)close(fd);
	ck_assert(front_listen_unix(rig.front, rig.path, 0600, "", &why));
	expect_service(&rig, OVER_UNIX);
	(void)unlink(path);
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

/* Nothing is left behind that would be in the way once the group is right. */
START_TEST(unix_socket_for_a_group_of_others)
{
	const char *group = "daemon"; /* of nobody who runs tests */
	char path[sizeof(((struct rig *)0)->path)];
	uid_t self = geteuid();
	struct buf why;
	struct rig rig;
	bool ok;

	rig_init(&rig);
	buf_init(&why);
	(void)strcpy(path, rig.path);
	(void)snprintf(rig.path, sizeof(rig.path), "%s/t", rig.dir);
	if (self == 0) {
		ck_assert_int_eq(setgroups(0, NULL), 0);
		ck_assert_int_eq(chown(rig.dir, 65534, 65534), 0);
		ck_assert_int_eq(seteuid(65534), 0);
	}
	ok = front_listen_unix(rig.front, rig.path, 0600, group, &why);
	expect_failure(ok, &why, "cannot set its group");
	ck_assert(front_listen_unix(rig.front, rig.path, 0600, "", &why));
	expect_service(&rig, OVER_UNIX);
	ck_assert_int_eq(seteuid(self), 0);
	(void)unlink(path);
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

START_TEST(unix_socket_impossible)
{
	char path[200];
	struct buf why;
	struct rig rig;
	bool ok;

	rig_init(&rig);
	buf_init(&why);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	ok = front_listen_unix(rig.front, path, 0600, "", &why);
	expect_failure(ok, &why, "too long");
	ok = front_listen_unix(rig.front, "/nonexistent/s", 0600, "", &why);
	expect_failure(ok, &why, "No such file");
	ok = front_listen_unix(
	    rig.front, "/tmp/s", 0600, "the group does not exist", &why);
	expect_failure(ok, &why, "the group does not exist");
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

static void
expect_proxied(struct rig *rig, bool proxied)
{
	const struct conn *c;
	struct client cl;

	client_open(&cl, rig, OVER_TCP);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	c = front_find(rig->front, rig->last);
	ck_assert(c != NULL && conn_is_proxied(c) == proxied);
	client_close(&cl);
}

/* A socket that was passed in is proxied if `listen` says so of its address. */
START_TEST(proxies)
{
	struct buf why;
	struct rig rig;
	uint16_t port;

	rig_init(&rig);
	buf_init(&why);
	port = rig.port;
	expect_proxied(&rig, false);
	ck_assert(front_listen_tcp(rig.front, "127.0.0.1", port, true, &why));
	expect_proxied(&rig, true);
	ck_assert(front_listen_tcp(rig.front, "127.0.0.1", port, false, &why));
	expect_proxied(&rig, false);
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

START_TEST(tcp)
{
	struct buf why;
	struct rig rig;
	uint16_t port;
	bool ok;
	int fd;

	rig_init(&rig);
	buf_init(&why);
	port = rig.port;
	/* The passed socket has that address already. */
	ck_assert(front_listen_tcp(rig.front, "127.0.0.1", port, false, &why));
	ck_assert_uint_eq(front_listeners(rig.front), 2);
	ck_assert(front_listen_tcp(rig.front, "127.0.0.1", 0, false, &why));
	ck_assert_uint_eq(front_listeners(rig.front), 3);
	front_stop_listening(rig.front);
	ck_assert(front_listen_tcp(rig.front, "127.0.0.1", port, false, &why));
	expect_service(&rig, OVER_TCP);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	ok = front_listen_fd(rig.front, fd, &why);
	expect_failure(ok, &why, "not a listening stream socket");
	ck_assert_int_lt(fcntl(fd, F_GETFD), 0);
	/* Nobody has an address of TEST-NET-1. */
	ok = front_listen_tcp(rig.front, "192.0.2.1", 0, false, &why);
	expect_failure(ok, &why, "cannot listen on this address");
	buf_fini(&why);
	rig_fini(&rig);
}
END_TEST

/* Finds the front's end of a connection, which is in this process. */
static int
other_end(int fd)
{
	struct sockaddr_in ours, peer;
	socklen_t n = sizeof(ours);
	int other;

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&ours, &n), 0);
	for (other = 0; other < 1024; other++) {
		n = sizeof(peer);
		if (getpeername(other, (struct sockaddr *)&peer, &n) == 0 &&
		    peer.sin_family == AF_INET &&
		    peer.sin_port == ours.sin_port)
			return other;
	}
	ck_abort_msg("the other end is not here");
}

static int
option(int fd, int level, int name)
{
	socklen_t n = sizeof(int);
	int value = -1;

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &n), 0);
	return value;
}

START_TEST(a_host_that_vanishes_is_noticed)
{
	struct client cl;
	struct rig rig;
	int fd;

	rig_init(&rig);
	rig.limits.unreachable_ms = 12000;
	rig_set_limits(&rig);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	fd = other_end(cl.fd);
	ck_assert_int_eq(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), 4);
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), 2);
	ck_assert_int_eq(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 9000);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

TCase *
listen_cases(void)
{
	TCase *tc = tcase_create("listen");

	tcase_add_test(tc, unix_socket);
	tcase_add_test(tc, unix_socket_that_is_there);
	tcase_add_test(tc, unix_socket_live_or_stale);
	tcase_add_test(tc, unix_socket_for_a_group_of_others);
	tcase_add_test(tc, unix_socket_impossible);
	tcase_add_test(tc, tcp);
	tcase_add_test(tc, proxies);
	tcase_add_test(tc, a_host_that_vanishes_is_noticed);
	return tc;
}
