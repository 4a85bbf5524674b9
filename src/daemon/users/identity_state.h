/*
 * What the files of the identity share.
 */
#ifndef LOCKBROKER_DAEMON_USERS_IDENTITY_STATE_H
#define LOCKBROKER_DAEMON_USERS_IDENTITY_STATE_H

#include "base/buf.h"
#include "base/list.h"
#include "base/quiet.h"
#include "daemon/users/identity.h"

/* Users of before a reload, to which clients may still point. */
struct former {
	LIST_ENTRY(former) link;
	struct users *users; /* owned */
};

struct identity {
	struct broker *broker;
	const struct users *users; /* of the configuration; NULL: no users */
	LIST_HEAD(, former) former;
	bool rebinding; /* not all clients know of `users` yet */
	struct logins *logins;
	struct allowances *allowances;
	struct identity_stats stats;
	struct buf arena; /* scratch of replies */
	struct quiet failures;
	struct quiet denials;
};

#endif
