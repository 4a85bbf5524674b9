/*
 * The section auth of the configuration: src/config fills it in, and a set of
 * users is made from it.
 */
#ifndef LOCKBROKER_AUTH_AUTH_H
#define LOCKBROKER_AUTH_AUTH_H

#include <stdbool.h>
#include <stddef.h>

/* Strings; the configuration owns them. */
struct auth_words {
	char **v;
	size_t n;
};

/* The rights of a user: patterns of names (auth/pattern.h). */
struct auth_rights {
	struct auth_words lock;
	struct auth_words watch;
	struct auth_words deny;
	bool admin;
};

/* The limits of a user, for all its sessions together; 0: no limit. */
struct user_limits {
	unsigned clients;  /* connections */
	unsigned holds;	   /* objects held, waited for or watched */
	unsigned waiters;  /* requests that wait */
	unsigned requests; /* per second */
};

struct auth_user {
	char *name;
	char *hash;		 /* "": in users_file, or none */
	struct auth_words peers; /* users and %groups of this host */
	struct auth_words certificates;
	struct auth_rights rights;
	struct user_limits limits;
};

struct auth_users {
	struct auth_user *v;
	size_t n;
};

struct auth_anonymous {
	bool given; /* false: clients must authenticate */
	struct auth_rights rights;
};

struct auth_settings {
	bool given; /* false: every client may do everything */
	char *users_file;
	char *users_text; /* the content of that file */
	struct auth_users users;
	struct auth_anonymous anonymous;
};

#endif
