/*
 * OpenSSL, as little of it as the driver needs.
 */
#include "config.h"

#include "secure.h"

#include "peer.h"

#ifdef HAVE_TLS

#include <errno.h>
#include <fcntl.h>
#include <openssl/ssl.h>

/* It is one: there is nothing beside OpenSSL's own. */
static SSL *
ssl_of(struct secure *s)
{
	return (SSL *)(void *)s;
}

static SSL_CTX *
context(void)
{
	static SSL_CTX *made;

	if (made == NULL) {
		made = SSL_CTX_new(TLS_client_method());
		if (made == NULL)
			fail("no context for TLS");
		(void)SSL_CTX_set_mode(
		    made, SSL_MODE_ENABLE_PARTIAL_WRITE |
			      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
		SSL_CTX_set_read_ahead(made, 1);
	}
	return made;
}

struct secure *
secure_new(int fd)
{
	SSL *ssl = SSL_new(context());

	if (ssl == NULL || SSL_set_fd(ssl, fd) != 1 || SSL_connect(ssl) != 1)
		fail("the TLS handshake failed");
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return (struct secure *)(void *)ssl;
}

void
secure_free(struct secure *s)
{
	if (s == NULL)
		return;
	(void)SSL_shutdown(ssl_of(s));
	SSL_free(ssl_of(s));
}

static ssize_t
outcome(struct secure *s, int n)
{
	if (n > 0)
		return n;
	switch (SSL_get_error(ssl_of(s), n)) {
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		errno = EAGAIN;
		return -1;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		errno = ECONNRESET;
		return -1;
	}
}

ssize_t
secure_send(struct secure *s, const char *text, size_t n)
{
	return outcome(s, SSL_write(ssl_of(s), text, (int)n));
}

ssize_t
secure_recv(struct secure *s, char *room, size_t n)
{
	return outcome(s, SSL_read(ssl_of(s), room, (int)n));
}

int
secure_pending(struct secure *s)
{
	return SSL_has_pending(ssl_of(s));
}

#else

struct secure *
secure_new(int fd)
{
	(void)fd;
	fail("this build is without TLS");
}

void
secure_free(struct secure *s)
{
	(void)s;
}

ssize_t
secure_send(struct secure *s, const char *text, size_t n)
{
	(void)s;
	(void)text;
	(void)n;
	return -1;
}

ssize_t
secure_recv(struct secure *s, char *room, size_t n)
{
	(void)s;
	(void)room;
	(void)n;
	return -1;
}

int
secure_pending(struct secure *s)
{
	(void)s;
	return 0;
}

#endif
