/* Runs the recipe in C that needs a database: store store TOTAL. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lockbroker.h>

int64_t compute(struct lockbroker *lb);
int store(struct lockbroker *lb, sqlite3 *books);

static const char *total;

/* It does not look for a loss, so that only the fence ends a late write. */
int64_t
compute(struct lockbroker *lb)
{
	(void)lb;
	if (access("slow", F_OK) == 0) {
		FILE *file = fopen("did", "a");

		if (file == NULL || fputs("computes\n", file) < 0 ||
		    fclose(file) != 0)
			abort();
		while (access("go", F_OK) != 0)
			usleep(10000);
	}
	return strtoll(total, NULL, 10);
}

int
main(int argc, char **argv)
{
	struct lockbroker *lb;
	sqlite3 *books;
	int code;

	if (argc != 3 || sqlite3_open("books.sqlite", &books) != SQLITE_OK)
		return 64;
	total = argv[2];
	code = lockbroker_open(&lb, NULL, NULL);
	if (code == LOCKBROKER_OK)
		code = store(lb, books);
	if (code != LOCKBROKER_OK)
		fprintf(stderr, "%s\n",
		    code == LOCKBROKER_LOST ? "too late"
					    : lockbroker_error(lb));
	lockbroker_close(lb);
	sqlite3_close(books);
	return code;
}
