/*
 * A part above the kernel that says no to the first grants of a name, and yes a
 * second after it was asked for: may_grant (core/kernel/lock/hooks.h).
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/xmalloc.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/part.h"

#include "kernel_alone.h"
#include "story.h"

#define NO_MS 1000

enum { PART_SLOW = PART_MAX - 1, TIMER_SLOW = TIMER_MAX - 1 };

/* Of one core.  It says no to grants of `l` until the timer has fired. */
struct slow {
	struct timer timer;
	struct lock *l;
	bool yes;
	unsigned asked;
};

static struct slow *
slow_of(const struct core *core)
{
	return core->part[PART_SLOW];
}

static unsigned asked; /* by the last core, once it is freed */

static void
init(struct core *core)
{
	core->part[PART_SLOW] = xcalloc(1, sizeof(struct slow));
	slow_of(core)->timer.kind = TIMER_SLOW;
}

static void
fini(struct core *core)
{
	core_disarm(core, &slow_of(core)->timer);
	asked = slow_of(core)->asked;
	free(slow_of(core));
}

/* The name `no`; others are granted as usual. */
static void
waits(struct core *core, struct waiter *w, const struct core_request *rq)
{
	(void)rq;
	if (w->lock->name_len != 2 || slow_of(core)->l != NULL)
		return;
	slow_of(core)->l = w->lock;
	core_arm(core, &slow_of(core)->timer, core->now_ms + NO_MS);
}

static bool
may_grant(const struct core *core, const struct lock *l, const struct waiter *w)
{
	struct slow *s = slow_of(core);

	ck_assert_ptr_eq(w->lock, l);
	s->asked++;
	return s->l != l || s->yes;
}

static void
time_over(struct core *core, struct timer *t)
{
	(void)t;
	slow_of(core)->yes = true;
	lock_touch(core, slow_of(core)->l);
}

static const struct lock_hooks hooks = {
	.waits = waits,
	.may_grant = may_grant,
};

static const struct part_timer timers[] = {
	{ TIMER_SLOW, { AGENDA_PATIENT, time_over } },
	{ 0 },
};

static const struct core_part slow_part = {
	.id = PART_SLOW,
	.init = init,
	.fini = fini,
	.lock = &hooks,
	.timers = timers,
};

static void
tell(const char *story)
{
	static const struct core_part *const parts[] = { &slow_part, NULL };
	const struct core_part *const *usual = kernel_parts;
	struct buf got;

	buf_init(&got);
	kernel_parts = parts;
	story_tell(story, &got);
	kernel_parts = usual;
	buf_addc(&got, '\0');
	story_compare("kernel_part.c", story, buf_data(&got));
	buf_fini(&got);
}

START_TEST(test_a_part_says_no_and_yes_later)
{
	tell("== one name\n"
	     "0 ready 3\n"
	     "10 1 LOCK no\n"
	     "> op acquire no seq=1 ttl=13000 reserve=1 queue\n"
	     "20 < granted no fence=100\n"
	     "1100 until\n"
	     "> 1010 1 OK fence=100 depth=1\n");
	ck_assert_uint_gt(asked, 1);
}
END_TEST

START_TEST(test_a_group_has_all_or_none)
{
	tell("== two names\n"
	     "0 ready 3\n"
	     "10 1 LOCK a no\n"
	     "> op acquire a seq=1 ttl=13000 reserve=1 queue\n"
	     "> op acquire no seq=2 ttl=13000 reserve=1\n"
	     "20 < granted a fence=100\n"
	     "30 < granted no fence=101\n"
	     "1100 until\n"
	     "> 1010 1 OK fence=100,101 depth=1,1\n");
	ck_assert_uint_gt(asked, 1);
}
END_TEST

TCase *
kernel_part_cases(void)
{
	TCase *tc = tcase_create("part");

	tcase_add_test(tc, test_a_part_says_no_and_yes_later);
	tcase_add_test(tc, test_a_group_has_all_or_none);
	return tc;
}
