/*
 * The core knows which names are held, who waits for them, and when to renew
 * their leases.
 *
 * The core is a step function.  It takes one event and the time, and says what
 * must be done; it does no I/O, reads no clock, draws no randomness from
 * outside and makes no callbacks.  Two drivers run it: the daemon
 * (daemon/bridge/broker.c) and the simulator (tests/sim).
 *
 *	  request, gone, cancel ---+               +--> reply, event (session)
 *	  outcome of an operation -+-> core_step --+--> operation (store)
 *	  message, time, flush ----+               +--> close (connection)
 *
 * The core holds back only grants: it tells them in the step that handles a
 * FLUSH, after it has checked every deadline against the time of that very
 * step.  So no client is told "granted" about a lease that ran out while the
 * process was busy or frozen (etcd issue 11456).  A FLUSH after a loss sends no
 * grant: the driver writes the loss first, and sends another FLUSH while
 * core_has_grants().
 *
 * All times are CLOCK_BOOTTIME milliseconds.
 */
#ifndef LOCKBROKER_CORE_CORE_H
#define LOCKBROKER_CORE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/field.h"
#include "base/kind.h"
#include "base/limits.h"
#include "base/reply_status.h"
#include "base/verb.h"
#include "core/notice.h"
#include "store/op.h"

#define CORE_WAIT_FOREVER INT64_MAX

/* The part of the configuration that the core needs.  Strings are copied. */
struct core_config {
	const char *broker;  /* its name, part of every token */
	const char *address; /* where it can be reached; NULL or "": unknown */
	uint64_t instance;   /* random, drawn at start, part of every token */
	uint64_t seed[2];    /* of the core's own generator */
	unsigned shards;     /* number of guards */
	unsigned lanes;	     /* of the store; 0 is 1; the lane of a name is
				crc16() modulo this */
	bool trust_new;	     /* bless a server never seen before at once */
	bool failover;	     /* another server may take a server's place */
	bool quorum; /* the shards are servers of which a majority decides */
	const char *const *nodes; /* their addresses; NULL: they have numbers */
	int64_t lease_ms;
	unsigned replicas; /* that confirm each write; only for messages */
	unsigned fences;   /* least number drawn at a time; 0 is 1 */
	int64_t reply_timeout_ms;
	int64_t fleet_ms; /* interval of asking for the list of brokers,
			     times their number; 0: only when others ask */
	bool audit; /* NOTICE_LOCK_ENDED is wanted; a reload may change: */
	bool debug; /* lines of debugging are wanted */
	struct lock_limits locks;
	struct client_limits limits;
	const struct metrics_settings *metrics; /* copied; NULL: no classes */
	/* How many things a step looks at before it leaves the rest to the next
	 * one; 0: the default.  Tests set a small number. */
	unsigned work;
	/* Tests: the core calls core_check() every `check` steps; 0: never. */
	unsigned check;
};

/* A valid name: 1 to 255 bytes. */
struct core_name {
	const char *p;
	size_t n;
};

#define CORE_NAMES_MAX 64

/* Notes of a client on its hold, which the core itself does not need
 * (parts/notes).  0 bytes: no note. */
enum note { NOTE_VALUE, NOTE_TRACE, NOTES };

/* One request, taken apart and checked.  The core copies what it needs. */
struct core_request {
	enum verb_id verb; /* one that the core answers */
	uint64_t ref;	   /* set by the driver; the reply repeats it */
	const struct core_name *names;
	unsigned nnames;      /* no name twice; BROKERS: 0, else at least 1 */
	bool shared;	      /* LOCK: mode=shared */
	bool untagged;	      /* the session can do nothing else meanwhile */
	int64_t wait_ms;      /* 0: do not wait; CORE_WAIT_FOREVER */
	int64_t hold_ms;      /* valid if has_hold; 0: no bound */
	int64_t keep_ms;      /* 0: none */
	int64_t delay_ms;     /* 0: none */
	uint64_t queue_limit; /* BUSY if this many wait; UINT64_MAX: none */
	uint64_t number;      /* permits; LATCH, COUNTDOWN: the count */
	uint64_t limit;	      /* ACQUIRE: of permits; BARRIER: parties;
				 QUEUE: of lines */
	int64_t ttl_ms;	      /* LATCH */
	int64_t max_ms;	      /* DRILL: to the answer */
	/* QUEUE; STATUS, KIND_ANY: the lock, and which other kinds there are */
	enum kind kind;
	bool has_hold;
	bool slot;	/* ACQUIRE: the grant says which permit it is */
	bool deaf;	/* its client cannot receive events (RESP2) */
	uint64_t fence; /* UNLOCK-FORCE: of the hold that is meant; 0: any */
	struct core_name notes[NOTES]; /* LOCK, SETVALUE */
};

#define CORE_SECRET_BYTES 16

/* The options of a session but for its label, all 0 at first.  core/kernel/life.c has a row
 * for each. */
