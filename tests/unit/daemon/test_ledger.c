/*
 * The ledger of token holds: whatever one broker writes, the next one reads,
 * however the first one ended; and a ledger that can't be read is never taken
 * for an empty one.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/ledger.h"
#include "daemon/ledger_line.h"
#include "suite.h"

#define NOW_MS INT64_C(1000000)
#define DAY_MS INT64_C(1790000000000)
#define MANY 300

static char directory[64], path[80];
static struct ledger_clock times;
static struct ledger *ledger;
static struct buf why;

/* What ledger_each() tells, as `NAME CLIENT FENCE UNTIL` or -. */
static struct buf told;

static void
setup(void)
{
	strcpy(directory, "/tmp/lockbroker-ledger-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/b.tokens", directory);
	times = (struct ledger_clock){
		.boot = "boot-1", .now_ms = NOW_MS, .day_ms = DAY_MS
	};
	buf_init(&why);
	buf_init(&told);
}

static const char *
file(const char *end)
{
	static char out[96];

	snprintf(out, sizeof(out), "%s.%s", path, end);
	return out;
}

static void
teardown(void)
{
	ledger_close(ledger, times.now_ms);
	ledger = NULL;
	(void)unlink(file("0"));
	(void)unlink(file("1"));
	(void)unlink(file("new"));
	(void)rmdir(file("0"));
	ck_assert_int_eq(rmdir(directory), 0);
	buf_fini(&why);
	buf_fini(&told);
}

static size_t
size_of(const char *end)
{
	struct stat st;

	return stat(file(end), &st) == 0 ? (size_t)st.st_size : 0;
}

static bool
exists(const char *end)
{
	return access(file(end), F_OK) == 0;
}

static void
begin(void)
{
	buf_clear(&why);
	ledger = ledger_open(path, &times, 0, &why);
	ck_assert_msg(ledger != NULL, "%.*s", (int)buf_len(&why),
	    buf_len(&why) > 0 ? buf_data(&why) : "");
}

/* The broker ends, and the next one begins.  The file stays: only an empty
 * ledger is removed when its broker ends. */
static void
again(void)
{
	ledger_close(ledger, times.now_ms);
	begin();
}

static void
hold(const char *name, const char *client, uint64_t fence, int64_t until_ms)
{
	ledger_hold(ledger, &(struct token_hold){ .name = name,
				.name_len = strlen(name),
				.client = client,
				.client_len = strlen(client),
				.fence = fence,
				.since_ms = times.now_ms,
				.until_ms = until_ms });
}

static void
over(const char *name)
{
	ledger_over(ledger, name, strlen(name));
}

static void
written(void)
{
	ck_assert(ledger_has_more(ledger));
	ledger_write(ledger, times.now_ms, times.day_ms);
	ck_assert(!ledger_has_more(ledger));
}

static void
add_told(void *arg, const struct token_hold *h)
{
	(void)arg;
	buf_addf(&told, "%.*s %.*s %llu ", (int)h->name_len, h->name,
	    (int)h->client_len, h->client, (unsigned long long)h->fence);
	if (h->until_ms == TOKEN_HOLD_ALWAYS)
		buf_adds(&told, "-\n");
	else
		buf_addf(
		    &told, "%+lld\n", (long long)(h->until_ms - times.now_ms));
}

/* The ends of holds are told as times from now. */
static const char *
all(void)
{
	buf_clear(&told);
	ledger_each(ledger, add_told, NULL);
	buf_addc(&told, '\0');
	return buf_data(&told);
}

static void
read_file(const char *end, struct buf *out)
{
	FILE *f = fopen(file(end), "r");
	int c;

	ck_assert_ptr_nonnull(f);
	while ((c = getc(f)) != EOF)
		buf_addc(out, (char)c);
	fclose(f);
}

static void
write_file(const char *end, const char *text, size_t n)
{
	FILE *f = fopen(file(end), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, n, f), n);
	fclose(f);
}

