/*
 * Who this command says it is to brokers: one user a process, for all its
 * connections. The password comes from a file: an argument could be read by
 * everybody on the host.
 */
#ifndef LOCKBROKER_CLI_LOGIN_H
#define LOCKBROKER_CLI_LOGIN_H

/* What the command line says; borrowed. */
void login_user(const char *user);
void login_password_file(const char *path);

/*
 * Reads the password, after $LOCKBROKER_USER and $LOCKBROKER_PASSWORD_FILE
 * have filled in what the command line left out. Returns 0, or says what is
 * wrong and returns an exit status.
 */
int login_read(void);

/* The first line of each connection, without its end; NULL: there is none. */
const char *login_line(void);

/* Forgets all of it. */
void login_fini(void);

#endif
