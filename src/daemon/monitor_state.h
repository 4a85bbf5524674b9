/*
 * What the files of the monitor share.  Only they include this.
 */
#ifndef LOCKBROKER_DAEMON_MONITOR_STATE_H
#define LOCKBROKER_DAEMON_MONITOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/verb.h"
#include "daemon/bridge.h"
#include "daemon/monitor.h"
#include "http/page.h"
#include "http/server.h"

struct event;
struct hasher;
struct user;

/* A password that is being compared, or was wrong.  Owned by the monitor. */
struct login {
	struct monitor *monitor;
	uint64_t request;
	char *user;
	bool known; /* there is such a user, and a password of it */
	int64_t start_ms;
	struct event *timer; /* of a wrong one; NULL: not known yet */
	LIST_ENTRY(login) link;
};

/*
 * A name that somebody asks about, or the page, with one or without.  Owned by
 * the monitor.
 */
struct question {
	uint64_t request;
	bool page;
	bool asked;	     /* there is a session for it */
	bool answered;	     /* by the core */
	bool done;	     /* what is left is to end its session */
	char elsewhere[512]; /* page: who has the name, but not through us */
	LIST_ENTRY(question) link;
	size_t name_len;
	char name[];
};

/* One of the busiest names. */
#define MONITOR_BUSY 20
struct busy_name {
	struct page_name page;
	char name[256];
};

struct monitor {
	struct broker *broker;
	struct http_server *http;
	struct hasher *hasher;
	LIST_HEAD(, login) logins;
	LIST_HEAD(, question) questions;
	struct listing *listing; /* of the busiest names; NULL: none is made */
	struct busy_name busy[MONITOR_BUSY], fresh[MONITOR_BUSY];
	size_t nbusy, nfresh;
	int64_t busy_ms; /* when they were made; 0: never */
	uint64_t auth_failed_total;
	int64_t log_ms; /* the next failure is not logged before */
	char **nodes;	/* of each shard: where it was last; NULL: not known */
	int64_t born_s; /* seconds since 1970 when the process began */
};

/* A server of Redis, and the guards on it. */
#define MONITOR_NODES 32
struct monitor_node {
	char address[320];
	bool up;
	unsigned shards, ready; /* guards; of them, those that grant */
	int64_t left_ms;	/* until the first of the others does */
	char why[256];		/* "": all grant */
};

/* monitor_nodes.c: returns how many. */
size_t monitor_nodes(
    struct monitor *m, struct monitor_node nodes[MONITOR_NODES]);

/* Answers with what is in the body, which is taken. */
void monitor_send(struct monitor *m, uint64_t request, int status,
    const char *type, struct buf *body);
/* A line of text. */
void monitor_say(struct monitor *m, uint64_t request, int status,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * monitor_auth.c.  False: it was answered, or it is dispatched again by
 * monitor_dispatch() when the password was compared.
 */
bool monitor_may(struct monitor *m, const struct http_request *r,
    const struct user *user, enum right right, struct span name);
void monitor_auth_init(struct monitor *m);
void monitor_auth_fini(struct monitor *m);

/* user: who asks, known by now; NULL: see the request. */
void monitor_dispatch(
    struct monitor *m, const struct http_request *r, const struct user *user);

/* Begins a question; with a name, the core is asked. */
struct question *monitor_ask(
    struct monitor *m, const struct http_request *r, struct span name);

/* monitor_busy.c: goes on with that list.  False: it is not ready yet. */
bool monitor_busy(struct monitor *m);

/* Text of who has or wants a name; a session of 0 is not told. */
void monitor_who(char *out, size_t size, struct span label, struct span peer,
    uint64_t session);
/* The fields of a row or a reply: NULL, or 0 or "" when there is none. */
const struct field *monitor_field(
    const struct field *f, size_t n, enum field_id id);
uint64_t monitor_number(const struct field *f, size_t n, enum field_id id);
struct span monitor_string(
    const struct field *f, size_t n, const char *arena, enum field_id id);
void monitor_row_who(struct page_who *out, const struct core_row *row);

/* monitor_page.c: answers with the page. */
void monitor_render(struct monitor *m, struct question *q);
/* Notes what the core says of the name. */
void monitor_page_reply(struct monitor *m, struct question *q,
    const struct effect *e, const char *text);
/* Latest holds: of a name, or losses, if it is empty.  Returns how many. */
size_t monitor_holds(const struct monitor *m, struct span name,
    struct page_hold *out, size_t max);

/* What a route does.  name: of the rest of the path, where there is one. */
void monitor_livez(
    struct monitor *m, const struct http_request *r, struct span name);
void monitor_readyz(
    struct monitor *m, const struct http_request *r, struct span name);
void monitor_metrics(
    struct monitor *m, const struct http_request *r, struct span name);
void monitor_json(
    struct monitor *m, const struct http_request *r, struct span name);
void monitor_lock(
    struct monitor *m, const struct http_request *r, struct span name);
void monitor_page(
    struct monitor *m, const struct http_request *r, struct span name);

#endif
