/*
 * The settings of lockbrokerd: read from a YAML file, and checked as a whole.
 *
 * lockbrokerd.yaml(5) documents every key.  A load results either in a complete
 * configuration or in a list of all faults, each with its place in the file,
 * and in nothing else.  The table of the settings is fields.def.
 */
#ifndef LOCKBROKER_CONFIG_CONFIG_H
#define LOCKBROKER_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "auth/auth.h"
#include "base/address.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/proxy_header.h"
#include "config/faults.h"

struct users;

#ifdef HAVE_TLS
#define CONFIG_WITH_TLS true
#else
#define CONFIG_WITH_TLS false
#endif

enum config_mode {
	CONFIG_MODE_EMBEDDED,
	CONFIG_MODE_STANDALONE,
	CONFIG_MODE_SENTINEL,
	CONFIG_MODE_CLUSTER,
	CONFIG_MODE_QUORUM
};

enum config_verify {
	CONFIG_VERIFY_NONE,
	CONFIG_VERIFY_OPTIONAL,
	CONFIG_VERIFY_REQUIRE
};

enum config_version { CONFIG_VERSION_1_2, CONFIG_VERSION_1_3 };

/* TLS of a listener, which owns it.  Texts are "" without TLS. */
struct config_tls {
	char *certificate;
	char *key;
	char *client_ca; /* "": none */
	enum config_verify verify;
	enum config_version min_version;
};

/* The key that holds the address. */
enum config_place {
	CONFIG_PLACE_TCP,
	CONFIG_PLACE_TLS,
	CONFIG_PLACE_UNIX,
	CONFIG_PLACE_HTTP, /* for monitoring, not for clients */
	CONFIG_PLACE_MAX
};

/* One listener.  Owned by struct config_listen. */
struct config_endpoint {
	struct address address;
	enum config_place place;
	enum proxied proxied;
	struct config_tls tls;
	unsigned mode; /* permissions of a Unix socket: 0660 */
	char *group;   /* of a Unix socket; "": the daemon's own */
};

/* A list of listeners; empty if only systemd's sockets serve. */
struct config_listen {
	struct config_endpoint *v;
	size_t n;
};

struct config_nodes {
	struct address *v;
	size_t n;
};

struct config_broker {
	char *name;	    /* never empty: letters, digits, . _ - */
	char *address;	    /* HOST:PORT that others see; "": none */
	char *http_address; /* URL of the page that others see; "": none */
	int64_t leave_ms;   /* how long an old process serves; 0: no limit */
};

struct config_redis {
	enum config_mode mode;
	struct config_nodes nodes;
	char *server;		 /* embedded: the program to start */
	char *master;		 /* sentinel: the master's name */
	char *user;		 /* "": Redis' default user */
	char *password;		 /* "": none; from password_file too */
	char *password_file;	 /* "", or the source of password */
	char *sentinel_user;	 /* "": the default user */
	char *sentinel_password; /* from sentinel_password_file */
	char *sentinel_password_file;
	bool tls;
	bool tls_names; /* verifies the names of servers */
	char *tls_ca;
	char *tls_cert;
	char *tls_key;
	unsigned database;
	unsigned connections; /* to each node */
	int64_t connect_timeout_ms;
	int64_t reply_timeout_ms;
	char *prefix;
	unsigned replicas; /* that must confirm a grant; 0: none */
	bool trust_new;
};

struct config_locks {
	int64_t lease_ms;
	struct lock_limits limits;
};

struct config_resp {
	int64_t park_ms;     /* 0: polling tokens are answered at once */
	int64_t max_wait_ms; /* 0: no limit */
	struct resp_scripts scripts;
};

/*
 * All settings.  Strings are never NULL; "" stands for a setting that is not
 * given.  The config owns every string and list; config_free() frees them.
 */
struct config {
	struct config_broker broker;
	struct config_listen listen;
	struct config_redis redis;
	struct config_locks locks;
	struct client_limits limits;
	struct auth_settings auth;
	struct config_resp resp;
	struct metrics_settings metrics;
	struct log_settings log;
	struct users *users; /* made from auth; NULL: no restrictions */
	bool shared;	     /* only the shared sections were read */
};

/*
 * Settings of the command line, each as "section.key=value"; borrowed.  They
 * override the file.  shared: only the sections that all processes of a broker
 * share are read (auth, limits, log); the other sections are ignored.
 */
struct config_options {
	const char *const *v;
	size_t n;
	bool shared;
};

/*
 * Reads a file, or takes the defaults if file is NULL; options may be NULL.
 * Returns true if the config is complete; then the caller frees it with
 * config_free().  On false it has added all faults, and the config holds
 * nothing.  It reads the host's name, $RUNTIME_DIRECTORY, and the password
 * files; it opens files that the configuration names relative to the working
 * directory.
 */
bool config_load(struct config *config, const char *file,
    const struct config_options *options, struct config_faults *faults)
    __attribute__((warn_unused_result));

/* As config_load(), from memory.  Messages use `name` for the file. */
bool config_load_buffer(struct config *config, const char *name,
    const char *text, size_t length, struct config_faults *faults)
    __attribute__((warn_unused_result));

/*
 * Frees what a config holds, and clears it.  A config of all zeroes is legal.
 */
void config_free(struct config *config);

/*
 * Writes YAML that loads back to the same config, with every setting.  It does
 * not show a password that is in the configuration itself: it writes a comment
 * instead, so the password must be restored by hand.
 */
void config_dump(const struct config *config, FILE *out);

/*
 * Writes a line for each setting that has no effect in this mode.  These are no
 * faults.
 */
void config_tell_idle(const struct config *config, FILE *out);

/*
 * Called for a changed setting ("redis.mode"), with both values as in YAML (""
 * for a list or a secret). copied: the new value is in effect; otherwise it
 * needs a restart.
 */
typedef void config_changed(void *arg, const char *setting, bool copied,
    const char *from, const char *to);

/*
 * Applies a new configuration while running: moves the settings that may change
 * (log, limits, resp, metrics, auth, and all of locks but the lease) from
 * fresh, as far as they were read, and calls `changed` for each setting that
 * differs.  The other settings stay as they are.  Returns the number of moved
 * settings that differed.  The caller still owns fresh, which then holds the
 * old values: the old users are valid until it is freed.
 */
size_t config_reload_diff(struct config *config, struct config *fresh,
    config_changed *changed, void *arg);

#endif
