/*
 * What the files of the monitor share.  Only they include this.
 */
#ifndef LOCKBROKER_DAEMON_MONITOR_MONITOR_STATE_H
#define LOCKBROKER_DAEMON_MONITOR_MONITOR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/list.h"
#include "base/text.h"
#include "base/verb.h"
#include "daemon/bridge/bridge.h"
#include "daemon/monitor/monitor.h"
#include "http/server.h"

struct logins;
struct user;

/* Which names are wanted, in which order. */
struct names_wanted {
	unsigned limit;
	bool by_age; /* those held longest; else the busiest */
	size_t pattern_len;
	char pattern[NAME_MAX_BYTES + 1]; /* with its asterisk; "": all */
};

/* A request about a name, or for /status.json.  Owned by the monitor. */
struct question {
	uint64_t request;
	bool json;	  /* for /status.json */
	bool asked;	  /* there is a session for it */
	unsigned awaited; /* this many answers of the core */
	struct buf lock;  /* owned; its answer about the name, as JSON */
	bool done;	  /* only its session must still end */
	/* /locks/NAME?holder=L&fence=N: the hold that is meant. */
	bool of_holder, of_fence;
	struct buf holder; /* owned; a label */
	uint64_t fence;
	/* The user who asks, by name: a reload may come meanwhile.  "":
	 * none. */
	char user[LABEL_MAX_BYTES + 1];
	struct names_wanted wanted;
	LIST_ENTRY(question) link;
	size_t name_len; /* 0: /status.json without one */
	char name[];
};

/* The names that were listed last, or are being listed. */
struct names_list {
	struct names_wanted wanted;
	char user[LABEL_MAX_BYTES + 1]; /* who may see them, ... */
	const void *users;		/* ... by these rights */
	struct listing *listing;	/* NULL: none under way */
	struct json rows;		/* owned: {"names":[...] */
	uint64_t total;
	int64_t made_ms; /* 0: never */
};

struct monitor {
	struct broker *broker;
	/* Carries a request out.  user: who asks, if known by now; NULL: the
	 * request says that. */
	void (*dispatch)(struct monitor *m, const struct http_request *r,
	    const struct user *user);
	struct http_server *http;
	struct logins *logins;
	const struct user *asker; /* while a request is dispatched */
	LIST_HEAD(, question) questions;
	struct names_list names;
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
	unsigned shards, ready;	 /* its guards; those that grant */
	int64_t left_ms;	 /* until the first of the others grants */
	char why[256];		 /* "": all grant */
	struct core_plain plain; /* of the latest of its guards */
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
 * or dispatch() gets it again when the password was compared.
 */
bool monitor_may(struct monitor *m, const struct http_request *r,
    const struct user *user, enum right right, struct span name);
/* May this user look at the name?  Asked when the name is written. */
bool monitor_shows(const struct monitor *m, const char *user, struct span name);
void monitor_auth_init(struct monitor *m);

/* monitor_names.c: takes what a query wants; returns NULL, or what is wrong. */
const char *monitor_names_wanted(struct names_wanted *w, const char *query);
/* Goes on with the list.  Returns false until it is the list that the question
 * wants. */
bool monitor_names(struct monitor *m, const struct question *q);
void monitor_names_fini(struct monitor *m);

/* NULL: there is none. */
struct question *monitor_question(const struct monitor *m, uint64_t request);
/* Takes the reply of STATUS for the name: answers with it, or keeps it. */
void monitor_status_told(
    struct monitor *m, struct question *q, const struct wire_reply *reply);
/* Writes a row of a list; word or name may be empty. */
void monitor_add_row(struct json *j, struct span word, struct span name,
    const struct field *f, size_t n, const char *arena);

/* monitor_status.c: answers with /status.json.  The core has asked which
 * brokers there are, or could not, and the names are listed. */
void monitor_status(struct monitor *m, const struct question *q);

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
