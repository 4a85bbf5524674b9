/* Shows the user why `run` waits. */
#include "config.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "cli/login.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/timespan.h"

/* A lock that is free after a moment is not worth a line. */
#define FIRST_MS 300
#define ASK_EVERY_MS 2000
#define DRAW_EVERY_MS 1000
/*
 * Answers that need Redis may take longer; if Redis is away, don't wait for
 * them.
 */
#define LATE_MS 300

void
progress_init(struct progress *p)
{
	memset(p, 0, sizeof(*p));
	client_init(&p->client, login_line());
	p->next_ms = NEVER_MS;
}

void
progress_fini(struct progress *p)
{
	progress_stop(p);
	client_fini(&p->client);
}

void
progress_begin(struct progress *p, enum progress_mode mode, const char *name,
    bool semaphore)
{
	p->mode = mode;
	p->name = name;
	p->semaphore = semaphore;
	p->began_ms = now_ms();
	p->drawn_ms = 0;
	p->reason[0] = p->told[0] = '\0';
}

void
progress_start(struct progress *p, const struct client *like, uint64_t session)
{
	if (p->mode == PROGRESS_OFF || !client_open_like(&p->client, like))
		return;
	p->session = session;
	p->next_ms = now_ms() + FIRST_MS;
	p->due = 0;
	p->reason[0] = '\0';
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
 * Cuts the line to the terminal, at a whole character, and removes bytes that
 * could control it. A character counts as one column.
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
line_draw(struct progress *p, int64_t now)
{
	char line[768], waited[TIMESPAN_TEXT_MAX];

	snprintf(line, sizeof(line), "waiting for %s (%s)%s%s", p->name,
	    timespan_text((now - p->began_ms) / 1000 * 1000, waited),
	    p->reason[0] != '\0' ? ": " : "", p->reason);
	say_bytes("\r\033[K", 4);
	say_bytes(line, line_fit(line, terminal_columns()));
	p->shown = true;
}

/* The same reason with other numbers is not shown again. */
static bool
is_told(const struct progress *p)
{
	const char *a = p->reason, *b = p->told;

	for (;;) {
		a += strspn(a, "0123456789.:");
		b += strspn(b, "0123456789.:");
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

static void
words_say(struct progress *p)
{
	if (p->told[0] != '\0' && is_told(p))
		return;
	memcpy(p->told, p->reason, sizeof(p->told));
	if (p->reason[0] != '\0')
		say("%s: waiting; %s", p->name, p->reason);
}

static void
progress_show(struct progress *p, int64_t now)
{
	if (p->mode == PROGRESS_LINE)
		line_draw(p, now);
	else if (p->mode == PROGRESS_WORDS)
		words_say(p);
}

void
progress_reason(struct progress *p, const char *fmt, ...)
{
	const int64_t now = now_ms();
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, ap);
	va_end(ap);
	if (now - p->began_ms < FIRST_MS || now < p->drawn_ms + DRAW_EVERY_MS)
		return;
	progress_show(p, now);
	p->drawn_ms = now;
}

/* Writes the time by our own clock, which the user here sees. */
static void
clock_text(int64_t age_ms, char *text, size_t size)
{
	const time_t now = time(NULL), then = now - (time_t)(age_ms / 1000);
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&then, &tm) == NULL)
		return;
	if (now - then < 24 * 3600)
		(void)strftime(text, size, "%H:%M:%S", &tm);
	else
		(void)strftime(text, size, "%Y-%m-%d %H:%M", &tm);
}

static void
since_read(struct progress_seen *seen, const char *line)
{
	int64_t age_ms;

	seen->since_ms =
	    pair_find_ms(line, "age", &age_ms) ? now_ms() - age_ms : NEVER_MS;
}

static void
holder_read(struct progress_seen *seen, const char *line)
{
	char label[80], peer[80], away[80];

	pair_text(line, "label", label, sizeof(label));
	pair_text(line, "peer", peer, sizeof(peer));
	if (label[0] == '\0' && peer[0] == '\0') {
		pair_text(line, "session", away, sizeof(away));
		snprintf(label, sizeof(label), "session %.60s", away);
	}
	if (pair_text(line, "away", away, sizeof(away))[0] != '\0')
		snprintf(peer, sizeof(peer), "disconnected");
	snprintf(seen->holder, sizeof(seen->holder), "held by %s%s%s%s",
	    label[0] != '\0' ? label : peer,
	    label[0] != '\0' && peer[0] != '\0' ? " (" : "",
	    label[0] != '\0' ? peer : "",
	    label[0] != '\0' && peer[0] != '\0' ? ")" : "");
	since_read(seen, line);
}

static bool
is_us(const struct progress *p, const char *line)
{
	return p->session != 0 && pair_number(line, "session") == p->session;
}

/* Reads the holder. STATUS shows as much about one without a session. */
static void
queue_read(struct progress *p, const struct message *m)
{
	bool before_us = true;
	struct pair session;
	size_t i;

	for (i = 0; i < m->lines_n; i++) {
		if (strncmp(m->lines[i], "holder ", 7) == 0) {
			if (pair_find(m->lines[i], "session", &session))
				holder_read(&p->seen, m->lines[i]);
			continue;
		}
		before_us = before_us && !is_us(p, m->lines[i]);
		if (before_us)
			p->seen.ahead++;
	}
	p->seen.more = before_us;
}

