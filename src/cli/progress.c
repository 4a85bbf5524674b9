/*
 * What a person sees on a terminal while `run` waits.
 */
#include "config.h"

#include "cli/progress.h"

#include "base/parse.h"
#include "cli/now.h"
#include "cli/say.h"
#include "cli/timespan.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A lock that is free in a moment is not worth a line. */
#define FIRST_MS 300
#define ASK_EVERY_MS 2000

void
progress_init(struct progress *p)
{
	memset(p, 0, sizeof(*p));
	client_init(&p->client);
	p->next_ms = NEVER_MS;
}

void
progress_fini(struct progress *p)
{
	progress_stop(p);
	client_fini(&p->client);
}

void
progress_start(struct progress *p, const struct client *like, const char *name,
    uint64_t session)
{
	if (!isatty(STDERR_FILENO) || !client_open_like(&p->client, like))
		return;
	p->name = name;
	p->session = session;
	p->began_ms = p->began_ms != 0 ? p->began_ms : now_ms();
	p->next_ms = now_ms() + FIRST_MS;
	p->holder[0] = '\0';
	p->ahead = 0;
}

void
progress_stop(struct progress *p)
{
	if (p->shown)
		say_bytes("\r\033[K", 4);
	p->shown = false;
	p->next_ms = NEVER_MS;
	client_close(&p->client);
}

static size_t
terminal_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		return size.ws_col;
	return 80;
}

/*
 * Cuts the line to the terminal, at a whole character, and takes out what
 * could steer it. A character counts as one column.
 */
static size_t
line_fit(char *text, size_t columns)
{
	size_t i, used = 0;

	for (i = 0; text[i] != '\0'; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
		if (((unsigned char)text[i] & 0xc0) != 0x80 &&
		    ++used >= columns)
			break;
	}
	return i;
}

static void
progress_draw(struct progress *p, int64_t now)
{
	char line[768], waited[TIMESPAN_TEXT_MAX];
	int n;

	n = snprintf(line, sizeof(line), "waiting for %s (%s)%s%s", p->name,
	    timespan_text(now - p->began_ms, waited),
	    p->holder[0] != '\0' ? ": " : "", p->holder);
	if (p->ahead > 0 && n > 0 && (size_t)n < sizeof(line))
		snprintf(line + n, sizeof(line) - (size_t)n, ", %u before us",
		    p->ahead);
	say_bytes("\r\033[K", 4);
	say_bytes(line, line_fit(line, terminal_columns()));
	p->shown = true;
}

/* The value of a field, or "" where the line has none. */
static const char *
value_of(const char *line, const char *key, char *text, size_t size)
{
	struct pair pair;

	text[0] = '\0';
	if (pair_find(line, key, &pair))
		snprintf(text, size, "%.*s", (int)pair.value_len, pair.value);
	return text;
}

static void
holder_read(struct progress *p, const char *line)
{
	char label[80], peer[80], age[TIMESPAN_TEXT_MAX];
	int64_t age_ms = 0;

	value_of(line, "label", label, sizeof(label));
	value_of(line, "peer", peer, sizeof(peer));
	(void)pair_find_ms(line, "age", &age_ms);
	snprintf(p->holder, sizeof(p->holder), "held by %s%s%s%s for %s",
	    label[0] != '\0' ? label : peer,
	    label[0] != '\0' && peer[0] != '\0' ? " (" : "",
	    label[0] != '\0' ? peer : "",
	    label[0] != '\0' && peer[0] != '\0' ? ")" : "",
	    timespan_text(age_ms, age));
}

static bool
is_us(const struct progress *p, const char *line)
{
	struct pair pair;
	uint64_t session;

	return pair_find(line, "session", &pair) &&
	       parse_number(pair.value, pair.value_len, UINT64_MAX, &session) &&
	       session == p->session;
}

static void
queue_read(struct progress *p, const struct message *m)
{
	bool before_us = true;
	size_t i;

	p->ahead = 0;
	for (i = 0; i < m->lines_n; i++) {
		if (strncmp(m->lines[i], "holder ", 7) == 0) {
			holder_read(p, m->lines[i]);
			continue;
		}
		before_us = before_us && !is_us(p, m->lines[i]);
		if (before_us)
			p->ahead++;
	}
}

/* For what the queue of this broker does not show: other brokers' holds. */
static void
status_read(struct progress *p, const struct message *m)
{
	char state[32], broker[80];

	value_of(m->text, "state", state, sizeof(state));
	value_of(m->text, "broker", broker, sizeof(broker));
	if (state[0] == '\0' || strcmp(state, "free") == 0)
		p->holder[0] = '\0';
	else if (broker[0] != '\0')
		snprintf(p->holder, sizeof(p->holder), "held through broker %s",
		    broker);
	else
		snprintf(p->holder, sizeof(p->holder),
		    "held by a plain Redis client, or kept");
}

static void
progress_read(struct progress *p, const struct message *m)
{
	if (m->event || message_status(m) != STATUS_OK)
		return;
	if (message_answers(m, "status"))
		status_read(p, m);
	else if (message_answers(m, "queue"))
		queue_read(p, m);
	if (message_answers(m, "queue"))
		progress_draw(p, now_ms());
}

void
progress_pump(struct progress *p)
{
	struct message m;
	enum client_got got;
	bool open;

	open = client_pump(&p->client);
	while ((got = client_next(&p->client, &m)) == CLIENT_MESSAGE) {
		progress_read(p, &m);
		message_fini(&m);
	}
	/* Go on drawing how long we wait; that much we know. */
	if (!open || got == CLIENT_GARBAGE)
		client_close(&p->client);
}

void
progress_turn(struct progress *p, int64_t now)
{
	p->next_ms = now + ASK_EVERY_MS;
	if (p->client.fd < 0) {
		progress_draw(p, now);
		return;
	}
	/* In this order: the queue knows more about the same holder. */
	client_send(&p->client, "@status STATUS %s", p->name);
	client_send(&p->client, "@queue QUEUE %s", p->name);
}
