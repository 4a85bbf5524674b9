/*
 * Sessions in a story: those that survive their connections, and whose they
 * are.
 *
 *	TIME session ID [grace=D] [label=L] [quit] [why]	SESSION, with
 *					end=quit, why=yes; the reply shows key=K
 *	TIME resume ID OF [wrong]	RESUME with the key of session OF; wrong:
 *					with each of its digits changed in turn
 *	TIME user ID [NAME]		who the client of a session is
 *	TIME has? ID [NAME]		has the session the name, or anything?
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/dump.h"
#include "story_state.h"

void
story_session(struct story *st)
{
	struct core_session_options t = { .ref = 0 };
	struct core_event ev = { .kind = CORE_SESSION_OPTIONS };
	uint64_t id = story_id(st, 2);

	if (id >= KEYS_MAX)
		story_fail(st, "too great an ID");
	if (story_option(st, "grace") != NULL) {
		t.given |= 1u << SESSION_GRACE;
		t.num[SESSION_GRACE] =
		    story_number(st, story_option(st, "grace"));
	}
	t.num[SESSION_END] = story_flag(st, "quit");
	t.num[SESSION_WHY] = story_flag(st, "why");
	t.given |= (uint32_t)t.num[SESSION_END] << SESSION_END;
	t.given |= (uint32_t)t.num[SESSION_WHY] << SESSION_WHY;
	t.label = story_option(st, "label");
	t.label_len = t.label != NULL ? strlen(t.label) : 0;
	memset(t.secret, (int)id + 0x5a, sizeof(t.secret));
	st->key_of = id;
	ev.u.options.session = id;
	ev.u.options.options = &t;
	story_step(st, &ev);
}

/* A key is whatever the core said; a story shows only that there was one. */
void
story_write_key(struct story *st, const char *key, size_t len)
{
	if (len >= sizeof(st->keys[0]))
		story_fail(st, "too long a key");
	memcpy(st->keys[st->key_of], key, len);
	buf_addc(st->out, 'K');
}

static void
resume(struct story *st, uint64_t id, const char *key)
{
	struct core_event ev = { .kind = CORE_RESUME };

	ev.u.resume.session = id;
	ev.u.resume.key = key;
	ev.u.resume.key_len = strlen(key);
	story_step(st, &ev);
}

/* A text that is the same each time is written once; else, that it differs. */
static void
resume_wrongly(struct story *st, uint64_t id, char *key)
{
	struct buf *out = st->out, said[2];
	size_t i, n = strlen(key);

	buf_init(&said[0]);
	buf_init(&said[1]);
	for (i = 0; i < n; i++) {
		st->out = &said[i > 0];
		key[i] ^= 1;
		resume(st, id, key);
		key[i] ^= 1;
		if (i > 0 && (buf_len(&said[0]) != buf_len(&said[1]) ||
				 memcmp(buf_data(&said[0]), buf_data(&said[1]),
				     buf_len(&said[0])) != 0))
			story_fail(st, "not each digit counts");
		buf_clear(&said[1]);
	}
	st->out = out;
	buf_add(out, buf_data(&said[0]), buf_len(&said[0]));
	buf_fini(&said[0]);
	buf_fini(&said[1]);
}

void
story_resume(struct story *st)
{
	uint64_t of = story_id(st, 3);

	if (of >= KEYS_MAX || st->keys[of][0] == '\0')
		story_fail(st, "no such key");
	if (story_flag(st, "wrong"))
		resume_wrongly(st, story_id(st, 2), st->keys[of]);
	else
		resume(st, story_id(st, 2), st->keys[of]);
}

void
story_user(struct story *st)
{
	struct core_event ev = { .kind = CORE_USER };

	ev.u.user.session = story_id(st, 2);
	ev.u.user.name = st->nwords > 3 ? st->words[3] : NULL;
	story_step(st, &ev);
}

void
story_has(struct story *st)
{
	uint64_t id = story_id(st, 2);
	bool has = !core_is_idle(st->core, id);

	if (st->nwords > 3)
		has = core_holds(
		    st->core, id, st->words[3], strlen(st->words[3]));
	story_begin_line(st);
	buf_adds(st->out, has ? "yes\n" : "no\n");
}

/* AT stay: the end does not come after all. */
void
story_stay(struct story *st)
{
	struct core_event ev = { .kind = CORE_STAY };

	story_step(st, &ev);
}

/* AT leave [MS], AT turn-away [MS]: the end comes so long from now, or without
 * bound. */
void
story_leave(struct story *st)
{
	struct core_event ev = { .kind = CORE_LEAVE };

	ev.u.leave.drain = strcmp(st->words[1], "turn-away") == 0;
	ev.u.leave.until_ms = st->nwords > 2
				  ? st->now_ms + strtol(st->words[2], NULL, 10)
				  : INT64_MAX;
	story_step(st, &ev);
}

void
story_left(struct story *st)
{
	story_begin_line(st);
	buf_adds(st->out, core_left(st->core) ? "yes\n" : "no\n");
}
