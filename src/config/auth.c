/*
 * The types of the section auth, a mapping with users and the patterns of their
 * names, and of metrics.classes, whose names are such patterns, too.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <string.h>

#include "auth/auth.h"
#include "auth/pattern.h"
#include "auth/secret.h"
#include "auth/users.h"
#include "base/limits.h"
#include "config/fields.h"

#define SINGLE "a single value"
#define EXPECTED_USER "a mapping with name, and lock, watch, deny or admin"
#define EXPECTED_CLASS "a mapping with name and names"
#define EXPECTED_PATTERN "a name, or a prefix followed by '*'"
#define CLASS_NAME_MAX 64 /* bytes */

/* Texts. */

static const char *
hash_check(const char *text)
{
	return text[0] == '\0' ? NULL : secret_hash_why(text);
}

static const char *
peer_check(const char *text)
{
	const char *name = text[0] == '%' ? text + 1 : text;

	if (name[0] == '\0')
		return "is empty";
	return strpbrk(name, " \t:/%") == NULL
		   ? NULL
		   : "has a character that user and group names cannot have";
}

static const char *
certificate_check(const char *text)
{
	static const char *const kinds[] = { "CN=", "DNS:", "URI:" };
	size_t i, n;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = strlen(kinds[i]);
		if (strncmp(text, kinds[i], n) == 0)
			return text[n] == '\0' ? "names nothing" : NULL;
	}
	return "is not a name in a certificate";
}

/* Names in no other class are in the class `other`. */
static const char *
class_check(const char *text)
{
	if (text[strspn(text, CONFIG_NAME_CHARACTERS)] != '\0')
		return "has other characters";
	return strcmp(text, "other") == 0 ? "is the class of all other names"
					  : NULL;
}

/* A pattern of a class cannot contain a user, because no user is involved. */
static const char *
names_check(const char *text)
{
	return strstr(text, "%u") != NULL ? "has a user in it"
					  : pattern_why(text);
}

#define TYPE(id, ...) \
	static const struct config_type id##_type = { __VA_ARGS__ }

TYPE(any, CONFIG_TEXT_OF(NULL), .shape = SINGLE);
TYPE(hidden, CONFIG_TEXT_OF(NULL), .is_secret = true, .is_hidden = true);
TYPE(user_name, CONFIG_TEXT_OF(user_name_why), .expected = "the name of a user",
    .shape = SINGLE);
TYPE(hash, CONFIG_TEXT_OF(hash_check), .is_secret = true, .absent = "",
    .shape = SINGLE);
TYPE(peer, CONFIG_TEXT_OF(peer_check),
    .expected = "a user of this host, or a group as \"%group\"");
TYPE(certificate, CONFIG_TEXT_OF(certificate_check),
    .expected = "CN=..., DNS:... or URI:...");
TYPE(pattern, CONFIG_TEXT_OF(pattern_why), .expected = EXPECTED_PATTERN);
TYPE(class_name, CONFIG_TEXT_OF(class_check),
    .expected = "up to 64 letters, digits and . _ -");
TYPE(class_pattern, CONFIG_TEXT_OF(names_check), .expected = EXPECTED_PATTERN);

/* Lists and mappings. */

#define WORDS_OF(type) CONFIG_LIST_OF(struct auth_words, type)

TYPE(peers, WORDS_OF(peer_type), .expected = "a list");
TYPE(certificates, WORDS_OF(certificate_type), .expected = "a list");
TYPE(patterns, WORDS_OF(pattern_type), .expected = "a list");
TYPE(class_patterns, WORDS_OF(class_pattern_type),
    .expected = "a list of names");

/* Users.  The last keys are also those of anonymous. */

#define AT(type, member) .offset = offsetof(struct type, member)
#define RIGHTS(type)                                             \
	{ "lock", &patterns_type, AT(type, rights.lock) },       \
	    { "watch", &patterns_type, AT(type, rights.watch) }, \
	{                                                        \
		"deny", &patterns_type, AT(type, rights.deny)    \
	}

#define LIMIT_MAX 10000000
#define USER_LIMIT(limit)                                            \
	{                                                            \
#limit, &config_type_NUMBER, AT(user_limits, limit), \
		    .min = 0, .max = LIMIT_MAX                       \
	}

static const struct config_field limit_keys[] = {
	USER_LIMIT(clients),
	USER_LIMIT(holds),
	USER_LIMIT(waiters),
	USER_LIMIT(requests),
};

TYPE(user_limits, CONFIG_MAPPING_OF(struct user_limits, limit_keys),
    .may_be_empty = true,
    .expected = "a mapping with clients, holds, waiters or requests",
    .known = "clients, holds, waiters or requests");

static const struct config_field user_keys[] = {
	{ "name", &user_name_type, AT(auth_user, name) },
	{ "hash", &hash_type, AT(auth_user, hash) },
	{ "unix", &peers_type, AT(auth_user, peers) },
	{ "certificate", &certificates_type, AT(auth_user, certificates) },
	RIGHTS(auth_user),
	{ "admin", &config_type_FLAG, AT(auth_user, rights.admin) },
	{ "limits", &user_limits_type, AT(auth_user, limits) },
};

static const struct config_field anonymous_keys[] = { RIGHTS(auth_anonymous) };

TYPE(user, CONFIG_MAPPING_OF(struct auth_user, user_keys), .required = 1,
    .expected = EXPECTED_USER,
    .known =
	"name, hash, unix, certificate, lock, watch, deny, admin or limits");
TYPE(users, CONFIG_LIST_OF(struct auth_users, user_type), .may_be_empty = true,
    .noun = "user", .expected = "a list of users");
TYPE(anonymous, CONFIG_MAPPING_OF(struct auth_anonymous, anonymous_keys),
    .may_be_empty = true, .absent = "",
    .expected = "a mapping with lock, watch or deny",
    .known = "lock, watch or deny");

static const struct config_field auth_keys[] = {
	{ "users_file", &any_type, AT(auth_settings, users_file) },
	{ "users_text", &hidden_type, AT(auth_settings, users_text) },
	{ "users", &users_type, AT(auth_settings, users) },
	{ "anonymous", &anonymous_type, AT(auth_settings, anonymous) },
};

const struct config_type config_type_AUTH = {
	CONFIG_MAPPING_OF(struct auth_settings, auth_keys),
	.expected = "a mapping with users_file, users or anonymous",
	.known = "users_file, users or anonymous",
	.absent = "absent: every client has all rights",
};

/* Patterns of names, for all users. */

const struct config_type config_type_PATTERNS = {
	CONFIG_LIST_OF(struct name_patterns, class_pattern_type),
	.expected = "a list of names",
	.noun = "name",
};

/* Classes. */

static const struct config_field class_keys[] = {
	{ "name", &class_name_type, AT(metrics_class, name), .min = 1,
	    .max = CLASS_NAME_MAX },
	{ "names", &class_patterns_type, AT(metrics_class, names) },
};

TYPE(class, CONFIG_MAPPING_OF(struct metrics_class, class_keys), .required = 2,
    .expected = EXPECTED_CLASS, .known = "name or names");

const struct config_type config_type_CLASSES = {
	CONFIG_LIST_OF(struct metrics_settings, class_type),
	.expected = "a list of classes, each " EXPECTED_CLASS,
	.noun = "class",
};
