/*
 * Users and their rights.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth/auth.h"
#include "auth/users.h"
#include "base/xmalloc.h"
#include "suite.h"
#include "test_auth.h"

#define HASH \
	"sha256:2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
#define SLOW "$5$saltsalt$x"

#define WORDS(...)                                                     \
	{                                                              \
		(char *[]){ __VA_ARGS__ },                             \
		    sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *) \
	}

static char file_name[] = "/etc/users", no_hash[] = "", cheap[] = HASH;
static char deploy[] = "deploy", ops[] = "ops", ci[] = "ci";
static char p_deploy[] = "deploy/*", p_secret[] = "deploy/secret*";
static char p_all[] = "*", p_own[] = "%u/*", p_public[] = "public/*";
static char root[] = "root", root_group[] = "%root";
static char cn[] = "CN=deploy", dns[] = "DNS:d.example.org";

static struct auth_user two[] = {
	{ .name = deploy,
	    .hash = no_hash,
	    .certificates = WORDS(cn, dns),
	    .rights = { .lock = WORDS(p_deploy, p_own),
		.watch = WORDS(p_all),
		.deny = WORDS(p_secret) } },
	{ .name = ops,
	    .hash = cheap,
	    .peers = WORDS(root),
	    .rights = { .admin = true } },
};

static struct auth_settings settings;
static struct users *users;
static struct buf why;

static struct span
span(const char *s)
{
	return (struct span){ s, strlen(s) };
}

static void
make(const char *text)
{
	char *copy = xstrdup(text);

	users_free(users);
	buf_clear(&why);
	settings.users_text = copy;
	users = users_new(&settings, &why);
	free(copy);
}

static void
setup(void)
{
	settings = (struct auth_settings){
		.given = true, .users_file = file_name, .users = { two, 2 }
	};
	buf_init(&why);
	make("");
	ck_assert_ptr_nonnull(users);
}

static void
teardown(void)
{
	users_free(users);
	users = NULL;
	buf_fini(&why);
}

struct right_row {
	const char *user; /* NULL: nobody */
	enum right right;
	const char *name;
	bool may;
};

static const struct right_row rights[] = {
	{ NULL, RIGHT_NONE, "", true },
	{ NULL, RIGHT_USER, "", false },
	{ NULL, RIGHT_WATCH, "deploy/x", false },
	{ NULL, RIGHT_LOCK, "deploy/x", false },
	{ NULL, RIGHT_ADMIN, "", false },
	{ "deploy", RIGHT_NONE, "", true },
	{ "deploy", RIGHT_USER, "", true },
	{ "deploy", RIGHT_LOCK, "deploy/x", true },
	{ "deploy", RIGHT_WATCH, "deploy/x", true },
	{ "deploy", RIGHT_LOCK, "other", false },
	{ "deploy", RIGHT_WATCH, "other", true },
	{ "deploy", RIGHT_LOCK, "deploy/secret", false },
	{ "deploy", RIGHT_WATCH, "deploy/secrets", false },
	{ "deploy", RIGHT_LOCK, "ops/x", false },
	{ "deploy", RIGHT_ADMIN, "", false },
	{ "deploy", RIGHT_ADMIN, "deploy/x", false },
	{ "ops", RIGHT_LOCK, "x", false },
	{ "ops", RIGHT_WATCH, "x", true },
	{ "ops", RIGHT_ADMIN, "", true },
	{ "ops", RIGHT_ADMIN, "x", true },
};

START_TEST(right)
{
	const struct right_row *row = &rights[_i];
	const struct user *user = NULL;
	struct buf rule;
	bool may;

	buf_init(&rule);
	if (row->user != NULL)
		user = users_find(users, span(row->user));
	may = user_may(user, row->right, span(row->name), &rule);
	ck_assert_msg(may == row->may, "row %d: %.*s", _i, (int)buf_len(&rule),
	    buf_data(&rule));
	ck_assert_uint_gt(buf_len(&rule), 0);
	ck_assert(user_may(user, row->right, span(row->name), NULL) == may);
	buf_fini(&rule);
}
END_TEST

START_TEST(the_rule_is_told)
{
	const struct user *user = users_find(users, span("deploy"));
	struct buf rule;

	buf_init(&rule);
	(void)user_may(user, RIGHT_LOCK, span("deploy/secret"), &rule);
	buf_addc(&rule, '\0');
	ck_assert_str_eq(buf_data(&rule), "deny \"deploy/secret*\"");
	buf_fini(&rule);
}
END_TEST

START_TEST(whoever_does_not_say_is_anonymous_if_that_is_allowed)
{
	ck_assert_ptr_null(users_anonymous(users));
	ck_assert_ptr_null(users_find(users, span("anonymous")));
	settings.anonymous.given = true;
	settings.anonymous.rights.lock =
	    (struct auth_words){ (char *[]){ p_public }, 1 };
	make("");
	ck_assert_ptr_eq(
	    users_find(users, span("anonymous")), users_anonymous(users));
	ck_assert(user_may(
	    users_anonymous(users), RIGHT_LOCK, span("public/x"), NULL));
	ck_assert(
	    !user_may(users_anonymous(users), RIGHT_LOCK, span("x"), NULL));
	ck_assert_str_eq(user_hash(users_anonymous(users)), "");
}
END_TEST

