/*
 * Tests of relay: packets and their descriptors, and the first line on a
 * socket that leads to a server.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "relay/packet.h"
#include "relay/relay.h"
#include "suite.h"

static int ends[2];
static struct packet in, out;

static void
open_pair(int type)
{
	ck_assert_int_eq(socketpair(AF_UNIX, type | SOCK_NONBLOCK, 0, ends), 0);
}

static void
close_pair(void)
{
	(void)close(ends[0]);
	(void)close(ends[1]);
}

START_TEST(texts_and_a_descriptor_arrive)
{
	int fd;

	open_pair(SOCK_SEQPACKET);
	packet_begin(&out, "client");
	packet_add(&out, "");
	packet_add(&out, "two words");
	packet_add_num(&out, -7);
	ck_assert_int_eq(packet_send(ends[0], &out, ends[0]), PACKET_OK);
	ck_assert_int_eq(packet_receive(ends[1], &in), PACKET_OK);
	ck_assert(packet_is(&in, "client", 3));
	ck_assert(!packet_is(&in, "client", 4));
	ck_assert(!packet_is(&in, "place", 0));
	ck_assert_str_eq(packet_text(&in, 1), "");
	ck_assert_str_eq(packet_text(&in, 2), "two words");
	ck_assert_int_eq(packet_num(&in, 3), -7);
	ck_assert_str_eq(packet_text(&in, 4), "");
	fd = packet_take_fd(&in);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(in.fd, -1);
	ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
	(void)close(fd);
	close_pair();
}
END_TEST

START_TEST(an_end_is_told_from_nothing)
{
	open_pair(SOCK_SEQPACKET);
	ck_assert_int_eq(packet_receive(ends[1], &in), PACKET_LATER);
	(void)close(ends[0]);
	ck_assert_int_eq(packet_receive(ends[1], &in), PACKET_GONE);
	packet_begin(&out, "x");
	ck_assert_int_eq(packet_send(ends[1], &out, -1), PACKET_GONE);
	(void)close(ends[1]);
}
END_TEST

/* It had not read all that it was told. */
START_TEST(what_was_sent_before_the_end_arrives)
{
	open_pair(SOCK_SEQPACKET);
	packet_begin(&out, "left");
	ck_assert_int_eq(packet_send(ends[0], &out, -1), PACKET_OK);
	ck_assert_int_eq(packet_send(ends[1], &out, -1), PACKET_OK);
	(void)close(ends[0]);
	ck_assert_int_eq(packet_receive(ends[1], &in), PACKET_OK);
	ck_assert(packet_is(&in, "left", 0));
	ck_assert_int_eq(packet_receive(ends[1], &in), PACKET_GONE);
	(void)close(ends[1]);
}
END_TEST

START_TEST(nonsense_is_refused)
{
	static const struct {
		const char *bytes;
		size_t n;
	} cases[] = {
		{ "no end", 6 },
		{ "a\0no end", 8 },
		{ "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		  "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		  "\0\0\0\0\0",
		    PACKET_TEXTS_MAX + 1 },
	};
	size_t i;

	open_pair(SOCK_SEQPACKET);
	for (i = 0; i < COUNT(cases); i++) {
		ck_assert_int_eq(send(ends[0], cases[i].bytes, cases[i].n, 0),
		    (ssize_t)cases[i].n);
		ck_assert_int_eq(packet_receive(ends[1], &in), PACKET_GONE);
	}
	close_pair();
}
END_TEST

/* Only whole texts, and nothing beyond the end of the packet. */
START_TEST(what_does_not_fit_is_left_out)
{
	char *text = malloc(PACKET_BYTES_MAX);
	int i;

	memset(text, 'x', PACKET_BYTES_MAX);
	text[PACKET_BYTES_MAX - 1] = '\0';
	packet_begin(&out, "w");
	packet_add(&out, text);
	ck_assert(out.full);
	ck_assert_uint_eq(out.n, 1);
	packet_begin(&out, "w");
	for (i = 0; i < PACKET_TEXTS_MAX + 5; i++)
		packet_add(&out, "t");
	ck_assert(out.full);
	ck_assert_uint_eq(out.n, PACKET_TEXTS_MAX);
	free(text);
}
END_TEST

static enum relay_answer
greeted(struct relay_line *line, const char *bytes)
{
	memset(line, 0, sizeof(*line));
	ck_assert_int_eq(
	    send(ends[0], bytes, strlen(bytes), 0), (ssize_t)strlen(bytes));
	return relay_greeting(ends[1], line);
}

START_TEST(the_first_line_is_taken_alone)
{
	struct relay_line line;
	char rest[8] = "";

	open_pair(SOCK_STREAM);
	ck_assert_int_eq(greeted(&line, "+"), RELAY_LATER);
	ck_assert_int_eq(send(ends[0], "\n+OK", 4, 0), 4);
	ck_assert_int_eq(relay_greeting(ends[1], &line), RELAY_YES);
	ck_assert_int_eq(recv(ends[1], rest, sizeof(rest), 0), 3);
	ck_assert_str_eq(rest, "+OK");
	ck_assert_int_eq(greeted(&line, "-nobody there\n"), RELAY_UNREACHABLE);
	ck_assert_str_eq(line.text, "nobody there");
	ck_assert_int_eq(greeted(&line, "!too old\n"), RELAY_REFUSED);
	ck_assert_str_eq(line.text, "too old");
	(void)close(ends[0]);
	memset(&line, 0, sizeof(line));
	ck_assert_int_eq(relay_greeting(ends[1], &line), RELAY_UNREACHABLE);
	ck_assert_str_ne(line.text, "");
	(void)close(ends[1]);
}
END_TEST

static TCase *
relay_case(void)
{
	TCase *tc = tcase_create("relay");

	tcase_add_test(tc, texts_and_a_descriptor_arrive);
	tcase_add_test(tc, an_end_is_told_from_nothing);
	tcase_add_test(tc, what_was_sent_before_the_end_arrives);
	tcase_add_test(tc, nonsense_is_refused);
	tcase_add_test(tc, what_does_not_fit_is_left_out);
	tcase_add_test(tc, the_first_line_is_taken_alone);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { relay_case };

	return suite_run("relay", cases, COUNT(cases));
}
