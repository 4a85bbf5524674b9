/*
 * Fuzzes the file of users, patterns and rights: any text makes a set of
 * users, or faults of one line each.
 *
 * The input is the text of the file; its first line also serves as a pattern,
 * and its last as a name that somebody asks for.
 */
#include "config.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/pattern.h"
#include "auth/users.h"
#include "base/xmalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char file_name[] = "users";

static void
check_faults(const struct buf *why)
{
	const char *p = buf_data(why), *end = p + buf_len(why), *line_end;

	assert(buf_len(why) > 0 && end[-1] == '\n');
	for (; p < end; p = line_end + 1) {
		line_end = memchr(p, '\n', (size_t)(end - p));
		assert(strncmp(p, "users:", 6) == 0);
		assert(line_end != NULL);
	}
}

/* If nobody may use a name, every way to it is denied, and there is always a
 * rule to tell. */
static void
check_rights(const struct user *user, struct span name, struct buf *rule)
{
	enum right right;

	for (right = RIGHT_NONE; right <= RIGHT_ADMIN; right++) {
		buf_clear(rule);
		assert(user_may(user, right, name, rule) ==
		       user_may(user, right, name, NULL));
		assert(buf_len(rule) > 0);
	}
	/* The only pattern is `deny: *`. */
	assert(!user_may(user, RIGHT_LOCK, (struct span){ "x", 1 }, NULL));
}

static void
check_set(const struct users *users, struct span name, struct buf *text)
{
	const struct user *user = users_find(users, name);

	buf_clear(text);
	users_tell_idle(users, text);
	assert(users_decoy(users) != NULL);
	check_rights(NULL, name, text);
	if (user == NULL)
		return;
	assert(user_name_why(user_name(user)) == NULL);
	assert(strlen(user_name(user)) == name.n);
	check_rights(user, name, text);
}

/* A pattern that matches a name still matches it with '*' appended. */
static void
check_pattern(const char *pattern, struct span name)
{
	size_t n = strlen(pattern);
	char *longer;

	if (pattern_why(pattern) != NULL || pattern[n - 1] == '*')
		return;
	longer = xmalloc(n + 2);
	memcpy(longer, pattern, n);
	memcpy(longer + n, "*", 2);
	if (pattern_matches(pattern, name, "u"))
		assert(pattern_matches(longer, name, "u"));
	free(longer);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char star[] = "*", *all[] = { star };
	char *text = xstrndup((const char *)data, size);
	size_t n = strlen(text), first = strcspn(text, "\n"), last = n;
	struct auth_settings auth = {
		.given = true, .users_file = file_name, .users_text = text
	};
	struct auth_user known = { .name = (char[]){ "known" },
		.hash = (char[]){ "" },
		.rights.deny = { all, 1 } };
	struct users *users;
	struct span name;
	struct buf why;

	while (last > 0 && text[last - 1] != '\n')
		last--;
	name = (struct span){ text + last, n - last };
	auth.users.v = &known;
	auth.users.n = 1;
	buf_init(&why);
	users = users_new(&auth, &why);
	if (users == NULL)
		check_faults(&why);
	else
		check_set(users, name, &why);
	users_free(users);
	buf_fini(&why);
	if (first < n) {
		text[first] = '\0';
		check_pattern(text, name);
	}
	free(text);
	return 0;
}
