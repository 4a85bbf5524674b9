/*
 * What the files of the monitor share.  Only they include this.
 */
#ifndef LOCKBROKER_DAEMON_MONITOR_STATE_H
#define LOCKBROKER_DAEMON_MONITOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/text.h"
#include "base/verb.h"
#include "daemon/bridge.h"
#include "daemon/monitor.h"
#include "http/page.h"
#include "http/server.h"

struct json;
struct logins;
struct user;

/*
 * A request about a name, or for the page, with a name or without, or for
 * /status.json.  Owned by the monitor.
 */
struct question {
	uint64_t request;
	bool page, json; /* what is asked for; neither: /locks/NAME */
	bool asked;	 /* there is a session for it */
	bool answered;	 /* by the core */
	bool done;	 /* only its session has still to end */
	/* Who asks, by name: a reload may come meanwhile.  "": nobody. */
	char user[LABEL_MAX_BYTES + 1];
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
	struct logins *logins;
	const struct user *asker; /* while a request is dispatched */
	LIST_HEAD(, question) questions;
	struct listing *listing; /* of the busiest; NULL: none under way */
	struct busy_name busy[MONITOR_BUSY], fresh[MONITOR_BUSY];
	size_t nbusy, nfresh;
	int64_t busy_ms; /* when the list was made; 0: never */
	uint64_t auth_failed_total;
	int64_t log_ms; /* no failure is logged before this */
	char **nodes;	/* last address of each shard; NULL: not known */
	int64_t born_s; /* seconds since 1970 when the process began */
};

/* A server of Redis, and the guards on it. */
#define MONITOR_NODES 32
struct monitor_node {
	char address[320];
	bool up;
	unsigned shards, ready; /* its guards; those that grant */
	int64_t left_ms;	/* until the first of the others grants */
	char why[256];		/* "": all grant */
};

/* monitor_nodes.c: lists the servers; returns how many there are. */
size_t monitor_nodes(
    struct monitor *m, struct monitor_node nodes[MONITOR_NODES]);

/* Answers with the content of `body`, and takes it over. */
void monitor_send(struct monitor *m, uint64_t request, int status,
    const char *type, struct buf *body);
/* Answers with a line of text. */
void monitor_say(struct monitor *m, uint64_t request, int status,
    const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/*
 * monitor_auth.c: may the client do this?  If false, the request was answered,
 * or monitor_dispatch() gets it again when the password was compared.
 */
bool monitor_may(struct monitor *m, const struct http_request *r,
    const struct user *user, enum right right, struct span name);
/* May this user look at the name?  Asked when the name is written. */
bool monitor_shows(const struct monitor *m, const char *user, struct span name);
void monitor_auth_init(struct monitor *m);
void monitor_auth_fini(struct monitor *m);

/* user: who asks, if known by now; NULL: the request says who. */
void monitor_dispatch(
    struct monitor *m, const struct http_request *r, const struct user *user);

/* Begins a question.  If there is a name, it asks the core. */
struct question *monitor_ask(
    struct monitor *m, const struct http_request *r, struct span name);

/* monitor_busy.c: goes on with that list.  Returns false until it is ready. */
bool monitor_busy(struct monitor *m);

/* Writes who has or wants a name; leaves out a session of 0. */
void monitor_who(char *out, size_t size, struct span label, struct span peer,
    uint64_t session);
/* A field of a row or a reply: NULL, or 0 or "" if it has none. */
const struct field *monitor_field(
    const struct field *f, size_t n, enum field_id id);
uint64_t monitor_number(const struct field *f, size_t n, enum field_id id);
struct span monitor_string(
    const struct field *f, size_t n, const char *arena, enum field_id id);
void monitor_row_who(struct page_who *out, const struct core_row *row);

/* Tells who has a token hold of the name.  Returns false if there is
 * none that is looked after here. */
bool monitor_token_holder(
    const struct monitor *m, struct span name, struct page_who *out);

/* Writes a field of a reply or a row, as /locks/NAME has them. */
void monitor_add_field(
    struct json *j, const struct field *f, const char *arena);

/* monitor_health.c: answers with /status.json, after the core has asked which
 * brokers there are, or could not. */
void monitor_status(struct monitor *m, const struct question *q);

/* monitor_page.c: answers with the page. */
void monitor_render(struct monitor *m, struct question *q);
/* Notes the core's answer about the name. */
void monitor_page_reply(struct monitor *m, struct question *q,
    const struct effect *e, const char *text);
/*
 * Lists the latest holds of a name, or the latest losses if it is empty.
 * Returns how many there are.
 */
size_t monitor_holds(const struct monitor *m, struct span name,
    struct page_hold *out, size_t max);

/* Handlers of routes. name: the name in the path, if the route has one. */
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
