/* See login.h. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/exit.h"
#include "cli/login.h"
#include "cli/say.h"

#define PASSWORD_BYTES_MAX 1024

static const char *user;
static const char *file;
static struct buf line; /* with a NUL at its end; empty: no user */

void
login_user(const char *name)
{
	user = name;
}

void
login_password_file(const char *path)
{
	file = path;
}

static const char *
from_environment(const char *name)
{
	const char *text = getenv(name);

	return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Is it one word of the protocol, without a space or a line end? */
static bool
is_word(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p > ' ' && *p != 0x7f)
		p++;
	return *p == '\0' && p != (const unsigned char *)text;
}

/* Reads the first line of a file. Returns false, with errno, on failure. */
static bool
read_first_line(const char *path, char text[PASSWORD_BYTES_MAX + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;
	int error;

	if (fd < 0)
		return false;
	do
		n = read(fd, text, PASSWORD_BYTES_MAX);
	while (n < 0 && errno == EINTR);
	error = errno;
	(void)close(fd);
	errno = error;
	if (n < 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	return true;
}

static int
read_password(void)
{
	char password[PASSWORD_BYTES_MAX + 1];
	int rc = 0;

	if (!read_first_line(file, password)) {
		say("cannot read the password file %s: %s", file,
		    strerror(errno));
		return CLI_EXIT_USAGE;
	}
	if (is_word(password)) {
		buf_addf(&line, "AUTH %s %s", user, password);
		buf_addc(&line, '\0');
		say_has_user();
	} else {
		rc = say_usage("the first line of %s is not a password "
			       "(empty, or has a space)",
		    file);
	}
	explicit_bzero(password, sizeof(password));
	return rc;
}

int
login_read(void)
{
	if (user == NULL)
		user = from_environment("LOCKBROKER_USER");
	if (file == NULL)
		file = from_environment("LOCKBROKER_PASSWORD_FILE");
	if (user == NULL && file == NULL)
		return 0;
	if (user == NULL)
		return say_usage("the password file needs a user: give "
				 "--user or $LOCKBROKER_USER");
	if (file == NULL)
		return say_usage("the user %s needs --password-file or "
				 "$LOCKBROKER_PASSWORD_FILE",
		    user);
	if (!is_word(user))
		return say_usage("'%s' is not a valid user", user);
	return read_password();
}

const char *
login_line(void)
{
	return buf_len(&line) > 0 ? buf_data(&line) : NULL;
}

void
login_fini(void)
{
	if (buf_len(&line) > 0)
		explicit_bzero(buf_data(&line), buf_len(&line));
	buf_fini(&line);
}
