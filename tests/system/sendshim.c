/*
 * In what order a program writes to its sockets.  Preloaded, it notes every
 * send(2) and write(2), before it is done, in the file that $SENDSHIM names: a
 * line with the length, then the bytes.  What arrives at two sockets does not
 * say which of them was written first.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int notes = -1;

__attribute__((constructor)) static void
sendshim_open(void)
{
	const char *path = getenv("SENDSHIM");

	if (path)
		notes =
		    open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static void
note(const void *data, size_t n)
{
	struct iovec pieces[2];
	char head[24];

	if (n == 0 || notes < 0)
		return;
	pieces[0].iov_base = head;
	pieces[0].iov_len = (size_t)snprintf(head, sizeof(head), "%zu\n", n);
	pieces[1].iov_base = (void *)(unsigned long)data;
	pieces[1].iov_len = n;
	if (writev(notes, pieces, 2) < 0)
		abort();
}

/* The front's. */
ssize_t
send(int fd, const void *data, size_t len, int flags)
{
	note(data, len);
	return syscall(SYS_sendto, fd, data, len, flags, NULL, 0);
}

/* That of hiredis. */
ssize_t
write(int fd, const void *data, size_t len)
{
	note(data, len);
	return syscall(SYS_write, fd, data, len);
}
