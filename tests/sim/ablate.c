/*
 * The table of ablations and the edits of the scripts.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "ablate.h"
#include "faults.h"

#define DATA_LOSS (FAULT_RESTART | FAULT_FLUSH)

const struct ablation ablations[] = {
	{ "guard", "every server may grant, whatever its history", 20,
	    ABLATE_SCRIPT, DATA_LOSS,
	    { { "local blessed = g[1] == replid", "local blessed = true" },
		{ "	blessed, pend = false, false\n", "\n" } } },
	{ "grace", "a new history is blessed at once", 20, ABLATE_SCRIPT,
	    DATA_LOSS,
	    { { "local blessed = g[1] == replid",
		"redis.call('HSET', guard, 'id', replid, 'at', now_ms) "
		"local blessed = true" } } },
	{ "nonce", "a spell is known by its history alone", 500, ABLATE_SCRIPT,
	    FAULT_FLUSH,
	    { { "pend = replid .. \":\" .. nonce",
		"pend = replid .. \":0\"" } } },
	{ "stall", "a server that was frozen, or whose clock jumped, goes on",
	    100, ABLATE_SCRIPT, FAULT_CLOCK | FAULT_PAUSE,
	    { { "if blessed and now_ms - at > stall_ms", "if false" } } },
	{ "acquire-taken", "acquire does not look who has the name", 5,
	    ABLATE_SCRIPT, 0,
	    { { "	if owner == token then\n",
		"	if owner then\n" } } },
	{ "end-token", "end does not compare the token", 200, ABLATE_SCRIPT,
	    FAULT_CUT | FAULT_FREEZE | FAULT_DELAY,
	    { { "if parse(value) == token then\n		if tonumber(linger)",
		"if parse(value) then\n		if tonumber(linger)" } } },
	{ "renew-token", "renew does not compare the token", 200, ABLATE_SCRIPT,
	    FAULT_PAUSE | FAULT_FREEZE | FAULT_DELAY,
	    { { "		if blessed or value and (stored",
		"		if false and (stored" } } },
	{ "reassert-fence", "a lower fence replaces a higher one", 500,
	    ABLATE_SCRIPT, DATA_LOSS | FAULT_CUT | FAULT_FREEZE | FAULT_PAUSE,
	    { { "if blessed or value and (stored or phase(value) or held) "
		">= held then",
		"if blessed then" } } },
	{ "confirm-token", "confirm does not compare the token", 500,
	    ABLATE_SCRIPT, FAULT_MESSAGE | FAULT_FREEZE,
	    { { "	if parse(value) ~= token then\n		return "
		"{ \"lost\" }\n	end\n	local first = draw(tonumber(n))",
		"	local first = draw(tonumber(n))" } } },
	{ "fence-clock", "fences are counted, without clock and memory", 300,
	    ABLATE_SCRIPT, DATA_LOSS,
	    { { "math.max(top + 1, now_us, seen + 1)", "top + 1" },
		{ "raise(seen)\n", "\n" } } },
	{ "fence-counter", "fences are the time, not counted", 300,
	    ABLATE_SCRIPT, FAULT_CLOCK,
	    { { "math.max(top + 1, now_us, seen + 1)", "now_us" } } },
	{ "kill", "the old connection is not killed", 500, ABLATE_KILL,
	    FAULT_CUT | FAULT_DELAY | FAULT_PAUSE, { { NULL, NULL } } },
	{ "sent", "a lease counts from the reply", 500, ABLATE_ARRIVAL,
	    FAULT_DELAY | FAULT_PAUSE | FAULT_FREEZE, { { NULL, NULL } } },
	{ "flush", "grants are told without looking at the clock again", 200,
	    ABLATE_FLUSH, FAULT_HICCUP, { { NULL, NULL } } },
	{ NULL, NULL, 0, ABLATE_SCRIPT, 0, { { NULL, NULL } } },
};

const struct ablation *
ablation_find(const char *name)
{
	const struct ablation *a;

	for (a = ablations; a->name != NULL; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

static char *
replace(char *text, const char *from, const char *to)
{
	char *at = strstr(text, from), *result;
	size_t head;

	if (at == NULL)
		return text;
	head = (size_t)(at - text);
	result = xmalloc(strlen(text) + strlen(to) + 1);
	memcpy(result, text, head);
	strcpy(result + head, to);
	strcat(result, at + strlen(from));
	free(text);
	return result;
}

char *
ablation_edit(const struct ablation *a, const char *source)
{
	char *text = xstrdup(source);
	int i;

	for (i = 0; i < ABLATION_EDITS_MAX && a != NULL; i++)
		if (a->edits[i].from != NULL)
			text = replace(text, a->edits[i].from, a->edits[i].to);
	return text;
}

bool
ablation_fits(const struct ablation *a, const char *keep, const char *acquire)
{
	int i;

	for (i = 0; i < ABLATION_EDITS_MAX; i++)
		if (a->edits[i].from != NULL &&
		    strstr(keep, a->edits[i].from) == NULL &&
		    strstr(acquire, a->edits[i].from) == NULL)
			return false;
	return true;
}