START_TEST(peers)
{
	char nobody[] = "nobody";
	gid_t gids[] = { 12345, 0 };
	struct peer_credentials peer = { 0, gids, 1 };

	ck_assert_ptr_eq(
	    users_by_peer(users, &peer), users_find(users, span("ops")));
	peer.uid = 54321;
	peer.ngids = 2;
	ck_assert_ptr_null(users_by_peer(users, &peer));
	two[1].peers.v[0] = root_group;
	make("");
	ck_assert_ptr_eq(
	    users_by_peer(users, &peer), users_find(users, span("ops")));
	peer.ngids = 1;
	ck_assert_ptr_null(users_by_peer(users, &peer));
	/* Whoever comes from another user namespace looks like nobody. */
	two[1].peers.v[0] = nobody;
	make("");
	peer.uid = 65534;
	ck_assert_ptr_null(users_by_peer(users, &peer));
}
END_TEST

START_TEST(certificates)
{
	const struct user *user = users_find(users, span("deploy"));

	ck_assert_ptr_eq(users_by_certificate(users, span(cn)), user);
	ck_assert_ptr_eq(users_by_certificate(users, span(dns)), user);
	ck_assert_ptr_null(users_by_certificate(users, span("CN=deploy2")));
	ck_assert_ptr_null(users_by_certificate(users, span("CN=deplo")));
	ck_assert_ptr_null(users_by_certificate(users, span("")));
}
END_TEST

START_TEST(the_file)
{
	make("# who may\n\ndeploy:" SLOW "\r\nci:" HASH "\n");
	ck_assert_ptr_nonnull(users);
	ck_assert_str_eq(user_hash(users_find(users, span("deploy"))), SLOW);
	ck_assert_str_eq(user_hash(users_find(users, span("ci"))), HASH);
	ck_assert(!user_may(
	    users_find(users, span(ci)), RIGHT_WATCH, span("x"), NULL));
	ck_assert_str_eq(users_decoy(users), SLOW);
	users_tell_idle(users, &why);
	buf_addc(&why, '\0');
	ck_assert_str_eq(buf_data(&why),
	    "/etc/users:4: ci has no rights: add the user to auth.users\n");
}
END_TEST

START_TEST(those_who_cant_come_are_told)
{
	two[0].certificates.n = 0;
	make("");
	two[0].certificates.n = 2;
	users_tell_idle(users, &why);
	buf_addc(&why, '\0');
	ck_assert_str_eq(buf_data(&why),
	    "auth.users: no client can log in as deploy: give it a hash, unix "
	    "or certificate\n");
	ck_assert_str_eq(users_decoy(users), "");
}
END_TEST

struct fault_row {
	const char *text;
	const char *why;
};

static const struct fault_row faults[] = {
	{ "deploy\n", "/etc/users:1: this line is not NAME:HASH\n" },
	{ "\n\n:" HASH "\n",
	    "/etc/users:3: this line has no name of a user\n" },
	{ "a b:" HASH,
	    "/etc/users:1: this line has a name with other characters than "
	    "letters, digits and . _ - + @\n" },
	{ "anonymous:" HASH,
	    "/etc/users:1: this line has a name that is reserved for "
	    "unauthenticated clients\n" },
	{ "ops:" HASH,
	    "/etc/users:1: this line gives a second hash to a user that has "
	    "one\n" },
	{ "ci:" HASH "\nci:" HASH,
	    "/etc/users:2: this line gives a second hash to a user that has "
	    "one\n" },
	{ "ci:plain",
	    "/etc/users:1: this line is neither \"sha256:\" with 64 digits "
	    "nor a hash of crypt(3), which begins with \"$\"\n" },
};

START_TEST(fault)
{
	const struct fault_row *row = &faults[_i];

	make(row->text);
	ck_assert_ptr_null(users);
	buf_addc(&why, '\0');
	ck_assert_str_eq(buf_data(&why), row->why);
}
END_TEST

START_TEST(unknown_peers_are_faults)
{
	static char nobody_has_it[] = "no-such-user-here";
	static char no_group[] = "%no-such-group-here";
	char *both[] = { nobody_has_it, no_group };

	two[1].peers = (struct auth_words){ both, 2 };
	make("");
	ck_assert_ptr_null(users);
	buf_addc(&why, '\0');
	ck_assert_str_eq(buf_data(&why),
	    "auth.users: ops: unix: user \"no-such-user-here\" does "
	    "not exist on this host\n"
	    "auth.users: ops: unix: group \"no-such-group-here\" does "
	    "not exist on this host\n");
}
END_TEST

TCase *
users_cases(void)
{
	TCase *tc = tcase_create("users");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, right, 0, (int)COUNT(rights));
	tcase_add_test(tc, the_rule_is_told);
	tcase_add_test(
	    tc, whoever_does_not_say_is_anonymous_if_that_is_allowed);
	tcase_add_test(tc, peers);
	tcase_add_test(tc, certificates);
	tcase_add_test(tc, the_file);
	tcase_add_test(tc, those_who_cant_come_are_told);
	tcase_add_loop_test(tc, fault, 0, (int)COUNT(faults));
	tcase_add_test(tc, unknown_peers_are_faults);
	return tc;
}