enum session_option {
	SESSION_GRACE,	   /* ms that it outlives its connection */
	SESSION_HEARTBEAT, /* its client owes a line every n ms; 0: never */
	SESSION_END,	   /* 1: only QUIT is an orderly one; its work may
			      outlive its connection's end */
	SESSION_WHY, /* 1: refusals say more: core/parts/views/obstacle.h */
	SESSION_OPTIONS
};

/* SESSION: sets the given options; the reply shows all of them. */
struct core_session_options {
	uint64_t ref;
	const char *label; /* NULL: not given */
	size_t label_len;
	uint32_t given; /* bits 1 << SESSION_x */
	int64_t num[SESSION_OPTIONS];
	/* Random; the session takes it if it has none yet. */
	unsigned char secret[CORE_SECRET_BYTES];
};

enum core_event_kind {
	CORE_TIME,    /* nothing but the time */
	CORE_FLUSH,   /* replies are about to be written: tell the grants */
	CORE_OPEN,    /* a session begins */
	CORE_REQUEST, /* of a session */
	CORE_TOKEN,   /* the same, about token holds (parts/token/token.h) */
	CORE_SESSION_OPTIONS, /* SESSION: how a session is named and survives */
	CORE_RESUME,	      /* a connection takes over the session of a key */
	CORE_USER,	      /* a session belongs to a user from now on */
	CORE_CANCEL,	      /* of the waiting request `ref` of a session */
	CORE_DRAIN,	   /* the client has shut down sending: do not wait */
	CORE_PRESS,	   /* more input follows the latest CORE_TOKEN, and
			      waits for its answer: do not wait for others */
	CORE_UNHEARD,	   /* no client listens for a name any more (token.h) */
	CORE_GONE,	   /* the connection of a session ended */
	CORE_LINK,	   /* the store of a shard can be reached, or not */
	CORE_GUARD,	   /* a call reported on a guard */
	CORE_OUTCOME,	   /* of an operation */
	CORE_MESSAGE,	   /* from another broker, through the store */
	CORE_RESUBSCRIBED, /* the broker may have missed messages */
	CORE_LEAVE,	   /* tell all clients that the end comes */
	CORE_STAY,	   /* it does not come after all */
	CORE_HEIR,	   /* a process that this one has replaced leaves */
	CORE_STOP	   /* release everything, tell all clients */
};

struct token_request;
struct token_result;

struct core_event {
	enum core_event_kind kind;
	int64_t now_ms;
	union {
		struct {
			/* The driver chooses it.  It is unique, and also the
			 * id of the connection. */
			uint64_t session;
			const char *peer; /* copied */
			int64_t uid;	  /* of the peer; -1: not known */
			bool tcp;
			bool proxied; /* a close may be a proxy's */
		} open;
		struct {
			uint64_t session;
			const struct core_request *request;
		} request;
		struct {
			uint64_t session; /* the hold is its user's */
			const struct token_request *request;
		} token;
		struct {
			uint64_t session;
			const struct core_session_options *options;
		} options;
		struct {
			uint64_t session; /* that the connection has now */
			uint64_t ref;
			const char *key;
			size_t key_len;
		} resume;
		struct {
			uint64_t session;
			const char *name; /* copied; NULL: no user */
		} user;
		struct {
			uint64_t session;
			uint64_t ref; /* the request to cancel */
			uint64_t by;  /* the CANCEL; it has a reply, too */
		} cancel;
		struct {
			uint64_t session;
			bool orderly; /* QUIT or a clean end of stream */
			bool quit;    /* QUIT */
		} gone;		      /* and drain, and press */
		struct {
			uint64_t session; /* 0 */
			const char *name; /* of any bytes */
			size_t len;
			uint64_t audience; /* as in a struct token_request */
		} unheard;
		struct {
			uint32_t shard;
			bool up;
			const char *why; /* not up: the reason; copied */
		} link;
		struct {
			uint32_t shard;
			int64_t sent_ms;
			const struct guard_report *report;
		} guard;
		struct {
			uint64_t op;	 /* id */
			int64_t sent_ms; /* when it was given to the socket */
			const struct outcome *outcome;
		} outcome;
		struct {
			const char *text;
			size_t len;
			/* History of the server on which we heard it.  It
			 * begins with the history of the server on which the
			 * message was published, or else the message only
			 * passed through.  Never NULL. */
			const char *history;
		} message;
		struct {
			int64_t until_ms; /* INT64_MAX: without end */
			/* No successor: sessions that hold nothing are turned
			 * away, until CORE_STAY or another CORE_LEAVE. */
			bool drain;
		} leave;
	} u;
};

enum effect_kind {
	EFFECT_REPLY,  /* to the request `ref` of a session */
	EFFECT_EVENT,  /* to a session that has not asked */
	EFFECT_QUEUE,  /* reply to a QUEUE: core_queue_begin() or, of a
			  synchronizer, core_line_begin(), and fields about
			  a holder elsewhere */
	EFFECT_FLEET,  /* reply to a BROKERS: core_brokers_begin() */
	EFFECT_WHY,    /* reply to a WHY: `limit` links follow */
	EFFECT_LINK,   /* one of them, by its name: its last field is shown if
			  no other link is shown behind it */
	EFFECT_TOKEN,  /* reply to a CORE_TOKEN */
	EFFECT_OP,     /* to the store */
	EFFECT_LOG,    /* for the operator */
	EFFECT_ATTACH, /* the connection has this session from now on */
	EFFECT_CLOSE   /* end a connection: it no longer has a session */
};

