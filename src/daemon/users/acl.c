/*
 * Decides by the same tables and functions as for a request.
 */
#include "config.h"

#include <string.h>

#include "auth/users.h"
#include "config/config.h"
#include "daemon/users/acl.h"
#include "wire/verbs.h"

#define USAGE 2

static int
wrong(const char *what, const char *word)
{
	fprintf(stderr, "lockbrokerd: --acl: %s '%s'\n", what, word);
	return USAGE;
}

/* Finds the user of that name; "-" stands for a client without a user. */
static bool
find_user(
    const struct config *config, const char *name, const struct user **user)
{
	*user = NULL;
	if (strcmp(name, "-") == 0)
		return true;
	*user = users_find(config->users, (struct span){ name, strlen(name) });
	return *user != NULL;
}

static int
answer(FILE *out, bool may, const struct buf *rule)
{
	fprintf(out, "%s: %.*s\n", may ? "allowed" : "denied",
	    (int)buf_len(rule), buf_data(rule));
	return may ? 0 : ACL_DENIED;
}

int
acl_ask(const struct config *config, int nwords, char *const *words, FILE *out)
{
	struct span name = { nwords > 2 ? words[2] : "", 0 };
	const struct user *user;
	enum verb_id verb;
	struct buf rule;
	int status;

	if (nwords < 2 || nwords > 3)
		return wrong("expected USER VERB [NAME], found too many words:",
		    nwords > 0 ? words[nwords - 1] : "");
	name.n = strlen(name.p);
	verb = verb_find(words[1], strlen(words[1]));
	if (verb == VERB_MAX)
		return wrong("unknown verb", words[1]);
	if (verbs[verb].kind == VERB_WORDS_NAMES && verbs[verb].words_min > 0 &&
	    name.n == 0)
		return wrong("a name is missing after", words[1]);
	if (config->users == NULL) {
		fprintf(out, "allowed: the configuration has no users\n");
		return 0;
	}
	if (!find_user(config, words[0], &user))
		return wrong("unknown user", words[0]);
	buf_init(&rule);
	status =
	    answer(out, user_may(user, verbs[verb].right, name, &rule), &rule);
	buf_fini(&rule);
	return status;
}
