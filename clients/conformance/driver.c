/*
 * The driver of the conformance story for the library for C.
 * usage: driver ADDRESSES [grace]
 */
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lockbroker.h>

#define BLOCKS_MAX 16
#define LINE_MAX_BYTES 256

struct block {
	bool held;
	bool told;
	bool is_slot;
	char names[LINE_MAX_BYTES]; /* with spaces between them */
};

static struct block blocks[BLOCKS_MAX];

static const char *
word_of(int code)
{
	static const char *const words[] = { "released", "busy", "timeout",
		"lost", "unavailable", "denied", "deadlock", "bad-option" };

	return (size_t)code < sizeof(words) / sizeof(words[0]) ? words[code]
							       : "failed";
}

static bool
is_among(const char *names, const char *name)
{
	const size_t n = strlen(name);
	const char *at = names;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == names || at[-1] == ' ') &&
		    (at[n] == '\0' || at[n] == ' '))
			return true;
		at += n;
	}
	return false;
}

static void
on_lost(void *arg, const char *name, const char *reason)
{
	int i;

	(void)arg;
	(void)reason;
	for (i = 0; i < BLOCKS_MAX; i++) {
		struct block *b = &blocks[i];

		if (b->held && !b->told && is_among(b->names, name)) {
			b->told = true;
			printf("%d told\n", i);
		}
	}
}

static void
say(struct lockbroker *lb, int number, int code, const char *good)
{
	if (code == LOCKBROKER_OK)
		printf("%d %s\n", number, good);
	else
		printf(
		    "%d %s %s\n", number, word_of(code), lockbroker_error(lb));
}

static void
take(struct lockbroker *lb, int number, const char *wait, const char *names)
{
	struct block *b = &blocks[number];
	uint64_t fence = 0;
	char *value, held[32];
	int code;

	b->is_slot = false;
	snprintf(b->names, sizeof(b->names), "%s", names);
	value = strstr(b->names, " value=");
	if (value != NULL)
		*value++ = '\0';
	code = lockbroker_lock(lb, b->names, value,
	    strcmp(wait, "-") == 0 ? -1 : strtoll(wait, NULL, 10), &fence);
	b->held = code == LOCKBROKER_OK;
	snprintf(held, sizeof(held), "held %" PRIu64, fence);
	say(lb, number, code, held);
}

static void
take_slot(struct lockbroker *lb, int number, const char *wait, const char *rest)
{
	struct block *b = &blocks[number];
	unsigned slot = 0, limit = 0;
	char held[32];
	int code;

	sscanf(rest, "%255s %u", b->names, &limit);
	code = lockbroker_acquire_slot(lb, b->names, limit,
	    strcmp(wait, "-") == 0 ? -1 : strtoll(wait, NULL, 10), &slot);
	b->held = code == LOCKBROKER_OK;
	b->is_slot = true;
	snprintf(held, sizeof(held), "held slot=%u", slot);
	say(lb, number, code, held);
}

static void
read_value(struct lockbroker *lb, int number, const char *name)
{
	char *value, good[LINE_MAX_BYTES] = "none";
	int code = lockbroker_value(lb, name, &value);

	if (value != NULL)
		snprintf(good, sizeof(good), "read %s", value);
	free(value);
	say(lb, number, code, good);
}

static void
check(const struct lockbroker *lb, int number)
{
	char names[LINE_MAX_BYTES], *name, *rest = names;
	bool safe = true;

	snprintf(names, sizeof(names), "%s", blocks[number].names);
	while ((name = strtok_r(rest, " ", &rest)) != NULL)
		safe &= lockbroker_valid_ms(lb, name) > 0;
	printf("%d %s\n", number, safe ? "safe" : "lost");
}

static void
give_back(struct lockbroker *lb, int number)
{
	struct block *b = &blocks[number];

	b->held = false;
	say(lb, number,
	    b->is_slot ? lockbroker_release(lb, b->names, 1)
		       : lockbroker_unlock(lb, b->names),
	    "released");
}

static void
obey(struct lockbroker *lb, char *line)
{
	char what[16], wait[16], names[LINE_MAX_BYTES] = "";
	unsigned number;
	int n, code;

	n = sscanf(line, "%15s %u %15s %255[^\n]", what, &number, wait, names);
	if (n == 2 && strcmp(what, "stall") == 0) {
		(void)poll(NULL, 0, (int)number);
		printf("%u stalled\n", number);
		return;
	}
	if (n < 2 || number >= BLOCKS_MAX)
		return;
	if (strcmp(what, "lock") == 0) {
		take(lb, (int)number, wait, names);
	} else if (strcmp(what, "slot") == 0) {
		take_slot(lb, (int)number, wait, names);
	} else if (strcmp(what, "check") == 0) {
		check(lb, (int)number);
	} else if (strcmp(what, "value") == 0) {
		code = lockbroker_set_value(lb, blocks[number].names, wait);
		say(lb, (int)number, code, "valued");
	} else if (strcmp(what, "read") == 0) {
		read_value(lb, (int)number, wait);
	} else if (strcmp(what, "unlock") == 0) {
		give_back(lb, (int)number);
	}
}

/* An event loop: what is told on standard input, and what the broker says. */
static void
serve(struct lockbroker *lb)
{
	char line[LINE_MAX_BYTES];
	size_t len = 0;

	for (;;) {
		struct pollfd fds[] = { { STDIN_FILENO, POLLIN, 0 },
			{ lockbroker_fd(lb), lockbroker_events(lb), 0 } };

		(void)poll(fds, 2, lockbroker_timeout_ms(lb));
		(void)lockbroker_process(lb);
		if (fds[0].revents == 0)
			continue;
		if (len == sizeof(line) - 1 ||
		    read(STDIN_FILENO, line + len, 1) != 1)
			return;
		if (line[len++] == '\n') {
			line[len] = '\0';
			len = 0;
			obey(lb, line);
		}
	}
}

int
main(int argc, char **argv)
{
	struct lockbroker_options options = { .size = sizeof(options) };
	struct lockbroker *lb;

	if (argc > 2 && strcmp(argv[2], "grace") == 0)
		options.grace_ms = 5000;
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* A failure to connect is told by the first request. */
	(void)lockbroker_open(&lb, argc > 1 ? argv[1] : NULL, &options);
	lockbroker_on_lost(lb, on_lost, NULL);
	serve(lb);
	lockbroker_close(lb);
	return 0;
}
