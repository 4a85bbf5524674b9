/*
 * What the files about clients share with each other and with nobody else.
 */
#ifndef LOCKBROKER_SIM_CLIENT_PARTS_H
#define LOCKBROKER_SIM_CLIENT_PARTS_H

#include "broker.h"
#include "checker.h"
#include "client.h"

/* Sends a line to the broker. */
void client_send(struct client *c, struct input *in);

/* Plans the next deed. */
void client_plan(struct client *c, int64_t least_us, int64_t most_us);

/* Returns a name that it believes to hold, or -1. */
int client_held_name(struct client *c);

/* Lets it go, perhaps with others. */
void client_unlock(struct client *c, int name);

/* How long a request may wait: a client that holds something sets a bound. */
int64_t client_choose_wait(struct client *c, bool holds);

/* Deeds of client_permits.c; and does the client believe it has permits? */
void client_use_permits(struct client *c);
bool client_has_permits(const struct client *c);

/* An untagged request about one name. */
struct input *client_request(
    struct client *c, enum ask_kind kind, enum verb_id verb, int name);

/* An untagged request about an object that is no lock: "s0", "l1". */
struct input *client_object(struct client *c, enum ask_kind kind,
    enum verb_id verb, char letter, int number);

/* It no longer has a connection; and it no longer knows its session either. */
void client_lose(struct client *c);
void client_forget(struct client *c);

/* client_session.c: asks for its session, over a new connection; handles an
 * answer to that; and does something with its session. */
void client_resume(struct client *c);
void client_hear_session(
    struct client *c, const struct answer *a, const struct ask *ask);
void client_use_session(struct client *c);
void client_use_heartbeat(struct client *c);
void client_use_end(struct client *c);

/* Deeds of client_sync.c. */
void client_use_latch(struct client *c);
void client_use_barrier(struct client *c);

/* Deeds of client_watch.c. */
void client_use_watch(struct client *c);
void client_use_force(struct client *c);

/* client_drill.c: asks for a drill; hears that it has lost a name; lets one go
 * of which it has heard so, perhaps. */
void client_use_drill(struct client *c);
void client_drilled(struct client *c, int name);
bool client_lets_go(struct client *c);

#endif