struct effect {
	enum effect_kind kind;
	uint64_t session;
	uint64_t conn;	/* that the session has now; 0: none */
	uint64_t ref;	/* of a request, which any connection may have sent */
	uint64_t limit; /* QUEUE: as the request had it; WHY: links */
	enum kind kind_of;    /* QUEUE: what the name stands for */
	int64_t heartbeat_ms; /* ATTACH: the client owes them; 0: none */
	enum status status;   /* REPLY */
	enum err_code code;   /* REPLY with STATUS_ERR */
	bool undone;	      /* the same: surely nothing was done */
	uint32_t text;	      /* of an error; offset in effects.text */
	uint32_t text_len;
	uint32_t open_len;   /* of an error about a circle: before the names */
	enum event_id event; /* EVENT */
	uint32_t name; /* EVENT, QUEUE, LINK, OP: offset in effects.text */
	uint32_t name_len;
	uint32_t field; /* index of the first in effects.fields */
	uint32_t nfields;
	uint32_t op;	       /* OP: index in effects.ops */
	enum notice_id notice; /* LOG */
	uint32_t token;	       /* TOKEN: index in effects.tokens */
};

/*
 * The actions that the driver must take after some steps, in order.  It carries
 * them out and calls effects_clear(), which keeps the memory for the next turn.
 */
struct effects {
	struct effect *v;
	size_t n, size;
	struct field *fields;
	size_t nfields, fields_size;
	struct op *ops; /* `name` is only set by effects_op() */
	size_t nops, ops_size;
	struct token_result *tokens;
	size_t ntokens, tokens_size;
	struct buf text;
};

void effects_init(struct effects *fx);
void effects_fini(struct effects *fx);
void effects_clear(struct effects *fx);

/* Returns the operation of an effect; its name points into fx->text. */
const struct op *effects_op(struct effects *fx, const struct effect *e);

struct core;

/*
 * Copies the configuration.  Requires at least one shard, a lease of a second
 * or more, and a short enough name of the broker.  core_free() frees the core
 * at any time; it notifies no client and releases nothing, as if the broker had
 * been killed.
 */
struct core *core_new(const struct core_config *config);
void core_free(struct core *core);

/* Takes over the reloadable part of a configuration, all of it at once. */
void core_reconfigure(struct core *core, const struct lock_limits *locks,
    const struct client_limits *limits, const struct metrics_settings *metrics,
    bool audit, bool debug);

/* Limits on all sessions of a user together; 0: no limit. */
struct core_user_limits {
	const char *user; /* copied */
	unsigned holds;	  /* held, waited for or watched */
	unsigned waiters; /* requests that wait */
};

/* All users with limits; they replace the earlier ones. */
void core_limit_users(
    struct core *core, const struct core_user_limits *limits, size_t n);

/*
 * Takes one event, and appends what must be done to `fx`.  Requires that a
 * session which the event names has a connection, that each operation has one
 * OUTCOME, and that core_has_losses() is false if this is no CORE_TIME.
 */
void core_step(
    struct core *core, const struct core_event *event, struct effects *fx);

/* When to step with a bare CORE_TIME next; INT64_MAX: no need. */
int64_t core_deadline(const struct core *core);

/*
 * Checks that all parts of the core agree with each other.  Looks at
 * everything; aborts on a fault, which is one of this program.
 */
void core_check(const struct core *core);

/*
 * After CORE_LEAVE: does no session hold anything, or, without `drain`, wait
 * for anything?  Token holds do not count: they outlive the broker.
 */
bool core_left(const struct core *core);

/* After CORE_STOP: is everything released? */
bool core_stopped(const struct core *core);

/*
 * Work is bounded (work.h): no step looks at more things than this.  Larger
 * work continues in the next step, for which core_deadline() asks at once.
 */
#define CORE_WORK_MAX 1000

/*
 * Are there losses to report at that time, queued requests whose clients are
 * gone, or events to repeat to a resumed session?  While there are, the driver
 * steps with bare CORE_TIMEs before any other event, so no client is told
 * anything else first.
 */
bool core_has_losses(const struct core *core, int64_t now_ms);

/* How many things the core has looked at. */
struct core_work {
	uint64_t step; /* in the latest step */
	uint64_t most; /* in any one step */
};

struct core_work core_work(const struct core *core);

/* For tests: a step that looks at more things aborts in that loop; 0: never. */
void core_work_bound(struct core *core, uint64_t most);

/*
 * At the end of a turn, the driver has written everything that the effects so
 * far say: lines that it reads from now on may come from clients that have
 * received it.
 */
void core_written(struct core *core);

/* Is an operation in flight? */
bool core_asks(const struct core *core);

/* Are there grants that wait for a FLUSH? */
bool core_has_grants(const struct core *core);

#endif
