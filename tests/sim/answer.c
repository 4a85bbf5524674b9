/*
 * Makes and frees replies.  One malloc a node and one for its text, as hiredis
 * does, so that sanitizers see a decoder that reads behind the end.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"

static redisReply *
answer_new(int type)
{
	redisReply *reply = xcalloc(1, sizeof(*reply));

	reply->type = type;
	return reply;
}

static redisReply *
answer_string(int type, const char *text, size_t len)
{
	redisReply *reply = answer_new(type);

	reply->str = xmalloc(len + 1);
	if (len > 0)
		memcpy(reply->str, text, len);
	reply->str[len] = '\0';
	reply->len = len;
	return reply;
}

redisReply *
answer_int(long long n)
{
	redisReply *reply = answer_new(REDIS_REPLY_INTEGER);

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
	return answer_new(REDIS_REPLY_NIL);
}

redisReply *
answer_array(size_t n)
{
	redisReply *reply = answer_new(REDIS_REPLY_ARRAY);

	reply->elements = n;
	reply->element = xcalloc(n + 1, sizeof(*reply->element));
	return reply;
}

/* Replies nest as deep as a script returns tables: two or three levels. */
void
answer_free(redisReply *reply)
{
	size_t i;

	if (reply == NULL)
		return;
	for (i = 0; reply->element != NULL && i < reply->elements; i++)
		answer_free(reply->element[i]);
	free(reply->element);
	free(reply->str);
	free(reply);
}
