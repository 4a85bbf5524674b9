/*
 * `lockbroker shell`: a prompt for requests, which shows replies and events as
 * they come.
 *
 * Lines go out and come back unchanged; the terminal does the editing. Input is
 * read as bytes: no stdio buffer may hide a line from poll(2).
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/say.h"

#define INPUT_BYTES 4096

/* With more output that the broker has not taken yet, no input is read. */
#define OUTPUT_BYTES_MAX 65536

/* No broker takes a longer line. */
#define LINE_BYTES_MAX (1024 * 1024)

/* One session at the prompt. Lives on the stack of shell_main(). */
struct shell {
	struct client client;
	struct buf typed;
	bool prompting; /* standard input is a terminal */
	bool at_prompt; /* a prompt stands at the end of the line */
	bool reading;	/* standard input has not ended */
	bool leaving;	/* QUIT was typed */
	int status;
};

static void
prompt(struct shell *s)
{
	if (s->prompting && s->reading && !s->leaving && !s->at_prompt) {
		printf("%s> ", s->client.address->text);
		s->at_prompt = true;
	}
	(void)fflush(stdout);
}

static void
show(struct shell *s, const struct message *m)
{
	size_t i;

	if (s->at_prompt)
		printf("\r\033[K");
	s->at_prompt = false;
	printf("%s%s%s%s\n", m->tag[0] != '\0' ? "@" : "", m->tag,
	    m->tag[0] != '\0' ? " " : "", m->text);
	for (i = 0; i < m->lines_n; i++)
		printf("%s\n", m->lines[i]);
}

/*
 * There is nothing more to send: the broker handles what it has, then closes.
 */
static void
end_input(struct shell *s)
{
	if (s->at_prompt)
		printf("\n");
	s->at_prompt = false;
	s->reading = false;
}

static bool
is_leave(const char *line, size_t n)
{
	return n == 4 && (strncasecmp(line, "quit", 4) == 0 ||
			     strncasecmp(line, "exit", 4) == 0);
}

static void
type_line(struct shell *s, const char *line, size_t n)
{
	if (n > 0 && line[n - 1] == '\r')
		n--;
	s->at_prompt = false;
	s->leaving = is_leave(line, n);
	if (s->leaving)
		client_send(&s->client, "QUIT");
	else if (n > 0)
		client_send(&s->client, "%.*s", (int)n, line);
	else
		prompt(s);
}

static void
read_input(struct shell *s)
{
	const char *data, *end;
	ssize_t got;
	size_t n;

	got = read(
	    STDIN_FILENO, buf_reserve(&s->typed, INPUT_BYTES), INPUT_BYTES);
	if (got < 0 && errno == EINTR)
		return;
	if (got > 0)
		buf_added(&s->typed, (size_t)got);
	while (buf_len(&s->typed) > 0) {
		data = buf_data(&s->typed);
		n = buf_len(&s->typed);
		end = memchr(data, '\n', n);
		/*
		 * At the end of input, a line without a line end counts, too.
		 */
		if (end == NULL && got > 0)
			break;
		n = end != NULL ? (size_t)(end - data) : n;
		type_line(s, data, n);
		buf_consume(&s->typed, end != NULL ? n + 1 : n);
	}
	if (buf_len(&s->typed) > LINE_BYTES_MAX) {
		s->status = say_usage("this line is too long");
		got = 0;
	}
	if (got <= 0)
		end_input(s);
}

/* Returns false when the session is over. */
static bool
read_broker(struct shell *s)
{
	enum client_got got;
	struct message m;
	bool open, shown = false;

	open = client_pump(&s->client);
	while ((got = client_next(&s->client, &m)) == CLIENT_MESSAGE) {
		show(s, &m);
		shown = true;
		message_fini(&m);
	}
	if (got == CLIENT_GARBAGE) {
		say_code("protocol", "%s: %s", s->client.address->text,
		    CLIENT_GARBAGE_WHY);
		s->status = CLI_EXIT_PROTOCOL;
		return false;
	}
	if (open && shown)
		prompt(s);
	return open;
}

static void
shell_loop(struct shell *s)
{
	struct pollfd pfd[2] = { 0 };
	bool shut = false;

	prompt(s);
	for (;;) {
		pfd[0].fd = s->client.fd;
		pfd[0].events = client_events(&s->client);
		pfd[1].fd =
		    s->reading && buf_len(&s->client.out) < OUTPUT_BYTES_MAX
			? STDIN_FILENO
			: -1;
		pfd[1].events = POLLIN;
		if (poll(pfd, 2, -1) < 0)
			continue;
		if (pfd[0].revents != 0 && !read_broker(s))
			break;
		if (pfd[1].revents != 0)
			read_input(s);
		if (!s->reading && !shut && buf_len(&s->client.out) == 0)
			shut = shutdown(s->client.fd, SHUT_WR) == 0;
	}
	(void)fflush(stdout);
}

int
shell_main(struct cli *cli, int argc, char **argv)
{
	struct shell s;

	(void)argc;
	(void)argv;
	memset(&s, 0, sizeof(s));
	buf_init(&s.typed);
	s.status = ask_open(cli, &s.client);
	if (s.status == CLI_EXIT_OK) {
		s.prompting = isatty(STDIN_FILENO) == 1;
		s.reading = true;
		shell_loop(&s);
		if (s.reading && !s.leaving && s.status == CLI_EXIT_OK) {
			say_code("unreachable", "%s: %s",
			    s.client.address->text, s.client.why);
			s.status = CLI_EXIT_UNREACHABLE;
		}
	}
	buf_fini(&s.typed);
	client_fini(&s.client);
	return s.status;
}
