/*
 * Cursors: places in lists that change.
 */
#include "config.h"

#include "base/cursor.h"
#include "test_base.h"

struct thing {
	int n;
	TAILQ_ENTRY(thing) in_list;
	TAILQ_ENTRY(thing) in_other;
};
TAILQ_HEAD(things, thing);

static struct things list, other;
static struct cursors cursors;
static struct thing things[4];
static struct cursor c;

static void
begin(int first)
{
	unsigned i;

	memset(&c, 0, sizeof(c));
	LIST_INIT(&cursors);
	TAILQ_INIT(&list);
	TAILQ_INIT(&other);
	for (i = 0; i < 4; i++) {
		things[i].n = (int)i;
		TAILQ_INSERT_TAIL(&list, &things[i], in_list);
		TAILQ_INSERT_HEAD(&other, &things[i], in_other);
	}
	cursor_begin(
	    &cursors, &c, &things[first], offsetof(struct thing, in_list));
}

static void
expect(int n)
{
	const struct thing *one = cursor_take(&c);

	ck_assert_int_eq(one == NULL ? -1 : one->n, n);
}

START_TEST(it_comes_by_all)
{
	begin(0);
	expect(0);
	expect(1);
	expect(2);
	expect(3);
	expect(-1);
	expect(-1);
	ck_assert(LIST_EMPTY(&cursors));
}
END_TEST

START_TEST(it_goes_on_behind_what_leaves)
{
	begin(0);
	expect(0);
	CURSOR_REMOVE(&cursors, &list, &things[0], in_list);
	CURSOR_REMOVE(&cursors, &list, &things[1], in_list);
	CURSOR_REMOVE(&cursors, &list, &things[2], in_list);
	expect(3);
	expect(-1);
}
END_TEST

START_TEST(it_ends_with_the_last)
{
	begin(3);
	CURSOR_REMOVE(&cursors, &list, &things[3], in_list);
	ck_assert(LIST_EMPTY(&cursors));
	expect(-1);
}
END_TEST

START_TEST(another_list_does_not_move_it)
{
	begin(1);
	CURSOR_REMOVE(&cursors, &other, &things[1], in_other);
	expect(1);
	expect(2);
}
END_TEST

START_TEST(it_may_go_back)
{
	begin(3);
	c.back = true;
	expect(3);
	CURSOR_REMOVE(&cursors, &list, &things[2], in_list);
	expect(1);
	expect(0);
	expect(-1);
}
END_TEST

START_TEST(it_may_begin_anew_and_end)
{
	begin(2);
	cursor_begin(&cursors, &c, &things[0], offsetof(struct thing, in_list));
	expect(0);
	cursor_end(&c);
	expect(-1);
	ck_assert(LIST_EMPTY(&cursors));
	cursor_end(&c);
	cursor_begin(&cursors, &c, NULL, offsetof(struct thing, in_list));
	expect(-1);
}
END_TEST

TCase *
cursor_cases(void)
{
	TCase *tc = tcase_create("cursor");

	tcase_add_test(tc, it_comes_by_all);
	tcase_add_test(tc, it_goes_on_behind_what_leaves);
	tcase_add_test(tc, it_ends_with_the_last);
	tcase_add_test(tc, another_list_does_not_move_it);
	tcase_add_test(tc, it_may_go_back);
	tcase_add_test(tc, it_may_begin_anew_and_end);
	return tc;
}
