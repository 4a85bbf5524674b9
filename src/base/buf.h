/*
 * A byte buffer that grows at the tail and is consumed at the head.
 *
 * Used for the input and output of a client, and for building text.  The owner
 * embeds it and calls buf_fini().  It reclaims consumed space by moving the
 * rest down, at most once for each doubling, so that a byte is moved a constant
 * number of times.
 *
 * A buffer that secrets pass through is secret: no consumed or moved byte stays
 * in memory.
 */
#ifndef LOCKBROKER_BASE_BUF_H
#define LOCKBROKER_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *mem;   /* owned; NULL until something is stored */
	size_t head; /* offset of the first byte not yet consumed */
	size_t tail; /* offset after the last byte */
	size_t size; /* bytes allocated */
	bool secret; /* bytes that leave it are wiped */
};

void buf_init(struct buf *b);
void buf_init_secret(struct buf *b);
void buf_fini(struct buf *b);

/* Frees the memory if the buffer is empty and larger than `keep`. */
void buf_trim(struct buf *b, size_t keep);

static inline size_t
buf_len(const struct buf *b)
{
	return b->tail - b->head;
}

static inline char *
buf_data(const struct buf *b)
{
	/* C allows not even NULL + 0. */
	return b->head > 0 ? b->mem + b->head : b->mem;
}

/*
 * Makes room for n more bytes and returns where they go.  Then call
 * buf_added().
 */
char *buf_reserve(struct buf *b, size_t n);
void buf_added(struct buf *b, size_t n);

void buf_add(struct buf *b, const void *data, size_t n);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);
void buf_add_u64(struct buf *b, uint64_t n); /* decimal, without printf */
void buf_addf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_addv(struct buf *b, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

void buf_consume(struct buf *b, size_t n);
void buf_clear(struct buf *b);

/* Drops everything after the first `len` bytes. */
void buf_cut(struct buf *b, size_t len);

#endif