static void
semaphore_read(struct progress_seen *seen, const struct message *m)
{
	char limit[32], available[32];

	pair_text(m->text, "limit", limit, sizeof(limit));
	pair_text(m->text, "free", available, sizeof(available));
	if (strcmp(available, "0") == 0)
		snprintf(seen->holder, sizeof(seen->holder),
		    "all of the %s permits are taken", limit);
}

/* Makes the reason from all answers of a round. */
static void
reason_make(struct progress *p)
{
	const struct progress_seen *seen = &p->seen;
	const bool line = p->mode == PROGRESS_LINE;
	char when[TIMESPAN_TEXT_MAX], ahead[64] = "";
	int64_t age_ms;

	p->reason[0] = '\0';
	if (seen->ahead > 0)
		snprintf(ahead, sizeof(ahead), ", %s%u in front",
		    seen->more ? "at least " : "", seen->ahead);
	if (seen->holder[0] == '\0') {
		snprintf(p->reason, sizeof(p->reason), "%s", seen->unready);
		return;
	}
	if (seen->since_ms == NEVER_MS) {
		snprintf(p->reason, sizeof(p->reason), "%.300s%s", seen->holder,
		    ahead);
		return;
	}
	age_ms = now_ms() - seen->since_ms;
	if (line)
		timespan_text(age_ms / 1000 * 1000, when);
	else
		clock_text(age_ms, when, sizeof(when));
	snprintf(p->reason, sizeof(p->reason), "%.300s %s %s%s", seen->holder,
	    line ? "for" : "since", when, ahead);
}

const char *
progress_why(struct progress *p)
{
	if (p->client.fd >= 0 && p->seen.holder[0] != '\0')
		reason_make(p);
	return p->reason;
}

/* Counts an answer; the last one ends the round. */
static void
round_end(struct progress *p)
{
	if (p->due == 0 || --p->due > 0)
		return;
	reason_make(p);
	progress_show(p, now_ms());
	p->next_ms = now_ms() + ASK_EVERY_MS;
}

/* Reads who holds a name through another broker, which may have sent the label
 * and the time of the grant. */
static void
far_read(struct progress_seen *seen, const struct message *m,
    const char *broker, const char *address)
{
	char label[80];
	struct pair session;
	bool known = pair_find(m->text, "session", &session);

	pair_text(m->text, "label", label, sizeof(label));
	snprintf(seen->holder, sizeof(seen->holder),
	    "held %s%s%s%.*s%sthrough broker %s%s%.150s", known ? "by " : "",
	    known && label[0] == '\0' ? "session " : "", label,
	    known && label[0] == '\0' ? (int)session.value_len : 0,
	    known ? session.value : "", known ? " " : "", broker,
	    address[0] != '\0' ? " at " : "", address);
	if (known)
		since_read(seen, m->text);
}

/*
 * Reads about holds through other brokers, which this broker's queue does not
 * show. The answer comes last, or later, because the broker may have to ask
 * Redis.
 */
static void
status_read(struct progress *p, const struct message *m)
{
	struct progress_seen *seen = &p->seen;
	char state[32], broker[80], address[300], span[TIMESPAN_TEXT_MAX];
	int64_t until_ms;

	pair_text(m->text, "state", state, sizeof(state));
	pair_text(m->text, "broker", broker, sizeof(broker));
	pair_text(m->text, "address", address, sizeof(address));
	if (state[0] == '\0' || strcmp(state, "free") == 0)
		return;
	if (seen->holder[0] != '\0')
		return;
	if (pair_find_ms(m->text, "until", &until_ms))
		snprintf(seen->holder, sizeof(seen->holder),
		    "reserved (keep= or delay=) for another %s",
		    timespan_text(until_ms, span));
	else if (broker[0] != '\0')
		far_read(seen, m, broker, address);
	else
		snprintf(seen->holder, sizeof(seen->holder),
		    "held by a plain Redis client, or reserved");
}

static void
unready_read(struct progress_seen *seen, const struct message *m)
{
	const char *text = message_error(m);

	if (!message_error_is(m, "unavailable"))
		return;
	text += strcspn(text, " ");
	timespans_in_text(
	    text + strspn(text, " "), seen->unready, sizeof(seen->unready));
}

static void
progress_read(struct progress *p, const struct message *m)
{
	if (m->event)
		return;
	if (message_status(m) != STATUS_OK) {
		unready_read(&p->seen, m);
		p->next_ms = now_ms() + LATE_MS;
	} else if (message_answers(m, "queue")) {
		queue_read(p, m);
	} else if (message_answers(m, "status") && p->semaphore) {
		semaphore_read(&p->seen, m);
	} else if (message_answers(m, "status")) {
		status_read(p, m);
	}
	round_end(p);
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
	/* Continue to show how long we wait: that is known. */
	if (!open || got == CLIENT_GARBAGE)
		client_close(&p->client);
}

static void
progress_ask(struct progress *p)
{
	memset(&p->seen, 0, sizeof(p->seen));
	p->seen.since_ms = NEVER_MS;
	p->due = 2;
	client_send(&p->client, "@ready READY");
	if (!p->semaphore) {
		p->due++;
		client_send(&p->client, "@queue QUEUE %s", p->name);
	}
	client_send(&p->client, "@status STATUS %s%s", p->name,
	    p->semaphore ? " kind=semaphore" : "");
}

/* A late answer may be waiting for Redis, as we are. */
void
progress_turn(struct progress *p, int64_t now)
{
	p->next_ms = now + ASK_EVERY_MS;
	if (p->client.fd < 0) {
		progress_show(p, now);
	} else if (p->due == 0) {
		progress_ask(p);
	} else {
		reason_make(p);
		progress_show(p, now);
	}
}
