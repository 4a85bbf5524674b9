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

#endif
