/*
 * Tests of base/exec: whoever forks hears what became of the exec.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exec.h"
#include "test_base.h"

/* Forks a child that becomes the program; returns what was heard of it. */
static int
start(const char *program, pid_t *told)
{
	char *const argv[] = { (char *)(uintptr_t)program, NULL };
	int ends[2], error;
	pid_t pid;

	ck_assert_int_eq(exec_pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		exec_tell(ends[1], 4321);
		execv(program, argv);
		exec_give_up(ends[1], errno);
	}
	error = exec_hear(ends, pid, told);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return error;
}

START_TEST(a_program_that_starts)
{
	pid_t told = 0;

	ck_assert_int_eq(start("/bin/true", &told), 0);
	ck_assert_int_eq(told, 4321);
	ck_assert_int_eq(start("/bin/true", NULL), 0);
}
END_TEST

START_TEST(a_program_that_can_not_be_run)
{
	pid_t told = 0;

	ck_assert_int_eq(start("/nowhere/program", &told), ENOENT);
	ck_assert_int_eq(start("/", &told), EACCES);
}
END_TEST

START_TEST(a_fork_that_fails)
{
	int ends[2];

	ck_assert_int_eq(exec_pipe(ends), 0);
	errno = EAGAIN;
	ck_assert_int_eq(exec_hear(ends, -1, NULL), EAGAIN);
	ck_assert_int_eq(fcntl(ends[0], F_GETFD), -1);
	ck_assert_int_eq(fcntl(ends[1], F_GETFD), -1);
}
END_TEST

/* Nothing was said, and nobody is left to say anything. */
START_TEST(a_child_that_is_killed)
{
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(exec_pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		(void)raise(SIGKILL);
		_exit(0);
	}
	ck_assert_int_eq(exec_hear(ends, pid, NULL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* One that was not made close-on-exec is as good as closed. */
START_TEST(descriptors_that_are_not_passed_on)
{
	int fd = open("/dev/null", O_RDONLY);

	ck_assert_int_ge(fd, 3);
	ck_assert_int_eq(fcntl(fd, F_GETFD), 0);
	exec_close_from(fd);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}
END_TEST

TCase *
exec_cases(void)
{
	TCase *tc = tcase_create("exec");

	tcase_add_test(tc, a_program_that_starts);
	tcase_add_test(tc, a_program_that_can_not_be_run);
	tcase_add_test(tc, a_fork_that_fails);
	tcase_add_test(tc, a_child_that_is_killed);
	tcase_add_test(tc, descriptors_that_are_not_passed_on);
	return tc;
}
