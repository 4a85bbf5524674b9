/*
 * The user as whom this command logs in to brokers: one user for all
 * connections of a process. The password comes from a file, because any user of
 * the host could read an argument.
 */
#ifndef LOCKBROKER_CLI_LOGIN_H
#define LOCKBROKER_CLI_LOGIN_H

/* Sets the user that the command line names; borrowed. */
void login_user(const char *user);
void login_password_file(const char *path);

/*
 * Reads the password, after $LOCKBROKER_USER and $LOCKBROKER_PASSWORD_FILE have
 * supplied what the command line lacks. Returns 0, or an exit status after
 * printing what is wrong.
 */
int login_read(void);

/* Returns the first line of each connection, without its end, or NULL. */
const char *login_line(void);

/* Forgets user and password. */
void login_fini(void);

#endif
