/*
 * Stories: scenarios of the core as text.  A story is lines that drive the
 * core, each followed by what the core said must be done ("> ..."):
 *
 *	100 1 LOCK a wait=2s
 *	> op acquire a seq=1 ttl=13000 reserve=1 queue
 *	105 < granted a fence=100
 *	> 1 OK fence=100 depth=1
 *
 * story.c lists the words.  Telling a story runs the lines that drive and
 * writes what the core really said behind each; a test compares both texts.
 */
#ifndef LOCKBROKER_TESTS_UNIT_STORY_H
#define LOCKBROKER_TESTS_UNIT_STORY_H

#include "base/buf.h"

/*
 * Tells the stories of a file: each begins with a line `== TITLE`.  The text
 * as it should be is appended to `out`.  A line that is no story aborts.
 */
void story_tell(const char *text, struct buf *out);

/* The text of a file of stories, owned by the caller; and its path. */
#define STORY_PATH_SIZE 512
char *story_read(const char *subject, char path[STORY_PATH_SIZE]);

/* Fails with the first line that differs, and its number. */
void story_compare(const char *path, const char *want, const char *got);

#endif
