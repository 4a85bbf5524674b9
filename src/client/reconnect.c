/* How to resume a session that survives its connection. */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "client/reconnect.h"

#define AGAIN_MS 100 /* between attempts */
#define TRY_MS 2000  /* for one attempt */

void
reconnect_fini(struct reconnect *r)
{
	free(r->key);
	r->key = NULL;
	r->away = false;
}

void
reconnect_begin(struct reconnect *r, const struct message *reply)
{
	struct pair key;

	reconnect_fini(r);
	if (pair_find(reply->text, "key", &key))
		r->key = xstrndup(key.value, key.value_len);
}

bool
reconnect_cut(struct reconnect *r, int64_t now_ms)
{
	if (r->key == NULL || r->grace_ms == 0)
		return false;
	r->try_ms = now_ms + (r->away ? AGAIN_MS : 0);
	if (!r->away)
		r->cut_ms = now_ms;
	r->away = true;
	return true;
}

bool
reconnect_try(
    struct reconnect *r, struct client *c, const char *tag, int64_t now_ms)
{
	client_close(c);
	r->try_ms = now_ms + AGAIN_MS;
	if (!client_open_like(c, c))
		return false;
	r->try_ms = now_ms + TRY_MS;
	client_send(c, "@%s RESUME key=%s", tag, r->key);
	return true;
}

void
reconnect_done(struct reconnect *r)
{
	r->away = false;
}

int64_t
reconnect_over_ms(const struct reconnect *r)
{
	return r->cut_ms + r->grace_ms;
}
