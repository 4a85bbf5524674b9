/*
 * Replies of the model of Redis, as the structs that hiredis would make, so
 * that the real decoder takes them.  Whoever gets one frees it, with
 * answer_free(): hiredis is not linked.
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

/* With room for n elements, to be set by the caller. */
redisReply *answer_array(size_t n);

void answer_free(redisReply *reply);

#endif
