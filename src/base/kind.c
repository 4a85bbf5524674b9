#include "config.h"

#include <string.h>

#include "base/kind.h"

const char *const kind_words[KIND_MAX] = {
#define KIND(id, word, letter) [KIND_##id] = (word),
#include "base/kinds.def"
#undef KIND
};

enum kind
kind_find(const char *word, size_t len)
{
	enum kind kind;

	for (kind = KIND_LOCK; kind < KIND_MAX; kind++)
		if (strlen(kind_words[kind]) == len &&
		    memcmp(kind_words[kind], word, len) == 0)
			return kind;
	return KIND_ANY;
}
