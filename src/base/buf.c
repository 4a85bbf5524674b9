/*
 * The byte buffer.  It owns its memory and does no I/O.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xmalloc.h"

#define BUF_SIZE_MIN 64

/* Twenty digits are enough for 2^64 - 1. */
#define U64_DIGITS 20

void
buf_init(struct buf *b)
{
	memset(b, 0, sizeof(*b));
}

void
buf_init_secret(struct buf *b)
{
	buf_init(b);
	b->secret = true;
}

/*
 * Wipes part of a secret buffer.  Only the content needs it: all other bytes
 * were wiped when they were consumed or moved.
 */
static void
buf_wipe(const struct buf *b, size_t from, size_t to)
{
	if (b->secret && to > from)
		explicit_bzero(b->mem + from, to - from);
}

void
buf_fini(struct buf *b)
{
	bool secret = b->secret;

	buf_wipe(b, b->head, b->tail);
	free(b->mem);
	buf_init(b);
	b->secret = secret;
}

void
buf_trim(struct buf *b, size_t keep)
{
	if (buf_len(b) == 0 && b->size > keep)
		buf_fini(b);
}

/*
 * Makes room after the tail.  It moves the content down only if at least half
 * of the memory is free in front of it: then the next move is at least as many
 * bytes away as this one moves.
 */
static void
buf_grow(struct buf *b, size_t n)
{
	size_t len = buf_len(b);
	size_t size = b->size < BUF_SIZE_MIN ? BUF_SIZE_MIN : b->size;
	char *mem;

	if (n > SIZE_MAX / 4 - len)
		abort();
	if (b->mem && b->head >= b->size / 2 && b->size - len >= n) {
		memmove(b->mem, b->mem + b->head, len);
		buf_wipe(b, b->head > len ? b->head : len, b->tail);
		b->head = 0;
		b->tail = len;
		return;
	}
	while (size - len < n)
		size *= 2;
	if (size == b->size)
		size *= 2;
	mem = xmalloc(size);
	if (len > 0)
		memcpy(mem, b->mem + b->head, len);
	buf_wipe(b, b->head, b->tail);
	free(b->mem);
	b->mem = mem;
	b->size = size;
	b->head = 0;
	b->tail = len;
}

char *
buf_reserve(struct buf *b, size_t n)
{
	/* The second condition gives an empty request a pointer, too. */
	if (b->size - b->tail < n || !b->mem)
		buf_grow(b, n);
	return b->mem + b->tail;
}

void
buf_added(struct buf *b, size_t n)
{
	assert(n <= b->size - b->tail);
	b->tail += n;
}

void
buf_add(struct buf *b, const void *data, size_t n)
{
	if (n == 0)
		return;
	memcpy(buf_reserve(b, n), data, n);
	b->tail += n;
}

void
buf_addc(struct buf *b, char c)
{
	*buf_reserve(b, 1) = c;
	b->tail++;
}

void
buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_add_u64(struct buf *b, uint64_t n)
{
	char digits[U64_DIGITS];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	buf_add(b, digits + at, sizeof(digits) - at);
}

void
buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void
buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	va_copy(again, ap);
	(void)buf_reserve(b, BUF_SIZE_MIN);
	room = b->size - b->tail;
	n = vsnprintf(b->mem + b->tail, room, fmt, ap);
	assert(n >= 0);
	if ((size_t)n >= room) {
		(void)buf_reserve(b, (size_t)n + 1);
		vsnprintf(b->mem + b->tail, b->size - b->tail, fmt, again);
	}
	va_end(again);
	b->tail += (size_t)n;
}

void
buf_consume(struct buf *b, size_t n)
{
	assert(n <= buf_len(b));
	buf_wipe(b, b->head, b->head + n);
	b->head += n;
	if (b->head == b->tail)
		buf_clear(b);
}

void
buf_cut(struct buf *b, size_t len)
{
	size_t n = buf_len(b) - len;

	assert(len <= buf_len(b));
	if (b->secret && n > 0)
		explicit_bzero(b->mem + b->tail - n, n);
	b->tail -= n;
}

void
buf_clear(struct buf *b)
{
	buf_wipe(b, b->head, b->tail);
	b->head = 0;
	b->tail = 0;
}
