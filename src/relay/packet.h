/*
 * The messages between the broker and lockbroker-tls: a datagram holds a word
 * and then texts, each ended by a NUL; a descriptor may come with it.
 *
 * The socket is SOCK_SEQPACKET and never blocks.  Both ends come from one
 * build, so packets have no version.
 */
#ifndef LOCKBROKER_RELAY_PACKET_H
#define LOCKBROKER_RELAY_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_BYTES_MAX 32768
#define PACKET_TEXTS_MAX 64

/* Large.  Texts of a packet live as long as the packet does. */
struct packet {
	size_t len;
	unsigned n;			    /* texts, the word included */
	int fd;				    /* received, owned; or -1 */
	bool full;			    /* something did not fit in */
	const char *text[PACKET_TEXTS_MAX]; /* received */
	char bytes[PACKET_BYTES_MAX];
};

enum packet_end {
	PACKET_OK,
	PACKET_LATER, /* nothing to read, or no room */
	PACKET_GONE   /* the other end is gone, or sent garbage */
};

void packet_begin(struct packet *p, const char *word);
/* Adds a text.  A text that does not fit is left out as a whole. */
void packet_add(struct packet *p, const char *text);
void packet_add_num(struct packet *p, int64_t n);

/* fd: a descriptor to send, or -1; the caller keeps it. */
enum packet_end packet_send(int socket, const struct packet *p, int fd)
    __attribute__((warn_unused_result));
enum packet_end packet_receive(int socket, struct packet *p)
    __attribute__((warn_unused_result));

/* These take a packet that was received. */
bool packet_is(const struct packet *p, const char *word, unsigned texts);
const char *packet_text(const struct packet *p, unsigned i); /* "": none */
int64_t packet_num(const struct packet *p, unsigned i);	     /* 0: none */

/* Returns the descriptor, which is the caller's from now on. */
int packet_take_fd(struct packet *p);
/* Closes the descriptor of the packet if nobody has taken it. */
void packet_drop_fd(struct packet *p);

#endif
