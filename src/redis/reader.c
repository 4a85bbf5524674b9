/*
 * hiredis allocates an array as soon as it is announced.  2147483647 elements
 * would take 16 GB, and seconds to walk, even if none of them ever comes.
 */
#include "config.h"

#include <stddef.h>

#include "redis/reader.h"

#ifdef HAVE_REDISREADER_MAXELEMENTS

void
reader_limit(redisReader *reader)
{
	reader->maxelements = READER_ELEMENTS_MAX;
}

#else

/* The functions of hiredis, with one of ours among them. */
static redisReplyObjectFunctions functions;
static void *(*create_array)(const redisReadTask *task, int elements);

static void *
create_small_array(const redisReadTask *task, int elements)
{
	return elements > READER_ELEMENTS_MAX ? NULL
					      : create_array(task, elements);
}

void
reader_limit(redisReader *reader)
{
	if (create_array == NULL) {
		functions = *reader->fn;
		create_array = functions.createArray;
		functions.createArray = create_small_array;
	}
	reader->fn = &functions;
}

#endif
