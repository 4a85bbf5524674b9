/*
 * See handed.h.  The descriptors belong to the whole process, so this state is
 * global.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/handed.h"
#include "base/xmalloc.h"

#define FORM "1:"

static const char *const words[] = {
#define KIND(id, word) [HANDED_##id] = word,
	HANDED_KINDS(KIND)
#undef KIND
};

#define NKINDS (sizeof(words) / sizeof(words[0]))

/* Descriptors that were handed to this process, and are not taken yet. */
static struct handed_list ours;
static bool spare;
static unsigned claimed[HANDED_MAX];
static size_t nclaimed;

void
handed_add(
    struct handed_list *list, enum handed_kind kind, bool any_port, int fd)
{
	if (list->n == HANDED_MAX) {
		list->full = true;
		return;
	}
	list->v[list->n] =
	    (struct handed){ kind, any_port, fd, (unsigned)list->n };
	list->n++;
}

bool
handed_is_place(enum handed_kind kind)
{
	return kind >= HANDED_PASSED;
}

const char *
handed_word(enum handed_kind kind)
{
	return words[kind];
}

char *
handed_text(const struct handed_list *list)
{
	struct buf text;
	char *out;
	size_t i;

	buf_init(&text);
	buf_adds(&text, HANDED_VARIABLE "=" FORM);
	for (i = 0; i < list->n; i++)
		buf_addf(&text, "%s%s%s", i > 0 ? "," : "",
		    words[list->v[i].kind], list->v[i].any_port ? "*" : "");
	out = xstrndup(buf_data(&text), buf_len(&text));
	buf_fini(&text);
	return out;
}

/* Returns NKINDS if the word is unknown. */
static size_t
find_kind(const char *word, size_t len)
{
	size_t kind;

	for (kind = 0; kind < NKINDS; kind++)
		if (strlen(words[kind]) == len &&
		    memcmp(words[kind], word, len) == 0)
			break;
	return kind;
}

/* Takes a word of the list.  Returns false if it is unknown. */
static bool
take_word(const char *word, size_t len)
{
	bool any_port = len > 0 && word[len - 1] == '*';
	int fd = HANDED_FIRST + (int)ours.n;
	size_t kind;

	len -= any_port;
	kind = find_kind(word, len);
	if (kind == NKINDS || ours.full || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return false;
	handed_add(&ours, (enum handed_kind)kind, any_port, fd);
	return !ours.full;
}

bool
handed_take(void)
{
	const char *text = getenv(HANDED_VARIABLE);
	bool ok = true;

	if (text == NULL)
		return true;
	ok = strncmp(text, FORM, strlen(FORM)) == 0;
	for (text += ok ? strlen(FORM) : 0; ok && *text != '\0';
	     text += strspn(text, ",")) {
		ok = take_word(text, strcspn(text, ","));
		text += strcspn(text, ",");
	}
	(void)unsetenv(HANDED_VARIABLE);
	return ok;
}

bool
handed_receive(const char *word, int fd)
{
	size_t kind = find_kind(word, strlen(word));

	spare = true;
	if (kind == NKINDS || ours.n == HANDED_MAX) {
		(void)close(fd);
		return false;
	}
	handed_add(&ours, (enum handed_kind)kind, false, fd);
	return true;
}

bool
handed_is_spare(void)
{
	return spare;
}

int
handed_claimed(size_t i)
{
	return i < nclaimed ? (int)claimed[i] : -1;
}

static int
take(size_t i)
{
	int fd = ours.v[i].fd;

	memmove(
	    &ours.v[i], &ours.v[i + 1], (ours.n - i - 1) * sizeof(ours.v[0]));
	ours.n--;
	return fd;
}

/* Returns the index of the first descriptor of that kind; ours.n if none. */
static size_t
find(enum handed_kind kind)
{
	size_t i;

	for (i = 0; i < ours.n && ours.v[i].kind != kind; i++)
		continue;
	return i;
}

bool
handed_has(enum handed_kind kind)
{
	return find(kind) < ours.n;
}

int
handed_next(enum handed_kind kind)
{
	size_t i = find(kind);

	return i < ours.n ? take(i) : -1;
}

static uint16_t *
port_of(struct sockaddr_storage *sa)
{
	if (sa->ss_family == AF_INET)
		return &((struct sockaddr_in *)(void *)sa)->sin_port;
	if (sa->ss_family == AF_INET6)
		return &((struct sockaddr_in6 *)(void *)sa)->sin6_port;
	return NULL;
}

/* All bytes that it does not use are 0, as in an address to listen at. */
static bool
name_of(int fd, struct sockaddr_storage *out)
{
	socklen_t len = sizeof(*out);

	memset(out, 0, sizeof(*out));
	return getsockname(fd, (struct sockaddr *)out, &len) == 0;
}

int
handed_claim(const struct sockaddr *sa, socklen_t len, enum handed_kind kind)
{
	struct sockaddr_storage wanted, there;
	uint16_t *port;
	bool any_port;
	size_t i;

	memset(&wanted, 0, sizeof(wanted));
	memcpy(&wanted, sa, len);
	port = port_of(&wanted);
	any_port = port != NULL && *port == 0;
	for (i = 0; i < ours.n; i++) {
		if (!handed_is_place(ours.v[i].kind) ||
		    (any_port &&
			(!ours.v[i].any_port || ours.v[i].kind != kind)) ||
		    !name_of(ours.v[i].fd, &there))
			continue;
		if (any_port && port_of(&there) != NULL)
			*port_of(&there) = 0;
		if (memcmp(&wanted, &there, sizeof(wanted)) == 0) {
			claimed[nclaimed++] = ours.v[i].number;
			return take(i);
		}
	}
	return -1;
}

/* -1: with errno. */
static int
bind_tcp(const struct addrinfo *ai, int backlog)
{
	int err, fd = socket(ai->ai_family,
		     SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const int one = 1;

	if (fd < 0)
		return -1;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6) /* 0.0.0.0 may have its own socket */
		(void)setsockopt(
		    fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 &&
	    listen(fd, backlog) == 0)
		return fd;
	err = errno;
	(void)close(fd);
	errno = err;
	return -1;
}

int
handed_listen(const struct addrinfo *ai, enum handed_kind kind, int backlog)
{
	int fd = spare ? bind_tcp(ai, backlog) : -1, err = errno;

	if (fd < 0)
		fd = handed_claim(ai->ai_addr, ai->ai_addrlen, kind);
	if (fd < 0 && !spare)
		return bind_tcp(ai, backlog);
	errno = err;
	return fd;
}

void
handed_drop(void)
{
	struct sockaddr_storage there;
	const struct sockaddr_un *sun = (const void *)&there;
	enum handed_kind kind;
	int fd;

	while (ours.n > 0) {
		kind = ours.v[0].kind;
		fd = take(0);
		/* Paths of the service manager belong to it. */
		if (!spare && handed_is_place(kind) && kind != HANDED_PASSED &&
		    name_of(fd, &there) && sun->sun_family == AF_UNIX &&
		    sun->sun_path[0] == '/')
			(void)unlink(sun->sun_path);
		(void)close(fd);
	}
}