START_TEST(without_holds_there_is_no_file)
{
	begin();
	ck_assert(!ledger_has_more(ledger));
	again();
	ck_assert_str_eq(all(), "");
	ck_assert(!exists("0") && !exists("1") && !exists("new"));
	hold("a", "t", 1, NOW_MS + 1000);
	written();
	ck_assert(exists("1"));
	over("a");
	written();
	again();
	ck_assert(!exists("0") && !exists("1") && !exists("new"));
}
END_TEST

START_TEST(the_next_broker_has_what_is_held)
{
	begin();
	hold("a", "t", 1, NOW_MS + 1000);
	hold("b", "t%20|user", 2, TOKEN_HOLD_ALWAYS);
	hold("gone", "t", 3, NOW_MS + 5000);
	written();
	hold("a", "t2", 1, NOW_MS + 9000);
	over("gone");
	over("never");
	written();
	again();
	ck_assert_str_eq(all(), "b t%20|user 2 -\na t2 1 +9000\n");
	times.now_ms += 8999;
	times.day_ms -= 3600000; /* the clock was set, which does not matter */
	again();
	ck_assert_str_eq(all(), "b t%20|user 2 -\na t2 1 +1\n");
	times.now_ms++;
	again();
	ck_assert_str_eq(all(), "b t%20|user 2 -\n");
}
END_TEST

