/*
 * The words of the error codes: the list of err.h as a table.
 */
#include "config.h"

#include <assert.h>

#include "base/err.h"

static const char *const err_words[ERR_MAX] = { [ERR_NONE] = "none",
#define ERROR(id, word) [ERR_##id] = word,
	ERRORS(ERROR)
#undef ERROR
};

const char *
err_word(enum err_code code)
{
	assert(code >= ERR_NONE && code < ERR_MAX);
	return err_words[code];
}
