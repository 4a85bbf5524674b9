/* The commands for administrators of a broker's users. They need no broker. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auth/secret.h"
#include "auth/users.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/say.h"

#define PATH_BYTES 4096

int
genpass_main(struct cli *cli)
{
	char secret[SECRET_SIZE], hash[SECRET_HASH_SIZE];
	struct json j;

	if (user_name_why(cli->argv[1]) != NULL)
		return say_usage(
		    "'%s' %s", cli->argv[1], user_name_why(cli->argv[1]));
	secret_make(secret, hash);
	if (cli->json) {
		json_begin(&j);
		json_str(&j, "user", cli->argv[1], strlen(cli->argv[1]));
		json_str(&j, "secret", secret, strlen(secret));
		json_str(&j, "hash", hash, strlen(hash));
		json_end(&j);
	} else {
		printf("%s\n%s:%s\n", secret, cli->argv[1], hash);
	}
	explicit_bzero(secret, sizeof(secret));
	return CLI_EXIT_OK;
}

/* In a build the daemon is in our directory; installed it is elsewhere. */
static const char *
daemon_path(char path[PATH_BYTES])
{
	static const char name[] = "lockbrokerd";
	ssize_t n = readlink("/proc/self/exe", path, PATH_BYTES - sizeof(name));

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n > 0) {
		memcpy(path + n, name, sizeof(name));
		if (access(path, X_OK) == 0)
			return path;
	}
	return LOCKBROKER_SBINDIR "/lockbrokerd";
}

/* The daemon reads and checks the configuration, because it is the daemon's. */
int
acl_main(struct cli *cli)
{
	static char acl[] = "--acl", option[] = "--config", end[] = "--";
	char path[PATH_BYTES], *words[10];
	const char *program = daemon_path(path);
	int i, n = 0;

	words[n++] = cli->argv[0];
	words[n++] = acl;
	if (cli->config != NULL) {
		words[n++] = option;
		words[n++] = cli->config;
	}
	words[n++] = end;
	for (i = 1; i < cli->argc; i++)
		words[n++] = cli->argv[i];
	words[n] = NULL;
	execv(program, words);
	say("cannot start %s: %s", program, strerror(errno));
	return CLI_EXIT_INTERNAL;
}
