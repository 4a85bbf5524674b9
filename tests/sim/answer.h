/*
 * Replies of the model of Redis, as the structs that hiredis would make, so
 * that the real decoder can read them.  The receiver frees a reply with
 * answer_free(), because hiredis is not linked.
 */
#ifndef LOCKBROKER_SIM_ANSWER_H
#define LOCKBROKER_SIM_ANSWER_H

#include <hiredis/hiredis.h>
#include <stddef.h>

redisReply *answer_int(long long n);
redisReply *answer_text(const char *text, size_t len);
redisReply *answer_status(const char *text);
redisReply *answer_error(const char *text);
redisReply *answer_nil(void);

/* An array with room for n elements, which the caller sets. */
redisReply *answer_array(size_t n);

void answer_free(redisReply *reply);

#endif
