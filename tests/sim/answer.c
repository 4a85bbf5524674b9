/*
 * Makes and frees replies.  A node is one block with its text, or with the
 * list of its elements, at the end, so that sanitizers notice a decoder that
 * reads beyond it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"

/* Makes a node with so many bytes at its end, which are not set. */
static redisReply *
answer_new(int type, size_t more)
{
	redisReply *reply = xmalloc(sizeof(*reply) + more);

	memset(reply, 0, sizeof(*reply));
	reply->type = type;
	return reply;
}

static redisReply *
answer_string(int type, const char *text, size_t len)
{
	redisReply *reply = answer_new(type, len + 1);

	reply->str = (char *)(reply + 1);
	if (len > 0)
		memcpy(reply->str, text, len);
	reply->str[len] = '\0';
	reply->len = len;
	return reply;
}

redisReply *
answer_int(long long n)
{
	redisReply *reply = answer_new(REDIS_REPLY_INTEGER, 0);

	reply->integer = n;
	return reply;
}

redisReply *
answer_text(const char *text, size_t len)
{
	return answer_string(REDIS_REPLY_STRING, text, len);
}

redisReply *
answer_status(const char *text)
{
	return answer_string(REDIS_REPLY_STATUS, text, strlen(text));
}

redisReply *
answer_error(const char *text)
{
	return answer_string(REDIS_REPLY_ERROR, text, strlen(text));
}

redisReply *
answer_nil(void)
{
	return answer_new(REDIS_REPLY_NIL, 0);
}

redisReply *
answer_array(size_t n)
{
	size_t bytes = (n + 1) * sizeof(redisReply *);
	redisReply *reply = answer_new(REDIS_REPLY_ARRAY, bytes);

	reply->elements = n;
	reply->element = (redisReply **)(void *)(reply + 1);
	memset(reply->element, 0, bytes);
	return reply;
}

/* Replies nest as deeply as a script returns tables: two or three levels. */
void
answer_free(redisReply *reply)
{
	size_t i;

	if (reply == NULL)
		return;
	for (i = 0; i < reply->elements; i++)
		answer_free(reply->element[i]);
	free(reply);
}
