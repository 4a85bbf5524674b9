/*
 * The table of named objects, against an array that is searched in full.
 */
#include "config.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "suite.h"
#include "test_base.h"

#define THINGS 3000

struct thing {
	struct table_link link;
	bool in;
	bool unseen;
	char name[8];
};

static struct thing things[THINGS];
static struct table table;

static struct thing *
thing_of(struct table_link *link)
{
	return (struct thing *)(void *)link;
}

static const char *
name_of(const struct table_link *link, size_t *len)
{
	const struct thing *x = (const void *)link;

	*len = strlen(x->name);
	return x->name;
}

static void
begin(void)
{
	unsigned i;

	memset(things, 0, sizeof(things));
	for (i = 0; i < THINGS; i++)
		(void)snprintf(things[i].name, sizeof(things[i].name), "%u", i);
	table_init(&table, name_of);
}

static struct table_link *
find(const char *name)
{
	return table_find(&table, name, strlen(name));
}

static void
put(struct thing *x)
{
	table_add(&table, &x->link);
	x->in = true;
}

static void
take(struct thing *x)
{
	table_remove(&table, &x->link);
	x->in = false;
}

START_TEST(an_empty_table)
{
	struct table_walk walk;

	begin();
	ck_assert_ptr_null(find("1"));
	ck_assert_ptr_null(table_first(&table, &walk));
	put(&things[1]);
	ck_assert_ptr_eq(find("1"), &things[1].link);
	ck_assert_ptr_null(find("11"));
	ck_assert_ptr_null(find(""));
	take(&things[1]);
	ck_assert_ptr_null(find("1"));
	ck_assert_ptr_null(table_first(&table, &walk));
	table_fini(&table);
}
END_TEST

/* A walk comes by every object once, and the present one may leave
 * meanwhile. */
static void
walk_by(bool remove)
{
	struct table_walk walk;
	struct table_link *link;
	struct thing *x;
	unsigned i;

	for (i = 0; i < THINGS; i++)
		things[i].unseen = things[i].in;
	for (link = table_first(&table, &walk); link != NULL;
	     link = table_next(&walk)) {
		x = thing_of(link);
		ck_assert(x->unseen);
		x->unseen = false;
		if (remove && x->name[0] % 2 == 0)
			take(x);
	}
	for (i = 0; i < THINGS; i++)
		ck_assert(!things[i].unseen);
}

START_TEST(random_changes_match_the_model)
{
	unsigned seed = 4711 + (unsigned)_i, in = 0, most = 0;
	struct thing *x;
	int step;

	begin();
	for (step = 0; step < 40000; step++) {
		x = &things[(unsigned)rand_r(&seed) % THINGS];
		/* The table grows in the first half, and then it nearly
		 * empties. */
		if (!x->in && (step < 20000 || rand_r(&seed) % 100 == 0)) {
			put(x);
			in++;
		} else if (x->in && step >= 20000) {
			take(x);
			in--;
		}
		most = table.size > most ? table.size : most;
		ck_assert_uint_eq(table.n, in);
		ck_assert_uint_le(table.n, 2 * table.size);
		x = &things[(unsigned)rand_r(&seed) % THINGS];
		ck_assert_ptr_eq(find(x->name), x->in ? &x->link : NULL);
		if (step % 1000 == 0)
			walk_by(false);
	}
	walk_by(false);
	in = table.n;
	walk_by(true);
	ck_assert_uint_lt(table.n, in);
	walk_by(false);
	ck_assert_uint_ge(most, 1024);
	ck_assert_uint_lt(table.size, most);
	table_fini(&table);
}
END_TEST

START_TEST(what_is_not_in_it_can_not_leave)
{
	begin();
	put(&things[1]);
	table_remove(&table, &things[2].link);
}
END_TEST

TCase *
table_cases(void)
{
	TCase *tc = tcase_create("table");

	tcase_add_test(tc, an_empty_table);
	tcase_add_loop_test(tc, random_changes_match_the_model, 0, 5);
	tcase_add_test_raise_signal(
	    tc, what_is_not_in_it_can_not_leave, SIGABRT);
	return tc;
}
