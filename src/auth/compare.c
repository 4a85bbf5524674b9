/* Chooses the hash that a password is compared with. */
#include "config.h"

#include "auth/compare.h"
#include "auth/secret.h"

enum hasher_answer
compare_password(struct hasher *h, uint64_t id, struct span from,
    const struct users *users, struct span name, struct span password,
    int64_t now_ms, bool *known)
{
	static const char none[] = SECRET_PREFIX;
	const struct user *user = users_find(users, name);
	const char *hash = user != NULL ? user_hash(user) : none;

	*known = user != NULL && hash[0] != '\0';
	if (*known && secret_is_cheap(hash)) {
		if (secret_matches(hash, password))
			return HASHER_RIGHT;
		*known = false;
	}
	if (!*known)
		hash = users_decoy(users);
	if (hash[0] == '\0') {
		(void)secret_matches(none, password);
		return HASHER_RIGHT;
	}
	return hasher_check(h, id, from, password, hash, now_ms);
}
