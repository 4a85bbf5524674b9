/*
 * Which user this command is to brokers: one user for all connections of a
 * process. The password comes from a file, because everybody on the host could
 * read an argument.
 */
#ifndef LOCKBROKER_CLI_LOGIN_H
#define LOCKBROKER_CLI_LOGIN_H

/* Sets what the command line gives; borrowed. */
void login_user(const char *user);
void login_password_file(const char *path);

/*
 * Reads the password, after $LOCKBROKER_USER and $LOCKBROKER_PASSWORD_FILE have
 * filled in what the command line left out. Returns 0, or an exit status after
 * it has said what is wrong.
 */
int login_read(void);

/* Returns the first line of each connection, without its end, or NULL. */
const char *login_line(void);

/* Forgets user and password. */
void login_fini(void);

#endif