START_TEST(only_its_owner_may_read_it)
{
	struct stat st;

	begin();
	hold("a", "t", 1, TOKEN_HOLD_ALWAYS);
	written();
	ck_assert_int_eq(stat(file("1"), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(in_another_boot_the_time_of_day_counts)
{
	begin();
	hold("a", "t", 1, NOW_MS + 60000);
	hold("b", "t", 2, NOW_MS + 1000);
	hold("c", "t", 3, TOKEN_HOLD_ALWAYS);
	written();
	times.boot = "boot-2";
	times.now_ms = 500; /* and 20 seconds have passed */
	times.day_ms += 20000;
	again();
	ck_assert_str_eq(all(), "a t 1 +40000\nc t 3 -\n");
	times.now_ms += 39999;
	times.day_ms = 0;
	again();
	ck_assert_str_eq(all(), "a t 1 +1\nc t 3 -\n");
}
END_TEST

/* The broker was killed while it wrote a line, and had told nobody. */
START_TEST(a_line_that_is_broken_off_does_not_count)
{
	struct buf text;
	size_t before, n;

	buf_init(&text);
	begin();
	hold("a", "t", 1, NOW_MS + 1000);
	written();
	before = size_of("1");
	hold("a", "t2", 1, NOW_MS + 9000);
	written();
	read_file("1", &text);
	for (n = before; n < buf_len(&text); n++) {
		ledger_close(ledger, times.now_ms);
		(void)unlink(file("0"));
		write_file("1", buf_data(&text), n);
		begin();
		ck_assert_str_eq(all(), "a t 1 +1000\n");
		ck_assert_int_eq(ledger_floor_ms(ledger), 0);
	}
	/* Not even the first line was complete. */
	for (n = 0; n < 10; n++) {
		ledger_close(ledger, times.now_ms);
		(void)unlink(file("0"));
		write_file("1", buf_data(&text), n);
		begin();
		ck_assert_str_eq(all(), "");
	}
	buf_fini(&text);
}
END_TEST

static void
assert_refused(const char *what)
{
	buf_clear(&why);
	ledger = ledger_open(path, &times, 0, &why);
	ck_assert_msg(ledger == NULL, "%s", what);
	buf_addc(&why, '\0');
	ck_assert_ptr_nonnull(strstr(buf_data(&why), what));
	ck_assert_ptr_nonnull(strstr(buf_data(&why), "remove the file"));
}

START_TEST(a_damaged_line_may_be_about_any_name)
{
	struct buf text;
	size_t i, first;
	char was;

	buf_init(&text);
	begin();
	hold("a", "t", 1, NOW_MS + 1000);
	hold("b", "t", 2, NOW_MS + 1000);
	written();
	ledger_close(ledger, times.now_ms);
	ledger = NULL;
	read_file("1", &text);
	first = (size_t)((char *)memchr(buf_data(&text), '\n', buf_len(&text)) -
			 buf_data(&text));
	for (i = 0; i + 1 < buf_len(&text); i++) {
		was = buf_data(&text)[i];
		buf_data(&text)[i] = was == 'x' ? 'y' : 'x';
		write_file("1", buf_data(&text), buf_len(&text));
		assert_refused(
		    i <= first ? "line 1 is not understood" : "is damaged");
		buf_data(&text)[i] = was;
	}
	buf_fini(&text);
}
END_TEST

START_TEST(if_holds_are_bounded_the_longest_is_waited_for)
{
	struct buf text;

	buf_init(&text);
	begin();
	hold("a", "t", 1, NOW_MS + 1000);
	hold("b", "t", 2, NOW_MS + 1000);
	written();
	ledger_close(ledger, times.now_ms);
	read_file("1", &text);
	memcpy(strstr(buf_data(&text), "+ 1 "), "+ 7 ", 4);
	write_file("1", buf_data(&text), buf_len(&text));
	buf_fini(&text);
	ledger = ledger_open(path, &times, 60000, &why);
	ck_assert_ptr_nonnull(ledger);
	ck_assert_int_eq(ledger_floor_ms(ledger), NOW_MS + 60000);
	ck_assert_str_eq(all(), "b t 2 +1000\n");
	/* Requests after that wait, too, even if nothing is held. */
	times.now_ms += 59999;
	again();
	ck_assert_int_eq(ledger_floor_ms(ledger), NOW_MS + 60000);
	ck_assert_str_eq(all(), "");
	times.now_ms++;
	again();
	ck_assert_int_eq(ledger_floor_ms(ledger), 0);
	ck_assert(!exists("0") && !exists("1"));
}
END_TEST

START_TEST(a_file_that_cannot_be_read_may_hold_any_name)
{
	ck_assert_int_eq(mkdir(file("0"), 0700), 0);
	assert_refused("directory");
	ck_assert_int_eq(rmdir(file("0")), 0);
	write_file("0", "tokens 2 7 boot-1 0 0000\n", 25);
	assert_refused("line 1 is not understood");
}
END_TEST

/* A crash of the machine may leave anything in the file. */
START_TEST(what_is_damaged_in_another_boot_is_left_out)
{
	struct buf text;

	buf_init(&text);
	begin();
	hold("a", "t", 1, NOW_MS + 1000);
	hold("b", "t", 2, NOW_MS + 1000);
	written();
	ledger_close(ledger, times.now_ms);
	read_file("1", &text);
	memcpy(strstr(buf_data(&text), "+ 1 "), "+ 7 ", 4);
	write_file("1", buf_data(&text), buf_len(&text));
	buf_fini(&text);
	times.boot = "boot-2";
	begin();
	ck_assert_str_eq(all(), "b t 2 +1000\n");
	ck_assert_int_eq(ledger_floor_ms(ledger), 0);
}
END_TEST

/* Many holds. */

static uint64_t random_state;

static unsigned
any_below(unsigned n)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return (unsigned)(random_state >> 33) % n;
}

static uint64_t fences[MANY]; /* 0: not held */

static void
change_one(void)
{
	unsigned i = any_below(MANY);
	char name[24];

	snprintf(name, sizeof(name), "name-%u", i);
	if (fences[i] > 0 && any_below(3) == 0) {
		over(name);
		fences[i] = 0;
		return;
	}
	fences[i] = 1 + any_below(1000000);
	hold(name, "token", fences[i], NOW_MS + 1000 + i);
}

static void
compare_one(void *arg, const struct token_hold *h)
{
	unsigned i;

	ck_assert_int_eq(sscanf(h->name, "name-%u", &i), 1);
	ck_assert_uint_eq(h->fence, fences[i]);
	ck_assert_int_eq(h->until_ms, NOW_MS + 1000 + i);
	(*(unsigned *)arg)++;
}

/* What another broker would read if this one was killed now. */
static void
compare(void)
{
	struct ledger *mine = ledger;
	struct buf files[2];
	unsigned i, n = 0, held = 0;
	char end[2] = "0";

	for (i = 0; i < 2; i++, end[0]++) {
		buf_init(&files[i]);
		if (exists(end))
			read_file(end, &files[i]);
	}
	path[0] = '\0';
	snprintf(path, sizeof(path), "%s/c.tokens", directory);
	for (i = 0, end[0] = '0'; i < 2; i++, end[0]++) {
		if (buf_len(&files[i]) > 0)
			write_file(
			    end, buf_data(&files[i]), buf_len(&files[i]));
		buf_fini(&files[i]);
	}
	begin();
	ledger_each(ledger, compare_one, &n);
	for (i = 0; i < MANY; i++)
		held += fences[i] > 0;
	ck_assert_uint_eq(n, held);
	ledger_close(ledger, times.now_ms);
	(void)unlink(file("0"));
	(void)unlink(file("1"));
	snprintf(path, sizeof(path), "%s/b.tokens", directory);
	ledger = mine;
}

START_TEST(the_files_stay_short)
{
	unsigned turn, i, both = 0, switches = 0;
	bool was_zero = false;

	random_state = (uint64_t)_i;
	memset(fences, 0, sizeof(fences));
	begin();
	for (turn = 0; turn < 2000; turn++) {
		for (i = any_below(12) + 1; i > 0; i--)
			change_one();
		if (ledger_has_more(ledger))
			written();
		ck_assert_uint_lt(size_of("0"), 200000);
		ck_assert_uint_lt(size_of("1"), 200000);
		both += exists("0") && exists("1");
		switches += was_zero != exists("0");
		was_zero = exists("0");
		if (turn % 50 == 0 || (exists("0") && exists("1")))
			compare();
	}
	ck_assert_uint_gt(both, 10);
	ck_assert_uint_gt(switches, 4);
	again();
	compare();
}
END_TEST

/* A limit on the size of files acts like a full directory. */
START_TEST(a_full_directory)
{
	struct rlimit limit, was;
	char name[24];
	unsigned i;

	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
	limit = was;
	begin();
	for (i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "name-%u", i);
		hold(name, "t", i + 1, NOW_MS + 90000);
	}
	written();
	limit.rlim_cur = size_of("1") + 15;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	over("name-3");
	hold("more", "t", 100, NOW_MS + 90000);
	ledger_write(ledger, times.now_ms, times.day_ms);
	/* The ledger tries again, but not each time. */
	ck_assert(ledger_has_more(ledger));
	limit.rlim_cur = 100;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	times.now_ms += 2000;
	over("name-4");
	ledger_write(ledger, times.now_ms, times.day_ms);
	ck_assert(ledger_has_more(ledger));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
	hold("yet-more", "t", 101, NOW_MS + 90000);
	ledger_write(ledger, times.now_ms, times.day_ms);
	ck_assert(ledger_has_more(ledger));
	times.now_ms += 2000;
	written();
	again();
	ck_assert_ptr_nonnull(strstr(all(), "yet-more t 101"));
	ck_assert_ptr_nonnull(strstr(all(), "\nmore t 100"));
	ck_assert_ptr_null(strstr(all(), "name-3"));
	ck_assert_ptr_null(strstr(all(), "name-4"));
	ck_assert_ptr_nonnull(strstr(all(), "name-9 t 10"));
}
END_TEST

static TCase *
ledger_cases(void)
{
	TCase *t = tcase_create("ledger");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, without_holds_there_is_no_file);
	tcase_add_test(t, the_next_broker_has_what_is_held);
	tcase_add_test(t, only_its_owner_may_read_it);
	tcase_add_test(t, in_another_boot_the_time_of_day_counts);
	tcase_add_test(t, a_line_that_is_broken_off_does_not_count);
	tcase_add_test(t, a_damaged_line_may_be_about_any_name);
	tcase_add_test(t, if_holds_are_bounded_the_longest_is_waited_for);
	tcase_add_test(t, a_file_that_cannot_be_read_may_hold_any_name);
	tcase_add_test(t, what_is_damaged_in_another_boot_is_left_out);
	tcase_add_test(t, a_full_directory);
	tcase_add_loop_test(t, the_files_stay_short, 0, 3);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { ledger_cases };

	return suite_run("ledger", cases, COUNT(cases));
}
